"""SciPy: a handler for each of its functions, in tables by public name.

In reading order:

===============  ===============================================================================
`special`        `scipy.special`: ufuncs, and functions in plain Python
`stats`          `scipy.stats`: methods of distributions
===============  ===============================================================================

SciPy's packages take long to import, and a program that does not call them should not wait: the
handlers are entered by name (`adc.frontend.numpy.library.enter_named`), and nothing is imported.
"""

from adc.frontend.scipy import special as special
from adc.frontend.scipy import stats as stats
