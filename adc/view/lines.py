"""The user's source, and what is known of each line: memory, time, and the plan's reasons."""

from __future__ import annotations

import ast
import linecache
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from adc.inspect.plan import seconds_text
from adc.ir.analysis.costs import Costs
from adc.ir.core import (
    Apply,
    Function,
    Gemm,
    If,
    Load,
    Pop,
    Push,
    Stmt,
    Store,
    Write,
    blocks,
)
from adc.ir.errors import bytes_text
from adc.ir.types import Array
from adc.passes.remat.plan import KEPT, Plan, PlanEntry
from adc.view.moments import CARRIED, GRADIENTS, TAPE, WORKSPACE, Record
from adc.view.nodes import FORWARD, Line, line_of
from adc.view.nodes import RECOMPUTED as AGAIN

# More lines of a file are not shown.
MOST_LINES = 8_000


@dataclass
class Facts:
    """What is known of a line.

    Attributes
    ----------
    kept, workspace, carried, gradients : int
        The most bytes at once: on the tape; in the workspace; in arrays that loops hand on, or
        that live until the reverse code has read them; in results.
    recomputed, reloaded, restored : int
        Bytes that reverse code computes again, reads again, and restores.
    forward, reverse : float
        Seconds: measured if somebody has, else by the cost model.
    entries : list
        The decisions of the plan, in sentences.
    """

    kept: int = 0
    workspace: int = 0
    carried: int = 0
    gradients: int = 0
    recomputed: int = 0
    reloaded: int = 0
    restored: int = 0
    forward: float = 0.0
    reverse: float = 0.0
    entries: list[dict[str, Any]] = field(default_factory=list)


def sources(lines: Iterable[Line]) -> list[dict[str, Any]]:
    """Return the texts of the functions that lines are in, and the numbers of their first lines.

    Nothing else of the files is shown, and of their paths only the names.
    """
    files: dict[str, set[int]] = defaultdict(set)
    for file, line in lines:
        files[file].add(line)
    found = []
    for file, wanted in files.items():
        text = linecache.getlines(file)
        for first, last in _functions(text, wanted):
            kept = text[first - 1 : min(last, first - 1 + MOST_LINES)]
            found.append(
                {
                    "file": PurePath(file).name, "path": file, "first": first,
                    "lines": [line.rstrip("\n") for line in kept],
                }
            )  # fmt: skip
    return found


