"""Random programs under random budgets: no bit of a gradient changes, and plans hold what they say.

    python -m tests.fuzz --budgets --n 200
    python -m tests.fuzz --budgets --kind arrays --n 200

A program of any kind becomes a step of a longer one: `repeated` writes loops around it, of a fixed
number of iterations, with a ``break``, nested, or ending where the data says so, and hands scalars
and arrays on from one iteration to the next, in place or not.
"""

from __future__ import annotations

import copy
import inspect
import itertools
import math
import random
from dataclasses import replace
from typing import Any

import numpy as np

from adc.compiler.compiled import sizes_of
from adc.compiler.driver import Plans, UnknownPeak
from adc.ir import interp
from adc.ir.analysis.costs import SHIPPED
from adc.ir.analysis.sizes.formulas import Known
from adc.ir.analysis.target import CPU
from adc.ir.core import Function
from adc.ir.errors import AdcError, IRError
from adc.passes.memory.peak import peak
from adc.passes.remat.budget.orders import Budgeted, OverBudget
from adc.passes.remat.facts import NO_ORDERS, Orders
from adc.passes.remat.schedules import schedules
from tests.fuzz.program import Generated, Unreliable, forget, load
from tests.oracle import chain as chains
from tests.oracle.meter import Meter

# Budgets that are tried for each program.
_BUDGETS = 5
# Bytes by which a run may hold more than was predicted, and the share of it.
_SLACK, _SHARE = 64, 1.02


def repeated(generated: Generated) -> Generated:
    """Return a program that runs another one in loops; the same program if none is found."""
    for attempt in range(20):
        made = _repeated(generated, random.Random(f"repeated {generated.seed} {attempt}"))
        try:
            with np.errstate(all="ignore"):
                value = float(made.fn(*made.make_args()))
        except (ArithmeticError, ValueError, IndexError, TypeError, AssertionError, AttributeError):
            value = math.nan
        if math.isfinite(value):
            forget(generated)
            return replace(made, kind="budgets")
        forget(made)
    return replace(generated, kind="budgets")


