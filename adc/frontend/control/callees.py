"""Functions of the program as IR functions: lowered once for each signature, and called.

A *recursive* function is lowered repeatedly until the types of its results, its writes and its
captures no longer change. A *shared* function is called in several places with the same signature:
types, known sizes, constants, and which arguments are the same array.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field

from adc.frontend.control import inlining, marks
from adc.frontend.control.signatures import Passed, Slot, is_integer, leaf_of, passed_by
from adc.frontend.core import closures, outside, parameters
from adc.frontend.core.bindings import (
    ArrayObject,
    ArrayRef,
    Binding,
    Bound,
    Closure,
    DictRef,
    ListRef,
    Maybe,
    NamedTuple,
    Num,
    ObjectRef,
    RecordOf,
    Ref,
    Static,
    TupleOf,
    Unbound,
    Unstable,
    Words,
    shares,
    suspect,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.core.state import Dead, Frame, Holder
from adc.frontend.core.structure import (
    children,
    is_slot,
    leaves,
    pieces,
    rebuild,
    shape_of,
    with_children,
)
from adc.frontend.inputs.places import Place
from adc.frontend.syntax.source import Source
from adc.frontend.values import structures
from adc.ir.builder import integer
from adc.ir.core import Call, Function, Literal, Operand, Value
from adc.ir.errors import (
    AdcError,
    RecursionDepthError,
    TypeMismatchError,
    UnsupportedError,
)
from adc.ir.types import INT, Array, Scalar, join

# Compiled recursion has no interpreter to stop it before the stack ends.
MAX_RECURSION = 3000
# A recursive function is lowered once for each combination of argument types and functions: so
# many, of which each calls the next.
MAX_CALLEES = 200
MAX_DEPTH = 24
# So many numbers and arrays, if they become more with each call, as where a tuple doubles.
MAX_PASSED = 1000
# The inner function that is called, among what a call passes.
ITSELF = "$itself"


class _Bottom(Dead):
    """A recursive call whose result is not known yet; this path contributes nothing."""


@dataclass(eq=False)
class Callee:
    """An IR function for one signature.

    Attributes
    ----------
    takes : int
        How many numbers and arrays there are in what is passed.
    result, heap
        The structure of the result, and what the lists, dicts and objects in it hold.
    types : tuple
        The types of the numbers and arrays in them.
    origins : tuple of Slot
        What each of these is in terms of what is passed; ``-1 - k`` is the `k`-th result of the
        function.
    sizes : tuple
        Of each result of the function: its sizes in terms of what is passed, where known, and
        whether they are known not to be 1.
    modified : frozenset of int
        The positions of the array parameters that it writes.
    perhaps : dict
        For each result of the function that is an array, by its origin: the origins of what it is
        on some paths only, an array that is passed or another result.
    asked : bool
        Whether a call of it was met while its body was lowered: it calls itself.
    """

    name: str
    takes: int
    result: Binding | None = None
    heap: dict[str, Binding] = field(default_factory=dict)
    types: tuple[Scalar | Array, ...] = ()
    origins: tuple[Slot, ...] = ()
    sizes: tuple[tuple[tuple[Slot | None, bool], ...], ...] = ()
    modified: frozenset[int] = frozenset()
    perhaps: dict[int, frozenset[int]] = field(default_factory=dict)
    captures: tuple[Place, ...] = ()
    function: Function | None = None
    asked: bool = False

    @property
    def functions(self) -> tuple[Function, ...]:
        """The function, as soon as it is made."""
        return () if self.function is None else (self.function,)

    def facts(self) -> tuple[object, ...]:
        return (self.types, self.origins, self.modified, self.perhaps, len(self.captures),
                None if self.result is None else shape_of(self.result))  # fmt: skip


# -- calls -----------------------------------------------------------------------------------------


def call_recursive(
    lo: Lowerer, holder: Holder, source: Source, bound: dict[str, Binding], node: ast.AST,
    stack: object, closure: Closure | None = None,
) -> Binding:  # fmt: skip
    """Lower a call of a recursive function to a `Call`; `stack` says which function it is.

    The variables that an inner function reads are passed to it. Constant numbers are arguments like
    others, as recursive calls change them, unless the function cannot do without.
    """
    which = closure.node if closure is not None else holder.fn
    needed = lo.shared.with_constants
    if which in needed:
        return _call_recursive(lo, holder, source, bound, node, stack, closure)
    try:
        return _call_recursive(lo, holder, source, bound, node, stack, closure)
    except AdcError as error:
        if not any(is_integer(piece) for each in bound.values() for piece in pieces(each)):
            raise
        needed.add(which)
        try:
            return _call_recursive(lo, holder, source, bound, node, stack, closure)
        except AdcError:
            needed.discard(which)
            raise error from None


def _call_recursive(
    lo: Lowerer, holder: Holder, source: Source, bound: dict[str, Binding], node: ast.AST,
    stack: object, closure: Closure | None,
) -> Binding:  # fmt: skip
    name = closure.name if closure is not None else holder.fn.__name__
    which = closure.node if closure is not None else holder.fn
    given = bound if closure is None else {**bound, ITSELF: closure}
    passed = passed_by(lo, given, node, literals=which in lo.shared.with_constants)
    key = (which, passed.key(), lo.shared.modes)
    callee = lo.shared.callees.get(key)
    if callee is None:
        number = lo.shared.number(lo.shared.callees) or ""
        callee = Callee(
            f"{name if name.isidentifier() else 'lambda'}{number}_rec", len(passed.slots)
        )
        known = set(lo.shared.callees)
        lo.shared.callees[key] = callee
        try:
            _find(lo, callee, holder, source, passed, stack, node, key)
        except AdcError as error:
            if holder.in_library and error.span is not None and error.span.file == source.file:
                error.span = lo.span(node)  # the program's line
            raise
        finally:
            if callee.function is None:
                _forget(lo, known)
    else:
        callee.asked = True
    if callee.result is None:
        raise _Bottom
    return _emit_call(lo, callee, passed, node)


def call_shared(
    lo: Lowerer, holder: Holder, source: Source, passed: Passed, node: ast.AST
) -> Binding:
    """Lower a call of a function that calls of the same signature share to a `Call`.

    Raises
    ------
    AdcError
        If the function must be part of the code that calls it.
    """
    key = (holder.fn, passed.key(), lo.shared.modes)
    callee = lo.shared.callees.get(key)
    if callee is None:
        shared = lo.shared
        made = shared.number(shared.derived), shared.number(shared.rules)
        name = holder.fn.__name__
        number = shared.number(shared.callees)
        callee = Callee(
            f"{name if name.isidentifier() else 'lambda'}{number}_fn", len(passed.slots)
        )
        # Before those that it calls: the names are counted.
        lo.shared.callees[key] = callee
        try:
            callee.function = _lower_callee(lo, callee, holder, source, passed, list(lo.stack))
        except _Bottom:
            raise
        except Dead:
            raise UnsupportedError(f"{name}() always raises", lo.span(node)) from None
        else:
            if made != (shared.number(shared.derived), shared.number(shared.rules)):
                callee.function = None
                raise UnsupportedError(
                    f"a derivative within {name}() is not supported", lo.span(node)
                )
        finally:
            if callee.function is None:
                del lo.shared.callees[key]
    assert callee.result is not None
    return _emit_call(lo, callee, passed, node)


def _emit_call(lo: Lowerer, callee: Callee, given: Passed, node: ast.AST) -> Binding:
    passed: list[Num | ArrayRef] = list(given.leaves)
    for place in callee.captures:
        outside.reach(lo, place, lo.shared.values[place])
        passed += lo.captured[place][1]
    args: list[Operand] = []
    if callee.function is None or len(callee.function.params) > len(passed):  # it is recursive
        args.append(
            integer(0)
            if lo.depth is None
            else lo.builder.apply("add", lo.depth, integer(1), hint="depth")
        )
    for leaf in passed:
        args.append(leaf.operand if isinstance(leaf, Num) else lo.version(leaf.object, node))
    assert callee.result is not None
    own: dict[int, Value] = {}
    for ty, origin in zip(callee.types, callee.origins, strict=True):
        if isinstance(origin, int) and origin < 0 and origin not in own:
            own[origin] = lo.builder.value("r", ty)
    changed: list[tuple[ArrayObject, Value]] = []
    for position in sorted(callee.modified):
        leaf = passed[position]
        assert isinstance(leaf, ArrayRef)
        changed.append((leaf.object, lo.builder.value(leaf.object.name, leaf.object.type)))
    label = lo.builder.names.fresh("C0")
    lo.builder.emit(
        Call((*own.values(), *(v for _, v in changed)), label, callee.name, tuple(args),
             loc=lo.builder.loc)
    )  # fmt: skip
    for obj, version in changed:
        lo.update(obj, version)
    found: dict[int, Num | ArrayRef] = {}
    for origin, value in own.items():
        if isinstance(value.type, Array):
            sizes = callee.sizes[-1 - origin] if callee.sizes else ()
            dims = _sizes_of(lo, value, sizes, passed)
            found[origin] = made = lo.new_array(value, dims, "r")
            for other in sorted(callee.perhaps[origin]):
                same = found[other] if other < 0 else passed[other]
                assert isinstance(same, ArrayRef)
                shares(made.object, same.object)
        else:
            found[origin] = Num(value)
    parts = iter(
        [
            found[origin] if isinstance(origin, int) and origin < 0 else leaf_of(lo, passed, origin)
            for origin in callee.origins
        ]
    )
    result = rebuild(callee.result, parts)
    held = {slot: rebuild(each, parts) for slot, each in callee.heap.items()}
    return _in_new_containers(lo, result, held, {}) if held else result


def _sizes_of(
    lo: Lowerer, value: Value, sizes: Sequence[tuple[Slot | None, bool]],
    passed: Sequence[Num | ArrayRef],
) -> tuple[Operand, ...]:  # fmt: skip
    """Return the sizes of an array that a function returned."""
    assert isinstance(value.type, Array)
    dims: list[Operand] = []
    for axis in range(value.type.rank):
        slot, plural = sizes[axis] if sizes else (None, False)
        size: Operand
        if slot is None:
            size = lo.sizes.counts(lo.builder.apply("dim", value, params=(axis,), hint="dim"))
        else:
            leaf = leaf_of(lo, passed, slot)
            assert isinstance(leaf, Num)
            size = leaf.operand
        if plural:
            lo.sizes.plural.add(size)
        dims.append(size)
    return tuple(dims)


def _in_new_containers(
    lo: Lowerer, binding: Binding, held: dict[str, Binding], made: dict[str, Binding]
) -> Binding:
    """Return a result whose lists, dicts and objects are the caller's."""
    if not isinstance(binding, Ref):
        return with_children(binding, lambda part: _in_new_containers(lo, part, held, made))
    if binding.slot not in made:
        inner = _in_new_containers(lo, held[binding.slot], held, made)
        made[binding.slot] = structures.new_ref(lo, binding, inner)
    return made[binding.slot]


