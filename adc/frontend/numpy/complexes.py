"""Complex numbers: parts of them, views as their parts, and the functions of `cmath`.

The arithmetic of complex numbers is that of the rows (`OpDef.parts`), and everything that moves
elements about works on them as on any others.
"""

from __future__ import annotations

import ast
import cmath
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from adc.frontend.control import program
from adc.frontend.core import numbers
from adc.frontend.core.bindings import (
    ArrayRef,
    Axis,
    Binding,
    Lazy,
    Num,
    TupleOf,
    Window,
    shares,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.numpy import ufuncs
from adc.frontend.values import arguments, arrays, elementwise, operators, views
from adc.frontend.values.arguments import Handler
from adc.frontend.values.views import Arraylike
from adc.ir.builder import integer
from adc.ir.core import Literal, Operand
from adc.ir.opdef import OPS
from adc.ir.types import BOOL, COMPLEX, FLOAT, INT, PARTS, WHOLES, Scalar
from adc.library.standard import mathematics


def part(lo: Lowerer, operand: Operand, name: str) -> Operand:
    """Return the "real" or "imag" part of a number; those of a real one are itself and 0."""
    ty = numbers.scalar_type(operand)
    if ty.kind == "b" and ty.weak:
        operand, ty = lo.convert(operand, INT), INT
    if ty.kind == "c":
        return numbers.apply(lo, name, operand)
    return operand if name == "real" else numbers.zero_of(ty)


def conjugate(lo: Lowerer, operand: Operand) -> Operand:
    ty = numbers.scalar_type(operand)
    if ty.kind == "c":
        return numbers.apply(lo, "conj", operand)
    return lo.convert(operand, INT) if ty.kind == "b" and ty.weak else operand


def modulus(lo: Lowerer, operand: Operand) -> Operand:
    """Return the absolute value of a complex number; Python's raises if it overflows."""
    found = numbers.apply(lo, "modulus", operand)
    if numbers.scalar_type(operand).weak:
        finite = numbers.apply(lo, "isfinite", operand)
        ok = numbers.apply(lo, "not", numbers.apply(lo, "isinf", found))
        ok = numbers.apply(lo, "or", ok, numbers.apply(lo, "not", finite))
        numbers.check(lo, ok, "OverflowError", "absolute value too large")
    return found


def _each(
    lo: Lowerer, compute: Callable[[Operand], Operand]
) -> Callable[[list[Binding], Any, ast.AST], Binding]:
    """Return what applies a function of a number to an array-like."""

    def run(args: list[Binding], kwargs: Any, node: ast.AST) -> Binding:
        def number(items: list[Binding]) -> Binding:
            operand = elementwise.number(lo, items[0], node)
            return Num(compute(ufuncs.strong(lo, operand)))

        return elementwise.lift(lo, [arrays.as_operand(lo, args[0], node)], number, node)

    return run


def _part(name: str) -> Handler:
    def handler(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
        arguments.arity(lo, args, kwargs, node, 1)
        return elementwise.part(lo, arrays.as_operand(lo, args[0], node), name, node)

    return handler


def conjugated(lo: Lowerer, x: Binding, node: ast.AST) -> Binding:
    """Return the conjugates of a number or an array."""
    return _each(lo, lambda operand: conjugate(lo, operand))([x], {}, node)


def _conjugate(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    arguments.arity(lo, args, kwargs, node, 1)
    return conjugated(lo, args[0], node)


def _angle(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    given = arguments.match(lo, "z deg?", args, kwargs, node)
    degrees = arguments.flag(lo, given.get("deg"), node, "`deg`")

    def angle(operand: Operand) -> Operand:
        re, im = part(lo, operand, "real"), part(lo, operand, "imag")
        if re.type.kind != "f":
            re, im = (lo.convert(each, Scalar("f64")) for each in (re, im))
        found = lo.builder.apply("atan2", im, re)
        factor = Literal(180.0 / np.pi, numbers.scalar_type(found))
        return numbers.apply(lo, "mul", found, factor) if degrees else found

    return _each(lo, angle)([given["z"]], {}, node)


# --- views as another dtype -----------------------------------------------------------------------


def viewed(
    lo: Lowerer, x: Arraylike, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    """Lower ``a.view(dtype)``: of complex numbers as their parts, in turns, and back.

    Parts do not lie side by side here, so these are copies: who writes to one may not read the
    other.
    """
    given = arguments.match(lo, "dtype? type?", args, kwargs, node)
    ty = elementwise.element_type(x)
    dtype = arrays.dtype_argument(lo, given.get("dtype"), node)
    if dtype in (None, ty.dtype) and "type" not in given:
        return elementwise.materialised(lo, views.anew(x), node)
    if "type" in given or dtype not in (PARTS.get(ty.dtype), WHOLES.get(ty.dtype)):
        raise lo.unsupported(
            "a view of an array's bytes as another dtype", node, "convert it with `.astype`"
        )
    dims = views.dims_of(lo, x)
    with lo.at(node):
        if not dims:
            text = "Changing the dtype of a 0d array is only supported if the itemsize is unchanged"
            numbers.check(lo, Literal(False, BOOL), "ValueError", text)
        _require_contiguous(lo, x, node)
        made = _in_turns(lo, x, node) if ty.kind == "c" else _in_pairs(lo, x, node)
    if isinstance(x, ArrayRef):
        shares(made.object, x.object)
        made = replace(made, readonly=None if x.readonly else x.readonly)
    return made


def _require_contiguous(lo: Lowerer, x: Arraylike, node: ast.AST) -> None:
    """Raise unless elements along the last axis are neighbours in memory, as NumPy does."""
    contiguous = views.is_last_axis_contiguous(lo, x) if isinstance(x, ArrayRef) else True
    if contiguous:
        return
    if contiguous is None:
        raise lo.unsupported(
            "a view as another dtype, of an array of unknown strides,", node,
            "make it contiguous, with `.copy()`",
        )  # fmt: skip
    dims = views.dims_of(lo, x)
    ok = numbers.apply(lo, "eq", dims[-1], integer(1))
    for size in dims:
        ok = numbers.apply(lo, "or", ok, numbers.apply(lo, "eq", size, integer(0)))
    text = "To change to a dtype of a different size, the last axis must be contiguous"
    numbers.check(lo, ok, "ValueError", text)


def _every_second(lo: Lowerer, x: Arraylike, first: int, count: Operand) -> Arraylike:
    """Return the view of every second element along the last axis."""
    dims = views.dims_of(lo, x)
    axes = views.whole(dims)
    axes[-1] = Axis(integer(first), ((len(dims) - 1, integer(2)),))
    return views.through(lo, x, Window((*dims[:-1], count), tuple(axes)))


def _in_turns(lo: Lowerer, x: Arraylike, node: ast.AST) -> ArrayRef:
    """Return an array of real and imaginary parts in turns."""
    ty, dims = elementwise.element_type(x).part, views.dims_of(lo, x)
    size = lo.sizes.counts(views.times(lo, dims[-1], integer(2)))
    sizes = (*dims[:-1], size)
    empty = lo.builder.apply("empty", *sizes, params=(ty.dtype,), hint="a")
    made = lo.new_array(empty, sizes, "a")
    for k, name in enumerate(("real", "imag")):
        target = _every_second(lo, made, k, dims[-1])
        assert isinstance(target, ArrayRef)
        elementwise.assign_to(lo, target, elementwise.part(lo, x, name, node), node)
    return made


def _in_pairs(lo: Lowerer, x: Arraylike, node: ast.AST) -> ArrayRef:
    """Return an array of the complex numbers whose parts are two elements."""
    ty, dims = elementwise.element_type(x), views.dims_of(lo, x)
    even = numbers.apply(lo, "eq", lo.builder.apply("mod", dims[-1], integer(2)), integer(0))
    text = (
        "When changing to a larger dtype, its size must be a divisor of the total size in bytes of "
        "the last axis of the array."
    )
    numbers.check(lo, even, "ValueError", text)
    count = lo.sizes.counts(lo.builder.apply("floordiv", dims[-1], integer(2), hint="n"))
    re, im = (elementwise.lazy(lo, _every_second(lo, x, k, count), node) for k in range(2))

    def element(index: Sequence[Operand]) -> Operand:
        return numbers.joined(lo, re.element(index), im.element(index))

    whole = Scalar(WHOLES[ty.dtype])
    pairs = Lazy(re.dims, whole, element, (*re.reads, *im.reads), 1, re.depth + 1)
    return elementwise.stored_new(lo, pairs, whole.dtype, node)


def _is(real: bool) -> Handler:
    """`np.isreal` and `np.iscomplex`: whether imaginary parts are 0."""

    def handler(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
        arguments.arity(lo, args, kwargs, node, 1)

        def ask(items: list[Binding]) -> Binding:
            operand = elementwise.number(lo, items[0], node)
            # Python's numbers have Python's parts, which `np.isreal` compares as they are.
            if not (real and numbers.scalar_type(operand).weak):
                operand = ufuncs.strong(lo, operand)
            im = part(lo, operand, "imag")
            zero = numbers.zero_of(numbers.scalar_type(im))
            return Num(numbers.apply(lo, "eq" if real else "ne", im, zero))

        return elementwise.lift(lo, [arrays.as_operand(lo, args[0], node)], ask, node)

    return handler


def _is_dtype(real: bool) -> Handler:
    """`np.isrealobj` and `np.iscomplexobj`: what the dtype says."""

    def handler(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
        arguments.arity(lo, args, kwargs, node, 1)
        x = arrays.as_operand(lo, args[0], node)
        ty = (
            elementwise.element_type(x) if isinstance(x, ArrayRef | Lazy)
            else numbers.scalar_type(elementwise.number(lo, x, node))
        )  # fmt: skip
        return lo.num((ty.kind == "c") != real)

    return handler


def _complex(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    """Lower ``complex(real, imag)``."""
    given = arguments.match(lo, "real? imag?", args, kwargs, node)
    zero = Literal(0.0, FLOAT)
    re, im = (
        elementwise.number(lo, given[name], node, "`complex`") if name in given else zero
        for name in ("real", "imag")
    )
    if "imag" not in given:
        whole = lo.convert(re, COMPLEX)
        return Num(numbers.weak(lo, whole))
    if "c" in (re.type.kind, im.type.kind):
        i = Literal(1j, COMPLEX)
        return operators.binary(
            lo, ast.Add, Num(numbers.weak(lo, re)),
            operators.binary(lo, ast.Mult, Num(i), Num(numbers.weak(lo, im)), node), node,
        )  # fmt: skip
    re, im = (numbers.weak(lo, lo.convert(each, FLOAT)) for each in (re, im))
    return Num(numbers.joined(lo, re, im))


# --- cmath ----------------------------------------------------------------------------------------


def _argument(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Operand:
    arguments.arity(lo, args, kwargs, node, 1)
    operand = elementwise.number(lo, args[0], node)
    return numbers.weak(lo, lo.convert(operand, COMPLEX))


def _row(name: str) -> Handler:
    """Return a function of `cmath`: NumPy's, which raises where a result is not finite."""

    def handler(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
        return Num(_applied(lo, name, _argument(lo, args, kwargs, node)))

    return handler


def _applied(lo: Lowerer, name: str, z: Operand) -> Operand:
    found = lo.builder.apply(name, z)
    ok = numbers.apply(lo, "isfinite", found)
    ok = numbers.apply(lo, "or", ok, numbers.apply(lo, "not", numbers.apply(lo, "isfinite", z)))
    poles = name in ("log", "log10", "atanh", "atan")
    error = ("ValueError", "math domain error") if poles else ("OverflowError", "math range error")
    numbers.check(lo, ok, *error)
    return found


def _log(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    arguments.arity(lo, args, kwargs, node, 1, 2)
    first = Num(_applied(lo, "log", _argument(lo, args[:1], {}, node)))
    if len(args) == 1:
        return first
    base = Num(_applied(lo, "log", _argument(lo, args[1:], {}, node)))
    return operators.binary(lo, ast.Div, first, base, node)


def _phase(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    z = _argument(lo, args, kwargs, node)
    return Num(lo.builder.apply("atan2", part(lo, z, "imag"), part(lo, z, "real")))


def _polar(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    z = _argument(lo, args, kwargs, node)
    return TupleOf((Num(modulus(lo, z)), _phase(lo, [Num(z)], {}, node)))


def _rect(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    arguments.arity(lo, args, kwargs, node, 2)
    r, angle = (numbers.weak(lo, elementwise.as_float(lo, arg, node)) for arg in args)
    re, im = (numbers.apply(lo, "mul", r, lo.builder.apply(name, angle)) for name in ("cos", "sin"))
    return Num(numbers.joined(lo, re, im))


def _predicate(name: str) -> Handler:
    def handler(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
        z = _argument(lo, args, kwargs, node)
        return Num(lo.exact(numbers.apply(lo, name, z), BOOL))

    return handler


def _isclose(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    def given(arg: Binding, kind: Scalar) -> Binding:
        return Num(numbers.weak(lo, lo.convert(elementwise.number(lo, arg, node), kind)))

    named = {
        name: given(arg, COMPLEX if name in ("a", "b") else FLOAT) for name, arg in kwargs.items()
    }
    pair = [given(arg, COMPLEX) for arg in args]
    fn: Any = mathematics.complex_isclose
    return program.call_function(lo, fn, pair, named, node)


_CMATH = "sqrt exp log10 sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh".split()
HANDLERS: dict[Any, Handler] = {
    np.real: _part("real"), np.imag: _part("imag"), np.conjugate: _conjugate, np.angle: _angle,
    np.isreal: _is(True), np.iscomplex: _is(False), np.isrealobj: _is_dtype(True),
    np.iscomplexobj: _is_dtype(False), complex: _complex,
    cmath.log: _log, cmath.phase: _phase, cmath.polar: _polar, cmath.rect: _rect,
    cmath.isnan: _predicate("isnan"), cmath.isinf: _predicate("isinf"),
    cmath.isfinite: _predicate("isfinite"), cmath.isclose: _isclose,
    **{getattr(cmath, name): _row(OPS[name].name) for name in _CMATH},
}  # fmt: skip
