"""adc: gradients of plain Python and NumPy functions, as fast compiled code.

``adc.grad`` takes an ordinary function, with loops, branches and arrays changed in place, and
returns its gradient.
"""

from adc.api import (
    checkpoint,
    grad,
    hessian,
    hvp,
    invertible,
    jacfwd,
    jacrev,
    jit,
    jvp,
    recompute,
    release_memory,
    save,
    stop_gradient,
    value_and_grad,
    vjp,
)
from adc.custom import custom_jvp, custom_vjp
from adc.ir.errors import AdcError
from adc.version import __version__

__all__ = [
    "AdcError",
    "__version__",
    "checkpoint",
    "custom_jvp",
    "custom_vjp",
    "grad",
    "hessian",
    "hvp",
    "invertible",
    "jacfwd",
    "jacrev",
    "jit",
    "jvp",
    "recompute",
    "release_memory",
    "save",
    "stop_gradient",
    "value_and_grad",
    "vjp",
]
