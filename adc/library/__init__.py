"""NumPy's algorithms as plain Python, which the front end lowers like a user's own functions.

What is here has its derivatives from the code itself, of any order and in both modes; no rule is
written anywhere. The code is chosen for what its reverse needs: factorizations write every element
once, in the order of dot products, so that nothing but the factors is remembered.

``stop_gradient`` marks values that are seeds of a computation that does not depend on them: the
result is the same to rounding, and its derivatives are those of the refinement that follows.
"""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")


def stop_gradient(x: T) -> T:
    """Return `x`, through which no derivative flows.

    Parameters
    ----------
    x : object
        A number, an array, or a container of them.

    Returns
    -------
    object
        `x` itself.

    Examples
    --------
    >>> import adc
    >>> adc.grad(lambda x: adc.stop_gradient(x * x) * x)(3.0)
    9.0
    """
    return x
