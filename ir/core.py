"""The statements of the IR: small closed unions of frozen dataclasses.

Values are named and typed; names are unique within a function. Statements are immutable, passes
rebuild them. Operations are open (rows of a table, `OpDef`), statement forms are closed: match on
`Stmt` and end with `assert_never`, so that a new form shows every place that must handle it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Self, TypeVar

from adc.ir.errors import Span
from adc.ir.opdef import OpDef, Static
from adc.ir.types import Array, Scalar, Type, widened

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Mark:
    """The user's mark of a value that reverse code may need.

    Attributes
    ----------
    kind : str
        ``"save"``: keep it. ``"recompute"``: recompute it. ``"checkpoint"``: it is computed inside
        of a checkpointed call. ``"result"``: it is the result of one.
    loc : Span or None
        The location of the mark.
    around : Mark or None
        The checkpointed call around this one.
    """

    kind: str
    loc: Span | None = None
    around: Mark | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Value(str):
    """A named result of a statement, or a parameter of a block.

    `mark` counts where the value is defined, and never for equality: it changes plans, not results.

    It is a string for its hash alone. Passes ask for that millions of times, and a method in Python
    makes each look-up take five times as long.
    """

    name: str
    type: Type
    mark: Mark | None = field(default=None, repr=False)

    def __new__(cls, name: str, type: Type, mark: Mark | None = None) -> Self:
        return str.__new__(cls, name)

    def __getnewargs__(self) -> tuple[str, Type]:  # type: ignore[override]  # what `__new__` takes
        return self.name, self.type

    def __eq__(self, other: object) -> bool:
        # Most values that are compared have other names.
        return type(other) is Value and self.name == other.name and self.type == other.type

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__

    def __str__(self) -> str:
        return f"%{self.name}"


def is_invertible(value: Value) -> bool:
    """Whether the user allows that a value is restored inexactly."""
    return value.mark is not None and value.mark.kind == "invertible"


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant operand. Compares by bits, so that ``-0.0`` is not ``0.0`` and NaN equals NaN."""

    value: Any  # a bool, int or float; before `split_complex` also a complex
    type: Type

    def key(self) -> tuple[str, Type]:
        return (repr(self.value), self.type)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Literal) and self.key() == other.key()

    def __hash__(self) -> int:
        return hash(self.key())


Operand = Value | Literal


def _loc() -> Span | None:
    return field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Block:
    """Statements with parameters; `yields` are the values passed to the enclosing statement."""

    params: tuple[Value, ...]
    stmts: tuple[Stmt, ...]
    yields: tuple[Operand, ...]
    # The cache of functions under `remembered`.
    _known: dict[object, object] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )


@dataclass(frozen=True, slots=True)
class Apply:
    """``results = op[params] args``: a pure operation, one row of the op table."""

    results: tuple[Value, ...]
    op: OpDef
    args: tuple[Operand, ...]
    params: tuple[Static, ...] = ()
    loc: Span | None = _loc()

    @property
    def result(self) -> Value:
        return self.results[0]

    @property
    def sizes(self) -> tuple[Operand, ...]:
        """The sizes of the new array, if they are operands (`OpDef.sizes`)."""
        if self.op.sizes is None:
            return ()
        lent = bool(self.args) and isinstance(self.args[-1].type, Array)
        return self.args[self.op.sizes : len(self.args) - lent]


@dataclass(frozen=True, slots=True)
class Load:
    """``result = array[index]``; the index is in range and not negative."""

    result: Value
    array: Value
    index: tuple[Operand, ...]
    loc: Span | None = _loc()

    @property
    def results(self) -> tuple[Value, ...]:
        return (self.result,)


@dataclass(frozen=True, slots=True)
class Store:
    """A new version of `array` whose element at `index` is `value` (or grew by it)."""

    result: Value
    array: Value
    index: tuple[Operand, ...]
    value: Operand
    accumulate: bool = False
    loc: Span | None = _loc()

    @property
    def results(self) -> tuple[Value, ...]:
        return (self.result,)


