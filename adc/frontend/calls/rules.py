"""The functions of a custom derivative: the function itself, and those of its rule.

They become IR functions with the parameters that `ir.core.CustomRule` describes, so that the
transformations need only their names.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from adc.frontend.calls import outside
from adc.frontend.core import dispatch, numbers, parameters
from adc.frontend.core.bindings import (
    NONE,
    ArrayRef,
    Binding,
    DictRef,
    ListRef,
    NamedTuple,
    Num,
    ObjectRef,
    RecordOf,
    Ref,
    Ruled,
    Static,
    TupleOf,
    shares,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.core.state import (
    NEITHER,
    ConstantNeededError,
    Dead,
    ModesNeededError,
    PickedError,
)
from adc.frontend.core.structure import shape_of, side_by_side
from adc.frontend.inputs.places import Place
from adc.frontend.transforms import derivatives, results
from adc.frontend.transforms.outline import Outline, Part
from adc.frontend.values import elementwise, structures, views
from adc.ir.analysis.sizes.shapes import Dim, Own, Returned
from adc.ir.core import Call, CustomRule, Function, Literal, Operand, Value, derivative_type
from adc.ir.errors import (
    AdcError,
    SourceError,
    TypeMismatchError,
    UnsupportedError,
)
from adc.ir.functions import called
from adc.ir.text.outside import annotated
from adc.ir.types import INT, Array, Type


@dataclass(frozen=True)
class Custom:
    """A function with a custom derivative.

    Attributes
    ----------
    name : str
        In errors, and of the functions that are made.
    kind : str
        Of the rule: "vjp", "jvp", "both", or "exact" of one in the library.
    primal, rules : Binding, tuple of Binding
        The function, and those of its rule.
    fixed : tuple of int
        The positions of arguments that are not differentiated.
    key : object
        What it is known by.
    routine : str
        What a library has for it.
    sized : bool
        Whether what it returns has sizes that its arguments determine.
    target : Ruled or None
        What it is, if it was made in code.
    always : bool
        As in `ir.core.CustomRule`.
    """

    name: str
    kind: str
    primal: Binding
    rules: tuple[Binding, ...]
    fixed: tuple[int, ...]
    key: object
    routine: str = ""
    sized: bool = False
    target: Ruled | None = None
    always: bool = False


@dataclass(eq=False)
class Made:
    """The functions of a call: of the function, and of its rule, which may call it again.

    Attributes
    ----------
    names : tuple of str
        Of the function and of those of its rule.
    primal : Part or None
        The function, as soon as it is lowered.
    returned : frozenset of int
        The parameters that it may return.
    outside, taken : tuples of Place
        What all of them find outside the code, and the reverse rule alone.
    functions : tuple of Function
        What was made in the end.
    modes : frozenset of str
        The modes that there are functions for.
    """

    names: tuple[str, ...]
    modes: frozenset[str]
    primal: Part | None = None
    returned: frozenset[int] = frozenset()
    outside: tuple[Place, ...] = ()
    taken: tuple[Place, ...] = ()
    functions: tuple[Function, ...] = ()


@dataclass
class _Lowered:
    """A function of a rule, what comes with it, and what it depends on beside the arguments."""

    part: Part
    more: Any
    like: object


class Maker:
    """Makes the functions of one call, and the call."""

    def __init__(
        self, lo: Lowerer, outline: Outline, custom: Custom, given: Sequence[Binding],
        free: Sequence[int], fixed: Sequence[int], node: ast.Call,
    ) -> None:  # fmt: skip
        self.lo, self.outline, self.kind, self.node = lo, outline, custom.kind, node
        self.custom = custom
        self.name = custom.name if custom.name.isidentifier() else "custom"
        self.routine, self.sized = custom.routine, custom.sized
        self.given, self.free, self.fixed = given, free, fixed
        self.chosen = [given[k] for k in free]
        self.leaves = [
            leaf for each in self.chosen for leaf in structures.floats(each, lo.held)
        ]  # fmt: skip
        self.positions = tuple(outline.position(leaf) for leaf in self.leaves)
        self.key = (custom.key, outline.key(), self.positions)
        self.lowered: dict[str, _Lowered] = {}

    def call(self) -> Binding:
        lo, known = self.lo, self.lo.shared.rules
        made = known.get(self.key)
        if made is None:
            count = lo.shared.number(known) or ""
            parts = {
                "jvp": ("tangent",),
                "vjp": ("record", "reverse"),
                "exact": ("record", "reverse", "tangent"),
                "both": ("record", "reverse", "tangent"),
            }
            names = tuple(f"{self.name}_{part}{count}" for part in ("custom", *parts[self.kind]))
            known[self.key] = made = Made(names, lo.shared.modes)
            try:
                self._make(made)
            except BaseException:
                del known[self.key]  # whoever tries again makes them
                raise
        if not made.modes >= lo.shared.modes:
            raise ModesNeededError
        if made.primal is None:
            raise lo.unsupported(
                f"recursion of {self.name}(), which has a custom derivative,", self.node
            )
        operands = [*self.outline.operands, *self._found(made.outside)]
        if self._records(made):
            operands += [*self._taken_inputs().operands, *self._found(made.taken)]
        with lo.at(self.node):
            values = [lo.builder.value("r", operand.type) for operand in made.primal.operands]
            label = lo.builder.names.fresh("C0")
            lo.builder.emit(
                Call(tuple(values), label, made.names[0], tuple(operands), loc=lo.builder.loc)
            )
            leaves = [
                structures.new_array(lo, value, "r", sizes)
                if isinstance(value.type, Array)
                else Num(value)
                for value, sizes in zip(values, self._sizes(made.primal), strict=True)
            ]
        for leaf in leaves:
            if isinstance(leaf, ArrayRef):
                # In Python a result may be an argument: who writes to one may not read the other.
                for position in made.returned:
                    shares(leaf.object, self.outline.source(position))
        return structures.returned(lo, made.primal.result, made.primal.heap, iter(leaves))

    def _sizes(self, primal: Part) -> list[list[Operand | None]]:
        """Return the sizes of what the function returns, as far as it makes them of arguments.

        A program's own rule may return a value of other sizes.
        """
        if not self.sized:
            return [[] for _ in primal.operands]

        def size_of(position: int, axis: int) -> Operand:
            return self.lo.dims[self.outline.array(position)][axis]

        return _known_sizes(primal, self.outline.operands, size_of)

    def _found(self, places: Sequence[Place]) -> list[Operand]:
        return [operand for place in places for operand in self.outline.reached(place)]

    def _make(self, made: Made) -> None:
        """Lower the functions until their captured values no longer change."""
        with self.lo.shared.within(NEITHER):
            made.primal = self._primal(made)
        made.returned = frozenset(self.outline.returned)
        made.outside = tuple(made.primal.captured)
        while True:
            before = (made.outside, made.taken)
            functions = self._functions(made, made.primal)
            if (made.outside, made.taken) == before:
                made.functions = functions
                return
            self._forget_callers(made.names[0])

    def _forget_callers(self, name: str) -> None:
        """Forget what calls the function with what it took before, and what calls that."""
        shared = self.lo.shared
        stale, before = {name}, 0
        while len(stale) > before:
            before = len(stale)
            for derived in list(shared.derived.values()):
                if stale & set(called(derived.of)):
                    stale.add(derived.name)
                    del shared.derived[derived.name]
                    shared.forgotten += 1
            tables: tuple[dict[Any, Any], ...] = (shared.rules, shared.callees)
            for table in tables:
                for key, each in list(table.items()):
                    if any(stale & set(called(fn)) for fn in each.functions):
                        stale |= {fn.name for fn in each.functions}
                        del table[key]
                        shared.forgotten += 1
        for which, lowered in list(self.lowered.items()):
            part = lowered.part
            if stale & set(called(Function(part.name, part.params, part.body, ()))):
                del self.lowered[which]

    def _once(
        self, which: str, lower: Callable[[], tuple[Part, Any]], like: object = None
    ) -> tuple[Part, Any]:
        """Lower a function of the rule, unless that was done and is still right."""
        known = self.lowered.get(which)
        if known is None or known.like != like:
            self.lowered[which] = known = _Lowered(*lower(), like)
        return known.part, known.more

    def _functions(self, made: Made, primal: Part) -> tuple[Function, ...]:
        rules: list[Function] = []
        taken: Sequence[Type] = ()
        if self._records(made):
            with self.lo.shared.within(NEITHER):
                recorder, reverse, taken = self._with_reverse(made, primal)
            rules += [recorder, reverse]
        # Reverse code transposes a tangent where there is nothing else.
        if "tangent" in made.modes or (self.kind == "jvp" and made.modes):
            rules += [self._with_tangent(made, primal, taken)] if self.kind != "vjp" else []
        outside = self._outside(made, primal)
        function = self.outline.function(primal, outside, taken)
        kind = "jvp" if self.kind == "jvp" else "vjp"
        names = tuple(each.name for each in rules)
        rule = CustomRule(
            kind, names, self.positions, exact=self.kind == "exact", always=self.custom.always
        )
        return (replace(function, rule=rule, routine=self.routine), *rules)

    def _records(self, made: Made) -> bool:
        """Whether there are functions for reverse mode: alone, they serve forward mode as well."""
        if self.kind == "vjp":
            return bool(made.modes)
        return self.kind != "jvp" and "reverse" in made.modes

    def _outside(self, made: Made, *parts: Part) -> dict[Place, tuple[Operand, ...]]:
        """Return what the functions find outside, more of it than was known perhaps."""
        found = self.outline.outside(parts)
        known = (*made.outside, *(place for place in found if place not in made.outside))
        made.outside = known
        return {place: self.outline.reached(place) for place in known}

    # -- the functions -------------------------------------------------------------------------

    def _entered(self) -> tuple[Lowerer, TupleOf, tuple[Value, ...]]:
        """Enter one more function, which may call the function itself."""
        sub, inside, params = self.outline.enter()
        if self.custom.target is not None:
            parts = inside.items[: 1 + len(self.custom.rules)]
            sub.itself[self.custom.target.key] = replace(self.custom.target, fn=TupleOf(parts))
        return sub, inside, params

    def _by_rule(self, sub: Lowerer, rule: Binding, args: list[Binding]) -> Binding:
        """Return what a rule returns, which must not raise on every path."""
        try:
            return dispatch.apply(sub, rule, args, {}, self.node)
        except Dead:
            raise UnsupportedError(
                f"{derivatives.words_of(rule)}, a rule of {self.name}(), always raises",
                self.lo.span(self.node),
            ) from None

    def _primal(self, made: Made) -> Part:
        def entered() -> tuple[Lowerer, Binding, list[Binding], tuple[Value, ...]]:
            sub, inside, params = self._entered()
            count = len(inside.items) - len(self.given)
            given = structures.inputs_with_wholes(sub, inside.items[count:])
            return sub, inside.items[0], given, params

        sub, fn, given, params = entered()
        try:
            result = dispatch.apply(sub, fn, given, {}, self.node)
        except (ConstantNeededError, PickedError):
            raise  # the program is lowered again, in another way
        except Dead:
            part = self.outline.raising(sub, made.names[0], params)
            derivatives.emit_raising(self.lo, self.outline, part, self.node)
            raise
        except (SourceError, UnsupportedError) as error:
            if self.kind == "exact":
                raise
            sub, fn, given, params = entered()
            result = self._as_it_is(error, sub, fn, given)
        return self.outline.leave(sub, made.names[0], params, result)

    def _as_it_is(
        self, error: AdcError, sub: Lowerer, fn: Binding, given: list[Binding]
    ) -> Binding:
        """Lower a call of a function that adc cannot read, as of one that is `external`."""
        if not isinstance(fn, Static):  # of an inner function there is nothing but the text
            raise error
        if annotated(fn.value) is None:
            hint = f"{error.hint}; or, " if error.hint else ""
            raise type(error)(
                error.message, error.span,
                f"{hint}as {self.name}() has a rule, say what it returns, `-> float`, or "
                "`adc.external(..., result=...)` in it: adc then calls it as it is",
            ) from None  # fmt: skip
        # Where it has a tangent rule, reverse code calls that, which may call the function.
        return outside.called(
            sub, self.name, fn.value, annotated(fn.value), given, {}, self.node,
            pure=self.kind == "jvp",
        )  # fmt: skip

    def _with_tangent(self, made: Made, primal: Part, taken: Sequence[Type]) -> Function:
        part, (dots, moving) = self._once("tangent", lambda: self._tangent(made, primal))
        outside = self._outside(made, primal, part)
        return self.outline.function(part, outside, taken, more=dots, results_=moving)

    def _tangent(self, made: Made, primal: Part) -> tuple[Part, Any]:
        sub, inside, params = self._entered()
        count = len(inside.items) - len(self.given)
        rule, *given = inside.items[count - 1 :]
        dots: list[Value] = []
        tangents: list[Binding] = []
        for each in (given[k] for k in self.free):
            parts: list[Binding] = []
            for leaf in structures.floats(each, sub.held):
                dots.append(Value(sub.builder.names.fresh("dot"), derivative_type(_type(leaf))))
                parts.append(_parameter(sub, dots[-1]))
            tangents.append(
                structures.arranged(sub, each, sub.held, iter(parts), structures.in_one)
            )
        given = structures.inputs_with_wholes(sub, given)
        primals = [given[k] for k in self.free]
        fixed = [given[k] for k in self.fixed]
        pair = self._by_rule(sub, rule, [*fixed, TupleOf(tuple(primals)), TupleOf(tuple(tangents))])
        value, dot = self._pair(pair, "the rule", "(value, tangent)")
        heap: dict[str, Binding] = {}
        value = results.finished(sub, elementwise.materialised(sub, value, self.node), heap)
        dot = elementwise.materialised(sub, dot, self.node)
        what = "the tangent of the value"
        moving = tuple(
            structures.fitted_to(sub, leaf, part, what, self.node)
            for leaf, part in structures.belonging(
                sub, value, lambda ref: heap[ref.slot], dot, what, self.node
            )
        )
        self._check_alike(sub, primal, params, value, heap)
        return self.outline.leave(sub, made.names[-1], params, value), (dots, moving)

    def _with_reverse(self, made: Made, primal: Part) -> tuple[Function, Function, Sequence[Type]]:
        record, _ = self._once("record", lambda: self._record(made, primal))
        reverse, taken = self._reverse(made, record, len(primal.operands))
        outside = self._outside(made, primal, record)
        # What the reverse rule takes beside what was kept passes through the record.
        recorder = self.outline.function(record, outside, taken, gives=True)
        positions = (len(primal.operands), *self.positions)
        recorded = CustomRule(
            "recorded", (reverse.name,), positions, exact=self.kind == "exact",
            always=self.custom.always,
        )  # fmt: skip
        return replace(recorder, rule=recorded), reverse, taken

    def _record(self, made: Made, primal: Part) -> tuple[Part, None]:
        sub, inside, params = self._entered()
        count = len(inside.items) - len(self.given)
        given = structures.inputs_with_wholes(sub, inside.items[count:])
        pair = self._by_rule(sub, inside.items[1], given)
        value, kept = self._pair(pair, "the forward rule", "(value, residuals)")
        heap: dict[str, Binding] = {}
        value = results.finished(sub, elementwise.materialised(sub, value, self.node), heap)
        self._check_alike(sub, primal, params, value, heap)
        return self.outline.leave(sub, made.names[1], params, TupleOf((value, kept))), None

    def _taken_inputs(self) -> Outline:
        """Return the inputs of the reverse rule: fixed arguments, sizes of the others."""
        # Parameters also where they are constants here: they are others in other calls.
        sizes = [
            Num(size)
            for leaf in self.leaves
            if isinstance(leaf, ArrayRef)
            for size in views.dims_of(self.lo, leaf)
        ]
        fixed = [self.given[k] for k in self.fixed]
        inputs = (self.outline.inputs.items[2], *fixed, *sizes)
        return Outline(self.lo, inputs, sizes, self.node, {}, apart=True)

    def _reverse(self, made: Made, record: Part, count: int) -> tuple[Function, list[Type]]:
        """Return the reverse function, and the types of what it takes from where the call is."""
        assert isinstance(record.result, TupleOf)
        value, kept = record.result.items
        held = [(slot, shape_of(each)) for slot, each in sorted(record.heap.items())]
        like = shape_of(record.result), held, [operand.type for operand in record.operands]
        part, (outline, params, cts) = self._once(
            "reverse", lambda: self._reverse_part(made, record, value, kept, count), like
        )
        found = outline.outside([part])
        made.taken = (*made.taken, *(place for place in found if place not in made.taken))
        outside = {place: outline.reached(place) for place in made.taken}
        reverse = outline.function(part, outside)
        taken = [param.type for param in reverse.params]
        return replace(reverse, params=(*params, *reverse.params, *cts)), taken

    def _reverse_part(
        self, made: Made, record: Part, value: Binding, kept: Binding, count: int
    ) -> tuple[Part, Any]:
        outline = self._taken_inputs()
        sub, inside, own = outline.enter()
        rule, *rest = inside.items
        fixed, sizes = rest[: len(self.fixed)], iter(rest[len(self.fixed) :])
        params = [
            Value(sub.builder.names.fresh("kept"), operand.type)
            for operand in record.operands[count:]
        ]
        leaves = iter([_parameter(sub, param) for param in params])
        saved = structures.returned(sub, kept, record.heap, leaves)
        cts: list[Value] = []
        parts: list[Binding] = []

        def held(ref: Ref) -> Binding:
            return record.heap[ref.slot]

        for leaf in structures.floats(value, held):
            cts.append(Value(sub.builder.names.fresh("ct"), derivative_type(_type(leaf))))
            parts.append(_parameter(sub, cts[-1]))
        like = structures.arranged(sub, value, held, iter(parts))
        result = self._by_rule(sub, rule, [*fixed, saved, like])
        operands = tuple(self._fitted(sub, self._cotangents(sub, result), sizes))
        part = outline.part(sub, made.names[2], own, operands, NONE, {})
        return part, (outline, params, cts)

    def _cotangents(self, sub: Lowerer, result: Binding) -> Sequence[Binding]:
        found: Sequence[Binding] | None = None
        if isinstance(result, TupleOf):
            found = result.items
        elif isinstance(result, ListRef):
            found = sub.contents(result)
        if found is None or len(found) != len(self.free):
            raise TypeMismatchError(
                f"the reverse rule of {self.name}() returns {kind_of(result)}",
                self.lo.span(self.node),
                f"return a tuple with {len(self.free)} "
                f"cotangent{'' if len(self.free) == 1 else 's'}, one for each argument",
            )
        return [elementwise.materialised(sub, each, self.node) for each in found]

    def _fitted(
        self, sub: Lowerer, found: Sequence[Binding], known: Iterator[Binding]
    ) -> Iterator[Operand]:
        for argument, given in zip(self.chosen, found, strict=True):
            what = f"a cotangent that the reverse rule of {self.name}() returns"
            for leaf, part in structures.belonging(
                sub, argument, self.lo.held, given, what, self.node, conjugate=True
            ):
                if isinstance(leaf, Num):
                    ty = numbers.scalar_type(leaf.operand)
                    yield structures.fitted(sub, ty, None, part, what, self.node)
                    continue
                dims: list[Operand] = []
                for _ in range(leaf.object.type.rank):
                    size = next(known)
                    assert isinstance(size, Num)
                    dims.append(size.operand)
                # Rules of the library need no check of what they return.
                known_right = self.kind == "exact" and part != NONE
                yield structures.fitted(
                    sub, leaf.object.type, None if known_right else dims, part, what, self.node
                )

    # -- checks --------------------------------------------------------------------------------

    def _pair(self, result: Binding, what: str, wanted: str) -> tuple[Binding, Binding]:
        if not (isinstance(result, TupleOf) and len(result.items) == 2):
            raise TypeMismatchError(
                f"{what} of {self.name}() returns {kind_of(result)}", self.lo.span(self.node),
                f"return {wanted}",
            )  # fmt: skip
        return result.items[0], result.items[1]

    def _check_alike(
        self, sub: Lowerer, primal: Part, params: Sequence[Value], value: Binding,
        heap: dict[str, Binding],
    ) -> None:  # fmt: skip
        """Raise unless a rule, lowered by `sub`, returns a value like the function's.

        Sizes that the function does not make of its arguments are not known: the value may differ
        in these.
        """
        own = primal.operands
        leaves = list(results.leaves_of(value, heap))
        same = _alike(primal.result, primal.heap, value, heap) and len(leaves) == len(own)
        if not same or any(
            a.type.dtype != b.dtype or a.type.rank != b.rank
            for a, b in zip(own, map(_type, leaves), strict=True)
        ):
            raise TypeMismatchError(
                f"the value that the rule of {self.name}() returns is {_kind(value, heap)}, "
                f"that of the function {_kind(primal.result, primal.heap)}",
                self.lo.span(self.node), "return the same from both",
            )  # fmt: skip
        if self.kind == "exact":  # the library's rules are right
            return
        arrays = {version: obj for obj, version in sub.origin.items()}
        sizes = _known_sizes(primal, params, lambda k, axis: sub.dims[arrays[params[k]]][axis])
        for leaf, wanted in zip(leaves, sizes, strict=True):
            if isinstance(leaf, ArrayRef):
                self._check_sizes(sub, sub.dims[leaf.object], wanted)

    def _check_sizes(
        self, sub: Lowerer, found: Sequence[Operand], wanted: Sequence[Operand | None]
    ) -> None:
        for axis, (size, own) in enumerate(zip(found, wanted, strict=True)):
            if own is None or sub.sizes.same_size(size, own):
                continue
            message = (
                f"the value that the rule of {self.name}() returns has size {{}} along axis "
                f"{axis}, that of the function {{}}"
            )
            if isinstance(size, Literal) and isinstance(own, Literal):
                raise TypeMismatchError(
                    message.format(size.value, own.value), self.lo.span(self.node),
                    "return values of one shape from both",
                )  # fmt: skip
            with sub.at(self.node):
                same = sub.builder.apply("eq", size, own)
                sub.builder.check(same, "ValueError", message, size, own)


def _known_sizes(
    primal: Part, params: Sequence[Operand], size_of: Callable[[int, int], Operand]
) -> list[list[Operand | None]]:
    """Return the sizes of what a function returns, as far as it makes them of its arguments.

    `params` are what it is called with; `size_of` gives the size of one of them along an axis.
    """
    places = {param: k for k, param in enumerate(primal.params)}

    def size(dim: Dim | None) -> Operand | None:
        value = dim.array if isinstance(dim, Own) else dim
        if isinstance(value, Value) and value not in places:
            return None  # captured
        if isinstance(dim, Own):
            return size_of(places[dim.array], dim.axis)
        found = params[places[dim]] if isinstance(dim, Value) else dim
        return found if found is not None and found.type == INT else None

    captured = [param for found in primal.captured.values() for param in found]
    fn = Function(primal.name, (*primal.params, *captured), primal.body, primal.operands)
    return [[size(dim) for dim in dims] for dims in Returned().by(fn)]


def _kind(result: Binding, heap: dict[str, Binding]) -> str:
    return kind_of(heap[result.slot] if isinstance(result, DictRef) else result)


def _alike(a: Binding, a_heap: dict[str, Binding], b: Binding, b_heap: dict[str, Binding]) -> bool:
    """Whether two finished results have one structure."""

    def same(a: Binding, b: Binding) -> bool:
        match a, b:
            case TupleOf() | RecordOf() | NamedTuple(), _:
                parts = side_by_side(a, b)
                return parts is not None and all(same(x, y) for x, y in parts)
            case (ListRef() | DictRef() | ObjectRef(), ListRef() | DictRef() | ObjectRef()):
                return type(a) is type(b) and same(a_heap[a.slot], b_heap[b.slot])
            case (Static(), Static()):
                return a == b
        return type(a) is type(b)

    return same(a, b)


def _type(leaf: Num | ArrayRef) -> Type:
    if isinstance(leaf, Num):
        return leaf.operand.type
    return leaf.object.type


def _parameter(lo: Lowerer, param: Value) -> Num | ArrayRef:
    if not isinstance(param.type, Array):
        return Num(param)
    return parameters.array_param(lo, param, param.name)


__all__ = ["Custom", "Maker"]
