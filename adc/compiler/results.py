"""Results of compiled code as users get them, and whether they can be differentiated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from adc.compiler import transfers
from adc.compiler.signature import Signature
from adc.frontend.core.bindings import ArrayRef, Binding, Num, TupleOf
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.core.state import Lowered
from adc.frontend.inputs import unflatten
from adc.frontend.inputs.complexes import joined
from adc.frontend.transforms.results import of_patterns, rebuilt
from adc.frontend.values import structures
from adc.functions import name_of, span_of
from adc.ir.errors import NonScalarError
from adc.ir.types import HALF, Scalar
from adc.library.transforms import Level

if TYPE_CHECKING:
    pass


def is_number(lowered: Lowered) -> bool:
    """Whether a function returns one float."""
    return isinstance(lowered.result, Num) and lowered.result.operand.type.kind == "f"


def first_of_pair(fn: Callable[..., Any], lowered: Lowered) -> Binding:
    """Return the differentiated element of a pair with auxiliary results."""
    result = lowered.result
    if not (isinstance(result, TupleOf) and len(result.items) == 2):
        raise NonScalarError(
            f"{_words(fn, lowered)} returns {kind_of(result)}; `has_aux` needs a pair",
            span_of(fn),
            "return (value, auxiliary results)",
        )
    return result.items[0]


def _words(fn: Callable[..., Any], lowered: Lowered) -> str:
    """Return what is lowered in words: a function, or a derivative of it."""
    words = "".join(f"`{level.kind}` of " for level in reversed(lowered.applied))
    return f"{words}{name_of(fn)}()"


def is_differentiable_number(lowered: Lowered, holomorphic: bool) -> bool:
    """Whether a function returns the one number that a gradient is of."""
    return structures.is_complex_number(lowered.result) if holomorphic else is_number(lowered)


def check_result(
    fn: Callable[..., Any], lowered: Lowered, has_aux: bool, holomorphic: bool = False
) -> None:
    """Raise unless the (first) result is one float; of what is `holomorphic` a complex number."""
    result: Binding = first_of_pair(fn, lowered) if has_aux else lowered.result
    if holomorphic:
        if not structures.is_complex_number(result):
            raise NonScalarError(
                f"{_words(fn, lowered)} returns {kind_of(result)}; with `holomorphic` it must be a "
                "complex number",
                span_of(fn), "leave out `holomorphic`, or return a complex number",
            )  # fmt: skip
        return
    if not (isinstance(result, Num) and result.operand.type.kind == "f"):
        floats = any(operand.type.kind == "f" for operand in lowered.fn.results)
        if structures.is_complex_number(result):
            raise NonScalarError(
                f"{_words(fn, lowered)} returns a complex number; the gradient of which real "
                "number is meant?",
                span_of(fn),
                "return `abs(...)` or `.real` of it, or say `holomorphic=True` if it is a "
                "holomorphic function of complex numbers",
            )
        raise NonScalarError(
            f"{_words(fn, lowered)} returns {kind_of(result)}; only one float can be "
            "differentiated",
            span_of(fn),
            ("differentiate a function that reduces it to a number, for instance by a sum"
             if lowered.applied else "return a number, for instance a sum")
            + (", or use `adc.jacrev` or `adc.vjp`" if floats else ""),
        )  # fmt: skip


def check_floats(fn: Callable[..., Any], lowered: Lowered) -> None:
    """Raise unless there is something to differentiate in the results."""
    if not any(operand.type.kind == "f" for operand in lowered.fn.results):
        raise NonScalarError(
            f"{_words(fn, lowered)} returns {kind_of(lowered.result)}; there is no float in it",
            span_of(fn),
            "return floats, or arrays of floats",
        )


def makers_of(lowered: Lowered) -> list[Callable[[Any], Any]]:
    """Return what makes the numbers and arrays of the user's of those that code returns."""
    types = [operand.type for operand in lowered.fn.results]
    return [
        unflatten.number(ty)
        if isinstance(ty, Scalar)
        else unflatten.narrowed
        if ty.dtype == HALF  # of derivatives
        else _as_it_is
        for ty in types
    ]


