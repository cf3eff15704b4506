"""`class` inside a function: the class is made while the program is lowered, as Python makes it.

The code of its body lies in that of the function around it. Executing it must have no effect, and
find the same whenever it is executed: its body has methods, fields and constants. What its methods
capture must be constants of the program, or the class itself. Python makes another class in every
execution; adc makes one, which only `is` of such classes would show.
"""

from __future__ import annotations

import ast
import builtins
import dataclasses
import types
import typing
from collections.abc import Iterator
from typing import Any

from adc.frontend.control import evaluation
from adc.frontend.core import outside
from adc.frontend.core.bindings import Num, Static, Unbound
from adc.frontend.core.dispatch import handles
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.language import assignment
from adc.frontend.syntax import scope
from adc.ir.core import Literal
from adc.ir.errors import AdcError, TypeMismatchError
from adc.ir.types import Scalar

_HINT = "define it at module level"
_DECORATORS = (dataclasses.dataclass,)


@handles(ast.ClassDef)
def _class(lo: Lowerer, stmt: ast.ClassDef) -> None:
    _require_plain(lo, stmt)
    code = _code_of(lo, stmt)
    bases = tuple(_base(lo, node) for node in stmt.bases)
    held = tuple(
        None if name == stmt.name else _captured(lo, stmt, name) for name in code.co_freevars
    )
    # Attempts to lower a loop make one class; other calls of the function may capture others.
    key = ("class", id(stmt), *map(id, bases), *map(_key, held))
    if key not in lo.memo:
        lo.memo[key] = stmt, bases, held, _made(lo, stmt, code, bases, held)
    assignment.assign(lo, ast.Name(stmt.name, ast.Store()), Static(lo.memo[key][-1]))


def _key(value: Any) -> object:
    """Return what tells a constant from others: also 1 from 1.0 and True, and 0.0 from -0.0."""
    return (type(value), repr(value) if isinstance(value, str | int | float) else id(value))


def _made(
    lo: Lowerer, stmt: ast.ClassDef, code: types.CodeType, bases: tuple[Any, ...],
    held: tuple[Any, ...],
) -> type:  # fmt: skip
    """Return the class that a statement defines."""
    itself = types.CellType()
    cells = tuple(
        itself if name == stmt.name else types.CellType(each)
        for name, each in zip(code.co_freevars, held, strict=True)
    )
    body = types.FunctionType(code, lo.frame.holder.fn.__globals__, stmt.name, None, cells)
    try:
        made: Any = builtins.__build_class__(body, stmt.name, *bases)
        for decorator, options in reversed([_decorator(lo, each) for each in stmt.decorator_list]):
            made = decorator(made, **options)
    except AdcError:
        raise
    except Exception as error:
        raise TypeMismatchError(str(error), lo.span(stmt), _HINT) from None
    itself.cell_contents = made
    found: type = made
    return found


def _base(lo: Lowerer, node: ast.expr) -> Any:
    """Return what a class is derived from."""
    base = evaluation.lower_expr(lo, node)
    if not (isinstance(base, Static) and _is_base(base.value)):
        raise lo.unsupported(f"a class derived from {kind_of(base)}", node, _HINT)
    outside.pin(lo, base)
    return base.value


def _is_base(value: Any) -> bool:
    return value is typing.NamedTuple or isinstance(value, type)


def _decorator(lo: Lowerer, node: ast.expr) -> tuple[Any, dict[str, Any]]:
    """Return a decorator of a class, and its options."""
    func = node.func if isinstance(node, ast.Call) else node
    found = evaluation.lower_expr(lo, func)
    if not (isinstance(found, Static) and any(found.value is each for each in _DECORATORS)):
        raise lo.unsupported("this decorator of a `class` inside a function", node, _HINT)
    options: dict[str, Any] = {}
    if isinstance(node, ast.Call):
        for keyword in node.keywords:
            if keyword.arg is None or not isinstance(keyword.value, ast.Constant):
                raise lo.unsupported("this option of a decorator", node, _HINT)
            options[keyword.arg] = keyword.value.value
        if node.args:
            raise lo.unsupported("this option of a decorator", node, _HINT)
    return found.value, options


def _require_plain(lo: Lowerer, stmt: ast.ClassDef) -> None:
    """Refuse a class of which the body does more than define methods, fields and constants."""
    if stmt.keywords or getattr(stmt, "type_params", None):
        raise lo.unsupported("this `class` inside a function", stmt, _HINT)
    for part in stmt.body:
        match part:
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                continue
            case ast.Assign(targets=[ast.Name()], value=value) if _is_constant(value):
                continue
            case ast.AnnAssign(target=ast.Name(), value=None):
                continue
            case ast.AnnAssign(target=ast.Name(), value=ast.expr() as value) if _is_constant(
                value
            ) or _is_field(lo, value):
                continue
            case ast.FunctionDef() if _is_plain_method(part):
                continue
        raise lo.unsupported(
            "this statement in a `class` inside a function", part,
            "methods, fields and constants may be in it; or define it at module level",
        )  # fmt: skip


def _is_plain_method(node: ast.FunctionDef) -> bool:
    defaults = (*node.args.defaults, *filter(None, node.args.kw_defaults))
    return all(map(_is_constant, defaults)) and all(map(_is_of_method, node.decorator_list))


def _is_constant(node: ast.expr) -> bool:
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError):
        return False
    return not isinstance(value, list | dict | set)


def _is_field(lo: Lowerer, node: ast.expr) -> bool:
    """Whether an expression is ``field(...)`` of `dataclasses`."""
    if not isinstance(node, ast.Call):
        return False
    return evaluation.lower_expr(lo, node.func) == Static(dataclasses.field) and all(
        _is_constant(each.value)
        or (each.arg == "default_factory" and isinstance(each.value, ast.Name | ast.Lambda))
        for each in node.keywords
    )


def _is_of_method(node: ast.expr) -> bool:
    match node:
        case ast.Name(id="property" | "staticmethod" | "classmethod"):
            return True
        case ast.Attribute(value=ast.Name(), attr="setter"):
            return True
    return False


def _code_of(lo: Lowerer, stmt: ast.ClassDef) -> types.CodeType:
    """Return the code of the body of a class, which lies in the code of the function around it."""
    lines = {stmt.lineno, *(each.lineno for each in stmt.decorator_list)}
    found = [
        each
        for each in _inside(lo.frame.holder.fn.__code__)
        if each.co_name == stmt.name and each.co_firstlineno in lines
    ]
    if len(found) != 1:
        raise lo.unsupported("`class` inside a function here", stmt, _HINT)
    return found[0]


def _inside(code: types.CodeType) -> Iterator[types.CodeType]:
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield const
            yield from _inside(const)


def _captured(lo: Lowerer, stmt: ast.ClassDef, name: str) -> Any:
    """Return a constant that a class captures: nothing may bind the variable again."""
    frame = lo.frame
    found = frame.env.get(name, Unbound()) if name in frame.locals else Unbound()
    body = frame.source.node.body if isinstance(frame.source.node, ast.FunctionDef) else []
    bound = [each for each in body if name in scope.assigned(each)]
    once = len(bound) == 1 and isinstance(bound[0], ast.Assign | ast.ClassDef | ast.Import)
    if once and bound[0] is not stmt:
        match found:
            case Num(operand=Literal(value=value, type=Scalar(weak=True)), array=False):
                return value
            case Static(value=str() | type() | types.ModuleType() as value, place=None):
                return value
    raise lo.unsupported(
        f"a class that captures {name!r}, which is no constant,", stmt,
        "pass it to the constructor, or define the class at module level",
    )  # fmt: skip
