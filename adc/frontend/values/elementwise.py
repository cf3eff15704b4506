"""Array expressions: broadcasting, loops over elements, assignment to whole arrays.

`lift` applies a scalar operation to arrays. The result is a `Lazy`: its elements are computed
inside the one loop nest that needs them, so an expression of any length is one nest without
temporaries. This is safe because arrays are values here: a lazy expression reads the versions that
were current when it was created.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace

import numpy as np

from adc.frontend.core import dispatch, numbers, outside
from adc.frontend.core.bindings import ArrayRef, Axis, Binding, Bound, Lazy, Num, Static, Window
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages import advice
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.core.structure import only_element
from adc.frontend.values import views
from adc.frontend.values.views import Arraylike, dims_of, is_one
from adc.ir.builder import integer
from adc.ir.core import Apply, Block, For, Literal, Load, Operand, Value
from adc.ir.errors import AliasError, TypeMismatchError
from adc.ir.types import BOOL, FLOAT, INT, Scalar

# An operand that costs more than this is computed once before it is broadcast. In units of
# `OpDef.cost`, not of `analysis.costs`: what the front end makes must not depend on the machine,
# it is the key under which compiled code is found.
CHEAP = 3
# Elements of a deeper expression are computed into an array on the way: it is lowered by recursion.
DEEP = 40


def is_array(binding: Binding) -> bool:
    return isinstance(binding, ArrayRef | Lazy)


def lazy(lo: Lowerer, x: Arraylike, node: ast.AST | None) -> Lazy:
    """Return an array as an expression that reads its present version."""
    if isinstance(x, Lazy):
        return x
    obj, view = x.object, x.view
    version = lo.version(obj, node)

    def element(index: Sequence[Operand]) -> Operand:
        if version in lo.boxed and version not in lo.redirected:
            found = lo.boxed[version]
        else:
            at = views.base_index(lo, x, index)
            found = lo.builder.load(lo.redirected.get(version, version), at)
        return numbers.apply(lo, x.part, found) if x.part else found

    reads = ((obj, view, version),)
    return Lazy(dims_of(lo, x), x.element, element, reads, 1, readonly=x.readonly)


def placed(lo: Lowerer, target: ArrayRef, old: Callable[[], Operand], item: Operand) -> Operand:
    """Return what an array stores for an item of a view: with the other part of a complex number.

    `old` reads what is there.
    """
    if not target.part:
        return item
    item = lo.exact(item, target.element)
    other = numbers.apply(lo, "imag" if target.part == "real" else "real", old())
    return numbers.joined(lo, *((item, other) if target.part == "real" else (other, item)))


def part(lo: Lowerer, x: Binding, name: str, node: ast.AST) -> Binding:
    """Return the "real" or "imag" part of a number or array: of complex arrays a view.

    Those of real ones are themselves, and 0.
    """
    if isinstance(x, Num):
        ty = numbers.scalar_type(x.operand)
        if ty.kind == "c":
            return Num(numbers.apply(lo, name, x.operand), x.array)
        return x if name == "real" else Num(numbers.zero_of(ty), x.array)
    if not isinstance(x, ArrayRef | Lazy):
        raise TypeMismatchError(f"the parts of {kind_of(x)}", lo.span(node))
    ty = element_type(x)
    if isinstance(x, ArrayRef) and ty.kind == "c":
        return views.part(lo, x, name)
    if ty.kind != "c" and name == "real":
        return x
    if ty.kind != "c":
        zero = numbers.zero_of(ty)
        return Lazy(dims_of(lo, x), ty, lambda index: zero, readonly=True)
    return lift(lo, [x], lambda items: part(lo, items[0], name, node), node)


def value_of(lo: Lowerer, binding: Binding, node: ast.AST) -> Binding:
    """Return a rank-0 array as the number in it, a member of an `IntEnum` as the one it is.

    Anything else is unchanged.
    """
    if isinstance(binding, ArrayRef | Lazy) and not dims_of(lo, binding):
        with lo.at(node):
            return Num(lazy(lo, binding, node).element([]))
    return outside.number_in(lo, binding)


# -- broadcasting ----------------------------------------------------------------------------------


def common_dims(
    lo: Lowerer, shapes: Sequence[tuple[Operand, ...]], node: ast.AST
) -> tuple[Operand, ...]:
    """Return the shape that arrays of these shapes are broadcast to, checked at run time."""
    rank = max(len(dims) for dims in shapes)
    padded = [(integer(1),) * (rank - len(dims)) + tuple(dims) for dims in shapes]
    found: list[Operand] = []
    texts = ["({})".format(",".join(["{}"] * len(d)) + ("," * (len(d) == 1))) for d in shapes]
    message = "operands could not be broadcast together with shapes " + " ".join(texts) + " "
    everything = [d for dims in shapes for d in dims]
    for sizes in zip(*padded, strict=True):
        result: Operand = integer(1)
        for size in sizes:
            result = common_size(lo, result, size, message, everything, node)
        found.append(result)
    return tuple(found)


def common_size(
    lo: Lowerer, a: Operand, b: Operand, message: str, args: Sequence[Operand], node: ast.AST
) -> Operand:
    """Return the size that axes of two sizes are broadcast to, checked at run time."""
    if lo.sizes.is_one(a) or lo.sizes.is_one(b):
        return b if lo.sizes.is_one(a) else a
    if lo.shared.general:
        return _either_size(lo, a, b, message, args, node)
    if isinstance(a, Literal) and not isinstance(b, Literal):
        a, b = b, a
    for one, other in ((a, b), (b, a)):
        if lo.sizes.is_single(one, other):
            require_one(lo, one, args, node)
            return other
    require_equal(lo, a, b, message, args, node)
    return b if isinstance(b, Literal) else a


def _either_size(
    lo: Lowerer, a: Operand, b: Operand, message: str, args: Sequence[Operand], node: ast.AST
) -> Operand:
    """Return the broadcast size of two axes, either of which may have size 1 at run time."""
    if lo.sizes.is_plural(a) or lo.sizes.is_plural(b):
        wide, other = (a, b) if lo.sizes.is_plural(a) else (b, a)
        require_fitting(lo, other, wide, message, args, node)
        return wide
    if lo.sizes.same_size(a, b):
        return a
    with lo.at(node):
        equal = numbers.apply(lo, "eq", a, b)
        ones = [numbers.apply(lo, "eq", size, integer(1)) for size in (a, b)]
        either = numbers.apply(lo, "or", *ones)
        lo.builder.check(numbers.apply(lo, "or", equal, either), "ValueError", message, *args)

        def make() -> Operand:
            return lo.sizes.counts(lo.builder.apply("select", ones[0], b, a, hint="n"))

        return lo.sizes.known_size("broadcast", a, b, make)


def require_fitting(
    lo: Lowerer, size: Operand, wanted: Operand, message: str, args: Sequence[Operand],
    node: ast.AST,
) -> None:  # fmt: skip
    """Check that an axis of one size is broadcast to another, which does not change."""
    if lo.sizes.is_one(size):
        return
    if lo.sizes.is_single(size, wanted):
        require_one(lo, size, args, node)
        return
    if not lo.shared.general or lo.sizes.is_plural(size):
        require_equal(lo, size, wanted, message, args, node)
        return
    if not lo.sizes.same_size(size, wanted):
        with lo.at(node):
            equal = numbers.apply(lo, "eq", size, wanted)
            one = numbers.apply(lo, "eq", size, integer(1))
            numbers.check(lo, numbers.apply(lo, "or", equal, one), "ValueError", message, *args)


def require_one(lo: Lowerer, size: Operand, args: Sequence[Operand], node: ast.AST) -> None:
    """Check that a slice of at most one element has one: it is broadcast."""
    with lo.at(node):
        one = numbers.apply(lo, "eq", size, integer(1))
        numbers.check(lo, one, "AssumptionError", "", *args)
    lo.sizes.unify_sizes(size, integer(1))


def require_equal(
    lo: Lowerer, a: Operand, b: Operand, message: str, args: Sequence[Operand], node: ast.AST
) -> None:
    """Check that two sizes agree; from then on they count as one."""
    if lo.sizes.same_size(a, b):
        return
    if lo.shared.general:
        require_same(lo, a, b, message, args, node)
        return
    with lo.at(node):
        equal = numbers.apply(lo, "eq", a, b)
        if not isinstance(equal, Literal):
            # NumPy would broadcast a size that happens to be 1: that takes other code.
            one = numbers.apply(
                lo, "or", numbers.apply(lo, "eq", a, integer(1)),
                numbers.apply(lo, "eq", b, integer(1)),
            )  # fmt: skip
            lo.builder.check(numbers.apply(lo, "or", equal, one), "ValueError", message, *args)
            lo.builder.check(equal, "AssumptionError", "", a, b)
        else:
            numbers.check(lo, equal, "ValueError", message, *args)
    lo.sizes.unify_sizes(a, b)


def require_same(
    lo: Lowerer, a: Operand, b: Operand, message: str, args: Sequence[Operand], node: ast.AST
) -> None:
    """Check that two sizes agree where nothing is broadcast."""
    if lo.sizes.same_size(a, b):
        return
    with lo.at(node):
        numbers.check(lo, numbers.apply(lo, "eq", a, b), "ValueError", message, *args)
    lo.sizes.unify_sizes(a, b)


# -- loops -----------------------------------------------------------------------------------------


def nest(
    lo: Lowerer,
    dims: Sequence[Operand],
    init: Sequence[Operand],
    hints: Sequence[str],
    body: Callable[[list[Operand], list[Value]], Sequence[Operand]],
) -> list[Operand]:
    """Build loops over all indices of a shape, first axis outermost, and return their results.

    Parameters
    ----------
    init : sequence of Operand
        The first values of what iterations carry; `hints` name them.
    body : callable
        Given an index and the carried values, builds an iteration and returns the next values.
    """

    def level(k: int, index: list[Operand], carried: list[Operand]) -> Sequence[Operand]:
        if k == len(dims):
            return body(index, carried)  # type: ignore[arg-type]  # parameters, if any loop
        if is_one(dims[k]):
            return level(k + 1, [*index, integer(0)], carried)
        counter = lo.builder.value("i", INT)
        lo.sizes.counts(counter)
        params = [
            lo.builder.value(hint, value.type) for hint, value in zip(hints, carried, strict=True)
        ]
        label = lo.builder.names.fresh("L0")
        known = dict(lo.sizes.known)
        with lo.builder.block() as stmts:
            nexts = level(k + 1, [*index, counter], list(params))
        lo.sizes.known = known
        results = tuple(lo.builder.value(v.name, v.type) for v in params)
        lo.builder.emit(
            For(results, label, counter, dims[k], tuple(carried),
                Block(tuple(params), tuple(stmts), tuple(nexts)), loc=lo.builder.loc)
        )  # fmt: skip
        return results

    return list(level(0, [], list(init)))


def materialised(lo: Lowerer, binding: Binding, node: ast.AST, name: str = "a") -> Binding:
    """Return an array for an array expression, or a method of one; anything else unchanged."""
    if isinstance(binding, Bound) and isinstance(binding.owner, Lazy):
        return replace(binding, owner=materialised(lo, binding.owner, node, name))
    if not isinstance(binding, Lazy):
        return binding
    if not binding.dims:
        return value_of(lo, binding, node)
    made = stored_new(lo, binding, binding.type.dtype, node, name)
    return replace(made, readonly=True) if binding.readonly else made


def all_materialised(
    lo: Lowerer, args: Sequence[Binding], kwargs: Mapping[str, Binding], node: ast.AST
) -> tuple[list[Binding], dict[str, Binding]]:
    """Compute the array expressions among arguments, for a function of the program."""
    return (
        [materialised(lo, arg, node) for arg in args],
        {name: materialised(lo, arg, node) for name, arg in kwargs.items()},
    )


def array_of(lo: Lowerer, found: Binding) -> Binding:
    """Return the 0-d array that NumPy makes where a result is a number; others as they are."""
    if not isinstance(found, Num):
        return found
    ty = numbers.scalar_type(found.operand)
    strong = Scalar(ty.dtype)
    return boxed(lo, lo.exact(found.operand, strong), strong.dtype)


def boxed(lo: Lowerer, value: Operand, dtype: str, name: str = "a") -> ArrayRef:
    """Return a new 0-d array: the one element of a vector, seen without its axis."""
    version = lo.builder.apply("full", value, integer(1), params=(dtype,), hint=name)
    lo.boxed[version] = value
    return only_element(lo.new_array(version, (integer(1),), name))


def stored_new(
    lo: Lowerer, source: Lazy, dtype: str, node: ast.AST | None, name: str = "a"
) -> ArrayRef:
    """Compute an expression into a new array."""
    with lo.at(node) if node is not None else nullcontext():
        if not source.dims:
            return boxed(lo, lo.exact(source.element([]), Scalar(dtype)), dtype, name)
        empty = lo.builder.apply("empty", *source.dims, params=(dtype,), hint=name)
        element = Scalar(dtype)

        def body(index: list[Operand], carried: list[Value]) -> list[Operand]:
            value = source.element(index)
            if source.type.dtype != dtype:
                assert node is not None
                value = numbers.stored(lo, value, element, node)
            value = lo.exact(value, element)
            return [lo.builder.store(carried[0], index, value, hint=name)]

        (version,) = nest(lo, source.dims, [empty], [name], body)
    assert isinstance(version, Value)
    return lo.new_array(version, source.dims, name)


def base_of(lo: Lowerer, x: Arraylike, node: ast.AST) -> ArrayRef:
    """Return an array for `x`: itself, unless it is an expression."""
    found = materialised(lo, x, node)
    if not isinstance(found, ArrayRef):
        raise TypeMismatchError("a number stands where an array is needed", lo.span(node))
    return found


# -- lifting ---------------------------------------------------------------------------------------
Scalars = Callable[[list[Binding]], Binding]


def lift(lo: Lowerer, args: Sequence[Binding], compute: Scalars, node: ast.AST) -> Binding:
    """Apply a function of numbers to arrays element by element, with broadcasting."""
    args = [value_of(lo, arg, node) for arg in args]
    arrays = [arg for arg in args if isinstance(arg, ArrayRef | Lazy)]
    if not arrays:
        return compute(list(args))
    compute = _for_each(lo, compute)
    # NumPy looks at types before it looks at shapes.
    plain = [lazy(lo, x, node) if isinstance(x, ArrayRef | Lazy) else x for x in args]
    ty, cost = _traced(lo, plain, compute, node)
    dims = common_dims(lo, [dims_of(lo, x) for x in arrays], node)
    parts: list[Lazy | Binding] = []
    depth = 1
    for arg in args:
        if not isinstance(arg, ArrayRef | Lazy):
            parts.append(arg)
            continue
        if isinstance(arg, Lazy):
            if (arg.cost > CHEAP and _repeats(lo, arg.dims, dims)) or arg.depth >= DEEP:
                arg = base_of(lo, arg, node)
            else:
                depth = max(depth, arg.depth + 1)
        parts.append(views.broadcast(lo, lazy(lo, arg, node), dims))
    found = [part for part in parts if isinstance(part, Lazy)]

    def element(index: Sequence[Operand]) -> Operand:
        with lo.at(node):
            result = compute(
                [Num(part.element(index)) if isinstance(part, Lazy) else part for part in parts]
            )
        assert isinstance(result, Num)
        return result.operand

    reads = tuple(read for part in found for read in part.reads)
    return Lazy(dims, ty, element, reads, cost + sum(part.cost for part in found), depth)


def _for_each(lo: Lowerer, compute: Scalars) -> Scalars:
    """Return the same function for loops that may have no iteration."""

    def run(items: list[Binding]) -> Binding:
        outer, lo.for_each = lo.for_each, True
        try:
            return compute(items)
        finally:
            lo.for_each = outer

    return run


def _repeats(lo: Lowerer, own: Sequence[Operand], dims: Sequence[Operand]) -> bool:
    return len(own) < len(dims) or any(
        not is_one(b) and (is_one(a) or views.repetition(lo, a, b) != integer(1))
        for a, b in zip(own, dims, strict=True)
    )


def _traced(
    lo: Lowerer, parts: Sequence[Binding], compute: Scalars, node: ast.AST
) -> tuple[Scalar, float]:
    """Return the type and cost of a computation, by lowering it once and dropping the code."""
    names = lo.save_names()
    with lo.builder.block() as stmts, lo.at(node):
        result = compute(
            [
                Num(lo.builder.value("t", part.type)) if isinstance(part, Lazy) else part
                for part in parts
            ]
        )
    lo.reset_names(names)
    if not isinstance(result, Num):
        raise TypeMismatchError(f"{kind_of(result)} as an element", lo.span(node))
    cost = sum(stmt.op.cost for stmt in stmts if isinstance(stmt, Apply))
    cost += sum(1 for stmt in stmts if isinstance(stmt, Load))
    return Scalar(numbers.scalar_type(result.operand).dtype), cost


# -- assignment ------------------------------------------------------------------------------------


def freeze(lo: Lowerer, x: Binding, write: bool, node: ast.AST) -> None:
    """Lower ``x.setflags(write=False)``: code that writes to the array is refused from now on.

    That is known where the array was made on the path that is at hand, and in this iteration.
    """
    if isinstance(x, Lazy):
        return  # nobody else has it
    assert isinstance(x, ArrayRef)
    if write or x.object.path is not lo.path or x.object in lo.origin:
        what = "making an array writable" if write else "making an array read-only here"
        hint = "do so where it was made" if not write else "write to a copy"
        raise lo.unsupported(what, node, hint)
    x.object.frozen = True


def is_writable(lo: Lowerer, target: ArrayRef, node: ast.AST, what: str = "") -> bool:
    """Whether an array is writable; if it is not, the program raises here."""
    if any(each.frozen for each in (target.object, *target.object.alias)):
        raise AliasError(
            f"{target.object.users_name!r} is written to, and was made read-only", lo.span(node),
            "write to a copy, made with `.copy()`",
        )  # fmt: skip
    if target.readonly is None:
        raise AliasError(
            f"whether {target.object.users_name!r} may be written to depends on the path",
            lo.span(node), "write to a copy, made with `.copy()`",
        )  # fmt: skip
    if target.readonly:
        with lo.at(node):
            text = f"{what or 'assignment destination'} is read-only"
            lo.builder.check(Literal(False, BOOL), "ValueError", text)
    return not target.readonly


def assign_to(lo: Lowerer, target: ArrayRef, value: Binding, node: ast.AST, what: str = "") -> None:
    """Lower ``target[...] = value``: broadcast, converted, evaluated before anything is stored.

    `what` is what NumPy calls the target where it may not be written to.
    """
    if not is_writable(lo, target, node, what):
        return
    dims = dims_of(lo, target)
    element = target.element
    value = value_of(lo, value, node)
    if isinstance(value, ArrayRef | Lazy):
        source = fitted(lo, lazy(lo, value, node), dims, node)
    else:
        operand = number(lo, value, node, "storing into an array")
        with lo.at(node):
            operand = numbers.stored(lo, operand, element, node)
        source = Lazy(dims, element, lambda index: operand)
    obj = target.object
    current = lo.version(obj, node)
    same = [view == target.view for o, view, version in source.reads if version is current]
    if same and not all(same):
        source = lazy(lo, base_of(lo, source, node), node)
        same = []
    stored: list[Operand] = []
    with lo.at(node):

        def body(index: list[Operand], carried: list[Value]) -> list[Operand]:
            old = lo.redirected.get(current)
            if same:
                lo.redirected[current] = carried[0]
            item = numbers.stored(lo, source.element(index), element, node)
            at = views.base_index(lo, target, index)
            item = placed(lo, target, lambda: lo.builder.load(carried[0], at), item)
            if current in lo.boxed:
                item = lo.exact(item, obj.type.element)
                stored.append(item)
            if old is None:
                lo.redirected.pop(current, None)
            else:
                lo.redirected[current] = old
            return [lo.builder.store(carried[0], at, item, hint=obj.name)]

        (version,) = nest(lo, dims, [current], [obj.name], body)
    if version is not current:
        assert isinstance(version, Value)
        if current in lo.boxed and not dims:
            lo.boxed[version] = stored[-1]
        lo.update(obj, version)


def _unfit(own: Sequence[Operand], dims: Sequence[Operand]) -> str:
    """Return NumPy's words for a shape that does not fit what it is assigned to."""
    return "could not broadcast input array from shape ({}) into shape ({})".format(
        *(",".join(["{}"] * len(d)) + ("," if len(d) == 1 else "") for d in (own, dims))
    )


