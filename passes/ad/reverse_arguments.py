"""Pass to the reverse code of a function the arguments that it recalls.

    fn g(%x, %w) -> … { … }              fn g(%x, %w) -> … { … }
    fn g.rev(%r.ct) -> … mirrors g {     fn g.rev(%r.ct, %w) -> … mirrors g {
      %w.r = recall %w                     … %w …
      … %w.r …                           }
    }
    …                                    …
    %r = call C0 g(%a, %b)               %r = call C0 g(%a, %b)
    …                                    …
                                         %b.r = recall %b
    %ct = call C0.rev g.rev(%r.ct)       %ct = call C0.rev g.rev(%r.ct, %b.r)
          mirrors C0                           mirrors C0

The caller mostly has them still: the weights of a layer, what the layer before it returned. A
function that had to keep them itself would push copies. The arguments of a function that calls
itself stay with it: each level has its own.

`remat` finds more of them: arrays of which reverse code needs elements (`pass_arguments`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from adc.ir.core import Block, Call, Function, Operand, Recall, Stmt, Value, walk
from adc.ir.functions import callees_first, reachable
from adc.ir.walk import Names, filtered, map_stmts, substitute_block


def reverse_arguments(fn: Function) -> Function:
    """Return `fn` with reverse functions that take the arguments they would recall."""

    def recalled(forward: Function, reverse: Function) -> set[Value]:
        return {stmt.value for stmt in walk(reverse.body) if isinstance(stmt, Recall)}

    return pass_arguments(fn, recalled)


def pass_arguments(
    fn: Function, wanted: Callable[[Function, Function], Collection[Value]]
) -> Function:
    """Return `fn` with reverse functions that take arguments of the functions that they mirror.

    `wanted` returns which parameters of a function its reverse function is to have, under the same
    names. It is asked for callees before their callers, which recall what they pass.
    """
    if not any(each.mirror for each in fn.callees):
        return fn
    table = {each.name: each for each in (*fn.callees, fn)}
    reverse_of = {each.mirror: each for each in fn.callees if each.mirror}
    # The parameters of a function that its reverse function takes, by that one's name.
    taken: dict[str, tuple[int, ...]] = {}
    for name in callees_first(table):
        forward, reverse = table[name], reverse_of.get(name)
        for each in (forward, reverse):
            if each is not None:
                table[each.name] = _Caller(each, forward, taken).function()
        if reverse is not None and name not in reachable(table, name):
            made, positions = _taking(table[reverse.name], table[name], wanted)
            table[made.name], taken[made.name] = made, positions
    done = [table[each.name] for each in (*fn.callees, fn)]
    return replace(done[-1], callees=tuple(done[:-1]))


def _taking(
    reverse: Function, forward: Function,
    wanted: Callable[[Function, Function], Collection[Value]],
) -> tuple[Function, tuple[int, ...]]:  # fmt: skip
    """Return a reverse function with more of the parameters of `forward`, and which these are."""
    asked = set(wanted(forward, reverse)) - set(reverse.params)
    positions = tuple(k for k, param in enumerate(forward.params) if param in asked)
    if not positions:
        return reverse, ()
    own = [forward.params[k] for k in positions]
    env: dict[Value, Operand] = {
        stmt.result: stmt.value
        for stmt in walk(reverse.body)
        if isinstance(stmt, Recall) and stmt.value in own
    }
    left = filtered(reverse.body, lambda s: not (isinstance(s, Recall) and s.value in own))
    body = substitute_block(Block((), left, reverse.results), env)
    params = (*reverse.params, *own)
    return replace(reverse, params=params, body=body.stmts, results=body.yields), positions


class _Caller:
    """Rewrites the calls of reverse functions in one function; `forward` is what it mirrors."""

    def __init__(
        self, fn: Function, forward: Function, taken: Mapping[str, tuple[int, ...]]
    ) -> None:
        self.fn = fn
        self.taken = taken
        self.names = Names.of(fn)
        self.names.add(Names.of(forward))
        self.calls = {stmt.label: stmt for stmt in walk(forward.body) if isinstance(stmt, Call)}

    def function(self) -> Function:
        if not any(isinstance(s, Call) and self.taken.get(s.callee) for s in walk(self.fn.body)):
            return self.fn
        return replace(self.fn, body=self.stmts(self.fn.body))

    def stmts(self, stmts: Sequence[Stmt]) -> tuple[Stmt, ...]:
        done: list[Stmt] = []
        for stmt in stmts:
            if isinstance(stmt, Call) and stmt.mirror and self.taken.get(stmt.callee):
                args = list(stmt.args)
                for position in self.taken[stmt.callee]:
                    arg = self.calls[stmt.mirror].args[position]
                    if isinstance(arg, Value):
                        recall = Recall(self.names.value(arg, f"{arg.name}.r"), arg, stmt.loc)
                        done.append(recall)
                        arg = recall.result
                    args.append(arg)
                stmt = replace(stmt, args=tuple(args))
            done.append(map_stmts(stmt, self.stmts))
        return tuple(done)


__all__ = ["reverse_arguments"]
