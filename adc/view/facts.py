"""All that a view shows, as one document, which `page/` draws and `--json` would print.

=============  =====================================================================================
`title`        the derivative; `about`, who made the page, and for what
`sources`      functions of the user: the name of the file, the number of the first line, lines
`lines`        facts by line: place in `sources`, number, bytes, seconds, sentences of the plan
`nodes`        parts of the code: parent, kind, phase, lines, function, first and last line of the
               IR, label ("" for the text of its line), effects (`adc.view.nodes.Node`)
`ir`, `code`   the texts of the functions of the IR; that of the generated Python, with lines
`series`       what memory is used for: kind and line
`steps`        of the run: node, iterations around, folded iterations, changes of `series`, the most
               bytes, pictures of values, statements run (`adc.view.moments.Moment`); what the plan
               says is held after it, -1 if only the run knows, and is reserved by then
`names`        of values: in the IR, and for users
`arguments`    names, bytes, pictures
`memory`       numbers: what the plan says, what the run has held, what compiled code has measured
`budgets`      the plans for parts of the memory, or for the least, and what their runs have held
`plan`         the table of `adc plan`
`growth`       formulas of memory (`adc.view.growth`)
`schedules`    of checkpointed loops, and of calls in a row (`adc.view.schedules`)
`graph`        pictures (`adc.view.diagram`)
`notes`        what was left out, in sentences
=============  =====================================================================================

Lines are mentioned by their place in `lines`, -1 for none. Positions and sizes are integers.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from adc.compiler import planning
from adc.compiler.compiled import alone
from adc.compiler.driver import Compilation, Plans, UnknownPeak
from adc.compiler.watch.profile import profile
from adc.frontend.inputs.flatten import Parts
from adc.frontend.inputs.places import Arguments
from adc.functions import name_of
from adc.inspect.plan import PlanReport
from adc.ir.core import Function, walk
from adc.ir.errors import ArgumentError, Span
from adc.ir.text.effects import leave_traces
from adc.passes.remat.facts import NO_ORDERS
from adc.passes.remat.plan import Alternative, Plan
from adc.version import __version__
from adc.view import diagram, growth, lines, pictures, schedules
from adc.view.moments import GRADIENTS, Moment, Record
from adc.view.nodes import BOTH, FORWARD, RECOMPUTED, REVERSE, Line, Node, line_of
from adc.view.predicted import Predicted, predicted
from adc.view.record import recorded
from adc.view.schedules import Events

if TYPE_CHECKING:
    from adc.compiler.dispatch import Code

VERSION = 1
# Parts of the memory of the plan for which other plans are shown.
PARTS = (2, 4, 8)
# The part of the plan that holds least, which is shown if no plan fits in half of the memory.
LEAST = 0
# Runs of more statements are not repeated for other budgets; of larger programs there are no plans
# for other policies.
MOST_REPEATED = 3_000_000
MOST_PLANNED = 3_000
# Programs of more statements have no plans for other budgets: several are tried for each.
MOST_BUDGETED = 4_000
# So many pictures of values; then only numbers are shown.
MOST_PICTURES = 6_000
# Points of the curve of another budget.
POINTS = 600
# The phases there, as letters.
_PHASES = {FORWARD: "f", REVERSE: "r", RECOMPUTED: "a", BOTH: "b"}
# So many steps of the runs for other budgets, and so many calls to measure.
RUN_STEPS = 3_000
CALLS = 5
# How long calls are profiled, for the time of each line, and how much slower this may make them:
# what is shown is which line takes more time than others.
SECONDS, SLOWER = 0.5, 0.25
# Between a line of generated code and the place that it comes from; no program has it.
_MARK = "\x00adc:"


def facts(
    code: Code, title: str, values: Arguments, *, show: bool = False, measure: bool = True,
    iterations: Collection[int] = (),
) -> dict[str, Any]:  # fmt: skip
    """Return the document for the code of a derivative and the arguments that it is called with.

    Parameters
    ----------
    code : Code
        That of the derivative.
    title : str
        What it is called.
    values : tuple
        The arguments, as `Code.match` returns them.
    show : bool
        Whether elements of arguments may be shown.
    measure : bool
        Whether the compiled derivative is called, for the time and the memory it takes.
    iterations : collection of int
        The iterations of loops to show, besides the first and the last ones.
    """
    made = planning.compilation(code, values)
    given = _arguments(code, title, made, values)
    plan = planning.described(code, values, made, False) if made.plan is not None else None
    fn = _last_form(made)
    taken = [0]
    told = pictures.Told(given)

    def picture(value: Any, read: bool) -> Any:
        if np.ndim(value):
            taken[0] += 1
            if taken[0] > MOST_PICTURES:
                return {"shape": list(np.shape(value))}
        return pictures.picture(value, values=show, argument=read, told=told)

    start = time.perf_counter()
    record = recorded(fn, copy.deepcopy(given), picture, iterations=iterations)
    spent = time.perf_counter() - start
    large = len(record.tree.nodes) > MOST_PLANNED
    effects = leave_traces((fn, *fn.callees))
    measure = measure and not effects
    times = _times(code, values) if measure and not large and code.options.target == "cpu" else None
    found = lines.facts_of(fn, record, plan, code.costs, times)
    document = _Document(fn, record, found)
    notes = document.notes
    if record.stopped:
        notes.append(
            f"{record.stopped[0].upper()}{record.stopped[1:]}: what comes later is missing."
        )
    notes.append(
        f"The run: {record.statements:,} statements one by one in the interpreter of the IR, in "
        f"{spent:.3g} s. Compiled code does the same."
    )
    if not show:
        notes.append(
            "Of arguments there are only small pictures, and no numbers: `--values` shows them."
        )
    wrt = _differentiated(made)
    course = predicted(fn, record, given, offload=bool(code.options.machine.offload))
    if effects:
        notes.append("The program has effects outside: it was not called to be measured.")
    measured = _measured(code, values) if measure else {}
    offload = code.options.machine.offload
    if offload:
        notes.append("The tape is in files: it is no part of the peak.")
    policies = {} if plan is None else {"auto" if plan.budget is None else "budget": plan}
    plans = None
    if plan is not None:
        plans = _plans(code, values, made, large)
        policies = _policies(plans, policies, large)
    if large and plan is not None:
        notes.append("The program is large: there are no plans for other policies and budgets.")
    budgets: list[dict[str, Any]] = []
    if plan is not None and plans is not None and not large:
        if sum(1 for each in (fn, *fn.callees) for _ in walk(each.body)) <= MOST_BUDGETED:
            budgets = _budgets(plans, plan, record, given, notes, policies)
        else:
            notes.append(
                "The program is large: there are no plans for less memory. `adc plan --memory` "
                "makes one."
            )
    return {
        "version": VERSION,
        "title": title,
        "about": f"adc {__version__}",
        "name": name_of(code.fn),
        "sources": [{**each, "path": None} for each in document.sources],
        "lines": document.lines(),
        "measured times": times is not None,
        "nodes": document.nodes(),
        "ir": [text.splitlines() for text in record.tree.texts],
        "code": document.code(made.fn),
        "series": [[kind, document.line(line)] for kind, line in record.series],
        "steps": document.steps(course),
        "names": [[name, record.tree.labels.get(name, name)] for name in document.names],
        "arguments": [
            {"name": param.name, "wrt": param.name in wrt, "bytes": int(np.asarray(value).nbytes),
             "picture": pictures.picture(value, values=show, argument=True)}
            for param, value in zip(made.fn.params, given, strict=True)
        ],
        "memory": _memory(plan, record, bool(offload)) | _exact(record, course) | measured,
        "budgets": budgets,
        "plan": _plan(plan, document),
        "growth": growth.growth(plans.rest.fn, policies, wrt, given) if plans is not None else None,
        "schedules": _schedules(record, document),
        "graph": diagram.diagram(fn, record.tree),
        "notes": notes,
    }  # fmt: skip


def _arguments(code: Code, title: str, made: Compilation, values: Arguments) -> list[Any]:
    """Return the numbers and arrays that code in its last form is called with."""
    if code.options.machine.cuda:
        raise ArgumentError(
            "a view of code for a GPU", None, 'make the derivative without `target="cuda"`'
        )
    alone(made.lowered, values, "a view")
    given = code.leaves(values, made.lowered)
    given = [np.array(each) if isinstance(each, Parts) else each for each in given]
    params = made.fn.params
    if len(given) < len(params):  # there are two for each complex number
        pairs = [(x.real, x.imag) if np.iscomplexobj(x) else (x,) for x in given]
        given = [np.array(part) if np.ndim(part) else part for pair in pairs for part in pair]
    if len(given) < len(params):  # directions of inner derivatives
        given = [*given, *code.find(values)[0].ones]
    if len(given) != len(params):
        raise ArgumentError(
            f"a view of {title}",
            None,
            "view the function, its gradient or its value with the gradient",
        )
    return given


def _last_form(made: Compilation) -> Function:
    """Return the function before its schedules became calls: as the plan's formula knows it."""
    stages = made.trace.stages
    names = [name for name, _ in stages]
    return stages[names.index("schedules") - 1][1] if "schedules" in names else made.fn


