"""SciPy: a handler for each of its functions, in tables by public name.

In reading order:

===============  ===============================================================================
`host`           calls by which SciPy's own code runs
`odes`           `scipy.integrate.solve_ivp`, `odeint`
`captures`       what functions have captured that solvers call
`optimize`       roots, minima, least squares
`integrate`      integrals of samples and of functions
`interpolate`    interpolants: classes that code uses as classes of `adc.library`
`ndimage`        filters of arrays, and splines through their elements
`signal`         convolutions, linear filters, windows, spectra
`designs`        functions of constants, called while code is compiled: filters, nodes, zeros
`linalg`         `scipy.linalg`
`sparse`         `scipy.sparse`: classes and functions
`spatial`        `scipy.spatial`: distances, rotations
`special`        `scipy.special`: ufuncs, and functions in plain Python
`stats`          `scipy.stats`: methods of distributions
===============  ===============================================================================

SciPy's packages take long to import, and a program that does not call them should not wait: the
handlers are entered by name (`adc.frontend.numpy.library.enter_named`), and nothing is imported.
"""

from adc.frontend.scipy import captures as captures
from adc.frontend.scipy import designs as designs
from adc.frontend.scipy import integrate as integrate
from adc.frontend.scipy import interpolate as interpolate
from adc.frontend.scipy import linalg as linalg
from adc.frontend.scipy import ndimage as ndimage
from adc.frontend.scipy import odes as odes
from adc.frontend.scipy import optimize as optimize
from adc.frontend.scipy import signal as signal
from adc.frontend.scipy import sparse as sparse
from adc.frontend.scipy import spatial as spatial
from adc.frontend.scipy import special as special
from adc.frontend.scipy import stats as stats
