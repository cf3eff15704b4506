"""Shapes: the sizes of every array value, as operands that the forward code already computes.

Reverse code needs zeros shaped like a forward array. Recalling the array for its shape would keep
it alive; recalling its sizes costs nothing. In ::

    fn f(%x: f64[:], %n: int) -> f64 {
      %a = full[f64] 0.0 %n
      %c = for L %i in 0 to %n carrying (%b = %a) {
        %v = load %x[%i]
        %b.1 = store %b[%i] %v
        yield %b.1
      }
      …

`%a`, `%b`, `%b.1` and `%c` all have the size `%n`. `%x` is a parameter: where its size is asked
for, `%x.dim0 = dim[0] %x` is put at the top of the function. The same goes for an array whose
sizes differ between paths: the statement is put right behind the definition.

What a call returns has sizes of its arguments, where the callee makes it with them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from adc.ir.analysis.sizes.affine import Same, equated
from adc.ir.core import (
    Apply,
    Block,
    Call,
    Check,
    For,
    Function,
    Gemm,
    If,
    Literal,
    Operand,
    Reverse,
    Stmt,
    Store,
    Value,
    While,
    blocks,
)
from adc.ir.opdef import OPS
from adc.ir.types import INT, Array
from adc.ir.walk import Names, carried_yields, map_blocks


@dataclass(frozen=True, slots=True)
class Own:
    """The size of an axis that no other operand is known to equal."""

    array: Value
    axis: int


Dim = Operand | Own


class Returned:
    """The sizes of what functions return, as far as their parameters tell them.

    A size is a number, a parameter, or the size of an axis of one.
    """

    def __init__(self, functions: Iterable[Function] = ()) -> None:
        self._functions = {each.name: each for each in functions}
        self._found: dict[str, tuple[tuple[Dim | None, ...], ...]] = {}

    def function(self, name: str) -> Function | None:
        return self._functions.get(name)

    def by_name(self, name: str) -> tuple[tuple[Dim | None, ...], ...]:
        """Return the sizes of each result; none of a function that is not known."""
        if name not in self._found:
            self._found[name] = ()  # also while it is looked at: it may call itself
            fn = self._functions.get(name)
            # A program's own rule may return a value of other sizes.
            if fn is not None and (fn.rule is None or fn.rule.exact):
                self._found[name] = self.by(fn)
        return self._found[name]

    def by(self, fn: Function) -> tuple[tuple[Dim | None, ...], ...]:
        shapes = Shapes(fn, Names.of(fn), self)
        return tuple(tuple(map(shapes.given, shapes.of(each))) for each in fn.results)


class Shapes:
    """The sizes of the arrays of `fn`; asking for one may add a `dim` statement to `body()`."""

    def __init__(self, fn: Function, names: Names, returned: Returned | None = None) -> None:
        self._fn = fn
        self._names = names
        self._returned = Returned(fn.callees) if returned is None else returned
        self._shape: dict[Value, tuple[Dim, ...]] = {}
        # What an integer value equals, where it was read off an array.
        self._same: dict[Value, Dim] = {}
        # Sizes that a check at the top of the function has found equal to others.
        self._equal: Same[Dim] = Same()
        self._defs: dict[Value, Apply] = {}
        # The block that defines an array, and the `dim` statements there that may be reused.
        self._home: dict[Value, int] = {}
        self._found: dict[Own, Value] = {}
        self._added: dict[Value, list[Stmt]] = {}
        self._own(fn.params, id(fn.body))
        self._stmts(fn.body)

    def dims(self, array: Value) -> tuple[Operand, ...]:
        """Return the sizes of `array`: literals, or values of the forward code."""
        return tuple(self._operand(dim) for dim in self._shape[array])

    def known(self, array: Value) -> tuple[Operand, ...] | None:
        """Return the sizes of `array` if all are operands that the function already computes."""
        if array not in self._shape:
            return None
        dims = [self._found.get(d, d) if isinstance(d, Own) else d for d in self._shape[array]]
        operands = [dim for dim in dims if not isinstance(dim, Own)]
        return tuple(operands) if len(operands) == len(dims) else None

    def size(self, array: Value, axis: int, asked: Collection[Value]) -> Operand | None:
        """Return a size of `array` if it, or what it is a version of, was made with an operand.

        Or if that is the size of another array, and one of `asked` has it.
        """
        dim = self._shape[array][axis] if array in self._shape else None
        if isinstance(dim, Own):
            found = self._found.get(dim)
            return found if found in asked else None
        return dim

    def literals(self, array: Value) -> tuple[Literal | None, ...]:
        """Return the sizes of `array` that are numbers, and None for others."""
        if array not in self._shape:
            assert isinstance(array.type, Array)
            return (None,) * array.type.rank
        dims = map(self._equal.find, self._shape[array])
        return tuple(dim if isinstance(dim, Literal) else None for dim in dims)

    def body(self) -> tuple[Stmt, ...]:
        """Return the function's statements with the `dim` statements that were asked for."""
        if not self._added:
            return self._fn.body
        return (*self._additions(self._fn.params), *self._rebuilt(self._fn.body))

    # -- what was asked for ----------------------------------------------------------------

    def _operand(self, dim: Dim) -> Operand:
        dim = self._equal.find(dim)
        if not isinstance(dim, Own):
            return dim
        if dim not in self._found:
            value = Value(self._names.fresh(f"{dim.array.name}.dim{dim.axis}"), INT)
            self._found[dim] = value
            stmt = Apply((value,), OPS["dim"], (dim.array,), (dim.axis,))
            self._added.setdefault(dim.array, []).append(stmt)
        return self._found[dim]

    def _additions(self, values: Iterable[Value]) -> list[Stmt]:
        return [stmt for value in values for stmt in self._added.get(value, ())]

    def _rebuilt(self, stmts: Sequence[Stmt]) -> list[Stmt]:
        rebuilt: list[Stmt] = []
        for stmt in stmts:
            rebuilt.append(map_blocks(stmt, self._block))
            rebuilt += self._additions(stmt.results)
        return rebuilt

    def _block(self, block: Block) -> Block:
        stmts = (*self._additions(block.params), *self._rebuilt(block.stmts))
        return Block(block.params, stmts, block.yields)

    # -- the analysis ----------------------------------------------------------------------

    def _own(self, values: Iterable[Value], home: int) -> None:
        for value in values:
            if isinstance(value.type, Array):
                self._home[value] = home
                self._shape[value] = tuple(Own(value, k) for k in range(value.type.rank))

    def of(self, operand: Operand) -> tuple[Dim, ...]:
        """Return the sizes of an array; none of a number."""
        return self._shape.get(operand, ()) if isinstance(operand, Value) else ()

    def given(self, dim: Dim) -> Dim | None:
        """Return a size if callers know it: a number, a parameter, or the size of one."""
        found = self._equal.find(dim)
        source = found.array if isinstance(found, Own) else found
        return found if isinstance(source, Literal) or source in self._fn.params else None

    def _stmts(self, stmts: Sequence[Stmt]) -> None:
        home = id(stmts)
        for stmt in stmts:
            # The default for what no case below knows better: an array has sizes of its own.
            self._own(stmt.results, home)
            match stmt:
                case Apply():
                    self._apply(stmt, home)
                case Store(array=array) | Gemm(array=array):
                    for result in stmt.results:
                        self._shape[result] = self._shape[array]
                case Call():
                    self._call(stmt)
                case If(results=results, then=then, orelse=orelse):
                    for block in blocks(stmt):
                        self._stmts(block.stmts)
                    # What both arms agree on is defined outside both.
                    for result, a, b in zip(results, then.yields, orelse.yields, strict=True):
                        self._agree(result, self.of(a), self.of(b))
                case For() | While() | Reverse():
                    self._loop(stmt)
                case Check() if stmts is self._fn.body:
                    self._unify(stmt)

    def _unify(self, check: Check) -> None:
        """Let one size stand for two that are equal from here on: for all reverse code."""
        equal = equated(check, self._defs)
        if equal is None:
            return
        known = (self._same.get(x, x) if isinstance(x, Value) else x for x in equal)
        a, b = map(self._equal.find, known)
        if isinstance(b, Own):
            self._equal.join(a, b)
        elif isinstance(a, Own):
            self._equal.join(b, a)

    def _apply(self, stmt: Apply, home: int) -> None:
        result = stmt.result
        self._defs[result] = stmt
        arrays = [arg for arg in stmt.args if isinstance(arg.type, Array)]
        if stmt.op.asks_shape:
            size = self.of(stmt.args[0])[int(stmt.params[0])]
            self._same[result] = size
            if isinstance(size, Own) and self._home[size.array] == home:
                self._found.setdefault(size, result)
        elif stmt.op.sizes is not None:
            sizes = stmt.args[stmt.op.sizes :]
            self._shape[result] = tuple(
                self._same.get(size, size) if isinstance(size, Value) else size for size in sizes
            )
        elif arrays and isinstance(result.type, Array):
            self._shape[result] = self.of(arrays[0])

    def _call(self, stmt: Call) -> None:
        if not any(isinstance(each.type, Array) for each in stmt.results):
            return
        callee = self._returned.function(stmt.callee)
        if callee is None:
            return
        args = dict(zip(callee.params, stmt.args, strict=True))
        found = self._returned.by_name(stmt.callee)
        for result, dims in zip(stmt.results, found, strict=False):
            pairs = zip(self.of(result), dims, strict=True)
            known = ((own, None if dim is None else self._passed(dim, args)) for own, dim in pairs)
            self._shape[result] = tuple(own if dim is None else dim for own, dim in known)

    def _passed(self, dim: Dim, args: Mapping[Value, Operand]) -> Dim | None:
        """Return a size that a callee tells, as one of the caller."""
        if isinstance(dim, Own):
            of = self.of(args[dim.array])
            return of[dim.axis] if of else None
        if isinstance(dim, Value):
            arg = args[dim]
            return self._same.get(arg, arg) if isinstance(arg, Value) else arg
        return dim

    def _agree(self, result: Value, a: tuple[Dim, ...], b: tuple[Dim, ...]) -> None:
        """Give `result` the sizes that `a` and `b` have in common."""
        if a and b:
            pairs = zip(self._shape[result], a, b, strict=True)
            self._shape[result] = tuple(x if x == y else own for own, x, y in pairs)

    def _loop(self, stmt: For | While | Reverse) -> None:
        params = stmt.body.params
        self._own(params, id(stmt.body.stmts))
        own = {param: self.of(param) for param in params}
        # Assume that no iteration changes a size, and give up the assumptions that fail. A loop
        # that swaps two arrays of one size keeps both assumptions.
        for param, init in zip(params, stmt.init, strict=True):
            self._shape[param] = self.of(init)
        failed = True
        while failed:
            failed = False
            self._stmts(stmt.body.stmts)
            for param, after in zip(params, carried_yields(stmt), strict=True):
                trio = zip(self.of(param), self.of(after), own[param], strict=True)
                kept = tuple(x if x == y else mine for x, y, mine in trio)
                failed = failed or kept != self.of(param)
                self._shape[param] = kept
        for result, param, init in zip(stmt.results, params, stmt.init, strict=True):
            self._agree(result, self.of(param), self.of(init))


__all__ = ["Dim", "Own", "Returned", "Shapes"]
