"""adc: gradients of plain Python and NumPy functions, as fast compiled code.

``adc.grad`` takes an ordinary function, with loops, branches and arrays changed in place, and
returns its gradient. In reading order:

=============  =====================================================================================
`api`         the public functions, and what they return
`options`     their options; `functions`: the Python function behind a callable
`compiler`    from the arguments of a call to compiled code
`frontend`    Python source to the IR, with `library`: NumPy's algorithms
`ir`          the IR and its analyses
`passes`      IR to IR
`backend`     IR to machine code
`inspect`     plans and graphs; `view`: a page that shows a call step by step
`cli`         the command line; `explain`: its guides
`testing`     checks against finite differences
`supported`   the list of what is supported
`calibrate`   the costs of operations, measured
`extension`   derivatives in a user's own Numba code
`tracebacks`  errors without adc's own frames
`distributed` sums over shards of data, on several processes or machines
`scipy`       SciPy's solvers, of functions of structures, with derivatives by adc
`torch`       functions of PyTorch's tensors, `jax`: of JAX's arrays, with derivatives by adc
`version`     the version
=============  =====================================================================================
"""

from typing import Any

from adc.api import (
    check_nans,
    checkpoint,
    grad,
    hessian,
    hvp,
    invertible,
    jacfwd,
    jacrev,
    jit,
    jvp,
    linearize,
    recompute,
    release_memory,
    save,
    stop_gradient,
    value_and_grad,
    value_and_jac,
    vjp,
    vmap,
)
from adc.api.custom import custom_jvp, custom_vjp
from adc.api.external import external, implicit
from adc.ir.errors import AdcError
from adc.version import __version__

__all__ = [
    "AdcError",
    "__version__",
    "check_nans",
    "checkpoint",
    "custom_jvp",
    "custom_vjp",
    "external",
    "grad",
    "hessian",
    "hvp",
    "implicit",
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


def __getattr__(name: str) -> Any:
    """Return what is imported when it is first used: optree's functions, and `adc.scipy`."""
    if name in ("jax", "scipy", "torch"):
        import importlib

        return importlib.import_module(f"adc.{name}")
    if name == "tree_map":
        from optree import tree_map

        return tree_map
    if name == "ravel_pytree":
        from optree.integrations.numpy import ravel_pytree

        return ravel_pytree
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
