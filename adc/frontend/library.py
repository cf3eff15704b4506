"""Python's and NumPy's functions on scalars: what each becomes.

`math`'s functions return Python floats and raise where NumPy's return NaN or infinity; the checks
that make this true are part of the lowered code.
"""

from __future__ import annotations

import ast
import builtins
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adc.frontend import (
    arguments,
    arrays,
    choosing,
    containers,
    elementwise,
    expressions,
    growing,
    joining,
    linear,
    making,
    moving,
    numbers,
    operators,
    products,
    reductions,
    shaping,
    ufuncs,
    views,
)
from adc.frontend.bindings import (
    NONE,
    ArrayRef,
    Binding,
    Bound,
    DictRef,
    Enumerate,
    Growing,
    Lazy,
    ListRef,
    NamedTuple,
    Num,
    ObjectRef,
    Range,
    RecordOf,
    Reversed,
    Static,
    TupleOf,
    Zip,
    kind_of,
)
from adc.frontend.lower import Lowerer
from adc.frontend.ufuncs import common_type, strong
from adc.ir.builder import integer
from adc.ir.core import Literal, Operand, Print
from adc.ir.errors import TypeMismatchError
from adc.ir.opdef import find
from adc.ir.types import B1, BOOL, F64, FLOAT, INT, NAMES, Scalar

Handler = Callable[[Lowerer, list[Binding], dict[str, Binding], ast.Call], Binding]

# How a function of `math` raises: which arguments are outside its domain, and on overflow.
_DOMAIN: dict[str, str] = {
    "sqrt": "negative", "log": "not positive", "log2": "not positive", "log10": "not positive",
    "log1p": "below -1", "sin": "infinite", "cos": "infinite", "tan": "infinite",
    "asin": "beyond 1", "acos": "beyond 1", "acosh": "below 1", "atanh": "not inside 1",
    "exp": "overflow", "expm1": "overflow", "exp2": "overflow", "sinh": "overflow",
    "cosh": "overflow", "tanh": "", "atan": "", "asinh": "", "cbrt": "", "erf": "", "erfc": "",
    "gamma": "pole", "lgamma": "poles",
}  # fmt: skip


def _float(lo: Lowerer, binding: Binding, node: ast.AST) -> Operand:
    return lo.convert(numbers.number(lo, binding, node), FLOAT)


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _weak(lo: Lowerer, operand: Operand) -> Operand:
    """Return a number as Python's own: what `float`, `int` and `math` give."""
    ty = numbers.scalar_type(operand)
    target = {"b": BOOL, "i": INT, "u": INT, "f": FLOAT}[ty.kind]
    if ty == target:
        return operand
    if isinstance(operand, Literal):
        return Literal(operand.value, target)
    return lo.builder.apply("cast", operand, params=(str(target),))


def _domain(lo: Lowerer, kind: str, x: Operand) -> None:
    """Check the argument of a function of `math`; NaN passes."""

    def const(value: float) -> Literal:
        return Literal(value, FLOAT)

    bad: Operand
    if kind == "negative":
        bad = numbers.apply(lo, "lt", x, const(0.0))
    elif kind == "not positive":
        bad = numbers.apply(lo, "le", x, const(0.0))
    elif kind == "below -1":
        bad = numbers.apply(lo, "le", x, const(-1.0))
    elif kind == "below 1":
        bad = numbers.apply(lo, "lt", x, const(1.0))
    elif kind == "infinite":
        bad = numbers.apply(lo, "isinf", x)
    elif kind == "beyond 1":
        bad = numbers.apply(lo, "gt", numbers.apply(lo, "abs", x), const(1.0))
    elif kind in ("pole", "poles"):
        whole = numbers.apply(lo, "eq", numbers.apply(lo, "floor", x), x)
        bad = numbers.apply(lo, "and", whole, numbers.apply(lo, "le", x, const(0.0)))
        if kind == "poles":  # the logarithm of gamma is infinite at minus infinity
            finite = numbers.apply(lo, "not", numbers.apply(lo, "isinf", x))
            bad = numbers.apply(lo, "and", bad, finite)
    elif kind == "not inside 1":
        bad = numbers.apply(lo, "ge", numbers.apply(lo, "abs", x), const(1.0))
    else:
        return
    numbers.check(lo, numbers.apply(lo, "not", bad), "ValueError", "math domain error")