# -- lowering a function ---------------------------------------------------------------------------


def _check_data(result: Binding, source: Source, *, recursive: bool) -> None:
    """Raise unless the result of a function can be passed back by value."""
    match result:
        case TupleOf() | RecordOf() | Words() | NamedTuple() | Maybe():
            for part in children(result):
                _check_data(part, source, recursive=recursive)
        case Num() | ArrayRef() | Static():
            pass
        case ListRef() | DictRef() | ObjectRef() if not recursive:
            pass
        case _ if not recursive or isinstance(
            result, Closure | Bound | ListRef | DictRef | ObjectRef
        ):
            raise UnsupportedError(
                f"returning {kind_of(result)} from a recursive function is not supported",
                source.span(source.node),
                "return numbers and arrays",
            )


def _find(
    lo: Lowerer, callee: Callee, holder: Holder, source: Source, passed: Passed, stack: object,
    node: ast.AST, key: tuple[object, ...],
) -> None:  # fmt: skip
    """Lower the body repeatedly until result types, writes and captures are stable."""
    name = source.name
    made = [callee for each, callee in lo.shared.callees.items() if each[0] is key[0]]
    begun = [each.takes for each in made if each.function is None]
    grows = callee.takes > MAX_PASSED and callee.takes > min(begun)
    if len(begun) > MAX_DEPTH or len(made) > MAX_CALLEES or grows:
        raise RecursionDepthError(
            f"{name}() calls itself with a new function or new types at every level",
            lo.span(node),
            "pass the same function and the same types in every call",
        )  # fmt: skip
    known = set(lo.shared.callees)
    for _ in range(12):
        facts, callee.asked = callee.facts(), False
        # Callees found on the way depend on what was believed of this one.
        _forget(lo, known)
        try:
            function = _lower_callee(lo, callee, holder, source, passed, [stack], recursive=True)
        except Dead:
            if not callee.asked:
                raise UnsupportedError(f"{name}() always raises", lo.span(node)) from None
            raise UnsupportedError(
                f"{name}() calls itself on every path", source.span(source.node),
                "add a path that returns without a recursive call",
            ) from None  # fmt: skip
        # What calls only others, as for the parts of a tree, believed nothing of itself.
        if callee.facts() == facts or not callee.asked:
            callee.function = function
            return
    raise UnsupportedError(
        f"the types in the recursive function {name}() do not converge",
        source.span(source.node),
    )


