"""The rows of the op table, by family. Importing this package fills `adc.ir.opdef.OPS`.

============  ======================================================================================
`arith`       arithmetic, comparison, selection, conversion
`complexes`   complex numbers from their parts, and back
`parts`       what operations do to complex numbers
`math`        elementary functions: ``exp``, ``sin``, ``tanh``
`special`     functions that no machine has: ``erf``, ``sinc``, ``i0``
`scipy`       the functions of `scipy.special` (`ufuncs`: how a row is a loop of one)
`integer`     bits, truth values, indices
`array`       whole arrays: creation, shape, copies
`random`      draws of NumPy's generators (`ziggurat`: tables)
`algorithms`  rows that are implemented by a few lines of Python, as text
============  ======================================================================================

A row has everything about its operation, the derivative rule of ``tanh`` for example::

    vjp=lambda ct, y, x: (ct * (1.0 - y * y),)
"""

from adc.ir.ops import arith as arith
from adc.ir.ops import array as array
from adc.ir.ops import complexes as complexes
from adc.ir.ops import integer as integer
from adc.ir.ops import math as math
from adc.ir.ops import random as random
from adc.ir.ops import scipy as scipy
from adc.ir.ops import special as special
