"""Values with the structure of an argument or result: gradients, tangents, cotangents.

A structure is a binding: numbers and arrays in tuples, lists, dicts and objects. Each float in it
has one associated value, in the order of `floats`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from adc.frontend.core import classes, dispatch, numbers, outside
from adc.frontend.core.bindings import (
    BY_LIST,
    NONE,
    ArrayObject,
    ArrayRef,
    Binding,
    Cell,
    Closure,
    DictRef,
    Growing,
    Lazy,
    ListRef,
    NamedTuple,
    Num,
    ObjectRef,
    Pooled,
    RecordOf,
    Ref,
    Static,
    TupleOf,
    VarsRef,
    is_stateful,
    shares,
    suspect,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.core.structure import (
    cells_of,
    children,
    has_handles,
    is_slot,
    with_cells,
    with_children,
)
from adc.frontend.inputs import bases, complexes
from adc.frontend.values import arrays, elementwise, views
from adc.ir.core import Operand, Value, derivative_type
from adc.ir.errors import TypeMismatchError, UnsupportedError
from adc.ir.foreign import BASES
from adc.ir.types import F16, HALF, Array, Scalar
from adc.library.standard.bases import copier

Held = Callable[[Ref], Binding]
Join = Callable[[Lowerer, RecordOf], Binding]


def new_ref(lo: Lowerer, like: Ref, held: Binding) -> Ref:
    """Make a list, dict or object of the kind of another one."""
    match like:
        case ListRef():
            return lo.new_ref(ListRef, held)
        case VarsRef():
            raise UnsupportedError(
                "this use of what `vars` returns is not supported", lo.builder.loc,
                "make a dict of it: `dict(vars(...))`",
            )  # fmt: skip
        case DictRef():
            return lo.new_ref(lambda slot: replace(like, slot=slot), held)
        case ObjectRef(cls=cls):
            return lo.new_ref(lambda slot: ObjectRef(slot, cls), held)


def require_own(lo: Lowerer, binding: Binding, node: ast.AST, name: str) -> None:
    """Refuse an object whose class says how it is copied, by the method `name` or to pickle it."""
    if isinstance(binding, ObjectRef):
        own = ("__new__", "__getnewargs__", "__reduce_ex__", "__reduce__")
        for method in (name, *own, "__getstate__", "__setstate__"):
            builtin = [getattr(base, method, None) for base in (object, *BASES)]
            if not any(getattr(binding.cls, method, None) is each for each in builtin):
                raise lo.unsupported(f"`{method}` of {kind_of(binding)}", node)
        if bases.has_contents(binding.cls):
            _require_copied(lo, binding, node, name)


def _require_copied(lo: Lowerer, owner: ObjectRef, node: ast.AST, name: str) -> None:
    """Refuse an object of a subclass of `dict` that Python does not copy item by item."""
    setter = classes.in_class(owner.cls, "__setitem__")
    shared = lo.entries(owner).get(bases.SHARED) is not None  # the copy's attributes are no items
    if shared or setter is not bases.method("__setitem__"):
        raise lo.unsupported(f"a copy of {kind_of(owner)}", node, "make a new one of its items")
    if name == "__deepcopy__" and classes.in_class(owner.cls, "__getattr__") is not classes.MISSING:
        call = classes.call_at(node)
        if dispatch.apply(lo, Static(copier), [owner], {}, call) != NONE:
            raise lo.unsupported(f"`{name}` of {kind_of(owner)}", node)


def deep_copy(
    lo: Lowerer,
    binding: Binding,
    node: ast.AST,
    what: str,
    leaf: Callable[[Num | ArrayRef | Lazy], Binding],
    growing: Callable[[Growing], Binding] | None = None,
) -> Binding:
    """Return a deep copy: `leaf` copies a number or an array, `growing` a list that grows.

    What is in it twice is copied once, as `copy.deepcopy` does. `what` is the user's name of it.
    """
    made: dict[object, Binding] = {}

    def copied(given: Binding) -> Binding:
        item = outside.opened(lo, given)
        match item:
            case Num() | Lazy():
                return leaf(item)
            case ArrayRef(object=obj, view=view):
                key: object = (obj, view)
                if key not in made:
                    if view and any(isinstance(k, tuple) and k[0] is obj for k in made):
                        raise lo.unsupported(
                            f"`{what}` of two views of one array", node, "copy them one by one"
                        )
                    made[key] = leaf(item)
                return made[key]
            case TupleOf() | RecordOf() | NamedTuple() if not is_stateful(item):
                return with_children(item, copied)
            case ListRef() | DictRef() | ObjectRef():
                require_own(lo, item, node, "__deepcopy__")
                if item.slot not in made:
                    held = lo.contents_of(item)
                    if isinstance(held, Pooled) or (
                        isinstance(held, Growing) and has_handles(held.element)
                    ):
                        raise lo.unsupported(
                            f"`{what}` of objects of which the run decides how many there are",
                            node, "make new ones of what they hold",
                        )  # fmt: skip
                    if not isinstance(held, Growing):
                        made[item.slot] = new = new_ref(lo, item, held)
                        lo.hold(new, copied(held))
                    elif growing is not None:
                        made[item.slot] = growing(held)
                if item.slot in made:
                    return made[item.slot]
            case Static() | Closure():
                return item
        raise lo.unsupported(
            f"`{what}` of {kind_of(item)}", node, "apply it to the numbers and arrays in it"
        )

    return copied(binding)


def new_array(
    lo: Lowerer, value: Value, name: str, sizes: Sequence[Operand | None] = ()
) -> ArrayRef:
    """Make an object of an array, of which no size is known yet or only some are."""
    assert isinstance(value.type, Array)
    dims = tuple(
        lo.sizes.counts(lo.builder.apply("dim", value, params=(axis,), hint="dim"))
        if size is None
        else size
        for axis, size in enumerate(sizes or (None,) * value.type.rank)
    )
    return lo.new_array(value, dims, name)


# -- complex numbers -------------------------------------------------------------------------------


def in_parts(lo: Lowerer, binding: Num | ArrayRef, node: ast.AST) -> NamedTuple:
    """Return a complex number, or an array of them, as its parts: what has derivatives."""
    found: list[Binding] = []
    if isinstance(binding, ArrayRef):
        whole = elementwise.copy(lo, binding, node) if binding.view else binding
        operand: Operand = lo.version(whole.object, node)
    else:
        operand = binding.operand
    for name in ("real", "imag"):
        part = numbers.apply(lo, name, operand)
        if isinstance(binding, Num):
            found.append(Num(part, binding.array))
        else:
            assert isinstance(part, Value)
            found.append(lo.new_array(part, lo.dims[whole.object], whole.object.name))
    return NamedTuple(complexes.Whole, RecordOf(("real", "imag"), tuple(found)))


def in_one(lo: Lowerer, parts: RecordOf) -> Num | ArrayRef:
    """Return the complex number, or array of them, with these parts."""
    re, im = parts.items
    return whole(lo, re, im)


def whole(lo: Lowerer, re: Binding, im: Binding) -> Num | ArrayRef:
    """Return the complex number, or array, with these parts, which are new."""
    if isinstance(re, Num) and isinstance(im, Num):
        return Num(numbers.joined(lo, re.operand, im.operand), re.array)
    assert isinstance(re, ArrayRef)
    assert isinstance(im, ArrayRef)
    versions = [lo.version(each.object, None) for each in (re, im)]
    made = lo.builder.apply("complex", *versions, hint=re.object.name)
    found = lo.new_array(made, lo.dims[re.object], re.object.name)
    for other in re.object.alias | im.object.alias:  # a function may have returned its argument
        suspect(found.object, other)
    return found


def wholes(lo: Lowerer, binding: Binding) -> Binding:
    """Return a structure with complex numbers in place of their parts."""
    match binding:
        case NamedTuple(cls=complexes.Whole, record=record):
            made = in_one(lo, record)
            if isinstance(made, ArrayRef):
                # Who changes it, or returns it, does so with the argument whose parts these are.
                for each in record.items:
                    assert isinstance(each, ArrayRef)
                    shares(made.object, each.object)
            return made
        case TupleOf() | RecordOf() | NamedTuple():
            return with_children(binding, lambda item: wholes(lo, item))
    return binding


def inputs_with_wholes(lo: Lowerer, inputs: Sequence[Binding]) -> list[Binding]:
    """Return the inputs of an outlined function with complex numbers in place of their parts."""
    for slot, held in list(lo.frame.env.items()):
        if is_slot(slot):
            lo.frame.env[slot] = wholes(lo, held)
    return [wholes(lo, each) for each in inputs]


def _conjugate(lo: Lowerer, binding: Num | ArrayRef) -> Num | ArrayRef:
    node = lo.frame.source.node
    found = elementwise.lift(
        lo, [binding], lambda items: Num(numbers.apply(lo, "conj", _operand(items[0]))), node
    )
    found = elementwise.materialised(lo, found, node)
    assert isinstance(found, Num | ArrayRef)
    return found


def _operand(item: Binding) -> Operand:
    assert isinstance(item, Num)
    return item.operand


def has_complex(binding: Binding, held: Held) -> bool:
    """Whether there is a complex number in a structure."""
    match binding:
        case NamedTuple(cls=complexes.Whole):
            return True
        case Num(operand=operand):
            return operand.type.kind == "c"
        case ArrayRef():
            return binding.element.kind == "c"
        case TupleOf() | RecordOf() | NamedTuple():
            return any(has_complex(item, held) for item in children(binding))
        case ListRef() | DictRef() | ObjectRef():
            return has_complex(held(binding), held)
    return False


# -- structures ------------------------------------------------------------------------------------


def detached(
    lo: Lowerer, binding: Binding, node: ast.AST, sources: dict[ArrayObject, ArrayObject],
    parts: bool = False,
) -> Binding:  # fmt: skip
    """Return a snapshot of an argument, which shares nothing; complex numbers in `parts`.

    In value form, a version of an array stays what it is: nothing is copied but views. `sources`
    notes which array each was. Random generators stay what they are: draws from them are seen.
    """

    def copied(item: Binding) -> Binding:
        return detached(lo, outside.opened(lo, item), node, sources, parts)

    if parts and isinstance(binding, Num | ArrayRef) and has_complex(binding, lo.held):
        found = elementwise.value_of(lo, binding, node)
        if isinstance(found, Num):
            return in_parts(lo, Num(found.operand, isinstance(binding, ArrayRef)), node)
        assert isinstance(found, ArrayRef)
        taken = in_parts(lo, found, node)
        real = taken.record.items[0]
        assert isinstance(real, ArrayRef)
        sources[real.object] = found.object  # one of the parts stands for both
        return taken
    match binding:
        case Num(operand=operand, array=array):
            return Num(operand, array)
        case ArrayRef() if not views.dims_of(lo, binding):
            found = elementwise.value_of(lo, binding, node)
            assert isinstance(found, Num)
            return Num(found.operand, array=True)
        case ArrayRef(object=obj, view=view):
            if view:
                made = elementwise.copy(lo, binding, node)
            else:
                made = lo.new_array(lo.version(obj, node), lo.dims[obj], obj.name)
            sources[made.object] = obj
            return made
        case TupleOf() | RecordOf() | NamedTuple() if not is_stateful(binding):
            return with_children(binding, copied)
        case ListRef() | DictRef() | ObjectRef():
            held = lo.held(binding)
            if isinstance(held, Growing):
                raise lo.unsupported(
                    "a derivative with respect to a list whose length is known only at run time",
                    node, "make an array of it with `np.array`",
                )  # fmt: skip
            return new_ref(lo, binding, copied(held))
    return binding


def floats(binding: Binding, held: Held) -> Iterator[Num | ArrayRef]:
    """Yield the floats in a structure, numbers and arrays; of a growing list, its columns."""
    match binding:
        case Num(operand=operand):
            if operand.type.kind == "f":
                yield binding
        case ArrayRef(object=obj):
            if obj.type.kind == "f":
                yield binding
        case Growing(buffers=buffers):
            for buffer in buffers:
                yield from floats(buffer, held)
        case TupleOf() | RecordOf() | NamedTuple():
            for item in children(binding):
                yield from floats(item, held)
        case ListRef() | DictRef() | ObjectRef():
            yield from floats(held(binding), held)


def numbers_in(binding: Binding, held: Held) -> Iterator[tuple[Num | ArrayRef, ...]]:
    """Yield the floats in a structure, the two parts of a complex number in one tuple."""
    match binding:
        case NamedTuple(cls=complexes.Whole):
            yield tuple(floats(binding, held))
        case TupleOf() | RecordOf() | NamedTuple():
            for item in children(binding):
                yield from numbers_in(item, held)
        case ListRef() | DictRef() | ObjectRef():
            yield from numbers_in(held(binding), held)
        case _:
            for leaf in floats(binding, held):
                yield (leaf,)


def is_complex_number(result: Binding) -> bool:
    """Whether a finished result is a complex number, in its parts."""
    return (
        isinstance(result, NamedTuple)
        and result.cls is complexes.Whole
        and isinstance(result.record.items[0], Num)
    )


def has_floats(lo: Lowerer, binding: Binding) -> bool:
    """Whether there is a number in a structure that has a derivative."""
    return has_complex(binding, lo.held) or any(True for _ in floats(binding, lo.held))


def arranged(
    lo: Lowerer, like: Binding, held: Held, found: Iterator[Binding], join: Join | None = None
) -> Binding:
    """Arrange values, one for each float, like a structure; None in place of other leaves.

    What belongs to the parts of a complex number, `join` makes one of: by default, of gradients or
    cotangents.
    """

    def recursed(item: Binding) -> Binding:
        return arranged(lo, item, held, found, join)

    match like:
        case Num(operand=operand) if operand.type.kind == "f":
            return next(found)
        case ArrayRef(object=obj) if obj.type.kind == "f":
            return next(found)
        case NamedTuple(cls=complexes.Whole, record=record):
            # The gradient of a complex number is ∂f/∂x - i ∂f/∂y.
            parts = with_children(record, recursed)
            return _conjugate(lo, in_one(lo, parts)) if join is None else join(lo, parts)
        case TupleOf() | RecordOf() | NamedTuple():
            return with_children(like, recursed)
        case Growing(buffers=buffers):
            (column,) = _only(lo, buffers, "a cotangent", lo.frame.source.node)
            return recursed(column)
        case ListRef() if isinstance(held(like), Growing):
            return recursed(held(like))
        case ListRef() | DictRef() | ObjectRef():
            return new_ref(lo, like, recursed(held(like)))
    return NONE


def gradients(lo: Lowerer, like: Binding, found: Iterator[Value]) -> Binding:
    """Arrange derivatives like the argument that they belong to."""
    made: list[Binding] = []
    for leaf in floats(like, lo.held):
        if isinstance(leaf, Num):
            made.append(Num(like_number(lo, next(found), leaf.operand)))
        else:
            assert isinstance(leaf, ArrayRef)
            own = lo.new_array(next(found), lo.dims[leaf.object], leaf.object.name)
            made.append(like_array(lo, own, leaf.object.type))
    return arranged(lo, like, lo.held, iter(made))


def like_number(lo: Lowerer, operand: Operand, like: Operand) -> Operand:
    """Return a derivative as a Python number, or one of 16 bits, if `like` is one."""
    ty = numbers.scalar_type(like)
    if not (ty.weak or ty.dtype == HALF) or operand.type == ty:
        return operand
    return lo.builder.apply("cast", operand, params=(str(ty),))


def like_array(lo: Lowerer, found: ArrayRef, like: Array) -> ArrayRef:
    """Return a derivative as an array of 16 bits if `like` is the type of one."""
    if like.dtype != HALF:
        return found
    source = elementwise.lazy(lo, found, None)
    rounded = Lazy(source.dims, F16, lambda index: lo.convert(source.element(index), F16))
    return elementwise.stored_new(lo, rounded, HALF, None, found.object.name)


def returned(
    lo: Lowerer, result: Binding, heap: dict[str, Binding], values: Iterator[Binding]
) -> Binding:
    """Return a finished result (`results.finished`) of other code, with values of this code."""
    made: dict[str, Binding] = {}

    def visit(binding: Binding) -> Binding:
        match binding:
            case Num() | ArrayRef():
                return next(values)
            case NamedTuple(cls=complexes.Whole, record=record):
                parts = with_children(record, visit)
                first, second = parts.items
                return first if second == NONE else in_one(lo, parts)  # the first may be whole
            case TupleOf() | RecordOf() | NamedTuple():
                return with_children(binding, visit)
            case Growing():
                return _grown(lo, binding, values)
            case ListRef() | DictRef() | ObjectRef():
                if binding.slot not in made:
                    made[binding.slot] = new_ref(lo, binding, visit(heap[binding.slot]))
                return made[binding.slot]
        return binding

    return visit(result)


def _grown(lo: Lowerer, like: Growing, values: Iterator[Binding]) -> Growing:
    """Return a growing list of columns, which may have more axes than those of `like`."""
    columns: list[ArrayRef] = []
    cells: list[Binding] = []
    for cell in cells_of(like.element):
        column = next(values)
        if column == NONE:
            cells.append(NONE)
            continue
        if not isinstance(column, ArrayRef):
            raise UnsupportedError(
                "a list of structures whose length is known only at run time is not supported",
                lo.builder.loc, "return an array",
            )  # fmt: skip
        column = elementwise.copy(lo, column, lo.frame.source.node) if column.view else column
        more = column.object.type.rank - 1 - len(cell.sizes or ())
        if more:
            scalar = Scalar(column.object.type.dtype)
            cell = Cell(scalar, (*(cell.sizes or ()), *(None,) * more))
        column.object.kept = BY_LIST if cell.sizes is not None else frozenset()
        columns.append(column)
        cells.append(cell)
    element = with_cells(like.element, iter(cells))
    return Growing(tuple(columns), Num(lo.dims[columns[0].object][0]), element)


def belonging(
    lo: Lowerer, like: Binding, held: Held, given: Binding, what: str, node: ast.AST,
    conjugate: bool = False,
) -> Iterator[tuple[Num | ArrayRef, Binding]]:  # fmt: skip
    """Yield each float of a structure with its counterpart in another one.

    None instead of a part stands for None for all floats in that. The counterpart of a complex
    number is complex: `conjugate`, if it is a cotangent.
    """
    if isinstance(like, Num | ArrayRef):
        for leaf in floats(like, held):
            yield leaf, given
        return
    if isinstance(like, NamedTuple) and like.cls is complexes.Whole and given != NONE:
        whole = elementwise.materialised(lo, arrays.as_operand(lo, given, node), node)
        if conjugate and isinstance(whole, Num | ArrayRef) and has_complex(whole, lo.held):
            whole = _conjugate(lo, whole)
        for own, name in zip(like.record.items, ("real", "imag"), strict=True):
            assert isinstance(own, Num | ArrayRef)
            yield own, elementwise.part(lo, whole, name, node)
        return
    if isinstance(like, ListRef) and isinstance(grown := held(like), Growing):
        # An array of what belongs to all elements.
        (column,) = _only(lo, grown.buffers, what, node)
        yield from belonging(lo, column, held, given, what, node, conjugate)
        return
    parts = _parts(like, held)
    if parts is None:
        return
    if given == NONE:
        for leaf in floats(like, held):
            yield leaf, NONE
        return
    others = _parts(given, lo.held)
    if others is None or len(others) != len(parts):
        raise TypeMismatchError(
            f"{what} is {kind_of(given)}, but {kind_of(like)} is needed", lo.span(node)
        )
    for part, other in zip(parts, others, strict=True):
        yield from belonging(lo, part, held, other, what, node, conjugate)


def _only(lo: Lowerer, buffers: tuple[ArrayRef, ...], what: str, node: ast.AST) -> tuple[ArrayRef]:
    if len(buffers) != 1:
        raise lo.unsupported(
            f"{what} of a list of tuples whose length is known only at run time", node,
            "return arrays",
        )  # fmt: skip
    return (buffers[0],)


def _parts(binding: Binding, held: Held) -> tuple[Binding, ...] | None:
    match binding:
        case TupleOf() | RecordOf() | NamedTuple():
            return tuple(children(binding))
        case ListRef() | DictRef() | ObjectRef():
            return _parts(held(binding), held)
    return None


def fitted(
    lo: Lowerer, ty: Scalar | Array, dims: Sequence[Operand] | None, given: Binding, what: str,
    node: ast.AST,
) -> Operand:  # fmt: skip
    """Return a tangent or cotangent of something of type `ty`, of sizes `dims` if they are known.

    Of None it is zero.
    """
    ty = _derivative(ty)
    if isinstance(ty, Scalar):
        if given == NONE:
            return numbers.zero_of(ty)
        number = elementwise.number(lo, elementwise.value_of(lo, given, node), node, what)
        return lo.exact(lo.convert(number, ty), ty)
    if given == NONE:
        assert dims is not None
        zero = numbers.zero_of(ty.element)
        return lo.builder.apply("full", zero, *dims, params=(ty.dtype,), hint="v")
    source = elementwise.lazy(lo, arrays.as_array(lo, given, node), node)
    own = views.dims_of(lo, source)
    if len(own) != ty.rank:
        raise TypeMismatchError(
            f"{what} has rank {len(own)}, but its primal value has rank {ty.rank}", lo.span(node)
        )
    message = f"{what} does not have the shape of its primal value"
    for a, b in zip(own, dims or (), strict=bool(dims)):
        elementwise.require_same(lo, a, b, message, [], node)
    if isinstance(given, ArrayRef) and not given.view and given.object.type == ty:
        return lo.version(given.object, node)  # in value form, it stays what it is
    made = elementwise.stored_new(lo, source, ty.dtype, node, "v")
    return lo.version(made.object, node)


def _derivative(ty: Scalar | Array) -> Scalar | Array:
    found = derivative_type(ty)
    assert isinstance(found, Scalar | Array)
    return found


def fitted_to(
    lo: Lowerer, leaf: Num | ArrayRef, given: Binding, what: str, node: ast.AST
) -> Operand:
    """Return a tangent or cotangent of a number or array that `lo` knows."""
    if isinstance(leaf, Num):
        return fitted(lo, numbers.scalar_type(leaf.operand), None, given, what, node)
    return fitted(lo, leaf.object.type, lo.dims[leaf.object], given, what, node)


__all__ = [
    "arranged",
    "belonging",
    "detached",
    "fitted",
    "fitted_to",
    "floats",
    "gradients",
    "like_array",
    "like_number",
    "new_array",
    "new_ref",
    "returned",
]