@dataclass(frozen=True, slots=True)
class Gemm:
    """A new version of `array` that is the matrix product of `a` and `b` (or grew by it).

    `transposed` says which of the two are transposed. All three have rank 2, one float dtype and
    the layout C; `array` is neither `a` nor `b`. In buffer form there is no result: `array` is
    changed in place.

    If it is `rowwise`, the rows of `a` and `array` are of different iterations: where a row of the
    cotangent is zero, the row of `a` contributes nothing, even if it is infinite or NaN.
    """

    result: Value | None
    array: Value
    a: Value
    b: Value
    transposed: tuple[bool, bool] = (False, False)
    accumulate: bool = False
    rowwise: bool = False
    loc: Span | None = _loc()

    @property
    def results(self) -> tuple[Value, ...]:
        return () if self.result is None else (self.result,)


@dataclass(frozen=True, slots=True)
class If:
    """Two arms; the results are the yields of the arm that ran."""

    results: tuple[Value, ...]
    cond: Operand
    then: Block
    orelse: Block
    loc: Span | None = _loc()


@dataclass(frozen=True, slots=True)
class For:
    """`trips` iterations; `index` counts them 0, 1, … (or back to 0 where `down`).

    The body's parameters are the carried values, its yields their next values. In buffer form, the
    iterations of a `parallel` loop, which carries nothing, may run in any order and in parallel.
    Each has a private tape; what they leave is one frame, and each iteration of the parallel loop
    that pops it gets what the one with the same index left.
    No iteration of a `vectorizable` loop touches an element that another one changes.
    """

    results: tuple[Value, ...]
    label: str
    index: Value
    trips: Operand
    init: tuple[Operand, ...]
    body: Block
    down: bool = False
    loc: Span | None = _loc()
    parallel: bool = False
    vectorizable: bool = False


@dataclass(frozen=True, slots=True)
class While:
    """The body runs at least once; its yields are ``(again, *carried)``.

    ``while c: B`` has the body ``c; if c: B``: the test lies inside, so nothing is lowered twice.
    """

    results: tuple[Value, ...]
    label: str
    init: tuple[Operand, ...]
    body: Block
    loc: Span | None = _loc()


@dataclass(frozen=True, slots=True)
class Call:
    """A call of one of the function's `callees`. `mirror` names the call that this one reverses."""

    results: tuple[Value, ...]
    label: str
    callee: str
    args: tuple[Operand, ...]
    mirror: str = ""
    loc: Span | None = _loc()


@dataclass(frozen=True, slots=True)
class Check:
    """Raise `error` with `message` unless `cond` holds.

    `message` is always a template for `str.format` and `args`: a literal brace is doubled. An empty
    one stands for no message.
    """

    cond: Operand
    error: str
    message: str
    args: tuple[Operand, ...] = ()
    loc: Span | None = _loc()

    @property
    def results(self) -> tuple[Value, ...]:
        return ()


@dataclass(frozen=True, slots=True)
class Print:
    """An effect outside of the program, by default: print `message`, a template as in `Check`.

    `to` says what is done with it (`adc.ir.text.effects`). An array is passed by one statement with
    its shape and one for each element; a message has the arrays before it as ``{a[0]}``, … The
    `result` is what is found outside, such as the time. It is not computed again.
    """

    message: str
    args: tuple[Operand, ...]
    loc: Span | None = _loc()
    to: str = ""
    result: Value | None = None

    @property
    def results(self) -> tuple[Value, ...]:
        return () if self.result is None else (self.result,)


@dataclass(frozen=True, slots=True)
class Recall:
    """In reverse code: the value that `value` had at the mirrored point of the forward code."""

    result: Value
    value: Value
    loc: Span | None = _loc()

    @property
    def results(self) -> tuple[Value, ...]:
        return (self.result,)


@dataclass(frozen=True, slots=True)
class Reverse:
    """The iterations of the loop labelled `loop`, last one first; `index` is the mirrored one's."""

    results: tuple[Value, ...]
    loop: str
    index: Value
    init: tuple[Operand, ...]
    body: Block
    loc: Span | None = _loc()


@dataclass(frozen=True, slots=True)
class Push:
    """Push one frame of values on the tape (after `remat`)."""

    values: tuple[Operand, ...]
    loc: Span | None = _loc()

    @property
    def results(self) -> tuple[Value, ...]:
        return ()


@dataclass(frozen=True, slots=True)
class Pop:
    """Pop the newest frame off the tape (after `remat`)."""

    results: tuple[Value, ...]
    loc: Span | None = _loc()


