"""Rematerialization: what reverse code stores, recomputes, reloads or restores by inversion.

=============  ================================================================================
`remat`        decides every Recall, rewrites the code, and proves the result
`facts`        what is known and decided about the values of a function
`choose`       the decisions and why: the fastest plan as a minimum cut with prices (`cut`, `flow`)
`rewrite`      carries decisions out: pushes, pops, recomputation
`checkpoint`   loops in sweeps, which store a few states and recompute from them (`rerun`:
               checkpointed calls; `online`: loops of unknown trip count; `schedules`: calls of
               their schedules)
`record`       what calls outside return in checkpointed loops: iterations that run again read it
`rerun_calls`  calls recomputed from their arguments, for a budget
`undo`         reverse code that restores overwritten elements and numbers (`inversion_check`:
               bounds the rounding error at run time)
`plan`         the same as data, for users
`budget`       the fastest plan within a memory budget
`proof`        proofs that `remat` is right, by code that shares nothing with it
=============  ================================================================================

::

    %x.r = recall %x        →        a pop, a recomputation, or a load that still finds the value
"""