def fitted(lo: Lowerer, source: Lazy, dims: Sequence[Operand], node: ast.AST) -> Lazy:
    """Return `source` broadcast to the shape that it is assigned to."""
    own = source.dims
    extra = len(own) - len(dims)
    if extra > 0:
        # NumPy drops leading axes of size 1.
        for size in own[:extra]:
            require_equal(lo, size, integer(1), _unfit(own, dims), [*own, *dims], node)
        dropped = views.without_axes(lo, source, range(extra))
        assert isinstance(dropped, Lazy)
        source, own = dropped, dropped.dims
    for size, wanted in zip(own, dims[len(dims) - len(own) :], strict=True):
        require_fitting(lo, size, wanted, _unfit(own, dims), [*own, *dims], node)
    result = views.broadcast(lo, source, dims)
    assert isinstance(result, Lazy)
    return result


def number(
    lo: Lowerer, binding: Binding, node: ast.AST, what: str = "this operation", own: str = ""
) -> Operand:
    """Return the operand of a scalar binding, or raise.

    `own` is what Python says of None, which a `try` may catch.
    """
    binding = value_of(lo, binding, node)
    if isinstance(binding, Num):
        return binding.operand
    dispatch.require_one([binding], node)
    if isinstance(binding, ArrayRef | Lazy):
        raise TypeMismatchError(
            f"{what} needs a number, not {kind_of(binding)}", lo.span(node),
            "use the elements, or NumPy's function for arrays",
        )  # fmt: skip
    known = binding.value if isinstance(binding, Static) else None
    hint = advice.of_object(known) if isinstance(known, np.ndarray | np.generic) else ""
    if what == "an array" and isinstance(binding, Static) and known is None:
        hint = "use `np.nan` where nothing is known"
    message = f"{what} is not defined for {kind_of(binding)}"
    if isinstance(binding, Static) and known is None:
        numbers.refuse(lo, message, node, "TypeError", own, hint)
    raise TypeMismatchError(message, lo.span(node), hint)


