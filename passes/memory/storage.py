"""Convert value form to buffer form: versions of an array share a buffer, stores write in place.

    %a.1 = store %a[%i] %v                write %a[%i] %v
    %t = load %a.1[%j]                    %t = load %a[%j]

If an older version is still read afterwards (or is owned by the caller, or shares its buffer with
another live value), a `copy` is inserted, at the place that runs least often. Arrays that merely
pass through a loop or a branch in one buffer are no longer carried or yielded::

    %b = for L %i in 0 to %n              for L %i in 0 to %n {
        carrying (%a = %x) {
      %a.1 = store %a[%i] %i                write %x[%i] %i
      yield %a.1
    }                                     }
    return %b                             return %x

Arrays that swap (``a, b = b, a``) or are allocated in each iteration remain loop-carried, as
references. A callee may write to the arrays that it is passed; its caller copies those that it
still needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from adc.ir.core import (
    Apply,
    Block,
    Call,
    For,
    Function,
    Gemm,
    If,
    Operand,
    Stmt,
    Store,
    Value,
    While,
    Write,
)
from adc.ir.errors import Span
from adc.ir.opdef import OPS
from adc.ir.types import Array
from adc.ir.walk import Names, map_operands
from adc.passes.memory.sharing import Edge, Sharing, share


@dataclass(frozen=True, slots=True)
class Copy:
    """An inserted copy: the array, its source location, and the reason."""

    function: str
    value: str
    loc: Span | None
    reason: str


@dataclass(frozen=True, slots=True)
class Storage:
    """A function in buffer form, and the copies that it makes beyond those of the program."""

    function: Function
    copies: tuple[Copy, ...]


class _Rewriter:
    """Rewrites one function; `_root` maps each value to the value that names its buffer."""

    def __init__(self, fn: Function, sharing: Sharing) -> None:
        self._fn = fn
        self._cuts = sharing.cuts
        self._names = Names.of(fn)
        self._root: dict[Value, Value] = {}
        # Carried arrays, as (loop, slot), whose buffer changes from iteration to iteration.
        self._carried: set[tuple[int, int]] = set()
        before = -1
        while before != len(self._carried):
            before = len(self._carried)
            self._find_roots(fn.body)

    # -- buffers ---------------------------------------------------------------------------

    def _buffer(self, operand: Operand) -> Operand:
        return self._root.get(operand, operand) if isinstance(operand, Value) else operand

    def _new(self, value: Value) -> Value:
        """Return `value` as the result of a copy, whose layout is always C."""
        assert isinstance(value.type, Array)
        return Value(value.name, Array(value.type.dtype, value.type.rank))

    def _find_roots(self, stmts: Sequence[Stmt]) -> None:
        root = self._root
        for stmt in stmts:
            me = id(stmt)
            match stmt:
                case Store(array=array) | Gemm(array=array):
                    cut = Edge("store", me) in self._cuts
                    for result in stmt.results:
                        root[result] = self._new(result) if cut else root.get(array, array)
                case If(results=results, then=then, orelse=orelse):
                    self._find_roots(then.stmts)
                    self._find_roots(orelse.stmts)
                    for k, result in enumerate(results):
                        if not self._stays(stmt, k):
                            root[result] = self._array(then.yields[k])
                        else:
                            root.pop(result, None)
                case For(body=body) | While(body=body):
                    self._find_loop_roots(stmt, body)

    def _find_loop_roots(self, stmt: For | While, body: Block) -> None:
        root, me, first = self._root, id(stmt), int(isinstance(stmt, While))
        slots = [k for k, param in enumerate(body.params) if isinstance(param.type, Array)]
        for k in slots:
            param = body.params[k]
            if (me, k) in self._carried:
                root.pop(param, None)
            elif Edge("init", me, k) in self._cuts:
                root[param] = self._new(param)
            else:
                root[param] = self._array(stmt.init[k])
        self._find_roots(body.stmts)
        for k in slots:
            param, result = body.params[k], stmt.results[k]
            if (me, k) in self._carried:
                root.pop(result, None)
                continue
            back = self._array(body.yields[k + first])
            if back != self._array(param) or Edge("yield", me, k) in self._cuts:
                self._carried.add((me, k))  # and start over
            root[result] = self._array(param)

    def _array(self, operand: Operand) -> Value:
        assert isinstance(operand, Value)
        return self._root.get(operand, operand)

    def _stays(self, stmt: If, k: int) -> bool:
        """Whether result `k` is kept: a scalar, or an array in another buffer in each arm."""
        if not isinstance(stmt.results[k].type, Array):
            return True
        cut = any(Edge(kind, id(stmt), k) in self._cuts for kind in ("then", "else"))
        return cut or self._array(stmt.then.yields[k]) != self._array(stmt.orelse.yields[k])

    # -- statements ------------------------------------------------------------------------

    def _copied(
        self, edge: Edge, operand: Operand, out: list[Stmt], loc: Span | None, name: str = ""
    ) -> Operand:
        """Return the buffer of `operand`, or of a copy of it appended to `out`."""
        if edge not in self._cuts:
            return self._buffer(operand)
        assert isinstance(operand, Value)
        result = self._new(Value(name or self._names.fresh(operand.name), operand.type))
        out.append(Apply((result,), OPS["copy"], (self._array(operand),), (), loc))
        return result

    def _block(self, stmts: Sequence[Stmt]) -> list[Stmt]:
        out: list[Stmt] = []
        for stmt in stmts:
            self._stmt(stmt, out)
        return out

    def _stmt(self, stmt: Stmt, out: list[Stmt]) -> None:
        me, loc = id(stmt), stmt.loc
        match stmt:
            case Store(result=result, array=array, index=index, value=value):
                target = self._copied(Edge("store", me), array, out, loc, result.name)
                assert isinstance(target, Value)
                out.append(Write(target, index, value, stmt.accumulate, loc))
            case Gemm(result=result, array=array, a=a, b=b):
                assert result is not None
                target = self._copied(Edge("store", me), array, out, loc, result.name)
                assert isinstance(target, Value)
                a, b = self._array(a), self._array(b)
                out.append(replace(stmt, result=None, array=target, a=a, b=b))
            case If(results=results, then=then, orelse=orelse):
                stay = [k for k in range(len(results)) if self._stays(stmt, k)]
                arms = self._arm(stmt, "then", then, stay), self._arm(stmt, "else", orelse, stay)
                out.append(If(tuple(results[k] for k in stay), stmt.cond, arms[0], arms[1], loc))
            case For() | While():
                out.append(self._loop(stmt, out))
            case Call(args=args):
                given = tuple(
                    self._copied(Edge("argument", me, i), arg, out, loc)
                    for i, arg in enumerate(args)
                )
                out.append(replace(stmt, args=given))
            case _:
                out.append(map_operands(stmt, self._buffer))

    def _arm(self, stmt: If, kind: str, block: Block, stay: Sequence[int]) -> Block:
        stmts = self._block(block.stmts)
        yields = tuple(
            self._copied(Edge(kind, id(stmt), k), block.yields[k], stmts, stmt.loc) for k in stay
        )
        return Block((), tuple(stmts), yields)

    def _loop(self, stmt: For | While, out: list[Stmt]) -> Stmt:
        me, first = id(stmt), int(isinstance(stmt, While))
        body = stmt.body
        stay: list[int] = []
        init: list[Operand] = []
        for k, (param, operand) in enumerate(zip(body.params, stmt.init, strict=True)):
            if not isinstance(param.type, Array):
                stay.append(k)
                init.append(operand)
            elif (me, k) in self._carried:
                stay.append(k)
                init.append(self._copied(Edge("init", me, k), operand, out, stmt.loc))
            else:
                self._copied(Edge("init", me, k), operand, out, stmt.loc, param.name)
        stmts = self._block(body.stmts)
        yields = list(body.yields[:first])
        yields += [
            self._copied(Edge("yield", me, k), body.yields[k + first], stmts, stmt.loc)
            for k in stay
        ]
        params = tuple(body.params[k] for k in stay)
        inner = Block(params, tuple(stmts), tuple(yields))
        results = tuple(stmt.results[k] for k in stay)
        return replace(stmt, results=results, init=tuple(init), body=inner)

    def run(self) -> Function:
        out = self._block(self._fn.body)
        results = tuple(
            self._copied(Edge("result", id(self._fn), slot), result, out, None)
            for slot, result in enumerate(self._fn.results)
        )
        return replace(self._fn, body=tuple(out), results=results)


def plan(fn: Function) -> Storage:
    """Return `fn` in buffer form with the list of copies and their reasons."""
    found = share(fn)
    callees = tuple(_Rewriter(each, found[each.name]).run() for each in fn.callees)
    function = replace(_Rewriter(fn, found[fn.name]).run(), callees=callees)
    copies = tuple(
        Copy(name, sharing.place(edge).value.name, sharing.place(edge).loc, reason)
        for name, sharing in found.items()
        for edge, reason in sharing.reasons.items()
    )
    return Storage(function, copies)


def storage(fn: Function) -> Function:
    """Return `fn`, which is in value form after `remat`, in buffer form."""
    return plan(fn).function
