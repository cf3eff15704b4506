"""Machine-specific code: loops for threads and vectors, and launches on a GPU.

For CPUs:

====================  ==========================================================================
`elide_copies`        copies of matrices that only products read, removed
`parallel`            loops whose iterations may run in parallel, marked
`math_in_blocks`      transcendental functions between inner loops, vectorised in blocks
`strip_mine`          ordered sums: blocks of expensive terms are vectorised, then added
`scalar_replacement`  elements that the next iteration reads again, carried in registers
`vectorizable`        innermost loops with independent iterations, marked
====================  ==========================================================================

For GPUs:

=====================  =========================================================================
`accumulate_in_place`  read-modify-write of an element, turned into one increment
`inline_calls`         loops with calls and matrix products inlined, for threads
`outline_kernels`      loops with independent iterations and arbitrary bodies, turned into launches
`expand_tape`          values that loops push, stored in arrays with an element per iteration
`fission`              loops that do several things, split into several nests
`kernels`              nests of independent loops, turned into launches; sums into partial sums
=====================  =========================================================================
"""
