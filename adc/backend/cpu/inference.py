"""The types of the variables, expressions and results of emitted code: one walk over its syntax."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from adc.backend.numba_api import numba_type, types
from adc.ir.types import parse_type

OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.BitAnd: operator.and_, ast.BitOr: operator.or_,
    ast.BitXor: operator.xor, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.USub: operator.neg,
    ast.Not: operator.not_,
}  # fmt: skip
# Of two integers of 64 bits: the comparison by which the first is chosen.
CHOICES = {"min": operator.lt, "max": operator.gt}
RUNTIME = frozenset(
    "empty fit fresh grow lanes note poll release returned reuse row_at side_by_side slot stacked "
    "tape total total_down view".split()
)


class Unit(Protocol):
    """The emitted file that a function is in, as those see it who translate the function."""

    globals: dict[str, Any]
    trees: dict[str, ast.FunctionDef]

    def signature(self, function: Any, args: tuple[Any, ...]) -> Any:
        """Return the signature of a call of an intrinsic, or of a function that Numba knows."""

    def types_of(self, name: str, args: tuple[Any, ...]) -> Types:
        """Return the types in another function of the file."""


class Types:
    """The types of the variables and of the result of a function."""

    def __init__(self, module: Unit, tree: ast.FunctionDef, args: tuple[Any, ...]) -> None:
        self.module = module
        self.tree = tree
        self.names = dict(zip((arg.arg for arg in tree.args.args), args, strict=True))
        # Variables that may own memory; those of arguments do if the caller says so.
        self.owning = {name for name, ty in self.names.items() if isinstance(ty, types.Array)}
        self.result: Any = self._declared()
        self._returned: Any = None
        self._changed = True

    def _declared(self) -> Any:
        """Return the result's type as the documentation of the function has it."""
        text = (ast.get_docstring(self.tree) or "").rpartition(" -> ")[2]
        found = [] if text == "none" else [parse_type(part) for part in _parts(text)]
        return types.BaseTuple.from_types(tuple(numba_type(ty) for ty in found))

    def run(self) -> None:
        while self._changed:  # arrays that loops carry may turn out to be of no special layout
            self._changed = False
            self._returned = None
            self.block(self.tree.body)
        self.result = self._returned

    def block(self, stmts: Sequence[ast.stmt]) -> None:
        for stmt in stmts:
            self.stmt(stmt)

    def stmt(self, stmt: ast.stmt) -> None:
        match stmt:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self.bind(name, self.expr(value), self.owns(value))
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=value):
                found = self.expr(value)
                for k, (target, ty) in enumerate(zip(targets, found, strict=True)):
                    assert isinstance(target, ast.Name)
                    of = value.elts[k] if isinstance(value, ast.Tuple) else value
                    self.bind(target.id, ty, self.owns(of))
            case ast.AugAssign(target=ast.Name(id=name), op=op, value=value):
                args = (self.names[name], self.expr(value))
                sig = self.module.signature(OPERATORS[type(op)], args)
                self.bind(name, sig.return_type, False)
            case ast.For(target=ast.Name(id=name), body=body):
                self.bind(name, types.int64, False)
                self.block(body)
            case ast.While(body=body):
                self.block(body)
            case ast.If(body=body, orelse=orelse):
                self.block(body)
                self.block(orelse)
            case ast.Return(value=value):
                assert value is not None
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

    def owns(self, value: ast.expr) -> bool:
        match value:
            case ast.Name(id=name):
                return name in self.owning
            case ast.Call(func=ast.Name(id="row_at"), args=[stack, *_]):
                return self.owns(stack)
            case ast.Call(func=ast.Name(id=name)):
                return name in ("fresh", "returned") or name in self.module.trees
        return False

    def expr(self, node: ast.expr) -> Any:
        """Return the type of an expression, a list of types for a tuple."""
        match node:
            case ast.Name(id=name):
                if name in self.names:
                    return self.names[name]
                return (
                    types.float64 if isinstance(self.module.globals[name], float) else types.int64
                )
            case ast.Constant(value=value):
                return constant_type(value)
            case ast.Tuple(elts=elts):
                return [self.expr(each) for each in elts]
            case ast.Attribute(value=value, attr="shape"):
                return [types.int64] * self.expr(value).ndim
            case ast.Attribute(value=value, attr="T"):
                return transposed(self.expr(value))
            case ast.Attribute(attr="size"):
                return types.int64
            case ast.Subscript(value=ast.Attribute()):
                return types.int64
            case ast.Subscript(value=value):
                return self.expr(value).dtype
            case ast.Compare():
                return types.boolean
            case ast.UnaryOp(op=op, operand=operand):
                one = self.expr(operand)
                return self.module.signature(OPERATORS[type(op)], (one,)).return_type
            case ast.BinOp(left=left, op=op, right=right):
                args = (self.expr(left), self.expr(right))
                return self.module.signature(OPERATORS[type(op)], args).return_type
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return self.call(name, arguments)
        raise NotImplementedError(ast.dump(node))

    def call(self, name: str, arguments: list[ast.expr]) -> Any:
        if name in self.module.trees:
            args = tuple(self.expr(each) for each in arguments)
            result = self.module.types_of(name, args).result
            return list(result) if isinstance(result, types.BaseTuple) else result
        if name in RUNTIME:
            match name:
                case "poll":
                    return types.boolean
                case "note" | "release" | "side_by_side":
                    return types.none
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
        if name in ("copy_into", "fill", "gemm", "gemm_add"):
            return types.none
        if name in CHOICES:
            return types.int64
        args = tuple(self.expr(each) for each in arguments)
        return self.module.signature(self.module.globals[name], args).return_type


def _parts(text: str) -> list[str]:
    """Return the types in a list of types; those of arrays have commas of their own."""
    found, depth, start = [], 0, 0
    for k, char in enumerate(text):
        depth += (char == "[") - (char == "]")
        if char == "," and not depth:
            found.append(text[start:k])
            start = k + 1
    return [*found, text[start:]]


def transposed(ty: Any) -> Any:
    """Return the type of the transpose of an array."""
    return ty.copy(layout={"C": "F", "F": "C"}.get(ty.layout, ty.layout))


def constant_type(value: object) -> Any:
    if isinstance(value, bool):
        return types.boolean
    return types.int64 if isinstance(value, int) else types.float64


def dtype_of(node: ast.expr) -> Any:
    """Return the type that ``np.float64`` names."""
    assert isinstance(node, ast.Attribute)
    return types.boolean if node.attr == "bool_" else getattr(types, node.attr)
