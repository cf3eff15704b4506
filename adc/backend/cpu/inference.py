"""The types of the variables, expressions and results of emitted code: one walk over its tree."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from adc.backend.common.syntax import (
    Assign,
    Attribute,
    Binary,
    Call,
    Chain,
    Constant,
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
    Return,
    Size,
    Stmt,
    Tuple,
    Unary,
    Unpack,
)
from adc.backend.numba_api import numba_type, types

OPERATORS: dict[str, Callable[..., Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
    "&": operator.and_, "|": operator.or_, "^": operator.xor, "<": operator.lt,
    "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
UNARY: dict[str, Callable[..., Any]] = {"-": operator.neg, "not": operator.not_}
_COMPARISONS = frozenset(("<", "<=", ">", ">=", "==", "!="))
# Of two integers of 64 bits: the comparison by which the first is chosen.
CHOICES = {"min": operator.lt, "max": operator.gt}
RUNTIME = frozenset(
    "empty fit fresh grow lanes note poll release returned reuse row_at side_by_side slot stacked "
    "tape total total_down view".split()
)


class Unit(Protocol):
    """The emitted file that a function is in, as those see it who translate the function."""

    globals: dict[str, Any]
    functions: dict[str, Function]

    def signature(self, function: Any, args: tuple[Any, ...]) -> Any:
        """Return the signature of a call of an intrinsic, or of a function that Numba knows."""

    def types_of(self, name: str, args: tuple[Any, ...]) -> Types:
        """Return the types in another function of the file."""


class Types:
    """The types of the variables and of the result of a function."""

    def __init__(self, module: Unit, function: Function, args: tuple[Any, ...]) -> None:
        self.module = module
        self.function = function
        self.names = dict(zip(function.params, args, strict=True))
        # Variables that may own memory; those of arguments do if the caller says so.
        self.owning = {name for name, ty in self.names.items() if isinstance(ty, types.Array)}
        # Until it is known: that of a function that calls itself is asked for before.
        self.result: Any = types.BaseTuple.from_types(tuple(map(numba_type, function.results)))
        self._returned: Any = None
        self._changed = True

    def run(self) -> None:
        while self._changed:  # arrays that loops carry may turn out to be of no special layout
            self._changed = False
            self._returned = None
            self.block(self.function.body)
        self.result = self._returned

    def block(self, stmts: Sequence[Stmt]) -> None:
        for stmt in stmts:
            self.stmt(stmt)

    def stmt(self, stmt: Stmt) -> None:
        match stmt:
            case Assign(name, value):
                self.bind(name, self.expr(value), self.owns(value))
            case Unpack(targets, value):
                items = value.items if isinstance(value, Tuple) else (value,) * len(targets)
                for name, ty, of in zip(targets, self.expr(value), items, strict=True):
                    self.bind(name, ty, self.owns(of))
            case Increase(Name(name), op, value):
                args = (self.names[name], self.expr(value))
                sig = self.module.signature(OPERATORS[op], args)
                self.bind(name, sig.return_type, False)
            case For(name, body=body):
                self.bind(name, types.int64, False)
                self.block(body)
            case Forever(body):
                self.block(body)
            case If(_, then, orelse):
                self.block(then)
                self.block(orelse)
            case Return(value):
                found = self.expr(value)
                ty = found
                if isinstance(found, list):
                    ty = types.BaseTuple.from_types(tuple(found))
                self._returned = ty if self._returned is None else self.unify(self._returned, ty)

    def bind(self, name: str, ty: Any, owns: bool) -> None:
        if name == "_":
            return  # a result that nobody wants
        if isinstance(ty, types.Array) and owns and name not in self.owning:
            self.owning.add(name)
            self._changed = True
        if isinstance(ty, list):
            self.names[name] = ty
            return
        known = self.names.get(name)
        self.names[name] = ty = ty if known is None else self.unify(known, ty)
        self._changed |= known is not None and known != ty

    def unify(self, a: Any, b: Any) -> Any:
        if a == b:
            return a
        if isinstance(a, types.BaseTuple):
            return types.BaseTuple.from_types(
                tuple(self.unify(x, y) for x, y in zip(a, b, strict=True))
            )
        if isinstance(a, types.Array) and (a.dtype, a.ndim) == (b.dtype, b.ndim):
            return a.copy(layout="A")
        raise TypeError(f"a variable of types {a} and {b}")

    def owns(self, value: Expr) -> bool:
        match value:
            case Name(name):
                return name in self.owning
            case Call("row_at", args):
                return self.owns(args[0])
            case Call(name):
                return name in ("fresh", "returned") or name in self.module.functions
        return False

    def expr(self, expr: Expr) -> Any:
        """Return the type of an expression, a list of types for a tuple."""
        match expr:
            case Name(name):
                return self.names[name]
            case Global(name):
                return constant_type(self.module.globals[name])
            case Constant(value):
                return constant_type(value)
            case Call(name, args):
                return self.call(name, args)
            case Element(array):
                return self.expr(array).dtype
            case Binary(op) if op in _COMPARISONS:
                return types.boolean
            case Binary(op, left, right):
                args = (self.expr(left), self.expr(right))
                return self.module.signature(OPERATORS[op], args).return_type
            case Unary(op, operand):
                return self.module.signature(UNARY[op], (self.expr(operand),)).return_type
            case Size() | Chain():
                return types.int64
            case Inside():
                return types.boolean
            case Tuple(items):
                return [self.expr(each) for each in items]
            case Attribute(array, "shape"):
                return [types.int64] * self.expr(array).ndim
            case Attribute(array, "T"):
                return transposed(self.expr(array))
            case Attribute(_, "size"):
                return types.int64
        raise NotImplementedError(expr)

    def call(self, name: str, arguments: Sequence[Expr]) -> Any:
        if name in self.module.functions:
            args = tuple(self.expr(each) for each in arguments)
            result = self.module.types_of(name, args).result
            return list(result) if isinstance(result, types.BaseTuple) else result
        if name in RUNTIME:
            match name:
                case "poll":
                    return types.boolean
                case "row_at":
                    stack = self.expr(arguments[0])
                    return types.Array(stack.dtype, stack.ndim - len(arguments) + 1, "C")
                case "lanes":
                    return types.Array(dtype_of(arguments[0]), 1, "C")
                case "slot":
                    return types.Array(dtype_of(arguments[1]), 1, "C")
                case "total" | "total_down":
                    return self.expr(arguments[0]).dtype
                case "tape" | "grow" | "fit":
                    return types.Array(dtype_of(arguments[-1]), 1, "C")
            shape = self.expr(arguments[-1])
            return types.Array(dtype_of(arguments[-2]), len(shape), "C")
        if name in CHOICES:
            return types.int64
        args = tuple(self.expr(each) for each in arguments)
        return self.module.signature(self.module.globals[name], args).return_type


def transposed(ty: Any) -> Any:
    """Return the type of the transpose of an array."""
    return ty.copy(layout={"C": "F", "F": "C"}.get(ty.layout, ty.layout))


def constant_type(value: object) -> Any:
    if isinstance(value, bool):
        return types.boolean
    return types.int64 if isinstance(value, int) else types.float64


def dtype_of(expr: Expr) -> Any:
    """Return the type that ``np.float64`` names."""
    assert isinstance(expr, Dtype)
    return types.boolean if expr.name == "bool_" else getattr(types, expr.name)
