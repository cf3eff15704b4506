"""CUDA: launches on the device, everything around them on the host.

=============  =================================================================================
`api`          numba-cuda, in one place
`prelude`      the functions that kernels call for the rows of the op table
`placement`    where code runs: what is a launch, what one thread of the device does, what is host's
`emit`         buffer form to Python source: kernels, and the function that launches them
`thread`       what one thread does: statements, arrays and a tape of its own
`device`       what that function works with: arrays and numbers on the device, launches, the tape
`libraries`    products and factorizations by CuPy
`transforms`   Fourier transforms, likewise
`memory`       memory of the device: what a call holds, what is used again
`arrays`       arrays of other libraries, and the caller's stream
`program`      compiled code as a callable, arguments and results
`dry_run`      what a call will hold: that function, without launches
=============  =================================================================================
"""
