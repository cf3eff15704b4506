"""The tree of emitted code (`syntax`) as Python's text.

Parentheses stand around an operation that is an operand of another one, and nowhere else::

    Binary("*", Binary("+", a, b), c)      (a + b) * c
    Call("sin", (Binary("+", a, b),))      sin(a + b)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import assert_never

from adc.backend.common.syntax import (
    Assign,
    Attribute,
    Binary,
    Break,
    Call,
    Chain,
    Comment,
    Constant,
    Delete,
    Do,
    Dtype,
    Element,
    Expr,
    For,
    Forever,
    Function,
    Global,
    If,
    Increase,
    Inside,
    Name,
    Pass,
    Return,
    Size,
    Stmt,
    Store,
    Tuple,
    Unary,
    Unpack,
)


def text(expr: Expr) -> str:
    """Return an expression as it stands alone: as an argument, an index, or behind ``=``."""
    match expr:
        case Name(name) | Global(name):
            return name
        case Constant(value):
            return repr(value)
        case Call(name, args):
            return f"{name}({', '.join(map(text, args))})"
        case Element(array, index):
            return f"{operand(array)}[{', '.join(map(text, index))}]"
        case Binary(op, left, right):
            return f"{operand(left)} {op} {operand(right)}"
        case Unary("not", inner):
            return f"not {operand(inner)}"
        case Unary(op, inner):
            return f"{op}{operand(inner)}"
        case Size(array, axis):
            return f"{operand(array)}.shape[{axis}]"
        case Attribute(array, name):
            return f"{operand(array)}.{name}"
        case Chain(op, items):
            # Products are terms of sums.
            plain = [op == "+" and isinstance(each, Chain) for each in items]
            found = [
                text(each) if bare else operand(each)
                for each, bare in zip(items, plain, strict=True)
            ]
            return f" {op} ".join(found)
        case Inside(index, size):
            return f"0 <= {operand(index)} < {operand(size)}"
        case Dtype(name):
            return f"np.{name}"
        case Tuple(items, loose):
            if loose:
                return f"({''.join(f'{text(each)}, ' for each in items)})"
            return f"({', '.join(map(text, items))}{',' * (len(items) == 1)})"
    assert_never(expr)


def operand(expr: Expr) -> str:
    """Return an expression as it stands next to an operator."""
    if isinstance(expr, Name):
        return expr.id
    found = text(expr)
    match expr:
        case Binary() | Unary() | Chain() | Inside():
            return f"({found})"
        case Constant() if found.startswith("-"):
            return f"({found})"
    return found


def block(body: Sequence[Stmt], indent: str = "") -> Iterator[str]:
    """Yield the lines of statements."""
    for stmt in body:
        remark = f"  # {stmt.remark}" if stmt.remark else ""
        match stmt:
            case If(test, then, orelse):
                yield f"{indent}if {text(test)}:{remark}"
                yield from block(then, f"{indent}    ")
                if orelse:
                    yield f"{indent}else:{remark}"
                    yield from block(orelse, f"{indent}    ")
            case For(index, limits, vectorizable, inner):
                way = "vectorizable" if vectorizable else "range"
                given = ", ".join(map(text, limits))
                yield f"{indent}for {index} in {way}({given}):{remark}"
                yield from block(inner, f"{indent}    ")
            case Forever(inner):
                yield f"{indent}while True:{remark}"
                yield from block(inner, f"{indent}    ")
            case _:
                yield f"{indent}{_line(stmt)}{remark}"


def _line(
    stmt: Assign | Unpack | Store | Increase | Do | Break | Pass | Return | Delete | Comment,
) -> str:
    match stmt:
        case Assign(target, value):
            return f"{target} = {text(value)}"
        case Store(target, value):
            return f"{text(target)} = {text(value)}"
        case Increase(target, op, value):
            return f"{text(target)} {op}= {text(value)}"
        case Do(call):
            return text(call)
        case Unpack(targets, value):
            comma = "," * (len(targets) == 1)
            items = value.items if isinstance(value, Tuple) else (value,)
            return f"{', '.join(targets)}{comma} = {', '.join(map(text, items))}"
        case Break():
            return "break"
        case Pass():
            return "pass"
        case Return(value):
            return f"return {text(value)}"
        case Delete(names):
            return f"del {', '.join(names)}"
        case Comment(words):
            return f"# {words}"
    assert_never(stmt)


def function(fn: Function) -> list[str]:
    """Return the lines of a function."""
    head = f"@njit(**{'PART' if fn.is_part else 'OPTIONS'})"
    if fn.lines:
        return [head, *fn.lines]
    doc = f'    """{fn.doc}"""'
    return [head, f"def {fn.name}({', '.join(fn.params)}):", doc, *block(fn.body, "    ")]


__all__ = ["block", "function", "operand", "text"]