def _forget(lo: Lowerer, known: Container[object]) -> None:
    """Forget the callees that were not known."""
    for each in [each for each in lo.shared.callees if each not in known]:
        del lo.shared.callees[each]


def _lower_callee(
    lo: Lowerer,
    callee: Callee,
    holder: Holder,
    source: Source,
    passed: Passed,
    stack: list[object],
    *,
    recursive: bool = False,
) -> Function:
    """Lower the body of a function; fill in the facts about it."""
    sub = Lowerer(lo.shared)
    sub.stack = stack
    sub.branches, sub.arms, sub.entered_at = lo.branches, lo.arms, lo.entered_at
    before: tuple[Value, ...] = ()
    if recursive:
        sub.depth = sub.builder.value("depth", INT)
        sub.inlines = 1  # what is called counts the levels of recursion
        before = (sub.depth,)
    params, env = _entered(sub, passed)
    sub.builder.loc = source.span(source.node)
    if sub.depth is not None:
        within = sub.builder.apply("lt", sub.depth, integer(MAX_RECURSION))
        sub.builder.check(within, "RecursionError", "maximum recursion depth exceeded")
    closure = env.pop(ITSELF, None)
    assert closure is None or isinstance(closure, Closure)
    outer = None if closure is None else closure.scope
    result = inlining.run(sub, source.node, source, env, holder, outer, closure)
    if isinstance(result, Unstable | Unbound):
        raise TypeMismatchError(f"the result {result.why}", source.span(source.node))
    sub.frame = Frame(source, sub.heap, holder)
    heap = {} if recursive else _returned(sub, result, source)
    for each in (result, *heap.values()):
        _check_data(each, source, recursive=recursive)
    callee.captures = tuple(sub.captured)
    inputs = [*params, *(leaf for _, found in sub.captured.values() for leaf in found)]
    known = None if recursive else _known_in(sub, params)
    outputs = _results(sub, callee, [result, *heap.values()], inputs, known)
    callee.result, callee.heap = result, heap
    if known is not None:
        callee.sizes = tuple(
            _sizes_in(sub, obj, known) for obj in _own_arrays(callee, result, heap)
        )
    captured = [p for capture, _ in sub.captured.values() for p in capture.params]
    origins = [
        sub.origin[leaf.object] if isinstance(leaf, ArrayRef) else leaf.operand for leaf in params
    ]
    return Function(
        callee.name,
        (*before, *(each for each in origins if isinstance(each, Value)), *captured),
        marks.with_marks((*sub.prologue, *sub.builder.stmts), sub.builder.marks),
        tuple(outputs),
    )


