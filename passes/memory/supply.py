"""Let the callers of routines of a library make the arrays that these fill.

In buffer form::

    fn rfft(%x: f64[:], %n: int) -> f64[:] routine rfft {
      %y = empty[f64] %n                     fn rfft(%x: f64[:], %n: int, %y: f64[:]) routine rfft {
      return %y                                return
    }                                        }
    …                                        …
                                             %y = empty[f64] %n
    %r = call C0 rfft(%x, %n)                call C0 rfft(%x, %n, %y)

These arrays then share memory with others of the caller (`reuse`), and are in its workspace: new
memory for large arrays takes longer than many a transform.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from adc.ir.analysis.routines import is_filled, making
from adc.ir.core import Apply, Call, Function, Literal, Operand, Stmt, Value
from adc.ir.text.outside import is_external
from adc.ir.types import Array
from adc.ir.walk import Names, map_blocks, map_operands


def supply(fn: Function) -> Function:
    """Return `fn`, which is in buffer form, with routines that are passed what they fill."""
    routines = {
        each.name: each
        for each in fn.callees
        if is_filled(each) and each.body and not is_external(each)
    }
    if not routines:
        return fn
    callees = tuple(
        _filling(each) if each.name in routines else _calling(each, routines) for each in fn.callees
    )
    return replace(_calling(fn, routines), callees=callees)


def _arrays(values: Sequence[Operand]) -> list[Value]:
    return [each for each in values if isinstance(each, Value) and isinstance(each.type, Array)]


def _filling(fn: Function) -> Function:
    """Return a routine as a function of the arrays that it fills."""
    numbers = tuple(
        Literal(0, each.type) for each in fn.results if not isinstance(each.type, Array)
    )  # the library says
    return replace(fn, params=(*fn.params, *_arrays(fn.results)), body=(), results=numbers)


def _calling(fn: Function, routines: Mapping[str, Function]) -> Function:
    return _Caller(fn, routines).run()


class _Caller:
    def __init__(self, fn: Function, routines: Mapping[str, Function]) -> None:
        self._fn, self._routines = fn, routines
        self._names = Names.of(fn)
        self._made: dict[Value, Operand] = {}  # by what a call returned

    def run(self) -> Function:
        body = self._stmts(self._fn.body)
        if not self._made:
            return self._fn
        return replace(self._fn, body=body, results=tuple(map(self._now, self._fn.results)))

    def _now(self, operand: Operand) -> Operand:
        return self._made.get(operand, operand) if isinstance(operand, Value) else operand

    def _stmts(self, stmts: Sequence[Stmt]) -> tuple[Stmt, ...]:
        done: list[Stmt] = []
        for stmt in stmts:
            stmt = map_operands(stmt, self._now)
            if isinstance(stmt, Call) and stmt.callee in self._routines:
                done += self._call(stmt, self._routines[stmt.callee])
            else:
                done.append(
                    map_blocks(
                        stmt,
                        lambda b: replace(
                            b, stmts=self._stmts(b.stmts), yields=tuple(map(self._now, b.yields))
                        ),
                    )
                )
        return tuple(done)

    def _call(self, stmt: Call, fn: Function) -> list[Stmt]:
        known: dict[Value, Operand] = dict(zip(fn.params, stmt.args, strict=True))
        done: list[Stmt] = []
        for each in making(fn):
            result = Value(self._names.fresh(each.result.name), each.result.type)
            args = tuple([known.get(x, x) if isinstance(x, Value) else x for x in each.args])
            done.append(Apply((result,), each.op, args, each.params, stmt.loc))
            known[each.result] = result
        arrays: list[Operand] = []
        rest: list[Value] = []
        for result, own in zip(stmt.results, fn.results, strict=True):
            if isinstance(own.type, Array):
                assert isinstance(own, Value)
                self._made[result] = known[own]
                arrays.append(known[own])
            else:
                rest.append(result)
        done.append(replace(stmt, results=tuple(rest), args=(*stmt.args, *arrays)))
        return done