def _differentiated(made: Compilation) -> set[str]:
    """Return the names of the parameters that derivatives are taken by."""
    params = made.lowered.fn.params
    steps = made.plans.steps if made.plans is not None else ()
    return {params[k].name for _, positions in steps for k in positions if k < len(params)}


def _plans(code: Code, values: Arguments, made: Compilation, large: bool) -> Plans:
    """Return the plans of a derivative for the sizes of its arguments; of a large one for any."""
    assert made.plans is not None
    if large:
        return made.plans
    chosen = code.options
    sizes = tuple(planning.sizes(code, values, made).items())
    asked = made.lowered, made.plans.steps, chosen.remat, code.costs, chosen.machine, sizes
    return made.plans if made.plans.are_for(*asked) else Plans(*asked)


def _measured(code: Code, values: Arguments) -> dict[str, Any]:
    """Call compiled code, and return the seconds of its fastest call, and the bytes it has held."""
    compiled, _ = code.find(values)
    call = code.call if compiled.lowered.changes is None else compiled.rehearse
    seconds = []
    for _ in range(CALLS):
        given = copy.deepcopy(values)
        start = time.perf_counter()
        call(given)
        seconds.append(time.perf_counter() - start)
        if seconds[0] > 1.0:
            break
    return {"measured": compiled.entry.kernel.peak, "seconds": min(seconds)}