def _entered(sub: Lowerer, passed: Passed) -> tuple[list[Num | ArrayRef], dict[str, Binding]]:
    """Return what the parameters of a function are, and the bindings of its variables."""
    found = [(name, leaf) for name, binding in passed.bound.items() for leaf in leaves(binding)]
    params: list[Num | ArrayRef] = []
    for position, ty in enumerate(passed.types):
        name, given = found[passed.slots.index(position)]
        hint = _hint(given) if is_slot(name) else name
        param = Value(sub.builder.names.fresh(hint), ty)
        made = parameters.array_param(sub, param, hint) if isinstance(ty, Array) else Num(param)
        if isinstance(made, ArrayRef) and isinstance(given, ArrayRef):
            made.object.words = given.object.words
            dims = list(sub.dims[made.object])
            for axis, size in passed.sizes[position]:
                if size is None:
                    sub.sizes.plural.add(dims[axis])
                else:
                    dims[axis] = integer(size)
            sub.dims[made.object] = tuple(dims)
        params.append(made)
    for positions in passed.suspects:
        one, other = (params[k] for k in positions)
        assert isinstance(one, ArrayRef)
        assert isinstance(other, ArrayRef)
        suspect(one.object, other.object)

    fresh: Iterator[Num | ArrayRef] = iter([leaf_of(sub, params, slot) for slot in passed.slots])
    env = {name: rebuild(binding, fresh) for name, binding in passed.bound.items()}
    sub.lent = {name for name in env if is_slot(name)}
    for slot in sub.lent:
        sub.builder.names.reserve(slot)
    return params, env


def _hint(leaf: Num | ArrayRef) -> str:
    """Return a name for what a list, dict or object holds: the last part of the caller's."""
    name = leaf.object.name if isinstance(leaf, ArrayRef) else str(leaf.operand)
    return next((part for part in reversed(re.split(r"\W|_", name)) if part.isidentifier()), "item")


