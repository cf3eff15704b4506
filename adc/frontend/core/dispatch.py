"""The tables of handlers, and the recursion that goes through them.

Expressions contain expressions, statements contain statements, and many things can be called. A
handler calls this module for the parts of its node; the handler is chosen by the type of the node,
of the callee or of the operand. So this module imports no handlers, and each handler states what it
handles::

    @handles(ast.IfExp)
    def _if_expression(lo: Lowerer, node: ast.IfExp) -> Binding: ...

`entry` imports all modules with handlers, which fills the tables.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn, TypeVar

from adc.frontend.core import classes, numbers
from adc.frontend.core.bindings import NONE, Binding, Maybe, OneOf
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.core.messages.refusals import refusal
from adc.frontend.core.strings import texts_of
from adc.ir.core import Literal
from adc.ir.errors import LimitError, Span, TypeMismatchError

_F = TypeVar("_F", bound=Callable[..., Any])

# By the type of an expression or a statement: what it denotes, and None.
_NODES: dict[type[ast.AST], Callable[[Lowerer, Any], Any]] = {}
# By the type of what is called: takes arguments that may be array expressions.
_CALLEES: dict[
    type[Binding],
    Callable[[Lowerer, Any, list[Binding], dict[str, Binding], ast.Call], Binding],
] = {}
# By the type of an operator, or of an operand.
_OPERATORS: dict[type, Callable[[Lowerer, type[ast.AST], Binding, Binding, ast.AST], Binding]] = {}


def _entering(table: dict[Any, Any], keys: tuple[type, ...]) -> Callable[[_F], _F]:
    def enter(handler: _F) -> _F:
        for key in keys:
            assert key not in table
            table[key] = handler
        return handler

    return enter


def handles(*kinds: type[ast.AST]) -> Callable[[_F], _F]:
    """Register the handler of nodes of these types: ``handler(lo, node)``."""
    return _entering(_NODES, kinds)


def called(*kinds: type[Binding]) -> Callable[[_F], _F]:
    """Register the handler of calls: ``handler(lo, callee, args, kwargs, node)``."""
    return _entering(_CALLEES, kinds)


def operates(*kinds: type) -> Callable[[_F], _F]:
    """Register the handler of an operator, or of all operators on a kind of operand.

    It is called as ``handler(lo, kind, left, right, node)``.
    """
    return _entering(_OPERATORS, kinds)


# Expressions that may make a list, dict or object; what is done with it then.
_MAKING = (ast.List, ast.ListComp, ast.Dict, ast.DictComp, ast.Call, ast.BinOp, ast.Subscript)
_FINISHING: list[Callable[[Lowerer, Binding, ast.expr], None]] = []


def finishes(function: _F) -> _F:
    """Register what is done with what an expression may have made, if there are pools."""
    _FINISHING.append(function)
    return function


def evaluate(lo: Lowerer, node: ast.expr) -> Binding:
    """Lower an expression that is not None where it may be; an array expression stays lazy."""
    found = optional(lo, node)
    if isinstance(found, Maybe):
        found = required(lo, found, node)
    if isinstance(found, OneOf):
        raise SplitError(found, node)
    return found


class SplitError(Exception):
    """A value is needed where there is one of several: `control.choices` lowers each case."""

    def __init__(self, found: OneOf, node: ast.AST) -> None:
        super().__init__()
        self.found = found
        self.node = node
        # Where that is, once a statement has seen it pass.
        self.span: Span | None = None


def require_one(found: Iterable[Binding], node: ast.AST) -> None:
    """Have each case lowered apart if any of these is one of several values."""
    for each in found:
        if isinstance(each, OneOf):
            raise SplitError(each, node)


def owner_of(lo: Lowerer, node: ast.Attribute) -> Binding:
    """Lower what an attribute is of; where that is None, the program raises `AttributeError`."""
    found = optional(lo, node.value)
    if isinstance(found, Maybe):
        text = f"'NoneType' object has no attribute '{node.attr}'"
        found = required(lo, found, node.value, text, "AttributeError")
    require_one([found], node.value)
    return found


def filled(lo: Lowerer, node: ast.expr, *, texts: bool = False) -> Binding:
    """Lower what Python takes None for, too, and adc a value only: a run that has None is refused.

    That is an index, the end of a slice, or a key; or what is formatted, which may be one of
    several `texts`.
    """
    found = optional(lo, node)
    if isinstance(found, Maybe):
        text = f"adc: `{ast.unparse(node)}` is None, which is not supported here"
        found = required(lo, found, node, text, LimitError.__name__)
    if not (texts and isinstance(found, OneOf) and texts_of(found) is not None):
        require_one([found], node)
    return found


def required(
    lo: Lowerer, found: Maybe, node: ast.AST, text: str = "", error: str = "TypeError"
) -> Binding:
    """Return the value of what may be None where it must not be, which is checked."""
    with lo.at(node):
        text = text or f"`{ast.unparse(node)}` is None"
        numbers.check(lo, found.some, error, numbers.escaped(text))
    if isinstance(node, ast.Name) and lo.builder.watch is None:
        if lo.frame.env.get(node.id) is found:
            lo.frame.env[node.id] = found.inner  # from here on it is known
    return found.inner


def each_required(
    lo: Lowerer, items: Iterable[Binding], node: ast.AST, error: str = "TypeError"
) -> tuple[Binding, ...]:
    """Return elements that may be None where they must not be, which is checked."""
    prefix = "adc: " * (error == LimitError.__name__)
    text = f"{prefix}an element of `{ast.unparse(node)}` is None"
    return tuple(
        required(lo, item, node, text, error) if isinstance(item, Maybe) else item for item in items
    )


def optional(lo: Lowerer, node: ast.expr) -> Binding:
    """Lower an expression that may be None."""
    handler = _NODES.get(type(node))
    if handler is None:
        raise refusal(lo, node)
    with lo.at(node):
        found: Binding = handler(lo, node)
        if lo.shared.pools and isinstance(node, _MAKING):
            for finish in _FINISHING:
                finish(lo, found, node)
    if isinstance(found, Maybe) and isinstance(found.some, Literal):
        found = found.inner if found.some.value else NONE
    if isinstance(found, OneOf) and isinstance(found.which, Literal):
        return found.items[int(found.which.value)]
    return found


def execute(lo: Lowerer, stmt: ast.stmt) -> None:
    """Lower a statement."""
    handler = _NODES.get(type(stmt))
    if handler is None:
        raise refusal(lo, stmt)
    handler(lo, stmt)


# What is lowered instead of a statement and those after it in a block.
Rewrite = Callable[[Lowerer, ast.stmt, Sequence[ast.stmt]], "list[ast.stmt] | None"]
_REWRITES: list[Rewrite] = []


def rewrites(function: Rewrite) -> Rewrite:
    """Register a function that may lower a statement itself, and return what follows it."""
    _REWRITES.append(function)
    return function


def rewritten(lo: Lowerer, stmt: ast.stmt, rest: Sequence[ast.stmt]) -> list[ast.stmt] | None:
    """Return what is to be lowered after a statement that is lowered by this; None if it is not."""
    for function in _REWRITES:
        found = function(lo, stmt, rest)
        if found is not None:
            return found
    return None


def apply(
    lo: Lowerer, callee: Binding, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    """Lower a call of `callee` with arguments already lowered."""
    require_one([callee], node)
    handler = _CALLEES.get(type(callee))
    if handler is None:
        not_callable(lo, callee, node)
    return handler(lo, callee, args, kwargs, node)


def not_callable(lo: Lowerer, callee: Binding, node: ast.Call) -> NoReturn:
    """Refuse a call of what is no function; in a `try` the program raises `TypeError`."""
    message = f"{kind_of(callee)} is not a function"
    if classes.is_instance(callee) or classes.has_attribute(callee, "__call__") is False:
        own = f"'{classes.name_of(callee)}' object is not callable"
        numbers.refuse(lo, message, node, "TypeError", own)
    raise TypeMismatchError(message, lo.span(node))


def operator(
    kind: type,
) -> Callable[[Lowerer, type[ast.AST], Binding, Binding, ast.AST], Binding] | None:
    """Return the handler of a type of operators, or of operands."""
    return _OPERATORS.get(kind)


def nodes() -> frozenset[type[ast.AST]]:
    """Return the types of nodes that are lowered."""
    return frozenset(_NODES)
