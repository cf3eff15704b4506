"""What a machine is given: loops for threads and vectors, and launches on a GPU.

For CPUs:

====================  ==========================================================================
`elide_copies`        copies of rows that only products read: the rows themselves
`parallel`            loops whose iterations may run side by side, marked
`strip_mine`          sums in the program's order: blocks of expensive terms first, as vectors
`scalar_replacement`  elements that the next iteration reads again, handed on in registers
`vectorizable`        innermost loops whose iterations touch nothing that others change, marked
====================  ==========================================================================

For GPUs:

=====================  =========================================================================
`accumulate_in_place`  elements that are read to be increased only, increased in place
`inline_calls`         loops without calls and products, for threads
`outline_kernels`      loops with independent iterations, whatever they do, become launches
`expand_tape`          what loops push becomes arrays with a place for each iteration
`fission`              loops that do several things become several nests
`kernels`              nests of independent loops become launches, their sums parts
=====================  =========================================================================
"""