def _returned(sub: Lowerer, result: Binding, source: Source) -> dict[str, Binding]:
    """Return what the lists, dicts and objects hold that a function made and returns."""
    heap = closures.reachable(sub, [result])
    if any(slot in sub.lent or slot in sub.initial for slot in heap):
        raise UnsupportedError(
            "returning a list, dict or object that was passed", source.span(source.node)
        )
    return heap


def _results(
    sub: Lowerer, callee: Callee, found: Sequence[Binding], inputs: Sequence[Num | ArrayRef],
    known: dict[Operand, Slot] | None,
) -> list[Operand]:  # fmt: skip
    """Return the results of the IR function; note in `callee` what they are.

    A number that is `known` to be one of what is passed is no result, and a constant neither.
    """
    position_of = {leaf.object: k for k, leaf in enumerate(inputs) if isinstance(leaf, ArrayRef)}
    outputs: list[Operand] = []
    origins: list[Slot] = []
    types: list[Scalar | Array] = []
    own: dict[ArrayObject, int] = {}
    perhaps: dict[int, frozenset[int]] = {}
    for k, leaf in enumerate(leaf for each in found for leaf in leaves(each)):
        if isinstance(leaf, Num):
            ty = leaf.operand.type
            assert isinstance(ty, Scalar)
            if known is not None and (isinstance(leaf.operand, Literal) or leaf.operand in known):
                # What the caller knows of it goes on holding: constants, sizes.
                same = leaf.operand
                origins.append(same if isinstance(same, Literal) else known[same])
                types.append(ty)
                continue
            if callee.result is not None and k < len(callee.types):
                old = callee.types[k]
                assert isinstance(old, Scalar)
                ty = join(old, ty)
            outputs.append(sub.convert(leaf.operand, ty))
            origins.append(-len(outputs))
            types.append(ty)
            continue
        obj = leaf.object
        if obj in position_of:
            origins.append(position_of[obj])
        else:
            if obj not in own:
                known_arrays = {**position_of, **own}
                outputs.append(sub.version(obj, None))
                own[obj] = -len(outputs)
                perhaps[own[obj]] = frozenset(
                    known_arrays[other] for other in obj.alias if other in known_arrays
                )
            origins.append(own[obj])
        types.append(obj.type)
    for obj in position_of:
        if obj in sub.stale:
            sub.version(obj, None)  # raises: it may have been changed under another name
    callee.modified |= frozenset(
        k
        for obj, k in position_of.items()
        if sub.versions.get(obj, sub.origin[obj]) is not sub.origin[obj]
    )
    for k in sorted(callee.modified):
        leaf = inputs[k]
        assert isinstance(leaf, ArrayRef)
        outputs.append(sub.versions.get(leaf.object, sub.origin[leaf.object]))
    callee.types, callee.origins, callee.perhaps = tuple(types), tuple(origins), perhaps
    return outputs


def _own_arrays(
    callee: Callee, result: Binding, heap: dict[str, Binding]
) -> list[ArrayObject | None]:
    """Return for each number or array that a function makes and returns the array that it is."""
    found: dict[int, ArrayObject | None] = {}
    parts = (leaf for each in (result, *heap.values()) for leaf in leaves(each))
    for leaf, origin in zip(parts, callee.origins, strict=True):
        if isinstance(origin, int) and origin < 0:
            found.setdefault(origin, leaf.object if isinstance(leaf, ArrayRef) else None)
    return list(found.values())


def _known_in(sub: Lowerer, params: Sequence[Num | ArrayRef]) -> dict[Operand, Slot]:
    """Return which values in a function are numbers that it is passed, or sizes of arrays."""
    known: dict[Operand, Slot] = {}
    for position, leaf in enumerate(params):
        if isinstance(leaf, Num):
            known.setdefault(sub.sizes.canonical(leaf.operand), position)
            continue
        for axis, size in enumerate(sub.dims[leaf.object]):
            known.setdefault(sub.sizes.canonical(size), (position, axis))
    return known


def _sizes_in(
    sub: Lowerer, obj: ArrayObject | None, known: dict[Operand, Slot]
) -> tuple[tuple[Slot | None, bool], ...]:
    """Return what is known of the sizes of an array that a function returns."""
    if obj is None:
        return ()
    found: list[tuple[Slot | None, bool]] = []
    for size in sub.dims[obj]:
        same = sub.sizes.canonical(size)
        if isinstance(same, Literal):
            found.append((same, False))
        else:
            found.append((known.get(same), sub.sizes.is_plural(size)))
    return tuple(found)
