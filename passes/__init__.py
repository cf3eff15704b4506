"""Passes: pure functions ``Function -> Function``, and how they run.

`pipeline` has, for each target, the table of all that runs, with the reason for each place;
`stages` says what a row is, and runs it. A file in a folder holds one pass, named as its public
function; a pass of several files is a package. In the order in which code meets them, which is also
the direction of imports:

========  =================================================================================
`scalar`  statements: constants, common subexpressions, dead code, bounds of indices, branches
`ad`      derivatives: forward mode, and reverse code behind forward code
`loops`   loops and the arrays between them: fusion, contraction, reductions, gathers
`memory`  from value form to buffer form: copies, sharing, reuse, and the exact peak
`remat`   what reverse code stores, recomputes or takes back; budgets; the proofs
`target`  what a machine is given: threads, vectors, registers, launches on a GPU
========  =================================================================================

What answers a question and rewrites nothing is in `adc.ir.analysis`.

What a pass owes the next: `adjoint` leaves only Recalls and Reverses as references to forward
values, and decides nothing about them; `remat` leaves none, and a balanced tape; `storage` leaves
no Store; `reuse` leaves every array that is read as it was. Every pass keeps the bits of every
result, but for signs of zeros in `accumulate`, `overwrite` and `relax`, and the order in which
contributions to a cotangent are added in `reduce`, `gather`, `fuse_reverse` and, where it is asked
for, `privatize_reductions`.
"""
