"""What a machine is given: loops for threads and vectors, and launches on a GPU.

For CPUs:

=============  =================================================================================
`rows`         copies of rows that only products read: the rows themselves
`parallel`     loops whose iterations may run side by side, marked
`ordered`      sums in the program's order: blocks of expensive terms first, as vectors
`registers`    elements that the next iteration reads again, handed on in registers
`apart`        innermost loops whose iterations touch nothing that others change, marked
=============  =================================================================================

For GPUs:

=============  =================================================================================
`increments`   elements that are read to be increased only, increased in place
`unfold`       loops without calls and products, for threads
`whole`        loops with independent iterations, whatever they do, become launches
`frames`       what loops push becomes arrays with a place for each iteration
`fission`      loops that do several things become several nests
`kernels`      nests of independent loops become launches, their sums parts
=============  =================================================================================
"""
