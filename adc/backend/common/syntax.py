"""The language that adc emits, a small part of Python, as a tree.

The text that `source()` shows is printed from this tree (`printer`), and machine code is made of it
(`adc.backend.cpu`): a variable keeps its type, loops count or go on until a `break`, and functions
call functions of the same file, of the runtime and of the prelude by their names::

    total += x[unsigned(i)]        Increase(Name("total"), "+", Element(Name("x"), (Call(
                                       "unsigned", (Name("i"),)),)))

A `Name` is a variable, and is read where it stands in an expression; a `Global` belongs to the
file. Statements hold their blocks as lists, which grow while they are written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, assert_never

from adc.ir.types import Type

# --- expressions ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Name:
    """A variable."""

    id: str


@dataclass(frozen=True, slots=True)
class Global:
    """A constant of the file or of the prelude, or a function that is passed."""

    id: str


@dataclass(frozen=True, slots=True)
class Constant:
    """A truth value, an `int64` or a `float64`; it is finite."""

    value: bool | int | float


@dataclass(frozen=True, slots=True)
class Dtype:
    """A type of elements, by NumPy's name."""

    name: str


@dataclass(frozen=True, slots=True)
class Size:
    """One size of an array."""

    array: Expr
    axis: int


@dataclass(frozen=True, slots=True)
class Attribute:
    """What an array says of itself: its `shape`, its `size`, or its transpose `T`."""

    array: Expr
    name: str


@dataclass(frozen=True, slots=True)
class Element:
    """An element of an array."""

    array: Expr
    index: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Unary:
    """``-x`` or ``not x``."""

    op: str
    operand: Expr


@dataclass(frozen=True, slots=True)
class Binary:
    """An operation or comparison of two numbers."""

    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Chain:
    """A sum or a product of several integers, from left to right."""

    op: str
    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Inside:
    """``0 <= index < size``."""

    index: Expr
    size: Expr


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a function by its name."""

    function: str
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Tuple:
    """A tuple; where it is `loose`, there is a comma and a space after every item."""

    items: tuple[Expr, ...]
    loose: bool = False


Expr: TypeAlias = (
    Name
    | Global
    | Constant
    | Dtype
    | Size
    | Attribute
    | Element
    | Unary
    | Binary
    | Chain
    | Inside
    | Call
    | Tuple
)
STATE = Name("state")


# --- statements -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    # What stands behind the first line, as a comment.
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Assign(_Line):
    """A variable gets a value."""

    target: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Unpack(_Line):
    """Variables get the items of a tuple, all at once; ``_`` is none."""

    targets: tuple[str, ...]
    value: Expr


@dataclass(frozen=True, slots=True)
class Store(_Line):
    """An element gets a value."""

    target: Element
    value: Expr


@dataclass(frozen=True, slots=True)
class Increase(_Line):
    """A variable or an element is combined with a value: ``target op= value``."""

    target: Name | Element
    op: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Do(_Line):
    """A call for what it does."""

    call: Call


@dataclass(frozen=True, slots=True)
class If(_Line):
    """A branch."""

    test: Expr
    then: list[Stmt] = field(default_factory=list)
    orelse: list[Stmt] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class For(_Line):
    """A loop that counts through a range; if `vectorizable`, its iterations are independent.

    `limits` are those of `range`.
    """

    index: str
    limits: tuple[Expr, ...]
    vectorizable: bool = False
    body: list[Stmt] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Forever(_Line):
    """A loop that goes on until a `Break`."""

    body: list[Stmt] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Break(_Line):
    """Leaves the innermost loop."""


@dataclass(frozen=True, slots=True)
class Pass(_Line):
    """Does nothing."""


@dataclass(frozen=True, slots=True)
class Return(_Line):
    """Leaves the function."""

    value: Expr


@dataclass(frozen=True, slots=True)
class Delete(_Line):
    """Variables no longer hold their arrays."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Comment(_Line):
    """A line for the reader."""

    text: str


Stmt: TypeAlias = (
    Assign
    | Unpack
    | Store
    | Increase
    | Do
    | If
    | For
    | Forever
    | Break
    | Pass
    | Return
    | Delete
    | Comment
)