def _math_row(name: str) -> Handler:
    kind = _DOMAIN[name]

    def handler(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        _arity(lo, args, kwargs, node, 1)
        x = _float(lo, args[0], node)
        _domain(lo, kind, x)
        result = lo.builder.apply(name, x)
        if kind in ("overflow", "pole", "poles"):
            numbers.finite_result(lo, result, x, "math range error")
        return Num(_weak(lo, result))

    return handler


def _arity(
    lo: Lowerer,
    args: Sequence[Binding],
    kwargs: dict[str, Binding],
    node: ast.Call,
    low: int,
    high: int | None = None,
) -> None:
    if kwargs or not low <= len(args) <= (low if high is None else high):
        raise lo.unsupported(f"`{ast.unparse(node.func)}` with these arguments", node)


def _math_binary(name: str) -> Handler:
    def handler(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        _arity(lo, args, kwargs, node, 2)
        a, b = _float(lo, args[0], node), _float(lo, args[1], node)
        if name == "fmod":
            zero = numbers.apply(lo, "eq", b, Literal(0.0, FLOAT))
            number = [numbers.apply(lo, "not", numbers.apply(lo, "isnan", v)) for v in (a, b)]
            zero = numbers.apply(lo, "and", zero, number[0])
            infinite = numbers.apply(lo, "and", numbers.apply(lo, "isinf", a), number[1])
            bad = numbers.apply(lo, "or", zero, infinite)
            numbers.check(lo, numbers.apply(lo, "not", bad), "ValueError", "math domain error")
        return Num(_weak(lo, lo.builder.apply(name, a, b)))

    return handler


def _math_pow(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    _arity(lo, args, kwargs, node, 2)
    a, b = _float(lo, args[0], node), _float(lo, args[1], node)
    return Num(_weak(lo, numbers.math_power(lo, _weak(lo, a), _weak(lo, b))))


def _math_log(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    _arity(lo, args, kwargs, node, 1, 2)
    first = _math_row("log")(lo, [args[0]], {}, node)
    if len(args) == 1:
        return first
    base = _math_row("log")(lo, [args[1]], {}, node)
    return operators.binary(lo, ast.Div, first, base, node)


def _math_hypot(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    if kwargs or not args:
        raise lo.unsupported("this call of `math.hypot`", node)
    result = _float(lo, args[0], node)
    if len(args) == 1:
        return Num(_weak(lo, numbers.apply(lo, "abs", result)))
    for arg in args[1:]:
        result = lo.builder.apply("hypot", result, _float(lo, arg, node))
    return Num(_weak(lo, result))


def _scaled(factor: float, weak: bool) -> Handler:
    def handler(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        _arity(lo, args, kwargs, node, 1)
        x = numbers.number(lo, args[0], node)
        ty = numbers.scalar_type(x)
        if not weak and (ty.kind == "b" or ty.dtype in ("i8", "u8", "i16", "u16")):
            raise lo.unsupported(f"`{ast.unparse(node.func)}` on {ty.numpy}", node, "convert it")
        x = lo.convert(x, ty if ty.kind == "f" else FLOAT)
        x = _weak(lo, lo.convert(x, FLOAT)) if weak else strong(lo, x)
        return Num(numbers.apply(lo, "mul", x, Literal(factor, numbers.scalar_type(x))))

    return handler


def _predicate(name: str) -> Handler:
    def handler(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        _arity(lo, args, kwargs, node, 1)
        return Num(_weak(lo, numbers.apply(lo, name, _float(lo, args[0], node))))

    return handler


def _fabs(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    _arity(lo, args, kwargs, node, 1)
    return Num(_weak(lo, numbers.apply(lo, "abs", _float(lo, args[0], node))))


def _to_integer(row: str) -> Handler:
    """`int`, `round`, `math.floor` and relatives: a Python integer, or what Python raises."""

    def handler(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        if row == "rint" and (len(args) == 2 or kwargs):
            raise lo.unsupported("`round` with a number of digits", node)
        if row == "trunc" and not args and not kwargs:
            return Num(integer(0))
        _arity(lo, args, kwargs, node, 1)
        x = numbers.number(lo, args[0], node)
        ty = numbers.scalar_type(x)
        if row == "rint" and ty == B1:
            raise TypeMismatchError("NumPy does not round truth values", lo.span(node))
        if row in ("floor", "ceil") and ty.dtype in ("i64", "u64") and not ty.weak:
            x, ty = lo.convert(x, F64), F64  # `math` goes through float for NumPy's integers
        if ty.kind != "f":
            return Num(_weak(lo, numbers.to_int(lo, x)))
        whole = x if row == "trunc" else numbers.apply(lo, row, x)
        number = numbers.apply(lo, "not", numbers.apply(lo, "isnan", x))
        numbers.check(lo, number, "ValueError", "cannot convert float NaN to integer")
        finite = numbers.apply(lo, "isfinite", x)
        numbers.check(lo, finite, "OverflowError", "cannot convert float infinity to integer")
        size = numbers.apply(lo, "lt", numbers.apply(lo, "abs", x), Literal(2.0**63, ty))
        numbers.check(lo, size, "OverflowError", "adc computes Python integers in 64 bits")
        return Num(_weak(lo, lo.convert(whole, INT)))

    return handler


def _to_float(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    _arity(lo, args, kwargs, node, 0, 1)
    if not args:
        return lo.num(0.0)
    if isinstance(args[0], Static) and isinstance(args[0].value, str):
        try:
            return lo.num(float(args[0].value))
        except ValueError as error:
            numbers.check(lo, Literal(False, BOOL), "ValueError", _escaped(str(error)))
    return Num(_weak(lo, _float(lo, args[0], node)))


def _to_bool(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    _arity(lo, args, kwargs, node, 0, 1)
    return Num(_weak(lo, operators.truth(lo, args[0], node))) if args else lo.num(False)


def _abs(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    _arity(lo, args, kwargs, node, 1)
    x = numbers.number(lo, args[0], node)
    if x.type.kind == "b":
        x = lo.convert(x, INT) if numbers.scalar_type(x).weak else x
        if x.type.kind == "b":
            return Num(x)
    if isinstance(x, Literal) and x.type == INT:
        return Num(x if x.value >= 0 else numbers.negated(lo, x, node))
    return Num(x) if x.type.kind == "u" else Num(numbers.apply(lo, "abs", x))


def _extreme(op: type[ast.cmpop]) -> Handler:
    def handler(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        if kwargs:
            raise lo.unsupported("`min` or `max` with keywords", node)
        items = args
        if len(args) == 1:
            array = _as_elements(lo, args[0], node)
            if array is not None:
                name = "min" if op is ast.Lt else "max"
                found = reductions.HANDLERS[name](lo, [array], {}, node)
                return (
                    Num(_weak(lo, numbers.number(lo, found, node))) if _is_list(args[0]) else found
                )
            items = list(expressions.static_sequence(lo, args[0], node))
        if not items:
            raise TypeMismatchError("`min` or `max` of nothing", lo.span(node))
        best = items[0]
        for item in items[1:]:
            # Python keeps the first of equals, and compares as `item < best`.
            better = operators.compare(lo, op(), item, best, node)
            a, b = numbers.number(lo, item, node), numbers.number(lo, best, node)
            if a.type != b.type:
                a, b, _ = numbers.promoted(lo, a, b, node)
            if isinstance(better, Literal):
                best = Num(a if better.value else b)
            else:
                best = Num(numbers.select(lo, better, a, b))
        return best

    return handler


def _len(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    _arity(lo, args, kwargs, node, 1)
    match args[0]:
        case ArrayRef() | Lazy():
            dims = views.dims_of(lo, args[0])
            if not dims:
                raise TypeMismatchError("len() of unsized object", lo.span(node))
            return Num(dims[0])
        case ListRef() if isinstance(lo.held(args[0]), Growing):
            held = lo.held(args[0])
            assert isinstance(held, Growing)
            return held.length
        case Static(value=value) if isinstance(value, str | list | dict | tuple):
            return Num(integer(len(value)))
        case Range(start=start, stop=stop, step=step):
            row = lo.builder.apply("trips", start.operand, stop.operand, step.operand)
            return Num(lo.counts(row))
    items = containers.static_items(lo, args[0])
    if items is not None:
        return Num(integer(len(items)))
    raise TypeMismatchError(f"len() of {kind_of(args[0])}", lo.span(node))


def _range(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    _arity(lo, args, kwargs, node, 1, 3)
    numbers_: list[Num] = []
    for arg in args:
        operand = numbers.number(lo, arg, node)
        if operand.type.kind == "f" or operand.type == B1:
            raise TypeMismatchError(f"range() needs integers, not {kind_of(arg)}", lo.span(node))
        numbers_.append(Num(_weak(lo, numbers.to_int(lo, operand))))
    if len(numbers_) == 1:
        return Range(Num(integer(0)), numbers_[0], Num(integer(1)))
    step = numbers_[2] if len(numbers_) == 3 else Num(integer(1))
    nonzero = numbers.apply(lo, "ne", step.operand, integer(0))
    numbers.check(lo, nonzero, "ValueError", "range() arg 3 must not be zero")
    return Range(numbers_[0], numbers_[1], step)


def _enumerate(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    start = kwargs.get("start", args[1] if len(args) > 1 else lo.num(0))
    if not args or not isinstance(start, Num) or set(kwargs) - {"start"}:
        raise lo.unsupported("this call of `enumerate`", node)
    inner = elementwise.materialised(lo, args[0], node)
    return Enumerate(inner, Num(lo.convert(start.operand, INT)))


def _zip(lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call) -> Binding:
    if set(kwargs) - {"strict"}:
        raise lo.unsupported("`zip` with keywords", node)
    if arguments.flag(lo, kwargs.get("strict"), node, "`strict`"):
        sizes = [_iterations(lo, arg, node) for arg in args]
        for size in sizes[1:]:
            text = "zip() arguments are of different lengths"
            elementwise.require_same(lo, sizes[0], size, text, [], node)
    return Zip(tuple(elementwise.materialised(lo, arg, node) for arg in args))


def _iterations(lo: Lowerer, iterable: Binding, node: ast.AST) -> Operand:
    items = containers.static_items(lo, iterable)
    if items is not None:
        return integer(len(items))
    if isinstance(iterable, ArrayRef) and views.dims_of(lo, iterable):
        return views.dims_of(lo, iterable)[0]
    raise lo.unsupported(f"`zip` with `strict` of {kind_of(iterable)}", node, "leave it out")


def _slice(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    if kwargs or not 1 <= len(args) <= 3:
        raise TypeMismatchError("`slice` takes one to three arguments", lo.span(node))
    ends = [NONE, *args, NONE] if len(args) == 1 else [*args, NONE][:3]
    return NamedTuple(slice, RecordOf(("start", "stop", "step"), tuple(ends)))


def _shape(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    _arity(lo, args, kwargs, node, 1)
    dims = views.dims_of(lo, arrays.as_array(lo, args[0], node))
    return TupleOf(tuple(Num(size) for size in dims))


def _size(lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call) -> Binding:
    given = arguments.match(lo, "a axis?", args, kwargs, node)
    dims = views.dims_of(lo, arrays.as_array(lo, given["a"], node))
    chosen = arguments.axes(lo, given.get("axis"), len(dims), node)
    return Num(views.size_of(lo, [dims[k] for k in chosen]))


def _ndim(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    _arity(lo, args, kwargs, node, 1)
    return lo.num(len(views.dims_of(lo, arrays.as_array(lo, args[0], node))))


def _numpy_divmod(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    _arity(lo, args, kwargs, node, 2)
    args = [elementwise.materialised(lo, arg, node) for arg in args]
    found = [ufuncs.call(lo, find(fn), list(args), {}, node)  # type: ignore[arg-type]
             for fn in (np.floor_divide, np.remainder)]  # fmt: skip
    return TupleOf(tuple(found))


def _reversed(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    _arity(lo, args, kwargs, node, 1)
    return Reversed(elementwise.materialised(lo, args[0], node))


def _divmod(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    _arity(lo, args, kwargs, node, 2)
    a, b = (numbers.number(lo, arg, node, "`divmod`") for arg in args)
    quotient, remainder = numbers.divmod_(lo, a, b, node)
    return TupleOf((Num(quotient), Num(remainder)))


def _pow(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    _arity(lo, args, kwargs, node, 2)
    return operators.binary(lo, ast.Pow, args[0], args[1], node)


def _sum(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    _arity(lo, args, {k: v for k, v in kwargs.items() if k != "start"}, node, 1, 2)
    return total(lo, args[0], args[1] if len(args) > 1 else kwargs.get("start", lo.num(0)), node)


def total(lo: Lowerer, items: Binding, result: Binding, node: ast.AST) -> Binding:
    """Lower ``sum(items, result)``."""
    array = _as_elements(lo, items, node, of_arrays=True)
    if array is not None:
        found = reductions.total(lo, elementwise.lazy(lo, array, node), [0], False, node)
        if isinstance(found, Num) and _is_list(items):
            found = Num(_weak(lo, found.operand))
        elif _is_list(items) and isinstance(found, ArrayRef | Lazy):
            # Python's sum keeps the dtype, NumPy's has 64 bits.
            ty = arrays.element_type(array)
            if ty.kind in "iu":
                found = reductions.converted(lo, elementwise.lazy(lo, found, node), ty, node)
        return operators.binary(lo, ast.Add, result, found, node)
    for item in expressions.static_sequence(lo, items, node):
        result = operators.binary(lo, ast.Add, result, item, node)
    return result


def _is_list(binding: Binding) -> bool:
    return isinstance(binding, ListRef)


def _as_elements(
    lo: Lowerer, binding: Binding, node: ast.AST, of_arrays: bool = False
) -> ArrayRef | Lazy | None:
    """Return the array that holds the elements of an iterable, if one does."""
    if isinstance(binding, ArrayRef | Lazy) and views.dims_of(lo, binding):
        return binding
    if isinstance(binding, ListRef):
        held = lo.held(binding)
        if not isinstance(held, Growing):
            return None
        if growing.has_arrays(held.element) and not of_arrays:
            raise TypeMismatchError(
                "The truth value of an array with more than one element is ambiguous",
                lo.span(node), "use functions of NumPy on `np.array(...)` of the list",
            )  # fmt: skip
        return growing.array_of(lo, held, node)
    return None


def _tuple(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    return TupleOf(_elements(lo, args[0], node)) if args else TupleOf(())


def _elements(lo: Lowerer, binding: Binding, node: ast.AST) -> tuple[Binding, ...]:
    return expressions.static_sequence(lo, elementwise.materialised(lo, binding, node), node)


def _list(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    _arity(lo, args, kwargs, node, 0, 1)
    if args and isinstance(args[0], ListRef):
        held = lo.held(args[0])
        if isinstance(held, Growing):
            return growing.copied(lo, held, node)
    items = _elements(lo, args[0], node) if args else ()
    return lo.new_ref(ListRef, TupleOf(items))


def _dict(lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call) -> Binding:
    record = RecordOf((), ())
    for arg in args:
        if isinstance(arg, DictRef):
            record = lo.record(arg)
            continue
        for pair in expressions.static_sequence(lo, arg, node):
            key, value = expressions.unpack(lo, pair, node, 2)
            record = record.with_item(containers.key_of(lo, key, node), value)
    for name, value in kwargs.items():
        record = record.with_item(name, elementwise.materialised(lo, value, node))
    return lo.new_ref(DictRef, record)


def _isinstance(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    _arity(lo, args, kwargs, node, 2)
    wanted = args[1]
    classes = [
        item.value
        for item in (wanted.items if isinstance(wanted, TupleOf) else (wanted,))
        if isinstance(item, Static)
    ]
    cls = class_of(args[0])
    if cls is None or not all(isinstance(c, type) for c in classes):
        raise lo.unsupported(f"`isinstance` of {kind_of(args[0])}", node)
    return lo.num(any(issubclass(cls, c) for c in classes))


def class_of(binding: Binding) -> type | None:
    """Return the class of what a binding denotes."""
    match binding:
        case Num(operand=operand):
            ty = numbers.scalar_type(operand)
            if ty.weak:
                return {"b": bool, "i": int, "f": float}[ty.kind]
            return ty.numpy.type
        case ArrayRef() | Lazy():
            return np.ndarray
        case TupleOf():
            return tuple
        case ListRef():
            return list
        case DictRef():
            return dict
        case NamedTuple(cls=cls) | ObjectRef(cls=cls):
            return cls
        case Static(value=value):
            return type(value)
    return None


def _sorted(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    raise lo.unsupported("`sorted`", node, "use `np.sort` on an array")


def _print(lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call) -> Binding:
    between = arguments.text(lo, kwargs.get("sep"), " ", node, "`sep`")
    end = arguments.text(lo, kwargs.get("end"), "\n", node, "`end`")
    if end != "\n" or set(kwargs) - {"sep", "end", "flush"}:
        raise lo.unsupported("`print` with these keywords", node)
    if any(isinstance(arg, ast.Starred) for arg in node.args):
        raise lo.unsupported("`print` of a starred argument", node)
    texts: list[str] = []
    operands: list[Operand] = []
    for binding, arg in zip(args, node.args, strict=True):
        text, values = (
            expressions.message(lo, arg)
            if isinstance(arg, ast.JoinedStr)
            else expressions.text_of(lo, binding, arg)
        )
        texts.append(text)
        operands += values
    lo.builder.emit(
        Print(expressions.escaped(between).join(texts), tuple(operands), lo.builder.loc)
    )
    return NONE


def choose(lo: Lowerer, args: Sequence[Binding], node: ast.AST) -> Binding:
    """Lower `np.where` of numbers."""
    cond = operators.truth(lo, args[0], node)
    a, b = (numbers.number(lo, arg, node, "`np.where`") for arg in args[1:])
    ty = common_type([a, b])
    a, b = (strong(lo, numbers.fit(lo, x, ty, node)) for x in (a, b))
    if isinstance(cond, Literal):
        return Num(a if cond.value else b)
    return Num(lo.builder.apply("select", cond, a, b))


def _clip(lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call) -> Binding:
    spec = "a a_min? a_max? out? * min? max?"
    found = arguments.match(lo, spec, args, kwargs, node)
    low = found.get("a_min", found.get("min", NONE))
    high = found.get("a_max", found.get("max", NONE))
    given = [arrays.as_operand(lo, x, node) for x in (found["a"], low, high)]
    result = elementwise.lift(lo, given, lambda items: _clipped(lo, items, node), node)
    return reductions.finish_out(lo, result, found.get("out"), node)


def _clipped(lo: Lowerer, args: list[Binding], node: ast.Call) -> Binding:
    given = [arg for arg in args if not (isinstance(arg, Static) and arg.value is None)]
    operands = [numbers.number(lo, arg, node, "`np.clip`") for arg in given]
    ty = common_type(operands)
    if ty.kind == "b":
        raise lo.unsupported("`np.clip` of truth values", node)
    result = strong(lo, numbers.fit(lo, numbers.number(lo, args[0], node), ty, node))
    for bound, row in ((args[1], "maximum"), (args[2], "minimum")):
        if isinstance(bound, Num):
            limit = strong(lo, numbers.fit(lo, bound.operand, ty, node))
            result = numbers.apply(lo, row, result, limit)
    return Num(result)


def _numpy_power(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    _arity(lo, args, kwargs, node, 2)
    a, b = (numbers.number(lo, arg, node, "`np.power`") for arg in args)
    ty = common_type([a, b])
    if ty.kind == "b":
        raise lo.unsupported("`np.power` of truth values", node)
    a, b = (lo.convert(x, ty) if x.type == BOOL else x for x in (a, b))
    return Num(strong(lo, numbers.power(lo, strong(lo, a), b, node)))


def _float_power(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    _arity(lo, args, kwargs, node, 2)
    a, b = (numbers.number(lo, arg, node, "`np.float_power`") for arg in args)
    a, b = (strong(lo, lo.convert(x, F64)) for x in (a, b))
    return Num(numbers.power(lo, a, b, node))


def _rounded(row: str) -> Handler:
    """`np.round` and `np.fix`, which are no ufuncs."""

    def handler(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        decimals = args[1] if len(args) > 1 else kwargs.get("decimals", lo.num(0))
        places = arguments.constant_int(lo, decimals, node, "the number of decimals")
        x = strong(lo, numbers.number(lo, args[0], node, f"`{ast.unparse(node.func)}`"))
        if x.type.kind == "b":
            raise lo.unsupported("rounding a truth value", node)
        if places and x.type.kind == "f":
            # As NumPy does it.
            ty = numbers.scalar_type(x)
            factor = Literal(float(10 ** abs(places)), ty)
            before, after = ("mul", "truediv") if places > 0 else ("truediv", "mul")
            x = numbers.apply(lo, "rint", numbers.apply(lo, before, x, factor))
            return Num(numbers.apply(lo, after, x, factor))
        if places < 0:
            raise lo.unsupported("rounding integers to tens", node, "divide and multiply")
        return Num(numbers.apply(lo, row, x) if x.type.kind == "f" else x)

    return handler


def _reciprocal(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    _arity(lo, args, kwargs, node, 1)
    x = numbers.number(lo, args[0], node)
    if x.type.kind != "f":
        raise lo.unsupported("`np.reciprocal` of an integer", node)
    return Num(numbers.apply(lo, "reciprocal", strong(lo, x)))


def _positive(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    _arity(lo, args, kwargs, node, 1)
    x = numbers.number(lo, args[0], node, "`np.positive`")
    if x.type.kind == "b":
        raise TypeMismatchError("NumPy has no sign of a truth value", lo.span(node))
    return Num(strong(lo, x))


def _numpy_copy(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    given = arguments.match(lo, "a order?", args, kwargs, node)
    return arrays.copy(lo, arrays.as_array(lo, given["a"], node), node)


def _logical(name: str) -> Handler:
    def handler(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        _arity(lo, args, kwargs, node, 1 if name == "not" else 2)
        values = [operators.truth(lo, arg, node) for arg in args]
        return Num(strong(lo, numbers.apply(lo, name, *values)))

    return handler


def _ldexp(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    _arity(lo, args, kwargs, node, 2)
    x, k = _float(lo, args[0], node), numbers.number(lo, args[1], node)
    if k.type not in (INT, BOOL):
        raise TypeMismatchError("`math.ldexp` needs a Python int as exponent", lo.span(node))
    k = lo.convert(k, FLOAT)
    # In two steps: 2 ** k alone may overflow.
    half = numbers.apply(lo, "floor", numbers.apply(lo, "mul", k, Literal(0.5, FLOAT)))
    result: Operand = x
    for part in (half, numbers.apply(lo, "sub", k, half)):
        result = numbers.apply(lo, "mul", result, lo.builder.apply("exp2", part))
    numbers.finite_result(lo, result, x, "math range error")
    return Num(_weak(lo, result))


def _gcd(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    _arity(lo, args, kwargs, node, 2)
    found = [numbers.number(lo, arg, node) for arg in args]
    if any(x.type.kind == "f" or x.type == B1 for x in found):
        raise TypeMismatchError("`math.gcd` needs integers", lo.span(node))
    a, b = (numbers.to_int(lo, x) for x in found)
    return Num(_weak(lo, lo.builder.apply("gcd", a, b)))


def _creation(kind: str) -> Handler:
    return lambda lo, args, kwargs, node: arrays.create(lo, kind, args, kwargs, node)


def _dtype_call(
    lo: Lowerer, dtype: np.dtype[Any], args: list[Binding], kwargs: Any, node: ast.Call
) -> Binding:
    """Lower ``np.float32(x)`` and its relatives."""
    _arity(lo, args, kwargs, node, 0, 1)
    if dtype not in NAMES:
        raise lo.unsupported(f"dtype {dtype}", node)
    ty = Scalar(NAMES[dtype])
    if not args:
        return Num(lo.convert(Literal(0, INT), ty))
    x = numbers.number(lo, args[0], node)
    if ty.kind == "b":
        return Num(strong(lo, operators.truth(lo, args[0], node)))
    x = numbers.stored(lo, x, ty, node)
    return Num(strong(lo, x))


_HANDLERS: dict[Any, Handler] = {
    abs: _abs, min: _extreme(ast.Lt), max: _extreme(ast.Gt), len: _len, range: _range,
    slice: _slice, np.shape: _shape, np.size: _size, np.ndim: _ndim,
    np.divmod: _numpy_divmod,
    enumerate: _enumerate, zip: _zip, reversed: _reversed, divmod: _divmod, pow: _pow,
    sum: _sum, tuple: _tuple, print: _print, int: _to_integer("trunc"), round: _to_integer("rint"),
    float: _to_float, bool: _to_bool, list: _list, dict: _dict, isinstance: _isinstance,
    math.floor: _to_integer("floor"), math.ceil: _to_integer("ceil"),
    math.trunc: _to_integer("trunc"), math.pow: _math_pow, math.log: _math_log,
    math.hypot: _math_hypot, math.fabs: _fabs, math.degrees: _scaled(180.0 / math.pi, True),
    math.radians: _scaled(math.pi / 180.0, True), math.isnan: _predicate("isnan"),
    math.isinf: _predicate("isinf"), math.isfinite: _predicate("isfinite"),
    math.copysign: _math_binary("copysign"), math.atan2: _math_binary("atan2"),
    math.fmod: _math_binary("fmod"), math.nextafter: _math_binary("nextafter"),
    math.ldexp: _ldexp, math.gcd: _gcd, math.prod: lambda lo, a, k, n: _prod(lo, a, k, n),
    np.reciprocal: _reciprocal, np.positive: _positive, np.power: _numpy_power,
    np.clip: _clip, np.copy: _numpy_copy, np.float_power: _float_power, np.round: _rounded("rint"),
    np.around: _rounded("rint"),
    np.fix: _rounded("trunc"), np.logical_xor: _logical("ne"),
    np.deg2rad: _scaled(math.pi / 180.0, False), np.radians: _scaled(math.pi / 180.0, False),
    np.rad2deg: _scaled(180.0 / math.pi, False), np.degrees: _scaled(180.0 / math.pi, False),
    np.logical_and: _logical("and"), np.logical_or: _logical("or"), np.logical_not: _logical("not"),
}  # fmt: skip
_HANDLERS.update({getattr(math, name): _math_row(name) for name in _DOMAIN if name != "log"})
_HANDLERS.update(
    {
        getattr(np, kind): _creation(kind)
        for base in ("zeros", "ones", "empty", "full")
        for kind in (base, f"{base}_like")
    }
)


def _prod(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    _arity(lo, args, kwargs, node, 1)
    if not isinstance(args[0], TupleOf):
        raise lo.unsupported(f"`math.prod` of {kind_of(args[0])}", node, "write a loop")
    result: Binding = lo.num(1)
    for item in args[0].items:
        result = operators.binary(lo, ast.Mult, result, item, node)
    return result


# Functions of numbers that NumPy applies to arrays element by element.
_LIFTED = {
    np.reciprocal, np.positive, np.power, np.float_power, np.round, np.around, np.fix,
    np.logical_xor, np.deg2rad, np.radians, np.rad2deg, np.degrees, np.logical_and, np.logical_or,
    np.logical_not, abs, divmod,
}  # fmt: skip
# By name, for methods of arrays are such functions too.
_ARRANGED = {
    **shaping.HANDLERS, **joining.HANDLERS, **moving.HANDLERS, **making.HANDLERS,
    **choosing.HANDLERS,
}  # fmt: skip
# Methods of arrays that are no functions of NumPy, or have other names there.
_ARRAY_METHODS = ("astype", "flatten", "tolist")
METHODS = frozenset(
    name
    for name in [
        *reductions.HANDLERS, *_ARRANGED, "copy", "fill", "item", "round", "clip", "dot",
        "trace", "sort", "argsort", "conj", "__len__",
    ]
    if hasattr(np.ndarray, name)
)  # fmt: skip


def of_generator(lo: Lowerer, callee: Binding, node: ast.Call) -> Binding | None:
    """Lower ``sum``, ``any`` and ``all`` of a generator over a length known only at run time."""
    if not isinstance(callee, Static) or callee.value not in (sum, any, all) or node.keywords:
        return None
    if not node.args or not isinstance(node.args[0], ast.GeneratorExp):
        return None
    generator = node.args[0]
    if expressions.is_static(lo, generator.generators) and callee.value is sum:
        return None
    rest = [expressions.lower_expr(lo, arg) for arg in node.args[1:]]
    return growing.reduced(lo, callee.value.__name__, generator, rest)


def _truths_of(name: str) -> Handler:
    """Python's `any` and `all` of elements whose number is part of the program, or of an array."""

    def handler(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
        _arity(lo, args, kwargs, node, 1)
        array = _as_elements(lo, args[0], node)
        if array is not None:
            found = reductions.HANDLERS[name](lo, [array], {}, node)
            return Num(_weak(lo, numbers.number(lo, found, node)))
        result: Operand = Literal(name == "all", BOOL)
        for item in expressions.static_sequence(lo, args[0], node):
            row = "and" if name == "all" else "or"
            result = numbers.apply(lo, row, result, _weak(lo, operators.truth(lo, item, node)))
        return Num(result)

    return handler


_HANDLERS.update(linear.HANDLERS)
_HANDLERS.update({any: _truths_of("any"), all: _truths_of("all")})
for _table in (reductions.HANDLERS, products.HANDLERS, _ARRANGED):
    _HANDLERS.update(
        {getattr(np, name): handler for name, handler in _table.items() if hasattr(np, name)}
    )
for _name in ("matmul", "outer", "trace", "tensordot"):
    if hasattr(np.linalg, _name):
        _HANDLERS[getattr(np.linalg, _name)] = products.HANDLERS[_name]


def method(
    lo: Lowerer, bound: Bound, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    """Lower a call of a method of an array: the function of that name, unless it differs."""
    owner, name = bound.owner, bound.name
    assert isinstance(owner, ArrayRef | Lazy)
    if name in ("reshape", "transpose") and len(args) > 1:
        args = [TupleOf(tuple(args))]
    if name == "item":
        if not args:
            dims = views.dims_of(lo, owner)
            for size in dims:
                text = "can only convert an array of size 1 to a Python scalar"
                elementwise.require_same(lo, size, integer(1), text, [], node)
            args = [lo.num(0) for _ in dims]
        dims = views.dims_of(lo, owner)
        if len(args) == 1 and len(dims) != 1:
            owner = views.reshaped(lo, owner, [views.size_of(lo, dims)])
        index = arrays.index_of(lo, owner, args, node)
        return Num(_weak(lo, elementwise.lazy(lo, owner, node).element(index)))
    if name == "fill":
        if not isinstance(owner, ArrayRef):
            return NONE
        arrays.fill(lo, owner, args[0], node)
        return NONE
    if name in ("conj",):
        return owner
    if name in linear.METHODS:
        return linear.METHODS[name](lo, [owner, *args], kwargs, node)
    if name == "__len__":
        return Num(views.dims_of(lo, owner)[0])
    handler = {"round": _HANDLERS[np.round], "clip": _clip, "copy": _numpy_copy}.get(name)
    if handler is None:
        handler = _ARRANGED.get(name) or reductions.HANDLERS.get(name)
    handler = handler or products.HANDLERS.get(name) or _HANDLERS[getattr(np, name)]
    if name == "compress":
        return handler(lo, [args[0], owner, *args[1:]], kwargs, node)
    if name == "round":
        return elementwise.lift(
            lo, [owner], lambda items: handler(lo, [*items, *args], kwargs, node), node
        )
    return handler(lo, [owner, *args], kwargs, node)


def has(callee: Any) -> bool:
    """Whether calls of a function of Python or NumPy are lowered."""
    return callee in _HANDLERS


def is_number_type(cls: type) -> bool:
    """Whether a NumPy scalar type is one of the dtypes that adc computes in."""
    try:
        return np.dtype(cls) in NAMES
    except TypeError:
        return False


def call(
    lo: Lowerer, callee: Any, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding | None:
    """Lower a call of a builtin or library function, or return None if it is not in the tables."""
    try:
        handler = _HANDLERS.get(callee)
    except TypeError:  # unhashable
        return None
    owner = getattr(callee, "__self__", None)
    if isinstance(owner, np.ufunc):
        return ufuncs.method(lo, owner, callee.__name__, args, kwargs, node)
    if handler is not None:
        if callee in _LIFTED:
            operands = [arrays.as_operand(lo, arg, node) for arg in args]
            if any(elementwise.is_array(arg) for arg in operands):
                out = kwargs.pop("out", None)
                found = elementwise.lift(
                    lo, operands, lambda items: handler(lo, items, kwargs, node), node
                )
                return reductions.finish_out(lo, found, out, node)
        return handler(lo, args, kwargs, node)
    if isinstance(callee, type) and issubclass(callee, np.generic):
        return _dtype_call(lo, np.dtype(callee), args, kwargs, node)
    if isinstance(callee, np.ufunc):
        row = find(callee)
        if row is not None:
            return ufuncs.call(lo, row, args, kwargs, node)
    return None


def hint(callee: Any) -> str:
    """Return advice for a function that adc does not know."""
    module = getattr(callee, "__module__", "") or ""
    if module.startswith("numpy") or isinstance(callee, np.ufunc):
        return "write it with scalar operations in a loop"
    if callee in vars(builtins).values():
        return "compute it outside the differentiated function"
    return "define it in Python, so that adc can read its source"
