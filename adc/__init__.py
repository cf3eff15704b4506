"""adc: gradients of plain Python and NumPy functions, as fast compiled code.

``adc.grad`` takes an ordinary function, with loops, branches and arrays changed in place, and
returns its gradient.
"""

from adc.api import grad, hvp, jvp, release_memory, value_and_grad
from adc.ir.errors import AdcError

__version__ = "0.1.0"

__all__ = ["AdcError", "__version__", "grad", "hvp", "jvp", "release_memory", "value_and_grad"]
