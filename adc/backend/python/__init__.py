"""Emitted source as CPython runs it: slowly, a line at a time under `pdb`, to the last bit as compiled.

==========  ======================================================================================
`load`      the emitted text as functions of the interpreter, and a `Kernel` that calls them
`memory`    what one call holds: the words of its state, tapes, and what is printed
`scalars`   the functions that emitted code calls, on NumPy's scalars
==========  ======================================================================================

The text is the one that is compiled for the CPU, to the letter. Only what it imports is replaced::

    import numpy as np                                  (as it is)
    from numba import njit                              (nothing: functions stay Python's)
    from adc.backend.common.prelude import (u, ...)     `scalars.NAMES`
    from adc.backend.runtime import (empty, ...)        `memory.NAMES`

    y[u(k)] = 2.0 * x_1[u(k)]                           2.0 is a float64 of NumPy's, k an int64
"""

from adc.backend.python.load import Kernel, interpret

__all__ = ["Kernel", "interpret"]
