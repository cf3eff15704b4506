"""NumPy's functions of scalars, and the table of the handlers of all functions."""

from __future__ import annotations

import ast
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from adc.frontend.core import numbers, outside
from adc.frontend.core.bindings import (
    NONE,
    ArrayRef,
    Binding,
    Bound,
    Lazy,
    ListRef,
    Num,
    Static,
    TupleOf,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.numpy import (
    complexes,
    concatenation,
    creation,
    indexing,
    linear,
    maths,
    products,
    rearrangement,
    reductions,
    selection,
    shaping,
    ufuncs,
)
from adc.frontend.numpy.plain import composed, kinds
from adc.frontend.numpy.random import generators
from adc.frontend.numpy.ufuncs import common_type, strong
from adc.frontend.values import arguments, arrays, elementwise, operators, views
from adc.frontend.values.arguments import Handler
from adc.ir.builder import integer
from adc.ir.core import Literal, Operand
from adc.ir.errors import TypeMismatchError
from adc.ir.opdef import find
from adc.ir.types import F64, INT, NAMES, Scalar


def _shape(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    arguments.arity(lo, args, kwargs, node, 1)
    dims = views.dims_of(lo, arrays.as_array(lo, args[0], node))
    return TupleOf(tuple(Num(size) for size in dims))


def _size(lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call) -> Binding:
    given = arguments.match(lo, "a axis?", args, kwargs, node)
    dims = views.dims_of(lo, arrays.as_array(lo, given["a"], node))
    chosen = arguments.axes(lo, given.get("axis"), len(dims), node)
    return Num(views.size_of(lo, [dims[k] for k in chosen]))


def _ndim(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    arguments.arity(lo, args, kwargs, node, 1)
    return lo.num(len(views.dims_of(lo, arrays.as_array(lo, args[0], node))))


def _numpy_divmod(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    arguments.arity(lo, args, kwargs, node, 2)
    args = [elementwise.materialised(lo, arg, node) for arg in args]
    found = [ufuncs.call(lo, find(fn), list(args), {}, node)  # type: ignore[arg-type]
             for fn in (np.floor_divide, np.remainder)]  # fmt: skip
    # A tuple may be bound to a name: its arrays are those of now.
    return TupleOf(tuple([elementwise.materialised(lo, each, node) for each in found]))


def _clip(lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call) -> Binding:
    spec = "a a_min? a_max? out? * min? max?"
    found = arguments.match(lo, spec, args, kwargs, node)
    low = found.get("a_min", found.get("min", NONE))
    high = found.get("a_max", found.get("max", NONE))
    given = [arrays.as_operand(lo, x, node) for x in (found["a"], low, high)]
    if isinstance(given[0], Num):
        given[0] = Num(strong(lo, given[0].operand))
    result = elementwise.lift(lo, given, lambda items: _clipped(lo, items, node), node)
    return reductions.finish_out(lo, result, found.get("out"), node)


def _clipped(lo: Lowerer, args: list[Binding], node: ast.Call) -> Binding:
    given = [arg for arg in args if not (isinstance(arg, Static) and arg.value is None)]
    operands = [elementwise.number(lo, arg, node, "`np.clip`") for arg in given]
    ty = common_type(operands)
    if ty.kind == "b":
        raise lo.unsupported("`np.clip` of booleans", node)
    result = strong(lo, numbers.fit(lo, elementwise.number(lo, args[0], node), ty, node))
    for bound, row in ((args[1], "maximum"), (args[2], "minimum")):
        if isinstance(bound, Num):
            limit = strong(lo, numbers.fit(lo, bound.operand, ty, node))
            result = numbers.apply(lo, row, result, limit)
    return Num(result)


def _numpy_power(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    arguments.arity(lo, args, kwargs, node, 2)
    a, b = (elementwise.number(lo, arg, node, "`np.power`") for arg in args)
    ty = common_type([a, b])
    if ty.kind == "b":
        raise lo.unsupported("`np.power` of booleans", node)
    if ty.kind == "c":
        a = strong(lo, a) if ty.weak else a
        return Num(strong(lo, numbers.arithmetic(lo, "pow", a, b, node)))
    a, b = (numbers.fit(lo, x, ty, node) for x in (a, b))
    return Num(strong(lo, numbers.power(lo, strong(lo, a), b, node)))


def _float_power(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    arguments.arity(lo, args, kwargs, node, 2)
    a, b = (elementwise.number(lo, arg, node, "`np.float_power`") for arg in args)
    ty = Scalar("c128") if "c" in (a.type.kind, b.type.kind) else F64
    a, b = (strong(lo, lo.convert(x, ty)) for x in (a, b))
    return Num(numbers.power(lo, a, b, node))


def _rounded(row: str) -> Handler:
    """`np.round` and `np.fix`, which are no ufuncs."""

    def handler(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        given = arguments.match(lo, "a decimals?", args, kwargs, node)
        decimals = given.get("decimals", lo.num(0))
        places = arguments.constant_int(lo, decimals, node, "the number of decimals")
        x = strong(lo, elementwise.number(lo, given["a"], node, f"`{ast.unparse(node.func)}`"))
        if x.type.kind == "b":
            raise lo.unsupported("rounding a boolean", node)
        if x.type.kind == "c" and row != "rint":
            raise TypeMismatchError("NumPy does not truncate complex numbers", lo.span(node))
        if places and x.type.kind in "fc":
            # As NumPy does it.
            ty = numbers.scalar_type(x).part
            factor = Literal(float(10 ** abs(places)), ty)
            before, after = ("mul", "truediv") if places > 0 else ("truediv", "mul")
            x = numbers.apply(lo, "rint", numbers.arithmetic(lo, before, x, factor, node))
            return Num(numbers.arithmetic(lo, after, x, factor, node))
        if places < 0:
            raise lo.unsupported("rounding integers to tens", node, "divide and multiply")
        return Num(numbers.apply(lo, row, x) if x.type.kind in "fc" else x)

    return handler


def _check_rounded(lo: Lowerer, found: Binding, out: ArrayRef, node: ast.AST) -> None:
    """Raise if NumPy would round in the precision of the array that it stores to."""
    if isinstance(found, ArrayRef | Lazy):
        ty = elementwise.element_type(found)
    else:
        ty = numbers.scalar_type(elementwise.number(lo, found, node))
    if ty.kind in "fc" and ty.dtype != out.element.dtype:
        raise lo.unsupported(
            "rounding into an array of another dtype", node, "convert the argument with `.astype`"
        )


def _reciprocal(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    arguments.arity(lo, args, kwargs, node, 1)
    x = elementwise.number(lo, args[0], node)
    if x.type.kind not in "fc":
        raise lo.unsupported("`np.reciprocal` of an integer", node)
    return Num(numbers.apply(lo, "reciprocal", strong(lo, x)))


def _positive(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    arguments.arity(lo, args, kwargs, node, 1)
    x = elementwise.number(lo, args[0], node, "`np.positive`")
    if x.type.kind == "b":
        raise TypeMismatchError("NumPy does not define the sign of a boolean", lo.span(node))
    return Num(strong(lo, x))


def _numpy_copy(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    given = arguments.match(lo, "a order?", args, kwargs, node)
    x = arrays.as_array(lo, given["a"], node)
    if not views.dims_of(lo, x):
        found = elementwise.value_of(lo, x, node)
        assert isinstance(found, Num)
        dtype = numbers.scalar_type(found.operand).dtype
        return elementwise.boxed(lo, lo.exact(found.operand, Scalar(dtype)), dtype)
    return elementwise.copy(lo, x, node)


def _logical(name: str) -> Handler:
    def handler(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        arguments.arity(lo, args, kwargs, node, 1 if name == "not" else 2)
        values = [operators.truth(lo, arg, node) for arg in args]
        return Num(strong(lo, numbers.apply(lo, name, *values)))

    return handler


def _creation(kind: str) -> Handler:
    return lambda lo, args, kwargs, node: arrays.create(lo, kind, args, kwargs, node)


def _ndarray(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    """Lower ``np.ndarray(shape)``: an array of anything."""
    given = arguments.match(lo, "shape dtype? * order?", args, kwargs, node)
    return arrays.create(lo, "empty", [], given, node)


def _dtype_call(
    lo: Lowerer, dtype: np.dtype[Any], args: list[Binding], kwargs: Any, node: ast.Call
) -> Binding:
    """Lower ``np.float32(x)`` and similar functions."""
    arguments.arity(lo, args, kwargs, node, 0, 1)
    ty = Scalar(NAMES[dtype])
    if not args:
        return Num(lo.convert(Literal(0, INT), ty))
    if isinstance(args[0], TupleOf | ListRef) or elementwise.is_array(args[0]):
        source = arrays.as_array(lo, args[0], node)
        if views.dims_of(lo, source):  # NumPy's types of numbers leave arrays arrays
            if elementwise.element_type(source).dtype == ty.dtype:
                return source
            return reductions.converted(lo, elementwise.lazy(lo, source, node), ty, node)
    x = elementwise.number(lo, args[0], node)
    if ty.kind == "b":
        return Num(strong(lo, operators.truth(lo, args[0], node)))
    x = numbers.stored(lo, x, ty, node)
    return Num(strong(lo, x))


_HANDLERS: dict[Any, Handler] = {
    **maths.HANDLERS, **complexes.HANDLERS, **linear.HANDLERS, **composed.HANDLERS,
    **kinds.HANDLERS, **generators.ROWS,
    np.shape: _shape, np.size: _size, np.ndim: _ndim, np.divmod: _numpy_divmod,
    np.reciprocal: _reciprocal, np.positive: _positive,
    np.power: _numpy_power, np.clip: _clip,
    np.copy: _numpy_copy, np.ndarray: _ndarray, np.float_power: _float_power,
    np.round: _rounded("rint"),
    np.around: _rounded("rint"), np.fix: _rounded("trunc"), np.logical_xor: _logical("ne"),
    np.deg2rad: maths.scaled(math.pi / 180.0, False),
    np.radians: maths.scaled(math.pi / 180.0, False),
    np.rad2deg: maths.scaled(180.0 / math.pi, False),
    np.degrees: maths.scaled(180.0 / math.pi, False), np.logical_and: _logical("and"),
    np.logical_or: _logical("or"), np.logical_not: _logical("not"),
}  # fmt: skip
_HANDLERS.update(
    {
        getattr(np, kind): _creation(kind)
        for base in ("zeros", "ones", "empty", "full")
        for kind in (base, f"{base}_like")
    }
)

# Functions of numbers that NumPy applies to arrays element by element.
_LIFTED = {
    np.reciprocal, np.positive, np.power, np.float_power, np.round, np.around, np.fix,
    np.logical_xor, np.deg2rad, np.radians, np.rad2deg, np.degrees, np.logical_and, np.logical_or,
    np.logical_not, abs, divmod,
}  # fmt: skip
# By name, for methods of arrays are such functions too.
_ARRANGED = {
    **shaping.HANDLERS, **concatenation.HANDLERS, **rearrangement.HANDLERS, **creation.HANDLERS,
    **selection.HANDLERS,
}  # fmt: skip
# Methods of arrays that are no functions of NumPy, or have other names there.
METHODS = frozenset(
    name
    for name in [
        *reductions.HANDLERS, *_ARRANGED, "copy", "fill", "item", "round", "clip", "dot",
        "trace", "sort", "argsort", "conj", "conjugate", "partition", "argpartition", "choose",
        "view", "setflags", "__len__",
    ]
    if hasattr(np.ndarray, name)
)  # fmt: skip

for _table in (reductions.HANDLERS, products.HANDLERS, _ARRANGED):
    _HANDLERS.update(
        {getattr(np, name): handler for name, handler in _table.items() if hasattr(np, name)}
    )
for _name, _handler in {
    **{_name: products.HANDLERS[_name] for _name in ("matmul", "outer", "tensordot")},
    "trace": products.last_trace,
    "diagonal": shaping.HANDLERS["last_diagonal"],
    "matrix_transpose": shaping.HANDLERS["matrix_transpose"],
}.items():
    if hasattr(np.linalg, _name):
        _own = products.HANDLERS.get(f"linalg_{_name}")
        _HANDLERS[getattr(np.linalg, _name)] = _own or _handler
_HANDLERS[np.lib.stride_tricks.sliding_window_view] = shaping.HANDLERS["sliding_window_view"]


# Handlers of functions of modules that adc does not import, by their public names.
_NAMED: dict[str, Handler] = {}
# The handler of each function whose real part alone costs less, by the handler of the function.
_REAL: dict[Handler, Handler] = {}


def enter_named(handlers: Mapping[str, Handler]) -> None:
    """Add handlers of functions of other packages, which need not be imported."""
    _NAMED.update(handlers)
    _handler_by_name.cache_clear()


# Called for objects of modules that adc does not import.
_Called = Callable[[Lowerer, Static, list[Binding], dict[str, Binding], ast.Call], Binding | None]
_OBJECTS: list[_Called] = []


def enter_objects(called: _Called) -> None:
    """Add what lowers calls of methods of such objects, or returns None for others."""
    _OBJECTS.append(called)


def of_object(
    lo: Lowerer, callee: Static, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding | None:
    """Lower a call of a method of such an object, or return None for any other callee."""
    for called in _OBJECTS:
        found = called(lo, callee, args, kwargs, node)
        if found is not None:
            return found
    return None


def enter_real(fn: Any, handler: Handler, name: str, handler_of_name: Handler) -> None:
    """Add handlers of the real part of a function, and of that with a public name."""
    _REAL.update({_HANDLERS[fn]: handler, _NAMED[name]: handler_of_name})


def real_part(callee: Any) -> Handler | None:
    """Return the handler of the real part of what a function returns, if it costs less."""
    try:
        handler = _handler_of(callee)
    except TypeError:  # unhashable
        return None
    return None if handler is None else _REAL.get(handler)


def named() -> list[str]:
    """Return the names of these functions that are public."""
    return sorted(name for name in _NAMED if "._" not in name)


def _handler_of(callee: Any) -> Handler | None:
    found = _HANDLERS.get(callee)
    module = getattr(callee, "__module__", None) or ""
    if found is None and (module.startswith("scipy.") or isinstance(callee, np.ufunc)):
        return _handler_by_name(callee, len(sys.modules))
    return found


@lru_cache(maxsize=1024)
def _handler_by_name(callee: Any, loaded: int) -> Handler | None:
    """Return the handler of a function that one of so many `loaded` modules has by a known name.

    It may be a static method of a class.
    """
    for name, handler in _NAMED.items():
        home, _, own = name.rpartition(".")
        module, _, cls = home.rpartition(".")
        # (`getattr` of SciPy imports what is not loaded yet.)
        owner = sys.modules.get(home) or vars(sys.modules.get(module, object)).get(cls)
        if getattr(owner, own, None) is callee:
            return handler
    return None


def enter(handlers: Mapping[Any, Handler]) -> None:
    """Add handlers from modules above this one to the table."""
    assert not _HANDLERS.keys() & handlers.keys()
    _HANDLERS.update(handlers)


# Methods that Python's numbers have as well.
OF_NUMBERS: dict[str, Callable[[Lowerer, Operand], Binding]] = {
    "conjugate": lambda lo, x: Num(complexes.conjugate(lo, x)),
    "is_integer": maths.is_integer,
}


def method(
    lo: Lowerer, bound: Bound, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    """Lower a call of a method of an array: the function of that name, unless it differs."""
    if isinstance(bound.owner, Num) and bound.name == "bit_length":
        arguments.arity(lo, args, kwargs, node, 0)
        return maths.bit_length(lo, bound.owner, node)
    if isinstance(bound.owner, Num) and bound.name in OF_NUMBERS:
        arguments.arity(lo, args, kwargs, node, 0)
        return OF_NUMBERS[bound.name](lo, bound.owner.operand)
    if isinstance(bound.owner, Num):
        return _number_method(lo, bound.owner, bound.name, args, kwargs, node)
    owner, name = bound.owner, bound.name
    assert isinstance(owner, ArrayRef | Lazy)
    if name in ("reshape", "transpose") and len(args) > 1:
        args = [TupleOf(tuple(args))]
    if name == "item":
        return _item(lo, owner, args, kwargs, node)
    if name in ("conj", "conjugate") and not args and not kwargs:
        if isinstance(owner, ArrayRef) and owner.element.kind != "c":
            return owner  # of real numbers the method returns the array itself, not a copy
    if name == "fill":
        if not isinstance(owner, ArrayRef):
            raise TypeMismatchError("`.fill` needs an array that has a name", lo.span(node))
        given = arguments.match(lo, "value", args, kwargs, node)
        arrays.fill(lo, owner, given["value"], node)
        return NONE
    if name == "view":
        return complexes.viewed(lo, owner, args, kwargs, node)
    if name == "setflags":
        given = arguments.match(lo, "write", args, kwargs, node)
        elementwise.freeze(lo, owner, arguments.flag(lo, given["write"], node, "`write`"), node)
        return NONE
    special = linear.METHODS.get(name) or composed.METHODS.get(name)
    if special is not None:
        return special(lo, [owner, *args], kwargs, node)
    if name == "__len__":
        arguments.match(lo, "", args, kwargs, node)
        return Num(views.length(lo, owner, node))
    own = {"round": np.round, "conj": np.conjugate}.get(name)
    handler = _HANDLERS[own] if own else {"clip": _clip, "copy": _numpy_copy}.get(name)
    if handler is None:
        handler = _ARRANGED.get(name) or reductions.HANDLERS.get(name)
    handler = handler or products.HANDLERS.get(name) or _HANDLERS[getattr(np, name)]
    if name == "compress":
        if not args:
            return handler(lo, [], {**kwargs, "a": owner}, node)
        return handler(lo, [args[0], owner, *args[1:]], kwargs, node)
    if name == "round":
        return elementwise.lift(
            lo, [owner], lambda items: handler(lo, [*items, *args], kwargs, node), node
        )
    return handler(lo, [owner, *args], kwargs, node)


def _item(
    lo: Lowerer,
    owner: views.Arraylike,
    args: Sequence[Binding],
    kwargs: dict[str, Binding],
    node: ast.Call,
) -> Num:
    """Lower ``x.item(…)``: no index for the only element, one of all elements, or one per axis."""
    if kwargs:
        raise TypeMismatchError("`.item` takes no keyword arguments", lo.span(node))
    if len(args) == 1 and isinstance(args[0], TupleOf):
        args = args[0].items
    dims = views.dims_of(lo, owner)
    if not args:
        for size in dims:
            text = "can only convert an array of size 1 to a Python scalar"
            elementwise.require_same(lo, size, integer(1), text, [], node)
        args = [lo.num(0) for _ in dims]
    if len(args) == 1 and len(dims) != 1:
        owner = views.reshaped(lo, owner, [views.size_of(lo, dims)])
    index = indexing.index_of(lo, owner, args, node)
    return Num(numbers.weak(lo, elementwise.lazy(lo, owner, node).element(index)))


_NOT_OF_NUMBERS = frozenset(
    "__len__ argpartition argsort diagonal nonzero partition sort swapaxes trace".split()
)
# What gives a new array of an array, gives a number of a number.
_KEPT = frozenset("astype conj copy reshape squeeze transpose".split())


def _number_method(
    lo: Lowerer,
    owner: Num,
    name: str,
    args: list[Binding],
    kwargs: dict[str, Binding],
    node: ast.Call,
) -> Binding:
    """Lower a call of a method of one of NumPy's numbers, or of a 0-d array."""
    if name in _NOT_OF_NUMBERS:
        raise TypeMismatchError(f"`.{name}` of {kind_of(owner)}", lo.span(node))
    element = lo.exact(owner.operand, Scalar(numbers.scalar_type(owner.operand).dtype))
    ty = numbers.scalar_type(element)
    found = method(lo, Bound(Lazy((), ty, lambda index: element), name), args, kwargs, node)
    found = elementwise.value_of(lo, found, node)
    return Num(found.operand, owner.array and name in _KEPT) if isinstance(found, Num) else found


def has(callee: Any) -> bool:
    """Whether calls of a function of Python or NumPy are lowered."""
    return _handler_of(callee) is not None


def _sequential(callee: Any) -> Any:
    """Return `range` for Numba's `prange`, which is that in plain Python; Numba is not imported."""
    if isinstance(callee, type) and callee.__name__ == "prange":
        return range if callee.__module__.split(".")[0] == "numba" else callee
    return callee


# C's `long long` may be another type of the same dtype.
_NUMBER_TYPES = frozenset(dtype.type for dtype in NAMES)


def is_number_type(cls: type) -> bool:
    """Whether a NumPy scalar type is one of the dtypes that adc computes in."""
    try:
        return NAMES.get(np.dtype(cls)) is not None and np.dtype(cls).type in _NUMBER_TYPES
    except TypeError:
        return False


def _takes_numbers(callee: Any, args: Sequence[Binding]) -> bool:
    """Whether a function takes members of an `IntEnum` for numbers, and returns none of them."""
    if callee in (max, min):
        return any(isinstance(arg, Num) for arg in args)
    module = getattr(callee, "__module__", None) or "numpy"  # ufuncs have no module
    return callee in _OF_NUMBERS or module.split(".")[0] in ("numpy", "math", "cmath")


_OF_NUMBERS = (abs, bin, chr, complex, divmod, float, hex, int, oct, pow, range, round, sum)


def call(
    lo: Lowerer, callee: Any, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding | None:
    """Lower a call of a builtin or library function, or return None if it is not in the tables."""
    callee = _sequential(callee)
    try:
        handler = _handler_of(callee)
    except TypeError:  # unhashable
        return None
    if _takes_numbers(callee, args):
        args = [outside.number_in(lo, arg) for arg in args]
        kwargs = {name: outside.number_in(lo, arg) for name, arg in kwargs.items()}
    if isinstance(callee, np.vectorize):
        return composed.vectorized(lo, callee, args, kwargs, node)
    if type(callee).__name__ == "DUFunc":
        return composed.vectorized(lo, np.vectorize(callee.__wrapped__), args, kwargs, node)
    owner = getattr(callee, "__self__", None)
    if isinstance(owner, np.ufunc):
        return ufuncs.method(lo, owner, callee.__name__, args, kwargs, node)
    if handler is not None:
        if callee in _LIFTED:
            operands = args
            if callee not in (abs, divmod):  # which take no lists
                operands = [arrays.as_operand(lo, arg, node) for arg in args]
            if isinstance(callee, np.ufunc):
                if len(operands) == callee.nin + 1:
                    kwargs = {"out": operands.pop(), **kwargs}
                return ufuncs.applied(
                    lo, lambda items: handler(lo, items, {}, node), operands, kwargs, node
                )
            if any(elementwise.is_array(arg) for arg in operands):
                out = kwargs.pop("out", None)
                found = elementwise.lift(
                    lo, operands, lambda items: handler(lo, items, kwargs, node), node
                )
                if callee in (np.round, np.around) and isinstance(out, ArrayRef):
                    _check_rounded(lo, found, out, node)
                return reductions.finish_out(lo, found, out, node)
        return handler(lo, args, kwargs, node)
    if isinstance(callee, type) and issubclass(callee, np.generic):
        if not is_number_type(callee):
            return None
        return _dtype_call(lo, np.dtype(callee), args, kwargs, node)
    row = find(callee)
    if row is not None and isinstance(callee, np.ufunc):
        return ufuncs.call(lo, row, args, kwargs, node)
    if row is not None and callee.__module__ == "numpy":  # a function that takes no `out`
        arguments.arity(lo, args, kwargs, node, row.arity)
        return ufuncs.call(lo, row, args, {}, node)
    return generators.of_module(lo, callee, args, kwargs, node)
