"""Rematerialization: what reverse code stores, recomputes, reloads or takes back.

============  =================================================================================
`remat`       every Recall decided, carried out, and proven
`facts`       what is known and decided about the values of a function
`choose`      the fastest plan is a minimum cut with prices (`cut`, `flow`)
`rewrite`     the decisions carried out: pushes, pops, computations again
`checkpoint`  loops in sweeps, which keep a few states and run again from them (`rerun`;
              `online`: loops that end when they are done; `schedules`: what they ask about
              their schedule)
`undo`        reverse code that restores what stores overwrite and what numbers were (`history`:
              the steps that are taken back; `inversion_check`: rounding is bounded at run time)
`plan`        what was decided, and why, for people
`budget`      the fastest plan that holds so many bytes
`proof`       that what `remat` did is right, by code that shares nothing with it
============  =================================================================================

::

    %x.r = recall %x        →        pop, a computation, or a load of an element that still has it
"""