def _times(code: Code, values: Arguments) -> dict[Line, tuple[float, float]]:
    """Return the seconds of each line of a call, in forward and in reverse code."""
    found = profile(code, values, SECONDS, SLOWER)
    return {(each.file, each.line): (each.time.forward, each.time.reverse) for each in found.lines}


def _memory(plan: Plan | None, record: Record, offload: bool) -> dict[str, Any]:
    return {
        "plan": None if plan is None else plan.peak_bytes,
        "formula": "" if plan is None or plan.peak is None else str(plan.peak),
        "held": None if plan is None else plan.held_bytes,
        "predicted": None if plan is None else plan.seconds,
        "budget": None if plan is None else plan.budget,
        "run": record.peak - record.tapes * offload,
        "statements": record.statements,
        "workspace": record.workspace,
        "tape": record.tapes,
        "offload": offload,
        "carried": record.carried,
        "most": record.most,
        "peak step": min(record.peak_step, max(len(record.moments) - 1, 0)),
        "at peak": sorted(record.at_peak.items(), key=lambda item: -item[1]),
    }


def _exact(record: Record, course: Sequence[Predicted]) -> dict[str, Any]:
    """Return after how many steps memory is predicted, and is exactly so, and the most of it."""
    results = {k for k, (kind, _) in enumerate(record.series) if kind == GRADIENTS}
    now = known = exact = 0
    for moment, said in zip(record.moments, course, strict=True):
        now += sum(size for k, size in moment.changes.items() if k not in results)
        known += said.alive is not None
        exact += said.alive == now
    reserved = max((said.reserved for said in course), default=0)
    return {"course": {"known": known, "exact": exact, "reserved": reserved}}


def _policies(plans: Plans, known: Mapping[str, Plan], large: bool) -> dict[str, Plan]:
    """Return all plans, with those without a budget for the same function."""
    found: dict[str, Plan] = dict(known)
    for policy in ("auto", "store", "recompute"):
        if policy in known or (large and policy != "auto"):
            continue
        rest = plans.rest
        context = replace(rest.context, policy=policy, known={})
        _, plan = replace(rest, context=context, formulas={})(NO_ORDERS)
        if plan is not None:
            found[policy] = plan
    return found