def as_float(lo: Lowerer, binding: Binding, node: ast.AST) -> Operand:
    return lo.convert(number(lo, binding, node), FLOAT)


def load(lo: Lowerer, x: Arraylike, index: Sequence[Operand], node: ast.AST) -> Binding:
    """Read an element, or a view of the remaining axes, at leading indices that are in range."""
    rank = len(dims_of(lo, x))
    if len(index) == rank:
        return Num(lazy(lo, x, node).element(index))
    dims = dims_of(lo, x)
    axes = [Axis(k, ()) for k in index]
    axes += [Axis(integer(0), ((k, integer(1)),)) for k in range(rank - len(index))]
    return views.through(lo, x, Window(tuple(dims[len(index) :]), tuple(axes)))


def element_type(x: Arraylike) -> Scalar:
    return x.type if isinstance(x, Lazy) else x.element


def copy(lo: Lowerer, x: Arraylike, node: ast.AST | None) -> ArrayRef:
    if isinstance(x, ArrayRef) and not x.view:
        obj = x.object
        version = lo.builder.apply("copy", lo.version(obj, node), hint=obj.name)
        return lo.new_array(version, lo.dims[obj], obj.name)
    source = lazy(lo, x, node)
    name = x.object.name if isinstance(x, ArrayRef) else "a"
    return stored_new(lo, source, source.type.dtype, node, name)
