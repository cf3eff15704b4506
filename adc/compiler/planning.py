"""Stages and plans for the arguments of a call, as users see them; no machine code is made."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from adc.compiler.compiled import sizes_of
from adc.compiler.dispatch import Code
from adc.compiler.driver import Compilation, Plans, held_on_device, transform
from adc.compiler.memory import over_budget
from adc.ir.analysis.costs import estimate
from adc.passes.memory.peak import peak as peak_of

if TYPE_CHECKING:
    from adc.passes.remat.plan import Plan


def compilation(code: Code, values: tuple[Any, ...]) -> Compilation:
    """Return every stage for these arguments."""
    made = code.prepared(values)
    budget = code.budget(made, values)
    with over_budget(code.fn) if budget else nullcontext():
        return transform(
            made.lowered,
            made.steps,
            code.options.remat,
            code.costs,
            budget,
            target=code.options.machine,
        )


def plans(code: Code, values: tuple[Any, ...], made: Compilation | None = None) -> Plans:
    """Return the plans for these arguments, for any budget: those of `made` if they are."""
    if made is not None and made.plans is not None and _is_for(made, code, values):
        return made.plans
    return Plans(*_asked(code, values))


def _is_for(made: Compilation, code: Code, values: tuple[Any, ...]) -> bool:
    """Whether the plans that were made are those for these arguments."""
    return made.plans is not None and made.plans.are_for(*_asked(code, values))


def _asked(code: Code, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return what the plans for these arguments are made of."""
    found = code.prepared(values)
    return (
        found.lowered,
        found.steps,
        code.options.remat,
        code.costs,
        code.options.machine,
        found.sizes(values),
    )


def described(
    code: Code, values: tuple[Any, ...], made: Compilation, alternatives: bool | None = None
) -> Plan:
    """Return the plan for these arguments, with numbers.

    `alternatives` are what half and twice the budget would give; None asks for them where
    there is a budget.
    """
    plan = made.plan
    assert plan is not None
    assert plan.peak is not None
    arguments = code.leaves(values, made.lowered)
    known = dict(sizes_of(made.lowered, arguments))
    peak = plan.peak.at(arguments)
    if plan.budget is None:
        costs = estimate(made.fn, known, code.costs, offload=code.options.machine.offload)
        plan = replace(plan, seconds=costs.seconds)
        if peak is None:
            # More of it is known for these sizes: which of them are equal.
            exact = peak_of(made.fn, sizes=known, offload=code.options.machine.offload)
            peak = exact.at(arguments)
    elif peak is None or (peak > plan.budget and _is_for(made, code, values)):
        # For the sizes that it was made for, more may be known than for others.
        peak = plan.peak_bytes
    if plan.device:
        held = held_on_device(made.fn, known, code.options.machine, limited=plan.budget is not None)
        # Without the numbers that are known only at run time.
        sure = (held.peak, held.host) if held.exact else (None, None)
        plan = plan.at(arguments, *sure)
    else:
        plan = plan.at(arguments, peak)
    if alternatives or (alternatives is None and plan.budget is not None):
        found = plans(code, values, made)
        with over_budget(code.fn):
            budget = plan.budget or found.range[1]
        budgets = (budget // 2, 2 * budget)
        plan = replace(plan, alternatives=tuple(map(found.alternative, budgets)))
    return plan


def sizes(
    code: Code, values: tuple[Any, ...], made: Compilation
) -> dict[str, int | tuple[int, ...]]:
    """Return integers and shapes that a call passes, by parameter of the code."""
    return dict(sizes_of(made.lowered, code.leaves(values, made.lowered)))