def _repeated(generated: Generated, rng: random.Random) -> Generated:
    if rng.random() < 0.1:
        return replace(generated, fn=load(generated.source, generated.seed))
    names = list(inspect.signature(generated.fn).parameters)
    given = ", ".join(names)
    state: list[str] = []
    floats: list[str] = []
    for number in generated.argnums:
        name, arg = names[number], generated.args[number]
        if isinstance(arg, np.ndarray):
            floats.append(f"float(np.sum({name}))")
            if arg.dtype == np.float64 and rng.random() < 0.5:
                state.append(f"{name} = np.sin({name} + 0.3 * s)")
            elif rng.random() < 0.7:
                state += [f"{name} *= 0.6", f"{name} += 0.3 * math.sin(s)"]
        elif isinstance(arg, float) and not isinstance(arg, np.floating):
            floats.append(name)
            state.append(f"{name} = math.sin({name} + 0.4 * s)")
    rng.shuffle(state)
    draws = generated.kind == "draws"
    made = f"    rng = np.random.default_rng({generated.seed})\n"
    source = generated.source.replace("def program(", f"def once({'rng, ' * draws}")
    source = "import math\n" + (source.replace(made, "") if draws else source)
    step = [f"s = 0.6 * s + 0.4 * math.tanh(once({'rng, ' * draws}{given}))", *state]
    if rng.random() < 0.3:
        step.insert(rng.randrange(len(step) + 1), f"if s > {rng.uniform(0.2, 0.6):.4f}:\n    break")
    trips = rng.randint(5, 30)
    kind = rng.choice(["for", "for", "for", "while", "nested"])
    if kind == "for":
        loop = [
            rng.choice(["for t in range(steps):", "for t in range(1, 2 * steps, 2):"]),
            *_in(step),
        ]
        loop += _in(["s += 0.01 * t"])
    elif kind == "while":
        loop = ["t = 0", "while t < steps and s < 5.0:", "    t += 1", *_in(step)]
    else:
        outer = rng.randint(1, 5)
        trips = max(trips // outer, 2)
        inner = ["for t in range(steps):", *_in(step)]
        loop = [f"for r in range({outer}):", *_in(inner), "    s = 0.9 * s"]
    if rng.random() < 0.05:
        trips = rng.randint(0, 1)
    body = ["s = 0.1", *(made.strip().splitlines() if draws else ()), *loop]
    body.append("return " + " + ".join(["s", *floats]))
    source += "\n\n" + "\n".join([f"def program({given}, steps):", *_in(body), ""])
    fn = load(source, generated.seed)
    args = (*copy.deepcopy(generated.args), trips)
    return replace(generated, source=source, fn=fn, args=args)


def _in(lines: list[str]) -> list[str]:
    return ["    " + line for text in lines for line in text.split("\n")]


def check(generated: Generated, *, compiled: bool = False) -> list[str]:
    """Return what is wrong with plans of a program for budgets; the first word says of what kind.

    Raises
    ------
    Unreliable
        If the program is refused, or the peak of every plan is known only at run time. Then only
        the bits under some plans are looked at.
    """
    args = generated.make_args()
    try:
        chain = chains.Chain.of(generated.fn, args, generated.argnums)
        sizes = sizes_of(chain.lowered, chain.inputs)
        plans = Plans(chain.lowered, (("adjoint", chain.positions),), "auto", SHIPPED, CPU, sizes)
    except AdcError as error:
        if isinstance(error, IRError):
            raise
        # What the generators write is accepted; loops around it may ask for too much.
        raise Unreliable(str(error)) from error
    stored = replace(plans.rest.context, policy="store")
    kept, _ = replace(plans.rest, context=stored, formulas={}).made(NO_ORDERS)
    want = chains.bits(interp.run(schedules(kept), chains.fresh(chain.inputs)))
    rng = random.Random(f"budgets {generated.seed}")
    try:
        least, most = plans.range
    except UnknownPeak as error:
        for room in rng.choices(plans.planner.rooms, k=_BUDGETS - 1):
            fn = _within(plans, room)
            if chains.bits(interp.run(fn, chains.fresh(chain.inputs))) != want:
                return [f"bits: others with room for {room}"]
        raise Unreliable(str(error)) from error
    found: list[str] = []
    # What users are told is the least of all plans; those below are of code that keeps its orders.
    try:
        if (held := plans.within(least).peak) > least:
            found.append(f"over: {held} bytes with the least budget, {least}")
        plans.within(least - 1)
        found.append(f"least: a plan for less than {least}")
    except OverBudget as error:
        if error.least != least:
            found.append(f"least: {error.least} instead of {least}")
    least = int(plans.planner.least)
    below = rng.randint(0, least)
    budgets = [least, below, *(rng.randint(least, max(most, least)) for _ in range(_BUDGETS - 1))]
    plans_of: dict[int, Budgeted] = {}
    for budget in sorted(budgets):
        try:
            plans_of[budget] = plans.planner.plan(budget)
        except OverBudget as error:
            if error.least != least or budget >= least:
                found.append(f"least: {error.least} instead of {least} with {budget}")
    costs = [plan.seconds for plan in plans_of.values()]
    if any(more > (1.0 + 1e-9) * less for less, more in itertools.pairwise(costs)):
        found.append(f"slower: with more memory: {[*zip(plans_of, costs, strict=True)]}")
    tried: dict[Orders, int] = {}
    for budget, plan in plans_of.items():
        if plan.orders not in tried:
            problems, tried[plan.orders] = _tried(plans, plan, chain.inputs, want)
            found += [f"{problem} with {budget}" for problem in problems]
        if tried[plan.orders] > budget:
            found.append(f"over: {tried[plan.orders]} bytes with {budget}")
    return found


def _within(plans: Plans, room: int) -> Function:
    """Return the code of the plan for a room."""
    planner = plans.planner
    fn, _ = plans.rest.made(planner.model.orders(planner.candidate(room), {}))
    return schedules(fn)


def _tried(
    plans: Plans, plan: Budgeted, inputs: list[Any], want: list[bytes]
) -> tuple[list[str], int]:
    """Return what is wrong with the code of a plan, and its peak."""
    fn, _ = plans.rest.made(plan.orders)
    formula = peak(fn, sizes=plans.rest.context.known)
    size, own = formula.size.value(Known({})), formula.own.value(Known({}))
    if size is None or own is None:
        return ["unknown: the peak"], 0
    found: list[str] = []
    # Plans are looked for with names for the numbers of `while` loops: code that has the numbers
    # may share more memory.
    online = any(schedule.slots for _, _, schedule in plan.orders.loops)
    if plan.peak < size + own or (plan.peak > size + own and not online):
        found.append(f"peak: {plan.peak}, of the code {size} + {own}")
    meter = Meter(schedules(fn), align=1)
    if chains.bits(meter.run(chains.fresh(inputs))) != want:
        found.append("bits: others")
    if meter.peak > _SHARE * size + _SLACK:
        found.append(f"meter: {meter.peak} bytes of {size} predicted")
    return found, size + own
