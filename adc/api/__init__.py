"""The public API: functions that return derivatives, which compile at their first call.

>>> import adc
>>> @adc.grad
... def slope(x):
...     return x * x * x
>>> slope(2.0)
12.0
>>> adc.grad(slope)(3.0)
18.0

In reading order:

============  ======================================================================================
`gradients`   `grad` and `value_and_grad`
`products`    with Jacobians and Hessians: `jvp`, `linearize`, `vjp`, `hvp`
`jacobians`   `jacrev`, `jacfwd`, `hessian`, `value_and_jac`
`sparse`      the same with sparse matrices; `patterns`: where their entries are; `coloring`: how
              few directions have them
`calls`       without a new derivative: `jit`, `vmap`, `checkpoint`, `check_nans`
`making`      how they make what they return, of functions and of derivatives
`derivative`  what they return; `sweeps`: Jacobians in runs of several directions, pullbacks
`custom`      custom derivatives; `external`: functions that are called as they are
`bridge`      functions for other frameworks (`adc.torch`, `adc.jax`), with their derivatives
============  ======================================================================================
"""

from adc.api.calls import check_nans, checkpoint, jit, release_memory, vmap
from adc.api.gradients import grad, value_and_grad
from adc.api.jacobians import hessian, jacfwd, jacrev, value_and_jac
from adc.api.products import hvp, jvp, linearize, vjp
from adc.library import invertible, recompute, save, stop_gradient

__all__ = [
    "check_nans",
    "checkpoint",
    "grad",
    "hessian",
    "hvp",
    "invertible",
    "jacfwd",
    "jacrev",
    "jit",
    "jvp",
    "linearize",
    "recompute",
    "release_memory",
    "save",
    "stop_gradient",
    "value_and_grad",
    "value_and_jac",
    "vjp",
    "vmap",
]