@dataclass(frozen=True, slots=True)
class Function:
    """One function of an emitted file.

    Attributes
    ----------
    doc : str
        One line of documentation.
    results : tuple of Type, or Type
        What it returns: a tuple, or a number.
    variables : dict
        The types of its variables by name, parameters among them; those of arrays may turn out to
        have other strides. It may have more than there are variables.
    is_part : bool
        Whether it is there only to be translated apart from the functions that call it.
    is_flat : bool
        Whether arrays are passed to it, and returned, as their addresses, sizes and owners: that
        takes fewer instructions than what the interpreter calls.
    is_loop : bool
        Whether these are a loop that makes no arrays, and returns numbers.
    lines : tuple of str
        Its text, where that is not printed from the tree but was there before it.
    tables : frozenset of str
        The parameters that are given as the addresses of their parts (`tables`).
    """

    name: str
    params: tuple[str, ...]
    doc: str
    results: tuple[Type, ...] | Type
    variables: Mapping[str, Type]
    body: list[Stmt]
    is_part: bool = False
    is_flat: bool = False
    is_loop: bool = False
    lines: tuple[str, ...] = ()
    tables: frozenset[str] = frozenset()


# --- what is in a tree ----------------------------------------------------------------------------


def children(expr: Expr) -> tuple[Expr, ...]:
    """Return the expressions that an expression is made of."""
    match expr:
        case Name() | Constant() | Global() | Dtype():  # most are
            return ()
        case Element(array, index):
            return (array, *index)
        case Call(_, args):
            return args
        case Binary(_, left, right):
            return (left, right)
        case Unary(_, operand):
            return (operand,)
        case Size(array) | Attribute(array):
            return (array,)
        case Inside(index, size):
            return (index, size)
        case Chain(_, items) | Tuple(items):
            return items
    assert_never(expr)


def parts(expr: Expr) -> Iterator[Expr]:
    """Yield an expression and all that is in it, in no special order."""
    todo = [expr]
    while todo:
        each = todo.pop()
        yield each
        todo += children(each)


def reads(expr: Expr) -> set[str]:
    """Return the variables that an expression reads."""
    return {each.id for each in parts(expr) if isinstance(each, Name)}


def loads(expr: Expr) -> bool:
    """Whether an expression reads elements of arrays."""
    return any(isinstance(each, Element) for each in parts(expr))


def walk(body: Sequence[Stmt]) -> Iterator[Stmt]:
    """Yield statements and those in their blocks."""
    for stmt in body:
        yield stmt
        for block in blocks(stmt):
            yield from walk(block)


def blocks(stmt: Stmt) -> tuple[list[Stmt], ...]:
    """Return the blocks of a statement."""
    match stmt:
        case If(_, then, orelse):
            return (then, orelse)
        case For(body=inner) | Forever(inner):
            return (inner,)
    return ()


def expressions(stmt: Stmt) -> tuple[Expr, ...]:
    """Return the expressions of a statement itself, without what it assigns a variable."""
    match stmt:
        case Assign(_, value) | Unpack(_, value) | Return(value) | Increase(Name(), _, value):
            return (value,)
        case Store(target, value) | Increase(target, _, value):
            return (target, value)
        case Do(call):
            return (call,)
        case If(test):
            return (test,)
        case For(limits=limits):
            return limits
    return ()


def targets(stmt: Stmt) -> tuple[str, ...]:
    """Return the variables that a statement itself assigns."""
    match stmt:
        case Assign(target) | Increase(Name(target)):
            return (target,)
        case Unpack(names):
            return names
        case For(index):
            return (index,)
    return ()


def variables(body: Sequence[Stmt]) -> tuple[set[str], set[str]]:
    """Return the variables that statements read, and those that they assign."""
    read: set[str] = set()
    assigned: set[str] = set()
    for stmt in walk(body):
        for expr in expressions(stmt):
            read |= reads(expr)
        assigned.update(targets(stmt))
    return read, assigned


def mentions(expr: Expr) -> set[str]:
    """Return the functions that an expression calls, and what else of the file it mentions."""
    return _mentions([expr])


def used(body: Sequence[Stmt]) -> set[str]:
    """Return what the expressions of statements mention."""
    return _mentions([expr for stmt in walk(body) for expr in expressions(stmt)])


def _mentions(todo: list[Expr]) -> set[str]:
    found: set[str] = set()
    while todo:
        each = todo.pop()
        if isinstance(each, Call):
            found.add(each.function)
            todo += each.args
        elif isinstance(each, Global):
            found.add(each.id)
        elif not isinstance(each, Name):
            todo += children(each)
    return found