def _budgets(
    plans: Plans, plan: Plan, record: Record, given: Sequence[Any], notes: list[str],
    policies: dict[str, Plan],
) -> list[dict[str, Any]]:  # fmt: skip
    """Return the plans for parts of the memory, and what their runs have held.

    They are added to `policies`.
    """
    found: list[dict[str, Any]] = []
    whole = plan.peak_bytes if plan.budget is None else plan.budget
    if not whole:
        return found
    repeated = record.statements <= MOST_REPEATED
    if not repeated:
        notes.append(
            "The run is long: other budgets are planned for, but not run. A smaller example shows "
            "the same code, and the formulas hold for any size."
        )
    for part in PARTS:
        budget = whole // part
        try:
            # The least that was found is the same for all budgets.
            tight = found and not found[-1]["fits"] and found[-1]["peak"] is not None
            least = found[-1]["peak"] if tight else None
            other = (
                Alternative(budget, least, None) if least is not None and least > budget
                else plans.alternative(budget)
            )  # fmt: skip
        except UnknownPeak:
            notes.append("The memory of other plans is known only at run time.")
            return found
        if other.extra is not None:
            found.append(_within(plans, part, budget, given, policies, repeated))
        else:
            found.append({"part": part, "budget": budget, "peak": other.peak, "fits": False})
    least = found[0]["peak"]
    if not found[0]["fits"] and least is not None and least < whole:
        found.append(_within(plans, LEAST, least, given, policies, repeated))
    return found


def _within(
    plans: Plans, part: int, budget: int, given: Sequence[Any], policies: dict[str, Plan],
    repeated: bool,
) -> dict[str, Any]:  # fmt: skip
    """Return what the plan for a budget holds, and what its run has held if it is `repeated`."""
    fn, made = plans.made(budget)
    assert made is not None
    policies[f"part{part}" if part else "least"] = made
    entry: dict[str, Any] = {
        "part": part, "budget": budget, "peak": made.peak_bytes, "seconds": made.extra,
        "fits": True,
    }  # fmt: skip
    if repeated:
        offload = bool(plans.rest.context.target.offload)  # then tapes take no memory
        run = recorded(fn, copy.deepcopy(list(given)), steps=RUN_STEPS)
        course = predicted(fn, run, given, offload=offload)
        entry |= {
            "run": run.peak - run.tapes * offload, "most": run.most,
            "statements": run.statements, "curve": _curve(run),
            "predicted": max((said.reserved for said in course), default=0),
        }  # fmt: skip
    return entry


