"""What of the front end, of the library, of the table of operations and of the passes is reached.

Handlers are counted where the front end calls them, operations where the interpreter runs a
function that has them, passes where they change something.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from typing import Any

from adc import supported
from adc.frontend.core import dispatch
from adc.frontend.numpy import library
from adc.ir.core import Apply, walk
from adc.ir.interp import Interpreter
from adc.ir.opdef import OPS
from adc.passes import pipeline
from tests.oracle import chain as chains

_TABLES: dict[str, Any] = {
    "nodes": dispatch._NODES,
    "callees": dispatch._CALLEES,
    "operators": dispatch._OPERATORS,
}
# Characters of a line of the report.
_WIDTH = 100


class Coverage:
    """Counts from when it is made; for the rest of the process."""

    def __init__(self) -> None:
        self.seen: dict[str, Counter[str]] = {}
        self.all: dict[str, set[str]] = {}
        for name, table in _TABLES.items():
            self.all[name] = {each.__name__ for each in table}
            for key in list(table):
                table[key] = self._counting(name, key.__name__, table[key])
        self._watch_functions()
        self._watch_operations()
        self._watch_passes()

    def saw(self, group: str, name: str) -> None:
        self.seen.setdefault(group, Counter())[name] += 1

    def _counting(self, group: str, name: str, handler: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*args: Any, **kwargs: Any) -> Any:
            self.saw(group, name)
            return handler(*args, **kwargs)

        return counted

    def _watch_functions(self) -> None:
        names: dict[Any, str] = {}
        self.all["functions"] = set()
        for full, name in supported._known().items():
            try:
                names.setdefault(supported._value(full), name)
            except (ImportError, AttributeError, TypeError):
                continue
        self.all["functions"] = set(names.values())
        self.all["methods"] = set(library.METHODS)
        call, method = library.call, library.method

        def called(lo: Any, callee: Any, *rest: Any) -> Any:
            try:
                name = names.get(callee)
            except TypeError:
                name = None
            if name is not None:
                self.saw("functions", name)
            return call(lo, callee, *rest)

        def called_of(lo: Any, bound: Any, *rest: Any) -> Any:
            self.saw("methods", bound.name)
            return method(lo, bound, *rest)

        vars(library).update(call=called, method=called_of)

    def _watch_operations(self) -> None:
        self.all["operations"] = set(OPS)
        run = Interpreter.run

        def running(machine: Interpreter, args: Any) -> Any:
            for fn in (machine.main, *machine.main.callees):
                for stmt in walk(fn.body):
                    if isinstance(stmt, Apply):
                        self.saw("operations", stmt.op.name)
            return run(machine, args)

        setattr(Interpreter, "run", running)  # noqa: B010

    def _watch_passes(self) -> None:
        parts = (pipeline.PRIMAL, pipeline.DERIVATIVE, pipeline.JOINED, chains.FINISH)
        self.all["passes"] = {row.name for part in parts for row in part}
        stages = chains.stages

        def counted(*args: Any, **kwargs: Any) -> Any:
            made = stages(*args, **kwargs)
            for (_, before), (name, after) in itertools.pairwise(made):
                if before is not after and before != after:
                    self.saw("passes", name)
            return made

        chains.stages = counted

    def report(self) -> str:
        """Return a table of how much was reached, and what was never."""
        lines = []
        for group, wanted in self.all.items():
            seen = self.seen.get(group, Counter())
            reached = wanted & seen.keys()
            lines.append(f"{group}: {len(reached)} of {len(wanted)} reached")
            lines += _wrapped(sorted(wanted - reached))
        return "\n".join(lines)


def _wrapped(names: list[str]) -> list[str]:
    lines, line = [], "   "
    for name in names:
        if len(line) + len(name) > _WIDTH:
            lines.append(line)
            line = "   "
        line += f" {name}"
    return [*lines, line] if names else []


__all__ = ["Coverage"]