@dataclass(frozen=True, slots=True)
class Write:
    """Buffer form: ``array[index] = value`` (or ``+=``) in place."""

    array: Value
    index: tuple[Operand, ...]
    value: Operand
    accumulate: bool = False
    loc: Span | None = _loc()

    @property
    def results(self) -> tuple[Value, ...]:
        return ()


# What `Print.to` says of the parts of an array.
SHAPE, ELEMENT = "shape", "element"


def found_by(to: str) -> Scalar | None:
    """Return the type of the result of a `Print`, if it has one: see `adc.ir.text.effects`."""
    if not to.startswith(('["clock", ', '["enabled", ', '["external"]')):
        return None
    return Scalar("f64" if to.startswith('["clock"') and "_ns" not in to else "i64", weak=True)


Stmt = (
    Apply
    | Load
    | Store
    | Gemm
    | If
    | For
    | While
    | Call
    | Check
    | Print
    | Recall
    | Reverse
    | Push
    | Pop
    | Write
)
Loop = For | While | Reverse


@dataclass(frozen=True, slots=True)
class CustomRule:
    """A custom rule for differentiating calls of a function.

    The names are those of callees, for a function with the parameters x and the results y:

    ``"vjp"``
        ``(record, reverse)``: ``record(x) -> y, kept`` is called in its place by code that is
        differentiated in reverse, ``reverse(kept, ct of the float y) -> ct of x[positions]``
        by the reverse code. There may be a `tangent` as below, too.
    ``"recorded"``
        ``(reverse,)``: the function is the `record` of such a rule.
        `positions` begins with the number of results y.
    ``"stopped"``
        ``()``: its results are constants to derivatives.
    ``"refused"``
        ``()``: it has no derivative; asking for one is an error.
    ``"jvp"``
        ``(tangent,)``: ``tangent(x, dot of x[positions]) -> y, dot of the float y``, linear in the
        dots. Reverse code transposes it.
    ``"valued"``
        ``(tangent,)``: the function is the value y of such a rule, which code that is
        differentiated in reverse calls in its place.

    It is `exact` if its derivatives are those of the function's statements: they commute.

    With `always` a call is differentiated whatever depends on it: code elsewhere waits for what its
    derivative does, as that of a message to another process. Floats among its results count as
    variable, those among its arguments as used.
    """

    kind: str
    functions: tuple[str, ...]
    positions: tuple[int, ...] = ()
    exact: bool = False
    always: bool = False

    @property
    def tangent(self) -> str | None:
        """The function for forward mode, if there is one."""
        place = {"jvp": 0, "valued": 0, "vjp": 2}.get(self.kind, len(self.functions))
        return self.functions[place] if place < len(self.functions) else None


@dataclass(frozen=True, slots=True)
class Derived:
    """A derivative of a function that can be called like one; `derive` makes its statements.

    In reverse mode it has the parameters of `of` and directions for those in `along[0]`, those in
    `along[1]`, …; its results are the derivatives along all these directions of the gradient of
    the first result of `of` with respect to `wrt`. In forward mode it has directions for those in
    `wrt`; its results are those of `of`, and the tangents of the float ones. "primal" is the
    function itself.
    """

    name: str
    mode: str  # "reverse" | "forward" | "primal"
    of: Function
    wrt: tuple[int, ...]
    along: tuple[tuple[int, ...], ...] = ()

    def param_types(self) -> tuple[Type, ...]:
        own = self.of.params
        groups = self.along if self.mode == "reverse" else (self.wrt,)
        dots = [derivative_type(own[k].type) for group in groups for k in group]
        return (*(param.type for param in own), *dots)

    def result_types(self) -> tuple[Type, ...]:
        if self.mode == "reverse":
            return tuple(derivative_type(self.of.params[k].type) for k in self.wrt)
        types = [result.type for result in self.of.results]
        if self.mode == "primal":
            return tuple(types)
        return (*types, *(derivative_type(ty) for ty in types if ty.kind == "f"))


