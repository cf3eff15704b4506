"""The text form: every function prints, and `adc.ir.text.parser` reads it back unchanged."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable

from adc.ir.core import (
    Apply,
    Block,
    Call,
    Check,
    Derived,
    For,
    Function,
    Gemm,
    If,
    Literal,
    Load,
    Operand,
    Pop,
    Print,
    Push,
    Recall,
    Reverse,
    Stmt,
    Store,
    Value,
    While,
    Write,
    printer,
)
from adc.ir.types import Array


def literal_text(literal: Literal) -> str:
    """Return the text of a constant: Python's spelling, with the type unless it is weak."""
    value = literal.value
    if isinstance(value, complex):
        sign = "-" if math.copysign(1.0, value.imag) < 0 else "+"
        text = f"{value.real!r}{sign}{abs(value.imag)!r}j"
    else:
        text = str(value).lower() if isinstance(value, bool) else repr(value)
    ty = literal.type
    weak_default = {"b": "bool", "i": "int", "f": "float", "c": "complex"}[
        ty.kind.replace("u", "i")
    ]
    return text if str(ty) == weak_default else f"{text}:{ty}"


def operand_text(operand: Operand) -> str:
    return str(operand) if isinstance(operand, Value) else literal_text(operand)


def _many(operands: Iterable[Operand], sep: str = " ") -> str:
    return sep.join(operand_text(operand) for operand in operands)


def _carried(block: Block, init: tuple[Operand, ...]) -> str:
    if not init:
        return ""
    pairs = [
        f"{_named(param, value)} = {operand_text(value)}"
        for param, value in zip(block.params, init, strict=True)
    ]
    return f" carrying ({', '.join(pairs)})"


def _named(value: Value, like: Operand) -> str:
    """Return a name, with its type if the strides of an array are less known than those of its
    initial value."""
    other = isinstance(value.type, Array) and value.type != like.type
    return f"{value}: {value.type}" if other else str(value)


def _lines(stmt: Stmt) -> list[str]:
    left = f"{_many(stmt.results, ', ')} = " if stmt.results else ""
    match stmt:
        case Apply(op=op, args=args, params=params):
            static = f"[{', '.join(map(str, params))}]" if params else ""
            return [f"{left}{op.name}{static} {_many(args)}".rstrip()]
        case Load(array=array, index=index):
            return [f"{left}load {array}[{_many(index, ', ')}]"]
        case Store(array=array, index=index, value=value, accumulate=accumulate):
            verb = "accumulate" if accumulate else "store"
            return [f"{left}{verb} {array}[{_many(index, ', ')}] {operand_text(value)}"]
        case Write(array=array, index=index, value=value, accumulate=accumulate):
            verb = "increase" if accumulate else "write"
            return [f"{verb} {array}[{_many(index, ', ')}] {operand_text(value)}"]
        case Gemm(array=array, a=a, b=b, transposed=transposed, accumulate=accumulate):
            flags = "".join("t" if each else "n" for each in transposed)
            flags += ", add" * accumulate + ", rowwise" * stmt.rowwise
            return [f"{left}gemm[{flags}] {array} {a} {b}"]
        case If(cond=cond, then=then, orelse=orelse):
            if left:
                pairs = zip(stmt.results, then.yields, strict=True)
                left = f"{', '.join(_named(value, given) for value, given in pairs)} = "
            lines = [f"{left}if {operand_text(cond)} {{", *_block(then)]
            if orelse.stmts or orelse.yields:
                lines += ["} else {", *_block(orelse)]
            return [*lines, "}"]
        case For(label=label, index=index, trips=trips, init=init, body=body):
            order = "down from" if stmt.down else "in 0 to"
            word = "parallel " * stmt.parallel + "vectorizable " * stmt.vectorizable + "for"
            head = f"{word} {label} {index} {order} {operand_text(trips)}"
            return [f"{left}{head}{_carried(body, init)} {{", *_block(body), "}"]
        case While(label=label, init=init, body=body):
            head = f"while {label}{_carried(body, init)}"
            return [f"{left}{head} {{", *_block(body, "again"), "}"]
        case Reverse(loop=loop, index=index, init=init, body=body):
            head = f"reverse {loop} {index}{_carried(body, init)}"
            return [f"{left}{head} {{", *_block(body), "}"]
        case Call(label=label, callee=callee, args=args, mirror=mirror):
            tail = f" mirrors {mirror}" if mirror else ""
            return [f"{left}call {label} {callee}({_many(args, ', ')}){tail}"]
        case Check(cond=cond, error=error, message=message, args=args):
            tail = f" {_many(args)}" if args else ""
            name = json.dumps(error) if ":" in error else error
            return [f"check {operand_text(cond)} {name} {json.dumps(message)}{tail}"]
        case Print(message=message, args=args, to=to):
            tail = f" {_many(args)}" if args else ""
            aim = f"to {json.dumps(to)} " if to else ""
            return [f"{left}print {aim}{json.dumps(message)}{tail}"]
        case Recall(value=value):
            return [f"{left}recall {value}"]
        case Push(values=values):
            return [f"push {_many(values)}".rstrip()]
        case Pop(results=results):
            return [f"{', '.join(f'{v}: {v.type}' for v in results)} = pop"]
    raise AssertionError(stmt)


def _block(block: Block, verb: str = "yield") -> list[str]:
    lines = [line for stmt in block.stmts for line in _lines(stmt)]
    if block.yields:
        lines.append(f"{verb} {_many(block.yields)}")
    return [f"  {line}" for line in lines]


def print_stmt(stmt: Stmt) -> str:
    """Return the text of one statement, with its blocks."""
    return "\n".join(_lines(stmt))


def _one(fn: Function) -> str:
    params = ", ".join(f"{param}: {param.type}" for param in fn.params)
    types = ", ".join(str(result.type) for result in fn.results)
    tail = f" mirrors {fn.mirror}" if fn.mirror else ""
    if fn.routine:
        tail += f" routine {fn.routine}"
    if fn.rule is not None:
        parts = (*fn.rule.functions, *map(str, fn.rule.positions))
        words = "exact " * fn.rule.exact + "always " * fn.rule.always
        tail += f" rule {words}{fn.rule.kind}({', '.join(parts)})"
    lines = [f"fn {fn.name}({params}) -> {types or 'none'}{tail} {{"]
    lines += [f"  {line}" for stmt in fn.body for line in _lines(stmt)]
    lines.append(f"  return {_many(fn.results)}".rstrip())
    return "\n".join([*lines, "}"])


def _derived(each: Derived) -> str:
    groups = (each.wrt, *each.along)
    head, *along = [f"({', '.join(map(str, group))})" for group in groups]
    tail = f" along {' '.join(along)}" if along else ""
    lines = [f"derived {each.name} {each.mode} {head}{tail} {{"]
    lines += [f"  {line}".rstrip() for line in print_function(each.of).splitlines()]
    return "\n".join([*lines, "}"])


@printer
def print_function(fn: Function) -> str:
    """Return the text of `fn`, its callees first."""
    parts = [_derived(each) for each in fn.derived]
    return "\n\n".join([*parts, *(_one(each) for each in (*fn.callees, fn))]) + "\n"
