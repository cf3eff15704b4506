"""Which carried values a plan may gain from, if reverse code restored them.

Trying to restore one takes another plan of the whole function. Most of those that do not help are
found here: nothing that reverse code needs is computed from what the loop overwrites. An
accumulation such as ``s[j] += M[i, j]`` overwrites `s`, and reverse code needs no old element.
"""

from __future__ import annotations

from functools import cached_property

from adc.ir.core import Load, Stmt, Value, walk
from adc.ir.types import Array
from adc.ir.walk import carried_yields, stmt_reads
from adc.passes.remat.choose import Chooser
from adc.passes.remat.plan import KEPT
from adc.passes.remat.undo.history import History
from adc.passes.remat.undo.slots import Carried

# The least part of what a plan takes for which a better one is looked for.
_LEAST = 1e-3


class Wanted:
    """The values that a plan may gain from."""

    def __init__(self, plan: Chooser) -> None:
        self.plan = plan

    def has(self, carried: Carried) -> bool:
        """Whether the plan may be better if a carried value were restored."""
        if not isinstance(carried.result.type, Array):
            return self._has_number(carried.label, carried.slot)
        families = self.plan.d.forwarding.families
        # A plan that is drawn is better by the toss of a coin.
        found = self.overwritten if self.plan.seed is None else self.plan.d.forwarding.overwritten
        return families.find(carried.result) in found

    @cached_property
    def overwritten(self) -> frozenset[Value]:
        """The families of arrays whose overwritten elements the plan's values are computed from."""
        decisions, forwarding = self.plan.d, self.plan.d.forwarding
        found: set[Value] = set()
        waiting = list(decisions.made)
        seen = set(waiting)
        while waiting:
            value = waiting.pop()
            # Iterations that are run again hold their own reverse code.
            site = decisions.sites.get(value)
            if site is None:
                continue
            if isinstance(value.type, Array):
                found.add(forwarding.families.find(value))
            if (load := forwarding.stored.get(value)) is not None:
                found.add(forwarding.families.find(load.array))
            stmt = site.stmt
            if isinstance(stmt, Load):
                if not self._is_repeated(stmt):
                    found.add(forwarding.families.find(stmt.array))
            elif stmt is not None:
                # A branch or loop that is recomputed repeats what is in it.
                more = stmt_reads(stmt)
                more.update(result for s in walk((stmt,)) if s is not stmt for result in s.results)
                waiting += more - seen
                seen |= more
        return forwarding.overwritten & found

    def _is_repeated(self, load: Load) -> bool:
        """Whether the plan can load an element again, at the cost of a load."""
        decision = self.plan.d.made.get(load.result)
        source = self.plan.array_source(load)
        kept = decision is not None and decision.kind == KEPT
        return source is not None and not kept and self.plan.is_there(source)

    def _has_number(self, label: str, slot: int) -> bool:
        """Whether the plan keeps values that depend on an integer that a loop carries.

        These take a part of what all takes that is worth another plan.
        """
        decisions = self.plan.d
        loop = decisions.loops[label]
        param, end = loop.body.params[slot], carried_yields(loop)[slot]
        if param.type.kind not in "iu" or end == param or end in decisions.restored.values:
            return False
        kept = [
            self.plan.cost(value)
            for value, decision in decisions.made.items()
            if decision.kind == KEPT
            and not isinstance(value.type, Array)
            and decisions.is_within(value, label)
            and self._history.depends(value, param)
        ]
        drawn = self.plan.seed is not None
        return bool(kept) and (drawn or sum(kept) > _LEAST * self._total)

    @cached_property
    def _total(self) -> float:
        return self.plan.total()

    @cached_property
    def _history(self) -> History:
        defs: dict[Value, Stmt] = {}
        for value, site in self.plan.d.sites.items():
            if site.stmt is not None:
                defs[value] = site.stmt
        return History(defs)


__all__ = ["Wanted"]