def derivative_type(ty: Type) -> Type:
    """Return the type of a cotangent or tangent: a NumPy scalar, or an array in C layout.

    Those of numbers of 16 bits have 32: they are sums of many terms, large and small ones.
    """
    dtype = widened(ty.dtype)
    return Array(dtype, ty.rank) if isinstance(ty, Array) else Scalar(dtype)


@dataclass(frozen=True, slots=True)
class Function:
    """A function: parameters, statements, results; `callees` are the functions it may call.

    `mirror` names the function whose calls this one reverses (its Recalls refer to that one),
    `derived` are the derivatives of functions that it and its callees call. `routine` names the
    equivalent routine of a linear algebra library, which a back end may call instead; ``external``
    and a number that of a Python function outside, which `external` calls
    (`adc.ir.text.outside.Outside`).
    """

    name: str
    params: tuple[Value, ...]
    body: tuple[Stmt, ...]
    results: tuple[Operand, ...]
    callees: tuple[Function, ...] = ()
    mirror: str = ""
    rule: CustomRule | None = None
    derived: tuple[Derived, ...] = ()
    routine: str = ""
    external: Any = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return _PRINTERS[0](self)

    def with_body(self, body: tuple[Stmt, ...], results: tuple[Operand, ...]) -> Function:
        return replace(self, body=body, results=results)


def remembered(function: Callable[[Block], Found]) -> Callable[[Block], Found]:
    """Decorate a function of a block alone: its result is cached with the block.

    Passes ask the same of nested blocks repeatedly; blocks never change.
    """

    @functools.wraps(function)
    def known(block: Block) -> Found:
        try:
            return block._known[function]  # type: ignore[return-value]  # a result of `function`
        except KeyError:
            found = block._known[function] = function(block)
            return found

    return known


def blocks(stmt: Stmt) -> tuple[Block, ...]:
    """Return the blocks nested directly in `stmt`."""
    kind = type(stmt)
    if kind in _LOOPS:
        return (stmt.body,)  # type: ignore[union-attr]  # a loop, by its type
    return (stmt.then, stmt.orelse) if kind is If else ()  # type: ignore[union-attr]


def operands(stmt: Stmt) -> tuple[Operand, ...]:
    """Return the operands that `stmt` itself reads, without those inside its blocks."""
    return _OPERANDS[type(stmt)](stmt)


# By type, as every pass asks this of every statement.
_LOOPS = frozenset({For, While, Reverse})
_OPERANDS: dict[type[Stmt], Callable[[Any], tuple[Operand, ...]]] = {
    Apply: lambda stmt: stmt.args,
    Load: lambda stmt: (stmt.array, *stmt.index),
    Store: lambda stmt: (stmt.array, *stmt.index, stmt.value),
    Gemm: lambda stmt: (stmt.array, stmt.a, stmt.b),
    If: lambda stmt: (stmt.cond,),
    For: lambda stmt: (stmt.trips, *stmt.init),
    While: lambda stmt: stmt.init,
    Call: lambda stmt: stmt.args,
    Check: lambda stmt: (stmt.cond, *stmt.args),
    Print: lambda stmt: stmt.args,
    Recall: lambda stmt: (),
    Reverse: lambda stmt: stmt.init,
    Push: lambda stmt: stmt.values,
    Pop: lambda stmt: (),
    Write: lambda stmt: (stmt.array, *stmt.index, stmt.value),
}


_PRINTERS: list[Callable[[Function], str]] = []


def printer(function: Callable[[Function], str]) -> Callable[[Function], str]:
    """Register the function that prints functions: statements do not know their text form."""
    _PRINTERS.append(function)
    return function


def walk(stmts: tuple[Stmt, ...]) -> Iterator[Stmt]:
    """Yield every statement, nested ones after the one that holds them."""
    # A generator within a generator would pass every statement on as often as blocks are nested.
    waiting = [iter(stmts)]
    while waiting:
        for stmt in waiting[-1]:
            yield stmt
            # (`blocks`, without the call: most statements have none)
            kind = type(stmt)
            if kind in _LOOPS:
                waiting.append(iter(stmt.body.stmts))  # type: ignore[union-attr]  # as above
                break
            if kind is If:
                waiting.append(iter(stmt.orelse.stmts))  # type: ignore[union-attr]
                waiting.append(iter(stmt.then.stmts))  # type: ignore[union-attr]
                break
        else:
            waiting.pop()
