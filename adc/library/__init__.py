"""NumPy's algorithms as plain Python, which the front end lowers like a user's own functions.

What is here has its derivatives from the code itself, of any order and in both modes. The code is
chosen for what its reverse needs: factorizations write every element once, in the order of dot
products, so that nothing but the factors is remembered. `routines` alone has rules (`rules`):
linear algebra for back ends that leave it to a library.

``stop_gradient`` marks values that are seeds of a computation that does not depend on them: the
result is the same to rounding, and its derivatives are those of the refinement that follows.
``save``, ``recompute`` and ``invertible`` say what reverse code keeps.
"""

from __future__ import annotations

import copy
from typing import TypeVar

T = TypeVar("T")


def stop_gradient(x: T) -> T:
    """Return a copy of `x`, through which no derivative flows.

    Parameters
    ----------
    x : object
        A number, an array, or a container of them, however deep.

    Returns
    -------
    object
        A copy of `x`, and of everything in it.

    Examples
    --------
    >>> import adc
    >>> adc.grad(lambda x: adc.stop_gradient(x * x) * x)(3.0)
    9.0
    """
    return copy.deepcopy(x)


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


def invertible(x: T) -> T:
    """Return `x`, whose earlier values reverse code may find by inverse operations.

    A loop that changes a variable by ``x += f(y)`` or ``x -= f(y)`` loses its earlier values, which
    reverse code may need. Instead of keeping one for every iteration, reverse code takes the
    changes back: ``x -= f(y)`` gives the value before, from the last one on, and `f` is computed
    again. The memory held then does not grow with the number of iterations. ``x *= c`` and
    ``x /= c`` are taken back, too, where `c` is a number in the program that is not 0.

    Use it for reversible networks, in which two halves change each other [1]_, and for integrators
    that change positions by momenta and momenta by positions. Mark every variable that the loop
    changes in this way, in front of the loop or in it.

    Parameters
    ----------
    x : float or array
        A number, or an array that is changed in place; or a container of them.

    Returns
    -------
    object
        `x` itself.

    Raises
    ------
    RecomputeError
        When compiled, where the changes cannot be taken back (ADC027).
    FloatingPointError
        When called, where a loop's first value was not found again with half of its digits,
        relative to the largest element then and in the end: it is kept to be compared.

    See Also
    --------
    adc.checkpoint : Keeps arguments and computes the rest again, to the last bit.

    Notes
    -----
    Integers are taken back like this without asking, as that is exact. Floats are not: every update
    that is taken back adds a rounding error of about ``2**-53 * (abs(x) + abs(f(y)))``, which later
    iterations pass on to earlier ones. If the map of one iteration is stable in both directions
    (symplectic integrators, residual steps that are small) the error grows about in proportion to
    their number. If the inverse map expands differences by a factor of 2 in each iteration, 50
    iterations lose all digits; so does a change that is 10**16 times larger than the value itself.
    Multiplying by 0.9 in each of n iterations loses the bits of ``0.9**-n`` [2]_. An iteration that
    converges to something loses them as well. ``remat="store"`` ignores the mark: compare with it.

    What decides is not computed again from values that are rounded, but kept: a byte for every
    comparison (of an element with zero in ``np.maximum(x, 0.0)``, say), 8 for every index or step
    as of ``floor``. So the branches and elements are those of the program, to the last iteration.

    References
    ----------
    .. [1] A. Gomez, M. Ren, R. Urtasun, R. Grosse. The reversible residual network:
       backpropagation without storing activations. NeurIPS 2017.
    .. [2] D. Maclaurin, D. Duvenaud, R. Adams. Gradient-based hyperparameter optimization through
       reversible learning. ICML 2015.

    Examples
    --------
    >>> import adc, numpy as np
    >>> def pendulum(q, p, steps):
    ...     q, p = adc.invertible(q.copy()), adc.invertible(p.copy())
    ...     for _ in range(steps):
    ...         p -= 0.01 * np.sin(q)
    ...         q += 0.01 * p
    ...     return np.sum(q * q)
    >>> q, p = np.array([0.3, 0.9]), np.zeros(2)
    >>> found = adc.grad(pendulum)
    >>> np.allclose(found(q, p, 1000), adc.grad(pendulum, remat="store")(q, p, 1000), rtol=1e-10)
    True
    >>> [found.plan(q, p, n).peak_bytes for n in (10, 1000)]
    [80, 80]
    """
    return x
