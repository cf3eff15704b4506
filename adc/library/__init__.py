"""NumPy's algorithms as plain Python, which the front end lowers like a user's own functions.

What is here has its derivatives from the code itself, of any order and in both modes; no rule is
written anywhere. The code is chosen for what its reverse needs: factorizations write every element
once, in the order of dot products, so that nothing but the factors is remembered.

``stop_gradient`` marks values that are seeds of a computation that does not depend on them: the
result is the same to rounding, and its derivatives are those of the refinement that follows.
``save`` and ``recompute`` say what reverse code keeps.
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


def save(x: T) -> T:
    """Return `x`, which reverse code keeps.

    What reverse code keeps and what it computes again is planned; this decides about one value.
    The value of the program and its gradient stay the same, to the last bit.

    Parameters
    ----------
    x : object
        A number, an array, or a container of them.

    Returns
    -------
    object
        `x` itself.

    See Also
    --------
    recompute : The contrary.

    Examples
    --------
    >>> import adc, math
    >>> def f(x):
    ...     for _ in range(3):
    ...         x = x * adc.save(math.exp(x) + 1.0)
    ...     return x
    >>> df = adc.grad(f)
    >>> _ = df(0.1)
    >>> [entry.reason for entry in df.plan().entries if entry.reason.startswith("adc")]
    ['adc.save']
    """
    return x


def recompute(x: T) -> T:
    """Return `x`, which reverse code computes again where it needs it.

    What `x` is computed from is kept or computed again like anything else. The value of the program
    and its gradient stay the same, to the last bit.

    Parameters
    ----------
    x : object
        A number, an array, or a container of them.

    Returns
    -------
    object
        `x` itself.

    Raises
    ------
    RecomputeError
        When compiled, where that cannot be done: a value that a loop hands on, a random draw.

    See Also
    --------
    save : The contrary.
    adc.checkpoint : The same for all that a function computes.

    Examples
    --------
    >>> import adc, math
    >>> def f(x):
    ...     for _ in range(3):
    ...         x = x * adc.recompute(math.tanh(x))
    ...     return x
    >>> df = adc.grad(f)
    >>> _ = df(0.1)
    >>> [entry.reason for entry in df.plan().entries if entry.reason.startswith("adc")]
    ['adc.recompute']
    """
    return x
