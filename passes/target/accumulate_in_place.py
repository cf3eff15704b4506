"""Turn a read, an addition and a write of one element into an increment, which may be atomic.

    %t = load %a[%i]
    %u = sin %x
    %v = add %t %u                        %u = sin %x
    write %a[%i] %v                       increase %a[%i] %u

This is buffer form, for a GPU: loops that do nothing else to an array become launches even if
iterations add to the same element (`kernels`). The sum is the same to the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from adc.ir.analysis.memory.aliases import Aliases
from adc.ir.core import Apply, Check, Function, Load, Operand, Stmt, Value, Write
from adc.ir.opdef import OPS
from adc.ir.ops import arith
from adc.ir.walk import Names, map_functions, map_stmts, use_counts


def accumulate_in_place(fn: Function) -> Function:
    """Return `fn`, which is in buffer form, with additions to elements in place."""
    return map_functions(fn, lambda each: _Increments(each).run())


class _Increments:
    def __init__(self, fn: Function) -> None:
        self.fn = fn
        self.names = Names.of(fn)
        self.counts = use_counts(fn)
        self.aliases = Aliases(fn)

    def run(self) -> Function:
        return replace(self.fn, body=tuple(self.stmts(self.fn.body)))

    def stmts(self, stmts: Sequence[Stmt]) -> list[Stmt]:
        done: list[Stmt] = []
        for stmt in stmts:
            if isinstance(stmt, Write) and not self.increase(stmt, done):
                done.append(stmt)
            elif not isinstance(stmt, Write):
                done.append(map_stmts(stmt, self.stmts))
        return done

    def increase(self, write: Write, done: list[Stmt]) -> bool:
        """Emit an increment for a read, an addition and a write; False if it is not that."""
        found = _made(done, write.value)
        if found is None or write.accumulate or self.counts.get(found.result) != 1:
            return False
        op, args = found.op, found.args
        if op not in (arith.add, arith.sub) or found.result.type.kind != "f":
            return False
        for old, more in ((args[0], args[1]), (args[1], args[0]))[: 2 - (op is arith.sub)]:
            load = next((s for s in done if isinstance(s, Load) and s.result == old), None)
            if load is None or self.counts.get(load.result) != 1 or more == old:
                continue
            if load.array != write.array or load.index != write.index:
                continue
            between = done[done.index(load) + 1 :]
            if not all(
                isinstance(s, Apply | Load | Check) or self.is_other_write(s, write)
                for s in between
            ):
                continue
            if old.type != found.result.type or more.type != found.result.type:
                continue
            done.remove(load)
            done.remove(found)
            if op is arith.sub:
                less = Value(self.names.fresh("less"), found.result.type)
                done.append(Apply((less,), OPS["neg"], (more,), (), found.loc))
                more = less
            done.append(replace(write, value=more, accumulate=True))
            return True
        return False

    def is_other_write(self, stmt: Stmt, write: Write) -> bool:
        """Whether a statement writes to an array other than the one that is added to."""
        return isinstance(stmt, Write) and not self.aliases.may_be_one(stmt.array, write.array)


def _made(stmts: Sequence[Stmt], value: Operand) -> Apply | None:
    return next((s for s in stmts if isinstance(s, Apply) and s.results[0] == value), None)


__all__ = ["accumulate_in_place"]
