"""Passes: pure functions ``Function -> Function``, and how they run.

`pipeline` has, for each target, the table of every stage that runs, with the reason for its place;
`stages` defines what a row is, and runs it; `unchanged` keeps what a pass rebuilds without a
change. A file in a folder holds one pass, named as its public function; a pass of several files is
a package. The folders, in the order in which code meets them, which is also the direction of
imports:

=========  ================================================================================
`numbers`  complex numbers and those of 16 bits, replaced by others
`scalar`   statements: constants, common subexpressions, dead code, index bounds, branches
`ad`       derivatives: forward mode, and reverse code behind forward code
`loops`    loops and the arrays between them: fusion, contraction, reductions, gathers
`memory`   from value form to buffer form: copies, buffer sharing, reuse, and the exact peak
`remat`    what reverse code stores, recomputes or restores by inversion; budgets; the proofs
`target`   machine-specific code: threads, vectors, registers, GPU launches
=========  ================================================================================

Analyses, which rewrite nothing, are in `adc.ir.analysis`.

What each pass guarantees: after `adjoint`, the only references to forward values are Recalls and
Reverses, and nothing is decided about them; after `remat`, there are none, and the tape is
balanced; after `storage`, there is no Store; `reuse` overwrites no array that is still read. Every
pass keeps the bits of every result, except for signs of zeros in `accumulate`, `overwrite` and
`relax`, and the order in which contributions to a cotangent are added in `reduce`, `gather`,
`fuse_reverse` and, on request, `privatize_reductions`.
"""
