"""Matrices of first and second derivatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal, Unpack

from adc.api.derivative import Jacobian
from adc.api.making import level_of, split
from adc.ir.errors import ArgumentError
from adc.library.transforms import transform
from adc.options import Options, PlanOptions, takes


def _jacobian(
    kind: str,
    fn: Callable[..., Any] | None,
    argnums: int | Sequence[int] | None,
    argnames: str | Sequence[str] | None,
    options: Options,
    has_aux: bool = False,
    holomorphic: bool = False,
    sparsity: Any = None,
    probe: bool = True,
    value: bool = False,
) -> Any:
    def make(fn: Callable[..., Any]) -> Jacobian:
        function, levels, how = split(fn, options)
        level = level_of(kind, function, argnums, argnames, has_aux, holomorphic)
        level = replace(level, value=value)
        if sparsity is None:
            return Jacobian(function, levels, how, level)
        from adc.api.sparse import SparseJacobian  # SciPy takes long to import

        return SparseJacobian(function, levels, how, level, sparsity, probe)

    return make if fn is None else make(fn)


@transform
@takes(PlanOptions)
def jacrev(
    fn: Callable[..., Any] | None = None,
    argnums: int | Sequence[int] | None = None,
    *,
    argnames: str | Sequence[str] | None = None,
    has_aux: bool = False,
    holomorphic: bool = False,
    sparsity: Any = None,
    probe: bool = True,
    **options: Unpack[PlanOptions],
) -> Any:
    """Return a function that computes the Jacobian of `fn` in reverse mode, by rows.

    Use it instead of `jacfwd` if there are more inputs than outputs. Up to 16 rows are computed in
    one run of compiled code, but one with a budget (`memory`) or on a GPU.

    Parameters
    ----------
    fn : callable
        A Python function that returns floats, arrays, or tuples, lists and dicts of them; or a
        derivative, such as a result of `grad`.
    argnums, argnames
        As for `grad`.
    has_aux : bool
        Whether `fn` returns a pair, of which only the first element is differentiated.
    holomorphic : bool
        Whether complex results are holomorphic functions of complex arguments. That is checked.
    sparsity : {"detect"} or matrix, optional
        Return SciPy's sparse arrays, ``scipy.sparse.csr_array``. Entries in columns without a
        common row are computed together, so that few directions suffice, whatever the size.
        ``"detect"`` finds where there are entries, once for each shape of the arguments. A matrix
        says so: SciPy's, or an array of two axes, with a row for each number that is returned, and
        a column for each in the arguments that are differentiated; it is not zero where an entry
        may be.
    probe : bool
        Whether every call compares the product with one more, random direction. Where an entry is
        missing, as after another branch, it is then detected; one that a given matrix lacks raises
        `ArgumentError`.
    remat, memory, offload, parallel, cache, progress, target, deterministic
        As for `grad`.

    Returns
    -------
    callable
        Its result has the structure of the result of `fn`, where each number or array is replaced
        by the structure of the arguments, whose leaves are the derivatives, of shape
        ``result.shape + argument.shape``. With `has_aux`, ``(jacobian, aux)``.

    Examples
    --------
    >>> import numpy as np
    >>> adc.jacrev(lambda x: x * x[::-1])(np.array([1.0, 2.0]))
    array([[2., 1.],
           [2., 1.]])
    """
    return _jacobian(
        "jacrev",
        fn,
        argnums,
        argnames,
        Options.of("jacrev", PlanOptions, options),
        has_aux,
        holomorphic,
        sparsity,
        probe,
    )


@transform
@takes(PlanOptions)
def jacfwd(
    fn: Callable[..., Any] | None = None,
    argnums: int | Sequence[int] | None = None,
    *,
    argnames: str | Sequence[str] | None = None,
    has_aux: bool = False,
    holomorphic: bool = False,
    sparsity: Any = None,
    probe: bool = True,
    **options: Unpack[PlanOptions],
) -> Any:
    """Return a function that computes the Jacobian of `fn` in forward mode, by columns.

    Use it instead of `jacrev` if there are more outputs than inputs. Up to 16 columns are computed
    in one run of compiled code, but one with a budget (`memory`) or on a GPU.

    Parameters
    ----------
    fn, argnums, argnames, has_aux, holomorphic, sparsity, probe, remat, memory, offload, \
    parallel, cache, progress, target, deterministic
        As for `jacrev`.

    Returns
    -------
    callable
        Its result is the same as with `jacrev`.

    Examples
    --------
    >>> adc.jacfwd(lambda x, y: (x * y, x + y), argnums=(0, 1))(2.0, 3.0)
    ((3.0, 2.0), (1.0, 1.0))
    """
    return _jacobian(
        "jacfwd",
        fn,
        argnums,
        argnames,
        Options.of("jacfwd", PlanOptions, options),
        has_aux,
        holomorphic,
        sparsity,
        probe,
    )


@transform
@takes(PlanOptions)
def value_and_jac(
    fn: Callable[..., Any] | None = None,
    argnums: int | Sequence[int] | None = None,
    *,
    argnames: str | Sequence[str] | None = None,
    mode: Literal["forward", "reverse"] = "forward",
    has_aux: bool = False,
    sparsity: Any = None,
    probe: bool = True,
    **options: Unpack[PlanOptions],
) -> Any:
    """Return a function that computes ``(value, Jacobian)`` of `fn`, by runs that have both.

    Parameters
    ----------
    fn : callable
        A Python function, as for `jacrev`.
    argnums, argnames
        As for `grad`.
    mode : {"forward", "reverse"}
        Whether the Jacobian is that of `jacfwd` or of `jacrev`.
    has_aux, sparsity, probe, remat, memory, offload, parallel, cache, \
    progress, target, deterministic
        As for `jacrev`.

    Returns
    -------
    callable
        Its result is a pair. With `has_aux`, ``((value, aux), jacobian)``.

    Examples
    --------
    >>> import numpy as np
    >>> adc.value_and_jac(lambda x: x * x)(np.array([1.0, 3.0]))
    (array([1., 9.]), array([[2., 0.],
           [0., 6.]]))
    """
    kinds = {"forward": "jacfwd", "reverse": "jacrev"}
    if mode not in kinds:
        raise ArgumentError(f'mode={mode!r} is neither "forward" nor "reverse"')
    return _jacobian(
        kinds[mode],
        fn,
        argnums,
        argnames,
        Options.of("value_and_jac", PlanOptions, options),
        has_aux,
        False,
        sparsity,
        probe,
        True,
    )


@transform
@takes(PlanOptions)
def hessian(
    fn: Callable[..., Any] | None = None,
    argnums: int | Sequence[int] | None = None,
    *,
    argnames: str | Sequence[str] | None = None,
    holomorphic: bool = False,
    sparsity: Any = None,
    probe: bool = True,
    **options: Unpack[PlanOptions],
) -> Any:
    """Return a function that computes the matrix of second derivatives, forward over reverse.

    Use `hvp` if products with the Hessian suffice.

    Parameters
    ----------
    fn : callable
        A Python function that returns one float, or any function that `jacrev` accepts.
    argnums, argnames
        As for `grad`.
    holomorphic : bool
        Whether `fn` is a holomorphic function of complex arguments, whose complex second
        derivatives are meant. That is checked.
    sparsity, probe
        As for `jacrev`. Symmetry is used: an arrow-shaped Hessian takes two directions.
    remat, memory, offload, parallel, cache, progress, target, deterministic
        As for `grad`.

    Returns
    -------
    callable
        For an argument of shape `s` its result has shape ``s + s``; for several arguments it is a
        tuple of tuples. If `fn` returns arrays, their shapes come first, as in
        ``jacfwd(jacrev(fn))``.

    Examples
    --------
    >>> import numpy as np
    >>> adc.hessian(lambda x: x[0] * x[1] ** 2)(np.array([3.0, 5.0]))
    array([[ 0., 10.],
           [10.,  6.]])
    >>> adc.hessian(lambda x: x**3)(np.array([2.0]))
    array([[[12.]]])
    >>> adc.jacrev(adc.hessian(lambda x: np.sum(x**3)))(np.array([2.0]))
    array([[[6.]]])
    """
    return _jacobian(
        "hessian",
        fn,
        argnums,
        argnames,
        Options.of("hessian", PlanOptions, options),
        False,
        holomorphic,
        sparsity,
        probe,
    )


__all__ = ["hessian", "jacfwd", "jacrev", "value_and_jac"]
