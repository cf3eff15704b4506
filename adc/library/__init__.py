"""NumPy's algorithms as plain Python, which the front end lowers like a user's own functions.

===============  ==================================================================================
`functions`      functions that are a few lines in terms of others
`arrays`         more of them, by subject
`statistics`     functions that count and compare samples
`sorting`        sorting, by an order found on integers
`linear`         linear algebra, by LAPACK's routines, with rules (`rules`)
`fourier`        Fourier, cosine and sine transforms along one axis, with rules
`fft`            the functions of `np.fft` and `scipy.fft` in terms of them
`cosines`        those of `scipy.fft` that transform with cosines and sines
`standard`       functions of the standard library
`scipy`          the functions of SciPy, by package
`random`         the draws of `np.random.Generator`
`twister`        what those of `np.random.RandomState` have of their own
`distributions`  draws from other distributions, of both
`transforms`     what `grad`, `jvp` and the others are applied to
`jacobians`      Jacobians inside code
`batches`        `vmap`: a loop over the elements of arguments
`external`       functions that are called as they are, and their rules
`mpi`            communication between the ranks of an MPI program
`implicit`       the rules of solutions of equations
===============  ==================================================================================

Their derivatives, of any order and in both modes, come from the code itself. Derivative rules
(`rules`) are in `linear`, in `fourier`, and in those modules of `scipy` that factorize, solve
equations or have SciPy's code run.

A function raises `Unsupported` where it does not support what it is given.

``stop_gradient`` marks starting values that do not influence the result beyond rounding; the
derivatives are those of the refinement that follows. ``save``, ``recompute`` and ``invertible``
tell reverse code how to get a value.
"""

from __future__ import annotations

import copy
from typing import TypeVar

T = TypeVar("T")


class Unsupported(NotImplementedError):
    """What a function of the library raises where NumPy goes on and adc does not.

    The front end refuses a call that is known to get there when it is compiled, at the program's
    line. Where only the run can tell, compiled code raises `adc.ir.errors.LimitError`.

    Parameters
    ----------
    what : str
        What is not supported, such as "`np.unique` of rows".
    hint : str
        What to do about it.

    Examples
    --------
    >>> raise Unsupported("`np.unique` of rows", "loop over the rows")
    Traceback (most recent call last):
    adc.library.Unsupported: adc: `np.unique` of rows is not supported: loop over the rows
    """

    def __init__(self, what: str, hint: str) -> None:
        super().__init__(f"adc: {what} is not supported: {hint}")


def stop_gradient(x: T) -> T:
    """Return a copy of `x`, through which no derivative flows.

    Parameters
    ----------
    x : object
        A number, an array, or a (nested) container of them.

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
    """Return `x`, which reverse code stores.

    It overrides the plan for one value. Results and gradients do not change, bit for bit.

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
    recompute : The opposite.

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
    """Return `x`, which reverse code recomputes.

    It overrides the plan for one value; the operands of `x` are stored or recomputed as planned.
    Results and gradients do not change, bit for bit.

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
        When compiled, if that is impossible: for a loop-carried value or a random draw.

    See Also
    --------
    save : The opposite.
    adc.checkpoint : The same for all values of a function.

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
    """Return `x`, whose earlier values reverse code may recover by inverse operations.

    A loop that updates a variable by ``x += f(y)`` or ``x -= f(y)`` loses its earlier values, which
    reverse code may need. Instead of storing one for every iteration, reverse code inverts the
    updates, starting from the last value: it recomputes `f`, and ``x -= f(y)`` gives the previous
    value. The memory then does not grow with the number of iterations. ``x *= c`` and ``x /= c``
    are inverted, too, if `c` is a nonzero constant.

    Use it for reversible networks, in which two halves update each other [1]_, and for integrators
    that update positions by momenta and momenta by positions. Mark every variable that the loop
    updates in this way, before the loop or in it.

    Parameters
    ----------
    x : float or array
        A number, or an array that is updated in place; or a container of them.

    Returns
    -------
    object
        `x` itself.

    Raises
    ------
    RecomputeError
        When compiled, if the updates cannot be inverted (ADC027).
    FloatingPointError
        When called, if the value before a loop is not recovered to half of its digits, relative to
        the largest element before and after the loop. A copy is stored for this check.

    See Also
    --------
    adc.checkpoint : Stores arguments and recomputes the rest, bit for bit.

    Notes
    -----
    Integer updates are inverted by default, because that is exact. For floats, every inverted
    update adds a rounding error of about ``2**-53 * (abs(x) + abs(f(y)))``, which propagates to
    earlier iterations. If the map of one iteration is stable in both directions (symplectic
    integrators, small residual steps), the error grows about in proportion to the number of
    iterations. If the inverse map expands differences by a factor of 2 in each iteration, 50
    iterations lose all digits; so does an update that is 10**16 times larger than the value itself.
    Multiplying by 0.9 in each of n iterations loses the bits of ``0.9**-n`` [2]_. A converging
    iteration loses digits as well. ``remat="store"`` ignores the mark: compare with it.

    Values that control the program are not recomputed from inexact values, but stored: a byte for
    every comparison (for instance, of an element with zero in ``np.maximum(x, 0.0)``), 8 bytes for
    every index or result of functions such as ``floor``. So reverse code takes the branches and
    reads the elements of the program in every iteration.

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