def _functions(text: list[str], wanted: set[int]) -> list[tuple[int, int]]:
    """Return the ranges of the innermost functions that hold lines, and single lines else."""
    try:
        tree = ast.parse("".join(text))
    except SyntaxError:
        return [(min(wanted), max(wanted))] if wanted and text else []
    ranges: list[tuple[int, int]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            decorators = [] if isinstance(node, ast.Lambda) else node.decorator_list
            first = min([node.lineno, *(each.lineno for each in decorators)])
            ranges.append((first, node.end_lineno or first))
    chosen: set[tuple[int, int]] = set()
    for line in wanted:
        around = [each for each in ranges if each[0] <= line <= each[1]]
        # Inner functions start later.
        innermost = max(around, default=(line, line))
        if 0 < line <= len(text):
            chosen.add(innermost)
    return sorted(
        one for one in chosen
        if not any(o != one and o[0] <= one[0] and one[1] <= o[1] for o in chosen)
    )  # fmt: skip


def facts_of(
    fn: Function, record: Record, plan: Plan | None, costs: Costs,
    times: Mapping[Line, tuple[float, float]] | None = None,
) -> dict[Line, Facts]:  # fmt: skip
    """Return what is known of each line of a program that was run."""
    found: dict[Line, Facts] = defaultdict(Facts)
    for number, (kind, line) in enumerate(record.series):
        if line is not None:
            facts, size = found[line], record.tops[number]
            name = {TAPE: "kept", WORKSPACE: "workspace", CARRIED: "carried"}.get(kind)
            assert name or kind == GRADIENTS
            setattr(facts, name or "gradients", getattr(facts, name or "gradients") + size)
    count = _Counter(fn, record, costs)
    restored = {
        (each.file, each.line) for each in plan.entries if "is restored" in each.reason
    } if plan is not None else set()  # fmt: skip
    for line, phase, stmt, times_run in count.statements():
        facts = found[line]
        if times is None:
            seconds = times_run * count.seconds(stmt)
            if phase == FORWARD:
                facts.forward += seconds
            else:
                facts.reverse += seconds
        size = times_run * sum(
            value.type.numpy.itemsize for value in stmt.results
            if not isinstance(value.type, Array) and value.type.kind == "f"
        )  # fmt: skip
        if phase == AGAIN and isinstance(stmt, Apply):
            facts.recomputed += size
        elif isinstance(stmt, Load) and ".r" in stmt.result.name and phase != FORWARD:
            if line in restored:
                facts.restored += size
            else:
                facts.reloaded += size
    for line, (forward, reverse) in (times or {}).items():
        found[line].forward, found[line].reverse = forward, reverse
    if times is None and plan is not None and plan.seconds:
        _scale(found, plan.seconds)
    if plan is not None:
        for entry in plan.shown():
            if entry.line:
                _join(found[entry.file, entry.line].entries, sentence(entry, count))
    return dict(found)


def _join(entries: list[dict[str, Any]], entry: dict[str, Any]) -> None:
    """Add a sentence, unless it is said already: then it is about one value more."""
    for other in entries:
        if other["text"] == entry["text"]:
            other["count"] += 1
            return
    entries.append(entry)


def _scale(found: Mapping[Line, Facts], seconds: float) -> None:
    """Let the times of lines add up to the predicted time of the call."""
    total = sum(facts.forward + facts.reverse for facts in found.values())
    if total > 0.0:
        for facts in found.values():
            facts.forward *= seconds / total
            facts.reverse *= seconds / total


class _Counter:
    """How often statements ran."""

    def __init__(self, fn: Function, record: Record, costs: Costs) -> None:
        self.fn, self.record, self.costs = fn, record, costs
        self.phases = record.tree.phases
        self.made: dict[str, tuple[int, int, Stmt]] = {}
        for each in (fn, *fn.callees):
            self._walk(each.body)

    def _walk(self, stmts: tuple[Stmt, ...]) -> None:
        runs = self.record.visits.get(id(stmts), 0)
        for stmt in stmts:
            for value in stmt.results:
                size = 0 if isinstance(value.type, Array) else value.type.numpy.itemsize
                self.made.setdefault(value.name, (runs, size, stmt))
            for block in blocks(stmt):
                self._walk(block.stmts)

    def statements(self) -> Iterable[tuple[Line, str, Stmt, int]]:
        """Yield every statement with its line, its phase, and how often it ran."""
        for each in (self.fn, *self.fn.callees):
            todo = [each.body]
            while todo:
                stmts = todo.pop()
                runs = self.record.visits.get(id(stmts), 0)
                for stmt in stmts:
                    todo += [block.stmts for block in blocks(stmt)]
                    line = line_of(stmt.loc)
                    if line is not None and runs and not isinstance(stmt, If):
                        yield line, self.phases.get(id(stmt), FORWARD), stmt, runs

    def seconds(self, stmt: Stmt) -> float:
        """Return what a statement takes, by the cost model, where all is in cache."""
        costs = self.costs
        match stmt:
            case Apply() if not isinstance(stmt.result.type, Array):
                return 0.0 if stmt.op.asks_shape else costs.seconds(stmt)
            case Load():
                return costs.load * stmt.result.type.numpy.itemsize
            case Write() | Store():
                return costs.store * stmt.array.type.numpy.itemsize
            case Push() | Pop():
                return costs.tape / 2
            case Gemm():
                return self.products(stmt) * costs.product
        return 0.0

    def products(self, stmt: Gemm) -> float:
        return float(self.record.products.get(id(stmt), 0))


def sentence(entry: PlanEntry, count: _Counter) -> dict[str, Any]:
    """Return a decision in words: what, why, and what it would cost otherwise."""
    label = entry.label
    runs, size, stmt = count.made.get(entry.value, (0, 0, None))
    whole = runs * size
    kept = f"Keeping it instead would take {bytes_text(whole)}." if whole else ""
    match entry.decision:
        case "kept":
            told = f"“{label}” is kept for the reverse pass"
            again = ""
            if stmt is not None and isinstance(stmt, Apply) and runs:
                seconds = seconds_text(runs * count.seconds(stmt))
                again = f"Computing it again would take about {seconds}"
                if "not available" in entry.reason:
                    again += ", and whatever it is computed from would have to be kept"
                again += "."
            return {"value": label, "what": KEPT, "why": entry.reason, "bytes": entry.bytes,
                    "count": 1, "text": f"{told}: {entry.reason}.", "otherwise": again}  # fmt: skip
        case "recomputed":
            told = f"“{label}” is computed again by the reverse pass"
        case "reloaded":
            told = f"“{label}” is read again by the reverse pass"
        case "held":
            told, kept = f"“{label}” stays in memory until the reverse pass has read it", ""
        case "copied":
            told, kept = f"“{label}” is copied", ""
        case "checkpointed":
            told, kept = f"The loop “{label}” is checkpointed", ""
        case _:
            told, kept = f"“{label}”: {entry.decision}", ""
    return {
        "value": label, "what": entry.decision, "why": entry.reason, "bytes": entry.bytes,
        "count": 1, "text": f"{told}: {entry.reason}.", "otherwise": kept,
    }  # fmt: skip


__all__ = ["Facts", "facts_of", "sentence", "sources"]
