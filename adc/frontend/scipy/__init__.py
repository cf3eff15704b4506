"""SciPy: a handler for each of its functions, in tables by public name.

In reading order:

===============  ===============================================================================
`linalg`         `scipy.linalg`
`distance`       `scipy.spatial.distance`
===============  ===============================================================================

SciPy's packages take long to import, and a program that does not call them should not wait: the
handlers are entered by name (`adc.frontend.numpy.library.enter_named`), and nothing is imported.
"""

from adc.frontend.scipy import distance as distance
from adc.frontend.scipy import linalg as linalg
