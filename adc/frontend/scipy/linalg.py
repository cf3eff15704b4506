"""`scipy.linalg`: calls of `adc.library.scipy.linalg`, and what takes tuples of arguments apart."""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adc.frontend.control import program
from adc.frontend.core import dispatch
from adc.frontend.core.bindings import (
    ArrayRef,
    Binding,
    Lazy,
    ListRef,
    Num,
    Static,
    TupleOf,
    Unstable,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.numpy import library
from adc.frontend.values import arguments, arrays, elementwise, views
from adc.frontend.values.arguments import Given, Handler
from adc.frontend.values.elementwise import is_array
from adc.ir.core import Literal
from adc.ir.errors import TypeMismatchError
from adc.library.scipy.linalg import (
    banded,
    equations,
    factors,
    functions,
    solves,
    special,
    triangles,
)

# Whether memory is reused, and how much of it there is: they change no result.
_IGNORED = frozenset("overwrite_a overwrite_b overwrite_ab overwrite_c lwork workers".split())
_FLAGS = frozenset(
    "lower unit_diagonal transposed check_finite permute_l p_indices eigvals_only full_matrices "
    "compute_uv right return_rank compute_expm keepdims".split()
)
_TEXTS = frozenset("mode side assume_a driver method".split())
# What an argument may be; the functions know no other values.
_CHOICES = {
    "mode": ("full", "r", "economic"),
    "side": ("right", "left"),
    "driver": ("evr", "evd", "gvd"),
    "method": ("direct", "bilinear"),
    "assume_a": (
        "diagonal", "tridiagonal", "banded", "upper triangular", "lower triangular", "symmetric",
        "sym", "hermitian", "her", "positive definite", "pos", "general", "gen",
    ),
}  # fmt: skip
# What an argument is where it is left out, for functions that support nothing else.
_ONLY: dict[str, tuple[Any, ...]] = {
    "pivoting": (False,),
    "left": (False,),
    "homogeneous_eigvals": (False,),
    "lapack_driver": ("gesdd", "gelsd"),
    "subset_by_value": (),
    "disp": (),
    "blocksize": (),
}
_HINTS = {
    "pivoting": "leave out `pivoting`, or compute the pivots outside the differentiated function",
    "left": "call `eig(a.conj().T)`, which has the left eigenvectors",
    "homogeneous_eigvals": "leave out `homogeneous_eigvals`",
    "lapack_driver": "leave out `lapack_driver`",
    "subset_by_value": "compute all values, and select some",
    "disp": "leave out `disp`",
    "blocksize": "leave out `blocksize`",
}
# Functions that call routines which programs for a GPU do not have.
_ON_CPU = frozenset(
    "fractional_matrix_power lu_factor lu eigh eigvalsh eig eigvals sqrtm logm solve_sylvester "
    "solve_continuous_lyapunov solve_lyapunov solve_discrete_lyapunov".split()
)


# What stands for a function there.
_ON_DEVICE: dict[Callable[..., Any], Callable[..., Any]] = {
    solves.det: solves.regular_det,
    factors.svd: factors.regular_svd,
}


def prepared(lo: Lowerer, value: Binding, node: ast.Call) -> Binding:
    """Return an array for what is array-like."""
    if isinstance(value, TupleOf | ListRef) or is_array(value):
        value = elementwise.base_of(lo, arrays.as_array(lo, value, node), node)
    return elementwise.materialised(lo, value, node)


def _rank(lo: Lowerer, value: Binding) -> int:
    return views.rank_of(lo, value) if isinstance(value, ArrayRef | Lazy) else 0


def _required(
    lo: Lowerer, name: str, word: str, value: Binding, ranks: Sequence[int], node: ast.Call
) -> None:
    """Refuse an argument that has not as many axes as the function takes."""
    rank = _rank(lo, value)
    if rank in ranks:
        return
    if rank > max(ranks) and not isinstance(value, Num):
        raise lo.unsupported(
            f"`scipy.linalg.{name}` of a stack, an array with {rank} axes,", node,
            f"loop over the stack: `for k in range(len({word})): ...`",
        )  # fmt: skip
    what = "a matrix" if ranks[0] == 2 else "a vector" if ranks == (1,) else "an array"
    raise TypeMismatchError(
        f"`{word}` of `scipy.linalg.{name}` is {kind_of(value)}", lo.span(node), f"pass {what}"
    )


def _known(lo: Lowerer, value: Binding, word: str, node: ast.Call) -> Any:
    """Return a flag or a text of the program, and None for anything else."""
    if isinstance(value, Num):
        return arguments.flag(lo, value, node, f"`{word}`")
    return value.value if isinstance(value, Static) else None


def _checked(lo: Lowerer, name: str, given: Given, node: ast.Call) -> Given:
    """Return the arguments that matter; flags and texts are part of the program."""
    found: Given = {}
    for word, value in given.items():
        if word in _IGNORED:
            continue
        if word in _ONLY:
            if not arguments.is_none(value) and _known(lo, value, word, node) not in _ONLY[word]:
                raise lo.unsupported(f"`scipy.linalg.{name}` with `{word}`", node, _HINTS[word])
            continue
        if arguments.is_none(value):
            continue
        if word in _FLAGS:
            value = lo.num(arguments.flag(lo, value, node, f"`{word}`"))
        if word in _TEXTS:
            text = arguments.text(lo, value, "", node, f"`{word}`")
            if text not in _CHOICES[word]:
                raise lo.unsupported(
                    f"`scipy.linalg.{name}` with `{word}={text!r}`", node,
                    f"`{word}` may be {', '.join(map(repr, _CHOICES[word]))}",
                )  # fmt: skip
        found[word] = value
    return found


def _trans(lo: Lowerer, value: Binding, node: ast.Call) -> Binding:
    if isinstance(value, Static) and value.value in ("N", "T", "C"):
        return lo.num("NTC".index(value.value))
    return lo.num(arguments.constant_int(lo, value, node, "`trans`") % 3)


def _pair(lo: Lowerer, value: Binding, name: str, node: ast.Call) -> Sequence[Binding]:
    items = arguments.sequence(lo, value)
    if items is None or len(items) != 2:
        raise TypeMismatchError(
            f"the first argument of `scipy.linalg.{name}` is {kind_of(value)}", lo.span(node),
            "pass the tuple of two that SciPy's function takes",
        )  # fmt: skip
    return items


def _apart(lo: Lowerer, name: str, given: Given, node: ast.Call) -> Given:
    """Return arguments in which tuples are several ones."""
    found = dict(given)
    if "lu_and_piv" in found:
        found["lu"], found["piv"] = _pair(lo, found.pop("lu_and_piv"), name, node)
    if "c_and_lower" in found:
        found["c"], found["lower"] = _pair(lo, found.pop("c_and_lower"), name, node)
    if "l_and_u" in found:
        found["below"], found["above"] = _pair(lo, found.pop("l_and_u"), name, node)
    if "c_or_cr" in found:
        value = found.pop("c_or_cr")
        if isinstance(value, TupleOf):
            found["c"], found["r"] = _pair(lo, value, name, node)
        else:
            found["c"] = value
    if not arguments.is_none(found.get("subset_by_index")):
        found["first"], found["last"] = _pair(lo, found.pop("subset_by_index"), name, node)
    if "trans" in found:
        found["trans"] = _trans(lo, found["trans"], node)
    if "type" in found:
        arguments.constant_int(lo, found["type"], node, "`type`")
    return found


def call(lo: Lowerer, fn: Callable[..., Any], given: Given, node: ast.Call) -> Binding:
    """Lower a call of a library function."""
    assert isinstance(fn, types.FunctionType)
    found = elementwise.value_of(lo, program.call_function(lo, fn, [], given, node), node)
    # What has no axes SciPy's functions return as a number.
    return Num(found.operand) if isinstance(found, Num) else found


def _function(fn: Callable[..., Any], spec: str, ranks: dict[str, tuple[int, ...]]) -> Handler:
    """Return the handler of a function, with the numbers of axes that its arrays may have."""
    name = fn.__name__

    def handler(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        given = arguments.match(lo, spec, args, kwargs, node)
        if lo.shared.on_device and name in _ON_CPU:
            raise lo.unsupported(
                f"`scipy.linalg.{name}` on a GPU", node, "compute it with `target='cpu'`"
            )
        given = _apart(lo, name, given, node)
        for word, allowed in ranks.items():
            if word in given and not arguments.is_none(given[word]):
                given[word] = prepared(lo, given[word], node)
                _required(lo, name, word, given[word], allowed, node)
        own = _ON_DEVICE.get(fn, fn) if lo.shared.on_device else fn
        return call(lo, own, _checked(lo, name, given, node), node)

    return handler


_MATRIX, _SIDES, _VECTOR = (2,), (1, 2), (1,)
_STACKS = tuple(range(2, 9))
_SOLVE = "overwrite_a? overwrite_b? check_finite?"
_EIGH = "overwrite_a? overwrite_b? type? check_finite? subset_by_index? subset_by_value? driver?"
_TABLE: tuple[tuple[Callable[..., Any], str, dict[str, tuple[int, ...]]], ...] = (
    (solves.solve, f"a b lower? {_SOLVE} assume_a? transposed?",
     {"a": _STACKS, "b": (1, *_STACKS)}),
    (triangles.solve_triangular, "a b trans? lower? unit_diagonal? overwrite_b? check_finite?",
     {"a": _MATRIX, "b": _SIDES}),
    (banded.solve_banded, "l_and_u ab b overwrite_ab? overwrite_b? check_finite?",
     {"ab": _MATRIX, "b": _SIDES}),
    (banded.solveh_banded, "ab b overwrite_ab? overwrite_b? lower? check_finite?",
     {"ab": _MATRIX, "b": _SIDES}),
    (banded.solve_toeplitz, "c_or_cr b check_finite?", {"c": _VECTOR, "r": _VECTOR, "b": _SIDES}),
    (triangles.cholesky, "a lower? overwrite_a? check_finite?", {"a": _STACKS}),
    (triangles.cho_factor, "a lower? overwrite_a? check_finite?", {"a": _MATRIX}),
    (triangles.cho_solve, "c_and_lower b overwrite_b? check_finite?", {"c": _MATRIX, "b": _SIDES}),
    (triangles.lu_factor, "a overwrite_a? check_finite?", {"a": _MATRIX}),
    (triangles.lu_solve, "lu_and_piv b trans? overwrite_b? check_finite?",
     {"lu": _MATRIX, "piv": _VECTOR, "b": _SIDES}),
    (triangles.lu, "a permute_l? overwrite_a? check_finite? p_indices?", {"a": _MATRIX}),
    (solves.inv, "a overwrite_a? check_finite? * assume_a? lower?", {"a": _STACKS}),
    (solves.det, "a overwrite_a? check_finite?", {"a": _STACKS}),
    (solves.norm, "a ord? axis? keepdims? check_finite?", {"a": tuple(range(1, 9))}),
    (solves.pinv, "a * atol? rtol? return_rank? check_finite?", {"a": _MATRIX}),
    (solves.pinvh, "a atol? rtol? lower? return_rank? check_finite?", {"a": _MATRIX}),
    (solves.lstsq, "a b cond? overwrite_a? overwrite_b? check_finite? lapack_driver?",
     {"a": _MATRIX, "b": _SIDES}),
    (factors.eigh, f"a b? * lower? eigvals_only? {_EIGH}", {"a": _MATRIX, "b": _MATRIX}),
    (factors.eigvalsh, f"a b? * lower? {_EIGH}", {"a": _MATRIX, "b": _MATRIX}),
    (factors.eig, "a * left? right? overwrite_a? check_finite? homogeneous_eigvals?",
     {"a": _MATRIX}),
    (factors.eigvals, "a * overwrite_a? check_finite? homogeneous_eigvals?", {"a": _MATRIX}),
    (factors.qr, "a overwrite_a? lwork? mode? pivoting? check_finite?", {"a": _MATRIX}),
    (factors.svd, "a full_matrices? compute_uv? overwrite_a? check_finite? lapack_driver?",
     {"a": _STACKS}),
    (factors.svdvals, "a overwrite_a? check_finite?", {"a": _STACKS}),
    (factors.polar, "a side?", {"a": _MATRIX}),
    (functions.expm, "A", {"A": _STACKS}),
    (functions.expm_frechet, "A E * compute_expm? check_finite?", {"A": _MATRIX, "E": _MATRIX}),
    (functions.expm_cond, "A check_finite?", {"A": _MATRIX}),
    (functions.cosm, "A", {"A": _MATRIX}),
    (functions.sinm, "A", {"A": _MATRIX}),
    (functions.coshm, "A", {"A": _MATRIX}),
    (functions.sinhm, "A", {"A": _MATRIX}),
    (functions.sqrtm, "A disp? blocksize?", {"A": _STACKS}),
    (functions.logm, "A disp?", {"A": _MATRIX}),
    (functions.fractional_matrix_power, "A t", {"A": _MATRIX}),
    (equations.solve_sylvester, "a b q", {"a": _MATRIX, "b": _MATRIX, "q": _MATRIX}),
    (equations.solve_continuous_lyapunov, "a q", {"a": _MATRIX, "q": _MATRIX}),
    (equations.solve_discrete_lyapunov, "a q method?", {"a": _MATRIX, "q": _MATRIX}),
    (special.toeplitz, "c r?", {"c": (1, 0), "r": (1, 0)}),
    (special.circulant, "c", {"c": (1, 0)}),
    (special.hankel, "c r?", {"c": _VECTOR, "r": _VECTOR}),
    (special.companion, "a", {"a": _VECTOR}),
    (special.khatri_rao, "a b", {"a": _MATRIX, "b": _MATRIX}),
    (special.kron, "a b", {"a": _MATRIX, "b": _MATRIX}),
)  # fmt: skip


def _block_diag(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    if kwargs or not args:
        raise lo.unsupported(
            "`scipy.linalg.block_diag` with these arguments", node, "pass one or more matrices"
        )
    blocks = [prepared(lo, arg, node) for arg in args]
    for k, block in enumerate(blocks):
        _required(lo, "block_diag", f"block {k}", block, (2, 1, 0), node)
    fn = special.block_diag
    assert isinstance(fn, types.FunctionType)
    return program.call_function(lo, fn, blocks, {}, node)


def _lstsq(lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call) -> Binding:
    found = _LSTSQ(lo, args, kwargs, node)
    assert isinstance(found, TupleOf)
    x, residues, *rest = found.items
    if arguments.is_none(residues):
        why = "is a number, or an empty array where the matrix has not full rank"
        residues = Unstable(why, lo.span(node))
    return TupleOf((x, residues, *rest))


def _fractional_power(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    given = arguments.match(lo, "A t", args, kwargs, node)
    power = elementwise.value_of(lo, given["t"], node)
    if not isinstance(power, Num) or power.operand.type.kind == "c":
        raise TypeMismatchError(
            f"the exponent of a matrix is {kind_of(power)}", lo.span(node), "pass a real number"
        )
    matrix = given["A"]
    if isinstance(power.operand, Literal):
        if float(power.operand.value).is_integer():
            power = lo.num(int(power.operand.value))  # a whole power, which any matrix has
        else:
            matrix = prepared(lo, matrix, node)
            if isinstance(matrix, ArrayRef | Lazy):
                if elementwise.element_type(matrix).kind in "biu":
                    kind = Static(float)
                    matrix = dispatch.apply(lo, Static(np.asarray), [matrix, kind], {}, node)
    return _POWER(lo, [matrix, power], {}, node)


NAMED = {f"scipy.linalg.{fn.__name__}": _function(fn, spec, ranks) for fn, spec, ranks in _TABLE}
NAMED["scipy.linalg.solve_lyapunov"] = NAMED["scipy.linalg.solve_continuous_lyapunov"]
NAMED["scipy.linalg.block_diag"] = _block_diag
_LSTSQ, NAMED["scipy.linalg.lstsq"] = NAMED["scipy.linalg.lstsq"], _lstsq
_POWER = NAMED["scipy.linalg.fractional_matrix_power"]
NAMED["scipy.linalg.fractional_matrix_power"] = _fractional_power
library.enter_named(NAMED)
