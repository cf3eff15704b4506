"""The types of arrays in emitted code, where its tree does not say them, and who owns their memory.

The tree has a type for every variable; but an array that a function is given, or that a loop
carries, may turn out to have other strides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from adc.backend.common.syntax import (
    Assign,
    Attribute,
    Call,
    Dtype,
    Expr,
    For,
    Forever,
    Function,
    If,
    Name,
    Return,
    Stmt,
    Tuple,
    Unpack,
)
from adc.backend.numba_api import Table, numba_dtype, numba_type, types
from adc.ir.types import Array, Type


class Unit(Protocol):
    """The emitted file that a function is in, as those see it who translate the function."""

    functions: dict[str, Function]

    def types_of(self, name: str, args: tuple[Any, ...]) -> Types:
        """Return the types in another function of the file."""


class Types:
    """What the tree of a function does not say: the layouts of arrays, and who owns their memory.

    Numbers have the types that the emitter gave their variables. An array has any strides if it is
    now one that lies in C order, now another one.
    """

    def __init__(self, module: Unit, function: Function, args: tuple[Any, ...]) -> None:
        self.module = module
        self.function = function
        given = zip(function.params, with_tables(function, args), strict=True)
        self.arrays = {name: ty for name, ty in given if isinstance(ty, types.Array)}
        # Variables that may own memory; those of arguments do if the caller says so.
        self.owning = set(self.arrays)
        # Those that hold a tuple, and those of them that were returned: a function of many calls
        # returns the same one wherever one of these fails.
        self._tuples: dict[str, Tuple] = {}
        self._left: set[str] = set()
        # What is returned at some places, by the returns that have been seen; which of it may own
        # memory.
        self._returned: dict[int, Any] = {}
        self._owned: set[int] = set()
        # A function that calls itself is asked for its result before that is known.
        self.result: Any = self._result()
        # The places of results that bring a reference. Of parts, of arrays that may own memory.
        self.owned = frozenset(
            range(len(self.result)) if isinstance(function.results, tuple) else ()
        )
        self._changed = True

    def _result(self, layouts: Mapping[int, Any] | None = None) -> Any:
        """Return the type of the result, with arrays of some layouts at some places."""
        results = self.function.results
        if not isinstance(results, tuple):
            return numba_type(results)
        found = [(layouts or {}).get(k) or numba_type(ty) for k, ty in enumerate(results)]
        return types.BaseTuple.from_types(tuple(found))

    def type_of(self, name: str) -> Any:
        """Return the type of a variable that holds a number or an array."""
        return self.arrays.get(name) or numba_type(self.function.variables[name])

    def run(self) -> None:
        while self._changed:  # arrays that loops carry may turn out to be of no special layout
            self._changed = False
            self._returned, self._owned, self._left = {}, set(), set()
            self.block(self.function.body)
        self.result = self._result(self._returned)
        if self.function.is_flat:
            self.owned = frozenset(self._owned)

    def block(self, stmts: Sequence[Stmt]) -> None:
        for stmt in stmts:
            self.stmt(stmt)

    def stmt(self, stmt: Stmt) -> None:
        match stmt:
            case Assign(name, Tuple() as value):
                self._tuples[name] = value
            case Assign(name, value) if self.holds_array(name):
                self.bind(name, self.array(value), self.owns(value))
            case Unpack(names, Tuple(items)):
                # All at once: what the targets hold before.
                found = {
                    name: (self.array(item), self.owns(item))
                    for name, item in zip(names, items, strict=True)
                    if self.holds_array(name)
                }
                for name, (ty, owns) in found.items():
                    self.bind(name, ty, owns)
            case Unpack(names, Call() as call) if any(map(self.holds_array, names)):
                called = self.called(call)
                for k, (name, ty) in enumerate(zip(names, called.result, strict=True)):
                    if self.holds_array(name):
                        self.bind(name, ty, k in called.owned)
            case For(body=body) | Forever(body):
                self.block(body)
            case If(_, then, orelse):
                self.block(then)
                self.block(orelse)
            case Return(value):
                self.leave(value)

    def leave(self, value: Expr) -> None:
        if isinstance(value, Name) and value.id in self._tuples:
            if value.id in self._left:
                return
            self._left.add(value.id)
            value = self._tuples[value.id]
        if isinstance(value, Tuple):
            assert isinstance(self.function.results, tuple)
            for k, (ty, item) in enumerate(zip(self.function.results, value.items, strict=True)):
                if isinstance(ty, Array):
                    found = self.array(item)
                    self._returned[k] = unified(self._returned.get(k, found), found)
                    if self.owns(item):
                        self._owned.add(k)

    def holds_array(self, name: str) -> bool:
        return isinstance(self.function.variables.get(name), Array)

    def bind(self, name: str, ty: Any, owns: bool) -> None:
        if owns and name not in self.owning:
            self.owning.add(name)
            self._changed = True
        known = self.arrays.get(name, ty)
        self.arrays[name] = unified(known, ty)
        self._changed |= self.arrays[name] != known

    def owns(self, value: Expr) -> bool:
        match value:
            case Name(name):
                return name in self.owning
            case Call("row_at", (array, *_)) | Attribute(array, "T"):
                return self.owns(array)
            case Call(name):
                return name in ("fresh", "returned") or name in self.module.functions
        return False

    def array(self, expr: Expr) -> Any:
        """Return the type of an array."""
        match expr:
            case Name(name):
                return self.arrays[name]
            case Attribute(array, "T"):
                return transposed(self.array(array))
            case Call("part_of", (_, stack, Tuple(index), _)):
                whole = self.array(stack)
                return types.Array(whole.dtype, whole.ndim - len(index), "C")
            case Call("row_at", (stack, *index)):
                whole = self.array(stack)
                return types.Array(whole.dtype, whole.ndim - len(index), "C")
            case Call("lanes" | "tape" | "grow" | "fit" | "slot", args):
                dtype = next(each for each in args if isinstance(each, Dtype))
                return types.Array(dtype_of(dtype), 1, "C")
            case Call(_, (*_, dtype, shape)):
                rank = len(shape.items) if isinstance(shape, Tuple) else self.rank_of(shape)
                return types.Array(dtype_of(dtype), rank, "C")
        raise NotImplementedError(expr)

    def rank_of(self, shape: Expr) -> int:
        """Return the rank of the array that is asked for its shape."""
        assert isinstance(shape, Attribute)
        rank: int = self.array(shape.array).ndim
        return rank

    def called(self, call: Call) -> Types:
        """Return the types of another function of the file."""
        callee = self.module.functions[call.function]
        args = tuple(
            self.array(arg)
            if isinstance(callee.variables[name], Array)
            else numba_type(callee.variables[name])
            for name, arg in zip(callee.params, call.args, strict=True)
        )
        return self.module.types_of(call.function, args)


def with_tables(function: Function, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the types of the arguments of a function, of tables instead of what is passed."""
    return tuple(
        table_type(function.variables[name]) if name in function.tables else ty
        for name, ty in zip(function.params, args, strict=True)
    )


def table_type(ty: Type) -> Any:
    """Return the type of a table of the parts of an array."""
    like = numba_type(ty)
    return Table(like.dtype, like.ndim, "C")


def unified(a: Any, b: Any) -> Any:
    """Return the type of an array that has two layouts."""
    if a == b:
        return a
    if (a.dtype, a.ndim) == (b.dtype, b.ndim):
        return a.copy(layout="A")
    raise TypeError(f"a variable of types {a} and {b}")


def transposed(ty: Any) -> Any:
    """Return the type of the transpose of an array."""
    return ty.copy(layout={"C": "F", "F": "C"}.get(ty.layout, ty.layout))


def dtype_of(expr: Expr) -> Any:
    """Return the type that ``np.float64`` names."""
    assert isinstance(expr, Dtype)
    return numba_dtype(expr.name)
