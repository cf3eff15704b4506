"""SciPy's solvers with derivatives by adc, of functions of structures.

The functions have SciPy's names, arguments and results. What a function is solved for may be a
structure: dicts, lists, tuples and named tuples of arrays and floats, as `optree` knows them.
Derivatives that are not given are adc's; functions are compiled.

>>> import numpy as np
>>> import adc.scipy
>>> def loss(p, x, y):
...     return np.sum((p["slope"] * x + p["start"] - y) ** 2)
>>> x = np.arange(4.0)
>>> fit = adc.scipy.minimize(loss, {"slope": 0.0, "start": 0.0}, (x, 2.0 * x + 1.0))
>>> {name: round(value, 6) for name, value in fit.x.items()}
{'slope': 2.0, 'start': 1.0}

Inside functions that adc differentiates, call SciPy's own.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Unpack

import numpy as np
import optree
from scipy import integrate, optimize, sparse
from scipy.sparse.linalg import LinearOperator

import adc
from adc.distributed import Sharded
from adc.ir.errors import ArgumentError
from adc.options import PlanOptions

Function = Callable[..., Any]
# Methods of `minimize` that take no derivative, products with Hessians, and whole ones.
_WITHOUT = ("nelder-mead", "powell", "cobyla", "cobyqa")
_PRODUCTS = ("newton-cg", "trust-ncg", "trust-krylov")
_WHOLE = ("dogleg", "trust-exact")


class _Flat:
    """The floats of a structure, the argument `x0`, as one vector."""

    def __init__(self, tree: Any) -> None:
        if not isinstance(tree, dict):
            leaves = optree.tree_leaves(tree)
            if all(type(leaf) in (int, float) for leaf in leaves) and type(tree) in (list, tuple):
                tree = np.asarray(tree, float)  # for SciPy a list of numbers is a vector
            elif isinstance(tree, np.ndarray) and tree.dtype.kind in "iu":
                tree = tree.astype(float)
        self.leaves, self.tree = optree.tree_flatten(tree)
        for leaf in self.leaves:
            if not isinstance(leaf, float | np.floating | np.ndarray):
                raise ArgumentError(
                    f"x0 has a {type(leaf).__name__} in it", None,
                    "pass floats, arrays of floats, and dicts, lists and tuples of them",
                )  # fmt: skip
            if isinstance(leaf, np.ndarray) and leaf.dtype.kind != "f":
                raise ArgumentError(
                    f"x0 has an array of {leaf.dtype} in it", None,
                    "pass floats: `.astype(float)`",
                )  # fmt: skip
        self.shapes = [np.shape(leaf) for leaf in self.leaves]
        self.ends = np.cumsum([int(np.prod(shape)) for shape in self.shapes])
        self.start = self.ravel(tree)
        self.size = len(self.start)

    def ravel(self, tree: Any) -> np.ndarray:
        """Return the vector of a structure."""
        return _vector(tree)

    def unravel(self, x: Any) -> Any:
        """Return the structure of a vector."""
        parts = np.split(np.asarray(x), self.ends[:-1])
        found = [
            np.reshape(part, shape).astype(leaf.dtype)
            if isinstance(leaf, np.ndarray)
            else type(leaf)(part[0])
            for part, shape, leaf in zip(parts, self.shapes, self.leaves, strict=True)
        ]
        return optree.tree_unflatten(self.tree, found)

    def matrix(self, jacobian: Any, value: Any) -> Any:
        """Return the Jacobian of a value, of which each part is a structure, as a matrix."""
        leaves = optree.tree_leaves(jacobian)
        if any(map(sparse.issparse, leaves)):
            count = len(self.leaves)
            parts = [leaves[k : k + count] for k in range(0, len(leaves), count)]
            return sparse.csr_array(sparse.block_array(parts))
        blocks = iter(leaves)
        rows = [
            np.concatenate(
                [np.reshape(next(blocks), (np.size(part), -1)) for _ in self.leaves], axis=1
            )
            for part in optree.tree_leaves(value)
        ]
        return np.concatenate(rows)


def _vector(tree: Any) -> np.ndarray:
    leaves = optree.tree_leaves(tree)
    return np.concatenate([np.zeros(0), *(np.ravel(leaf) for leaf in leaves)])


def _args(args: Any) -> tuple[Any, ...]:
    return tuple(args) if isinstance(args, tuple | list) else (args,)


def _jacobian(fn: Function, flat: _Flat, how: Any, sparsity: Any = None) -> Function:
    """Return a function of a vector, for the Jacobian of a function of a structure."""
    if sparsity is not None:
        found = adc.jacfwd(fn, sparsity=sparsity, **how)
        return lambda x, *args: flat.matrix(found(flat.unravel(x), *args), None)
    forward, reverse = adc.jacfwd(fn, **how), adc.jacrev(fn, **how)

    def jacobian(x: Any, *args: Any) -> Any:
        at = flat.unravel(x)
        value = run(at, *args)
        few = sum(map(np.size, optree.tree_leaves(value))) < flat.size
        return flat.matrix((reverse if few else forward)(at, *args), value)

    run = adc.jit(fn)
    return jacobian


def minimize(
    fun: Function,
    x0: Any,
    args: Any = (),
    method: Any = None,
    jac: Any = None,
    hess: Any = None,
    hessp: Any = None,
    bounds: Any = None,
    constraints: Any = (),
    tol: float | None = None,
    callback: Any = None,
    options: Mapping[str, Any] | None = None,
    *,
    sparsity: Any = None,
    **how: Unpack[PlanOptions],
) -> optimize.OptimizeResult:
    """Minimise a function, as `scipy.optimize.minimize`, with derivatives by adc.

    Parameters
    ----------
    fun : callable
        A Python function that returns one float. Its first argument is a structure like `x0`. Or
        what `adc.distributed.value_and_grad` returns: then `args` are lists of shards.
    x0 : array or structure
        Where to start. As for SciPy, a list of numbers is an array.
    args : tuple
        Further arguments of `fun`.
    method, tol, options
        As for SciPy. Methods that need Hessians, or products with them, get those of adc.
    jac, hess, hessp
        Derivatives of your own, of vectors, instead of adc's.
    bounds : Bounds, sequence or pair of structures
        As for SciPy, for the vector; or a pair of structures like `x0`, the least and the most.
    constraints : dict, constraint object, or a sequence of them
        As for SciPy. Functions take structures, and their Jacobians are adc's.
    callback : callable
        As for SciPy; it is passed vectors.
    sparsity : {"detect"} or matrix
        Let the Hessian of ``method="trust-constr"`` be sparse, as for `adc.hessian`; ``"detect"``
        also the Jacobians of constraints.
    memory, remat, parallel, cache, progress, deterministic
        As for `adc.grad`.

    Returns
    -------
    scipy.optimize.OptimizeResult
        `x` and `jac` have the structure of `x0`.

    Raises
    ------
    ArgumentError
        If `x0` has anything but floats in it.
    """
    flat = _Flat(x0)
    given = _args(args)
    named = (method.lower() if isinstance(method, str) else "") or ""
    words: dict[str, Any] = {"jac": jac, "hess": hess, "hessp": hessp}
    value: Function
    spread = isinstance(fun, Sharded)
    if spread and (sparsity is not None or how):
        raise ArgumentError(
            "`sparsity` and options with a function of shards", None,
            "give options to `adc.distributed.value_and_grad`",
        )  # fmt: skip
    if isinstance(fun, Sharded):
        _refuse_other(fun)
    if jac is None and named not in _WITHOUT:
        both = fun if spread else adc.value_and_grad(fun, **how)

        def value(x: Any, *more: Any) -> Any:
            found, slope = both(flat.unravel(x), *more)
            return found, flat.ravel(slope)

        words["jac"] = True
    else:
        run: Function = (lambda *args: fun(*args)[0]) if spread else adc.jit(fun)

        def value(x: Any, *more: Any) -> Any:
            return run(flat.unravel(x), *more)

    if sparsity is not None and (named != "trust-constr" or hess is not None):
        raise ArgumentError(
            f"`sparsity` with method={method!r}" + (" and `hess`" if hess is not None else ""),
            None,
            'sparse Hessians are for method="trust-constr", without `hess`',
        )
    if sparsity is not None and hessp is None:
        second = adc.hessian(fun, sparsity=sparsity, **how)
        words["hess"] = lambda x, *more: flat.matrix(second(flat.unravel(x), *more), None)
    elif hess is None and hessp is None and named in (*_PRODUCTS, *_WHOLE, "trust-constr"):
        product = fun.products() if isinstance(fun, Sharded) else adc.hvp(fun, **how)

        def along(x: Any, v: Any, *more: Any) -> np.ndarray:
            return flat.ravel(product(flat.unravel(x), flat.unravel(v), *more))

        def whole(x: Any, *more: Any) -> Any:
            return np.stack([along(x, row, *more) for row in np.eye(flat.size)])

        def operator(x: Any, *more: Any) -> Any:
            x = np.array(x)
            shape = (flat.size, flat.size)
            return LinearOperator(shape, lambda v: along(x, np.ravel(v), *more), dtype=float)

        if named in _PRODUCTS:
            words["hessp"] = along
        else:
            words["hess"] = whole if named in _WHOLE else operator
    found = optimize.minimize(
        value, flat.start, given, method, bounds=_bounds(bounds, flat), tol=tol,
        constraints=_constraints(constraints, flat, how, sparsity), callback=callback,
        options=None if options is None else dict(options), **words,
    )  # fmt: skip
    found.x = flat.unravel(found.x)
    if "jac" in found and np.size(found.jac) == flat.size:
        found.jac = flat.unravel(np.ravel(found.jac))
    return found


def _refuse_other(fun: Sharded) -> None:
    """Refuse what is no value and gradient by the first argument."""
    task = fun.task
    if task.kind != "value_and_grad" or task.has_aux or task.argnums != (0,) or not task.single:
        raise ArgumentError(
            f"minimize() of {fun.__name__} with argnums={task.argnums}, has_aux={task.has_aux}",
            None, "pass `adc.distributed.value_and_grad(loss)`, by the first argument alone",
        )  # fmt: skip


def _bounds(given: Any, flat: _Flat) -> Any:
    """Return bounds as SciPy takes them; of a pair of structures, those of their vectors."""
    if isinstance(given, tuple) and len(given) == 2:
        low, high = given
        if all(optree.tree_structure(each) == flat.tree for each in given):
            if len(flat.shapes) == 1 and np.size(low) == np.size(high) == flat.size == 2:
                raise ArgumentError(
                    "bounds of two elements may be meant in two ways", None,
                    "pass `scipy.optimize.Bounds(least, most)`",
                )  # fmt: skip
            return optimize.Bounds(_spread(low, flat), _spread(high, flat))
    return given


def _spread(tree: Any, flat: _Flat) -> np.ndarray:
    pairs = zip(optree.tree_leaves(tree), flat.shapes, strict=True)
    return np.concatenate([np.ravel(np.broadcast_to(leaf, shape)) for leaf, shape in pairs])


def _constraints(given: Any, flat: _Flat, how: Any, sparsity: Any) -> Any:
    several = given if isinstance(given, tuple | list) else (given,)
    detected = sparsity if isinstance(sparsity, str) else None
    found = [_constraint(each, flat, how, detected) for each in several]
    return found if isinstance(given, tuple | list) else found[0]


def _constraint(given: Any, flat: _Flat, how: Any, sparsity: Any) -> Any:
    """Return a constraint of vectors for one of structures."""
    if isinstance(given, optimize.NonlinearConstraint):
        fn = given.fun
        jac = given.jac if callable(given.jac) else _jacobian(fn, flat, how, sparsity)
        return optimize.NonlinearConstraint(
            _on_vectors(fn, flat), given.lb, given.ub, jac, optimize.BFGS(),
            given.keep_feasible,
        )  # fmt: skip
    if not isinstance(given, dict):
        return given
    fn = given["fun"]
    jac = given.get("jac")
    jac = jac if callable(jac) else _jacobian(fn, flat, how, sparsity)
    return {**given, "fun": _on_vectors(fn, flat), "jac": jac}


def _on_vectors(fn: Function, flat: _Flat) -> Function:
    run = adc.jit(fn)
    return lambda x, *args: _result(run(flat.unravel(x), *args))


def _result(value: Any) -> Any:
    return value if np.isscalar(value) else _vector(value)


def least_squares(
    fun: Function,
    x0: Any,
    jac: Any = None,
    bounds: Any = (-np.inf, np.inf),
    *,
    args: Any = (),
    kwargs: Mapping[str, Any] | None = None,
    sparsity: Any = None,
    how: PlanOptions | None = None,
    **settings: Any,
) -> optimize.OptimizeResult:
    """Solve a least-squares problem, as `scipy.optimize.least_squares`, with a Jacobian by adc.

    Parameters
    ----------
    fun : callable
        Returns residuals: an array, or a structure of arrays. Its first argument is like `x0`.
    x0 : array or structure
        Where to start.
    jac : callable
        A Jacobian of your own, of vectors, instead of adc's.
    bounds : pair or Bounds
        As for SciPy; or a pair of structures like `x0`.
    args, kwargs
        Further arguments of `fun`.
    sparsity : {"detect"} or matrix
        Let the Jacobian be sparse, as for `adc.jacfwd`.
    how : dict
        Options of `adc.jacfwd`.
    **settings
        The other arguments of SciPy's.

    Returns
    -------
    scipy.optimize.OptimizeResult
        `x` and `grad` have the structure of `x0`; `jac` is a matrix.
    """
    flat = _Flat(x0)
    own = functools.partial(fun, **kwargs) if kwargs else fun
    if jac is not None and kwargs:
        jac = functools.partial(jac, **kwargs)
    found = optimize.least_squares(
        _on_vectors(own, flat), flat.start, jac=jac or _jacobian(own, flat, how or {}, sparsity),
        bounds=_bounds(bounds, flat), args=_args(args), **settings,
    )  # fmt: skip
    found.x, found.grad = flat.unravel(found.x), flat.unravel(found.grad)
    return found


def root(
    fun: Function,
    x0: Any,
    args: Any = (),
    method: str = "hybr",
    jac: Any = None,
    *,
    how: PlanOptions | None = None,
    **settings: Any,
) -> optimize.OptimizeResult:
    """Solve equations, as `scipy.optimize.root`, with a Jacobian by adc.

    Parameters
    ----------
    fun : callable
        Returns as many numbers as `x0` has, in an array or a structure.
    x0 : array or structure
        Where to start.
    args, method
        As for SciPy. Methods that take no Jacobian get none.
    jac : callable
        A Jacobian of your own, of vectors, instead of adc's.
    how : dict
        Options of `adc.jacfwd`.
    **settings
        The other arguments of SciPy's.

    Returns
    -------
    scipy.optimize.OptimizeResult
        `x` has the structure of `x0`.
    """
    flat = _Flat(x0)
    if jac is None and method in ("hybr", "lm"):
        jac = _jacobian(fun, flat, how or {})
    found = optimize.root(
        _on_vectors(fun, flat), flat.start, _args(args), method, jac=jac, **settings
    )
    found.x = flat.unravel(found.x)
    return found


def curve_fit(
    f: Function,
    xdata: Any,
    ydata: Any,
    p0: Sequence[float],
    *args: Any,
    how: PlanOptions | None = None,
    **settings: Any,
) -> tuple[Any, ...]:
    """Fit a model to data, as `scipy.optimize.curve_fit`, with a Jacobian by adc.

    Parameters
    ----------
    f : callable
        The model: a function of `xdata` and of each parameter.
    xdata, ydata
        As for SciPy.
    p0 : sequence of float
        Where the parameters start.
    how : dict
        Options of `adc.jacfwd`.
    *args, **settings
        The other arguments of SciPy's.

    Returns
    -------
    popt, pcov : arrays
        As from SciPy.
    """
    positions = tuple(range(1, len(p0) + 1))
    run, slopes = adc.jit(f), adc.jacfwd(f, positions, **(how or {}))

    def jac(x: Any, *p: float) -> np.ndarray:
        return np.stack([np.ravel(each) for each in slopes(x, *map(float, p))], axis=1)

    def model(x: Any, *p: float) -> Any:
        return run(x, *map(float, p))

    settings.setdefault("jac", jac)
    found: tuple[Any, ...] = optimize.curve_fit(
        model, np.asarray(xdata), ydata, p0, *args, **settings
    )
    return found


def solve_ivp(
    fun: Function,
    t_span: Any,
    y0: Any,
    method: Any = "RK45",
    *,
    args: Any = None,
    sparsity: Any = None,
    how: PlanOptions | None = None,
    **settings: Any,
) -> Any:
    """Integrate equations, as `scipy.integrate.solve_ivp`, with a Jacobian by adc.

    Parameters
    ----------
    fun : callable
        The slopes, of time and state.
    t_span, y0, method, args
        As for SciPy. `Radau`, `BDF` and `LSODA` get a Jacobian.
    sparsity : {"detect"} or matrix
        Let the Jacobian of `Radau` and `BDF` be sparse, as for `adc.jacfwd`.
    how : dict
        Options of `adc.jacfwd`.
    **settings
        The other arguments of SciPy's.

    Returns
    -------
    object
        As from SciPy.
    """
    if sparsity is not None and method not in ("Radau", "BDF"):
        raise ArgumentError(
            f"`sparsity` with method={method!r}", None, "sparse Jacobians are for Radau and BDF"
        )
    run = adc.jit(fun)
    if method in ("Radau", "BDF", "LSODA"):
        slopes = adc.jacfwd(fun, 1, sparsity=sparsity, **(how or {}))
        settings.setdefault("jac", lambda t, y, *more: slopes(float(t), y, *more))
    return integrate.solve_ivp(
        lambda t, y, *more: run(float(t), y, *more), t_span, y0, method, args=args, **settings
    )


__all__ = ["curve_fit", "least_squares", "minimize", "root", "solve_ivp"]