def _curve(run: Record) -> list[list[Any]]:
    """Return the most bytes of each part of a run, how many statements had run, and its phase."""
    points: list[list[Any]] = []
    for moment in run.moments:
        node = run.tree.nodes[moment.node]
        points.append([moment.at, moment.most, _PHASES[node.phase]])
    if len(points) > POINTS:
        size = -(-len(points) // POINTS)
        points = [
            max(points[k : k + size], key=lambda p: p[1]) for k in range(0, len(points), size)
        ]
    return points


def _plan(plan: Plan | None, document: _Document) -> dict[str, Any] | None:
    if plan is None:
        return None
    shown = PlanReport.of(plan)
    return {
        "policy": plan.policy,
        "columns": list(shown.columns()),
        "rows": [
            [*row, document.line((entry.file, entry.line))]
            for row, entry in zip(shown.rows(), shown.shown(), strict=True)
        ],
        "decisions": [entry.decision for entry in shown.shown()],
        "text": shown.lines(),
        "parts": [{"name": part.name, "bytes": part.bytes} for part in plan.parts],
    }


def _schedules(record: Record, document: _Document) -> list[dict[str, Any]]:
    found: dict[object, dict[str, Any]] = {}

    def add(kind: str, line: Line | None, key: object, make: Callable[[], Events]) -> None:
        if (kind, line, key) in found:
            found[kind, line, key]["times"] += 1
        else:
            found[kind, line, key] = {
                "kind": kind, "line": document.line(line), "times": 1, **asdict(make())
            }  # fmt: skip

    kept = {line for line, _, _ in record.states}
    for line, operands, _ in record.schedules:
        if line not in kept:
            add("loop", line, operands, partial(schedules.events, operands))
    for line, states, parts in _whiles(record):
        key = tuple(states), tuple(parts)
        add("while", line, key, partial(schedules.online, states, parts))
    again = schedules.calls(document.fn)
    if again is not None:
        made, places = again
        add("calls", None, (), lambda: made)
        found["calls", None, ()]["lines"] = [document.line(line) for line in places]
    return list(found.values())


_Part = tuple[int, tuple[int, ...]]


def _whiles(record: Record) -> Iterator[tuple[Line | None, list[tuple[int, int]], list[_Part]]]:
    """Yield for each run of a `while` loop its states, and its parts in the order of reversal."""
    for line in dict.fromkeys(line for line, _, _ in record.states):
        runs: list[list[tuple[int, int]]] = []
        for place, iteration, slot in record.states:
            if place == line:
                if iteration == 0:
                    runs.append([])
                runs[-1].append((iteration, slot))
        reversals: list[list[_Part]] = [[]]
        for place, operands, first in record.schedules:
            if place == line:
                reversals[-1].append((first, operands))
                if first == 0:
                    reversals.append([])
        # What ran last is reversed first.
        for states, parts in zip(reversed(runs), reversals, strict=False):
            if parts and parts[-1][0] == 0:
                yield line, states, parts


class _Document:
    """Numbers for lines, and the parts of the document that mention them."""

    def __init__(self, fn: Function, record: Record, found: Mapping[Line, lines.Facts]) -> None:
        self.fn, self.record, self.found = fn, record, found
        self.notes: list[str] = []
        self.names: dict[str, int] = {}
        known = set(found) | {line for _, line in record.series if line is not None}
        known |= {line for node in record.tree.nodes for line in node.lines}
        ordered = sorted(known)
        self.numbers = {line: k for k, line in enumerate(ordered)}
        self.sources = lines.sources(ordered)

    def line(self, line: Line | None) -> int:
        return -1 if line is None else self.numbers.get(line, -1)

    def lines(self) -> list[dict[str, Any]]:
        made = []
        for (file, number), _ in self.numbers.items():
            source = next(
                (
                    k for k, each in enumerate(self.sources)
                    if each["path"] == file
                    and 0 <= number - each["first"] < len(each["lines"])
                ),
                -1,
            )  # fmt: skip
            facts = self.found.get((file, number), lines.Facts())
            known = {name: value for name, value in vars(facts).items() if value}
            made.append({"source": source, "line": number, **known})
        return made

    def nodes(self) -> list[list[Any]]:
        return [
            [
                each.parent, each.kind, each.phase, [self.line(line) for line in each.lines[:40]],
                each.function, each.first, each.last, self.label(each),
                [list(effect) for effect in each.effects[:12]],
            ]
            for each in self.record.tree.nodes
        ]  # fmt: skip

    def label(self, node: Node) -> str:
        """Return what a node is called; "" if that is its line, which the page has."""
        is_line = node.kind == "lines" and len(node.lines) > 0
        return "" if is_line and node.label == Span(*node.lines[0]).text().strip() else node.label

    def steps(self, course: Sequence[Predicted]) -> list[list[Any]]:
        return list(map(self.step, self.record.moments, course))

    def step(self, moment: Moment, said: Predicted) -> list[Any]:
        return [
            moment.node,
            [list(each) for each in moment.path],
            list(moment.folded) if moment.folded else 0,
            [list(change) for change in moment.changes.items()],
            moment.most,
            [
                [self.name(shown.name), shown.picture.get("number", shown.picture)]
                for shown in moment.values
                if shown.picture != pictures.HIDDEN
            ],
            moment.at,
            -1 if said.alive is None else said.alive,
            said.reserved,
        ]

    def name(self, name: str) -> int:
        """Return the number of the name of a value."""
        if name not in self.names:
            self.names[name] = len(self.names)
        return self.names[name]

    def code(self, fn: Function) -> dict[str, Any]:
        """Return the generated source, with the user's line of each of its lines."""
        from adc.backend.common.emit import emit

        texts, numbers = [], []
        # Checks mention whole paths.
        files = {file: PurePath(file).name for file, _ in self.numbers}
        for line in emit(fn, _place).source.splitlines():
            text, mark, place = line.rpartition(_MARK)
            number = -1
            if mark:
                file, _, at = place.rpartition(":")
                number = self.line((file, int(at))) if at.isdecimal() else -1
                line = text.rstrip().removesuffix("#").rstrip()
            for file, name in files.items():
                line = line.replace(f"{file}:", f"{name}:")
            texts.append(line)
            numbers.append(number)
        return {"lines": texts, "from": numbers}


def _place(span: Span) -> str:
    line = line_of(span)
    return "" if line is None else f"{_MARK}{line[0]}:{line[1]}"


__all__ = ["VERSION", "facts"]
