"""Python's own syntax as the tree of emitted code: what rows of the op table say in Python.

The spelling of a row (`OpDef.code`) becomes an expression with variables for the operands; its
`algorithm`, which is put into the emitted file as it stands, becomes a function.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Mapping, Sequence

from adc.backend.common.syntax import (
    Assign,
    Binary,
    Break,
    Call,
    Constant,
    Do,
    Expr,
    For,
    Function,
    Global,
    If,
    Increase,
    Inside,
    Name,
    Pass,
    Return,
    Stmt,
    Unary,
    walk,
)
from adc.ir.opdef import OpDef
from adc.ir.ops import algorithms
from adc.ir.types import F64, INT, Type

_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.BitAnd: "&", ast.BitOr: "|",
    ast.BitXor: "^", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==",
    ast.NotEq: "!=", ast.USub: "-", ast.Not: "not",
}  # fmt: skip


@functools.cache
def spelling(op: OpDef) -> Expr:
    """Return what emitted code writes for a row, with its operands as the variables `operands`."""
    names = operands(op)
    code = op.code.format(*names, order="order", axis="axis")
    return expression(ast.parse(code, mode="eval").body)


def operands(op: OpDef) -> list[str]:
    """Return the variables that stand for the operands of a row in its `spelling`."""
    return [f"operand{k}" for k in range(op.arity)]


def filled(pattern: Expr, given: Mapping[str, Expr]) -> Expr:
    """Return an expression with others in place of some of its variables."""
    match pattern:
        case Name(name):
            return given.get(name, pattern)
        case Call(name, args):
            return Call(name, tuple(filled(each, given) for each in args))
        case Binary(op, left, right):
            return Binary(op, filled(left, given), filled(right, given))
        case Unary(op, inner):
            return Unary(op, filled(inner, given))
        case Inside(index, size):
            return Inside(filled(index, given), filled(size, given))
    return pattern


@functools.cache
def algorithm(op: OpDef) -> Function:
    """Return the function that stands for a row in emitted code."""
    lines = tuple(algorithms.source(op))
    (found,) = ast.parse("\n".join(lines)).body
    assert isinstance(found, ast.FunctionDef)
    params = [arg.arg for arg in found.args.args]
    body = block(found.body[1:])
    # Static parameters come first.
    types: dict[str, Type] = {name: INT for name in params}
    types.update(dict.fromkeys(params[-op.arity :], F64))
    for stmt in walk(body):
        match stmt:
            case Assign(name, value):
                types[name] = _type(value, types)
            case For(name):
                types[name] = INT
    return Function(found.name, tuple(params), "", F64, types, body, lines=lines)


def _type(expr: Expr, types: Mapping[str, Type]) -> Type:
    """Return the type of a number that an algorithm computes: rows return `F64`."""
    match expr:
        case Name(name):
            return types[name]
        case Constant(int()):
            return INT
        case Binary(op, left, right) if op != "/":
            return INT if _type(left, types) == _type(right, types) == INT else F64
        case Unary(_, operand):
            return _type(operand, types)
    return F64


def block(stmts: Sequence[ast.stmt]) -> list[Stmt]:
    """Return statements as those of emitted code."""
    return [_stmt(stmt) for stmt in stmts]


def _stmt(stmt: ast.stmt) -> Stmt:
    match stmt:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            return Assign(name, expression(value))
        case ast.AugAssign(target=ast.Name(id=name), op=op, value=value):
            return Increase(Name(name), _OPERATORS[type(op)], expression(value))
        case ast.If(test=test, body=body, orelse=orelse):
            return If(expression(test), block(body), block(orelse))
        case ast.For(
            target=ast.Name(id=name),
            iter=ast.Call(func=ast.Name(id="range"), args=args),
            body=body,
            orelse=[],
        ):
            return For(name, tuple(map(expression, args)), body=block(body))
        case ast.Break():
            return Break()
        case ast.Pass():
            return Pass()
        case ast.Return(value=ast.expr() as value):
            return Return(expression(value))
        case ast.Expr(value=ast.Call(func=ast.Name(id=name), args=args)):
            return Do(Call(name, tuple(map(expression, args))))
    raise NotImplementedError(ast.dump(stmt))


def expression(node: ast.expr) -> Expr:
    """Return an expression as one of emitted code."""
    match node:
        case ast.Name(id="inf" | "nan" as name):
            return Global(name)
        case ast.Name(id=name):
            return Name(name)
        case ast.Constant(value=bool(value) | int(value) | float(value)):
            return Constant(value)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value) | float(value))):
            return Constant(-value)
        case ast.UnaryOp(op=op, operand=inner):
            return Unary(_OPERATORS[type(op)], expression(inner))
        case ast.BinOp(left=left, op=op, right=right):
            return Binary(_OPERATORS[type(op)], expression(left), expression(right))
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return Binary(_OPERATORS[type(op)], expression(left), expression(right))
        case ast.Compare(
            left=ast.Constant(value=0), ops=[ast.LtE(), ast.Lt()], comparators=[index, size]
        ):
            return Inside(expression(index), expression(size))
        case ast.Call(func=ast.Name(id=name), args=args):
            return Call(name, tuple(map(expression, args)))
    raise NotImplementedError(ast.dump(node))


__all__ = ["algorithm", "expression", "filled", "operands", "spelling"]
