"""Emitted source as CPython runs it: slowly, line by line under `pdb`, with the bits of the CPU.

==========  ======================================================================================
`load`      the emitted text as functions of the interpreter, and a `Kernel` that calls them
`memory`    what one call holds: the words of its state, tapes, and what is printed
`machine`   routines of LAPACK, as calls of their addresses
`fourier`   Fourier transforms, likewise
`scalars`   the functions that emitted code calls, on NumPy's scalars
==========  ======================================================================================

The text is the one that is compiled for the CPU, and each line says what line of the user's it is
for. Only what it imports is replaced::

    import numpy as np                                    (as it is)
    from numba import njit                                (nothing: functions stay Python's)
    from adc.backend.common.prelude import (select, ...)  `scalars.NAMES`
    from adc.backend.runtime import (empty, ...)          `memory.NAMES`

    y[unsigned(k)] = 2.0 * x_1[unsigned(k)]  # model.py:7    2.0 is a float64 of NumPy's, k an int64
"""

from adc.backend.python.load import Kernel, interpret

__all__ = ["Kernel", "interpret"]