def arranged(lowered: Lowered) -> Callable[..., Any]:
    """Return what arranges flat results as the Python function returns them."""
    makers = makers_of(lowered)
    match lowered.result:
        case ArrayRef() | Num(array=False):
            (make,) = makers[:1]
            return lambda results, values=(): make(results[0])

    def arrange(results: Sequence[Any], values: Sequence[Any] = ()) -> Any:
        flat = (make(found) for make, found in zip(makers, results, strict=False))
        return rebuilt(lowered.result, lowered.heap, flat)

    return arrange


def _as_it_is(found: Any) -> Any:
    return found


def _with_tangents(lowered: Lowered) -> Callable[..., Any]:
    """Return a function that arranges the results of a tangent's kernel as results and tangents."""
    arrange = arranged(lowered)
    own = lowered.fn.results
    floats = [operand.type.kind == "f" for operand in own]
    kept = of_patterns(lowered.result, lowered.heap)

    def present(results: Sequence[Any], values: Sequence[Any]) -> tuple[Any, Any]:
        dots = iter(results[len(own) :])
        # What is no float does not move.
        flat = [
            next(dots) if moves else found if k in kept else transfers.zeros_like(found)
            for k, (moves, found) in enumerate(zip(floats, results, strict=False))
        ]
        return arrange(results), arrange(flat)

    return present


def presenter(
    lowered: Lowered,
    signature: Signature,
    levels: tuple[Level, ...],
    along: tuple[int, ...] | None,
    pull: tuple[int, ...] | None,
) -> Callable[[Sequence[Any], Sequence[Any]], Any]:
    """Return a function that arranges the kernel's results as the user's.

    It takes the arguments as well.

    The adjoint appends the gradients to the function's own results. Each tangent then appends the
    tangents of all float results, those of value and gradients first-to-last at the very end.
    """
    own = lowered.fn.results
    if pull is not None:
        arrange = signature.arranged(pull)
        return lambda results, values: arrange(results[len(own) :], values)
    if not levels:
        return arranged(lowered) if along is None else _with_tangents(lowered)
    floats = sum(operand.type.kind == "f" for operand in own)
    count = len(signature.positions(levels[-1].argnums))
    order = len(levels) - 1
    size, block = len(own) + count, floats + count
    appended = block
    for _ in range(order):
        size, appended = size + appended, 2 * appended
    # Where the derivative of the asked order begins: its value, and after it its gradients.
    first = size - block if order else 0
    ty = signature.scalar(levels[-2].argnums) if order else own[0].type
    assert isinstance(ty, Scalar)
    number = unflatten.number(ty)

    last = levels[-1]

    def value_at(results: Sequence[Any], first: int) -> Any:
        if last.holomorphic:
            return joined(number(results[first]), number(results[first + 1]))
        return number(results[first])

    def of_level(first: int, end: int) -> Callable[[Sequence[Any], Sequence[Any]], Any]:
        gradients = slice(end - count, end)
        arrange = signature.arranged(last.argnums)
        if not last.with_value:
            return lambda results, values: arrange(results[gradients], values)
        return lambda results, values: (
            value_at(results, first), arrange(results[gradients], values)
        )  # fmt: skip

    value = of_level(first, size)
    if along is not None:
        slope = of_level(size + appended - block, size + appended)
        return lambda results, values: (value(results, values), slope(results, values))
    if not levels[-1].has_aux:
        return value
    gradient = presenter(
        lowered, signature, (replace(levels[-1], kind="grad", has_aux=False),), None, None
    )
    arrange = arranged(lowered)

    def with_aux(results: Sequence[Any], values: Sequence[Any]) -> Any:
        pair = arrange(results)
        found = gradient(results, values)
        return (pair, found) if levels[-1].with_value else (found, pair[1])

    return with_aux
