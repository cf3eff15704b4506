"""Recompute calls as a whole, from their arguments, where a plan for a budget says so.

    %r = call C0 g(%x)                     %r = call C0 g(%x)
    …                                      …
    %ct = call C0.rev g.rev(%r.ct)         %x.r = recall %x
          mirrors C0                       %ct = call C0.again f.C0.again(%x.r, %r.ct)

where ``f.C0.again`` calls `g` and then ``g.rev``. What `g` computes is then held while it is
reversed, and not from forward to reverse code: of a chain of layers, only the states between them.
`adc.checkpoint` does the same by hand (`rerun`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from adc.ir.core import Call, Function, Print, walk
from adc.ir.functions import reached
from adc.passes.remat.rerun import Rerun


def rerun_calls(fn: Function, calls: Sequence[tuple[str, str]]) -> Function:
    """Return `fn` with calls, given by caller and label, recomputed in reverse code."""
    callers = {each.name: each for each in (*fn.callees, fn)}
    for owner, label in calls:
        stmt = next(
            s for s in walk(callers[owner].body) if isinstance(s, Call) and s.label == label
        )
        fn = Rerun(fn, owner, stmt).run()
    return fn


def recomputable(fn: Function) -> Iterator[tuple[str, str]]:
    """Yield the calls that reverse code can recompute as a whole: the caller, and the label.

    Those of `fn` itself come first, in program order, then those of its callees. A function that
    prints does so once; how often one calls itself, only a run can tell.
    """
    reversed_ = {each.mirror: each for each in fn.callees if each.mirror}
    reversed_[fn.name] = fn
    table = {each.name: each for each in fn.callees}
    waiting, met = [fn], {fn.name}
    while waiting:
        caller = waiting.pop(0)
        if caller.name not in reversed_:
            continue
        mirrored = {s.mirror for s in walk(reversed_[caller.name].body) if isinstance(s, Call)}
        for stmt in caller.body:
            if not (isinstance(stmt, Call) and stmt.label in mirrored):
                continue
            callee = table[stmt.callee]
            within = reached(replace(callee, callees=fn.callees)).callees
            prints = any(
                isinstance(s, Print) for each in (callee, *within) for s in walk(each.body)
            )
            if prints or callee in within:
                continue
            yield caller.name, stmt.label
            if callee.name not in met:
                met.add(callee.name)
                waiting.append(callee)


__all__ = ["recomputable", "rerun_calls"]
