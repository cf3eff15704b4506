"""Well-formedness: names, dominance, types, yields, and that Recalls name what they may.

`verify` reports every error it finds, each under the statement that causes it.
"""

from __future__ import annotations

from collections.abc import Sequence

from adc.ir.core import (
    Apply,
    Block,
    Call,
    Check,
    For,
    Function,
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
    blocks,
    operands,
    walk,
)
from adc.ir.errors import IRError
from adc.ir.printer import operand_text, print_stmt
from adc.ir.types import Array, Scalar, Type
from adc.ir.walk import defined, inner_values


def alike(a: Type, b: Type) -> bool:
    """Whether a value of type `a` may stand where `b` is declared: weak marks may differ."""
    if isinstance(a, Scalar) and isinstance(b, Scalar):
        return a.dtype == b.dtype
    return a == b


class _Verifier:
    def __init__(self, fn: Function) -> None:
        self.fn = fn
        self.errors: list[str] = []
        self.callees = {callee.name: callee for callee in fn.callees} | {fn.name: fn}
        # Recalls look into the function whose calls this one reverses, or into the function itself.
        target = self.callees.get(fn.mirror, fn)
        self.recallable = set(defined(target))
        self.labels = {
            stmt.label for stmt in walk(target.body) if isinstance(stmt, For | While | Call)
        }
        self.seen: set[str] = set()

    def error(self, stmt: Stmt | None, message: str) -> None:
        where = "" if stmt is None else f"\n    in: {print_stmt(stmt).splitlines()[0]}"
        self.errors.append(message + where)

    def define(self, stmt: Stmt | None, values: Sequence[Value], scope: set[Value]) -> None:
        for value in values:
            if value.name in self.seen:
                self.error(stmt, f"{value} is defined twice")
            self.seen.add(value.name)
            scope.add(value)

    def read(self, stmt: Stmt | None, operand: Operand, scope: set[Value]) -> None:
        if isinstance(operand, Value) and operand not in scope:
            self.error(stmt, f"{operand} is not available here")

    def types(self, stmt: Stmt, want: Sequence[Type], got: Sequence[Operand], what: str) -> None:
        if len(want) != len(got):
            self.error(stmt, f"{what}: {len(got)} values for {len(want)}")
            return
        for ty, operand in zip(want, got, strict=True):
            if not alike(operand.type, ty):
                text = operand_text(operand)
                self.error(stmt, f"{what}: {text} is {operand.type}, wanted {ty}")

    def block(self, stmt: Stmt, block: Block, scope: set[Value], extra: Sequence[Value]) -> None:
        inner = set(scope)
        self.define(stmt, extra, inner)
        self.define(stmt, block.params, inner)
        self.stmts(block.stmts, inner)
        for operand in block.yields:
            self.read(stmt, operand, inner)

    def index(self, stmt: Load | Store | Write) -> None:
        if not isinstance(stmt.array.type, Array):
            self.error(stmt, f"{stmt.array} is not an array")
        elif len(stmt.index) != stmt.array.type.rank:
            self.error(stmt, f"{len(stmt.index)} indices for rank {stmt.array.type.rank}")
        for operand in stmt.index:
            if operand.type.kind not in "iu" or isinstance(operand.type, Array):
                self.error(stmt, f"index {operand_text(operand)} is {operand.type}")

    def check(self, stmt: Stmt) -> None:
        match stmt:
            case Apply(results=results, op=op, args=args, params=params):
                if op.arity >= 0 and len(args) != op.arity:
                    self.error(stmt, f"{op.name} takes {op.arity} operands")
                    return
                try:
                    found = op.types([arg.type for arg in args], params)
                except IRError as error:
                    self.error(stmt, error.message)
                    return
                self.types(stmt, found, results, "results")
            case Load(result=result, array=array):
                self.index(stmt)
                if isinstance(array.type, Array) and result.type.dtype != array.type.dtype:
                    self.error(stmt, f"{result} is {result.type}")
            case Store(result=result, array=array, value=value):
                self.index(stmt)
                if result.type != array.type or value.type.dtype != array.type.dtype:
                    self.error(stmt, f"stores {value.type} in {array.type} giving {result.type}")
            case Write(array=array, value=value):
                self.index(stmt)
                if value.type.dtype != array.type.dtype:
                    self.error(stmt, f"writes {value.type} in {array.type}")
            case If(results=results, cond=cond, then=then, orelse=orelse):
                if cond.type.kind != "b":
                    self.error(stmt, f"condition is {cond.type}")
                want = [value.type for value in results]
                self.types(stmt, want, then.yields, "then")
                self.types(stmt, want, orelse.yields, "else")
            case (
                For(results=results, init=init, body=body)
                | Reverse(results=results, init=init, body=body)
            ):
                want = [param.type for param in body.params]
                self.types(stmt, want, init, "init")
                self.types(stmt, want, body.yields, "yield")
                self.types(stmt, want, results, "results")
                if isinstance(stmt, Reverse) and stmt.loop not in self.labels:
                    self.error(stmt, f"no loop named {stmt.loop}")
            case While(results=results, init=init, body=body):
                want = [param.type for param in body.params]
                self.types(stmt, want, init, "init")
                self.types(stmt, want, results, "results")
                if not body.yields or body.yields[0].type.kind != "b":
                    self.error(stmt, "the first yield of a while is its condition")
                self.types(stmt, want, body.yields[1:], "again")
            case Call(results=results, callee=name, args=args):
                if name not in self.callees:
                    self.error(stmt, f"no function named {name}")
                    return
                callee = self.callees[name]
                self.types(stmt, [param.type for param in callee.params], args, "arguments")
                self.types(stmt, [v.type for v in results], callee.results, "results")
            case Check(cond=cond):
                if cond.type.kind != "b":
                    self.error(stmt, f"condition is {cond.type}")
            case Recall(result=result, value=value):
                if value not in self.recallable:
                    self.error(stmt, f"{value} is not a value of the forward code")
                if result.type != value.type:
                    self.error(stmt, f"{result} is {result.type}, {value} is {value.type}")
            case Print() | Push() | Pop():
                pass

    def stmts(self, stmts: Sequence[Stmt], scope: set[Value]) -> None:
        for stmt in stmts:
            for operand in operands(stmt):
                self.read(stmt, operand, scope)
            self.check(stmt)
            extra = [v for v in inner_values(stmt) if all(v not in b.params for b in blocks(stmt))]
            for block in blocks(stmt):
                self.block(stmt, block, scope, extra)
            self.define(stmt, stmt.results, scope)

    def run(self) -> list[str]:
        scope: set[Value] = set()
        self.define(None, self.fn.params, scope)
        self.stmts(self.fn.body, scope)
        for operand in self.fn.results:
            self.read(None, operand, scope)
        labels = [s.label for s in walk(self.fn.body) if isinstance(s, For | While | Call)]
        for label in sorted({label for label in labels if labels.count(label) > 1}):
            self.error(None, f"two loops or calls named {label}")
        return self.errors


def problems(fn: Function) -> list[str]:
    """Return everything that is wrong with `fn` and its callees."""
    found: list[str] = []
    for each in (*fn.callees, fn):
        alone = (
            each
            if each is fn
            else Function(each.name, each.params, each.body, each.results, fn.callees, each.mirror)
        )
        found += [f"{each.name}: {text}" for text in _Verifier(alone).run()]
    return found


def verify(fn: Function) -> Function:
    """Return `fn` if it is well-formed.

    Raises
    ------
    IRError
        Naming every defect, with the statement that has it.
    """
    found = problems(fn)
    if found:
        raise IRError("malformed IR:\n  " + "\n  ".join(found) + f"\n{fn}")
    return fn


__all__ = ["Literal", "alike", "problems", "verify"]
