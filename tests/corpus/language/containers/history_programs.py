"""Lists of any length that grow by dicts and objects, which are looked through afterwards."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from tests.corpus.program import Program, recorder

HISTORY_PROGRAMS: list[Program] = []
program = recorder(HISTORY_PROGRAMS)


class _Position:
    def __init__(self, x: Any, y: Any) -> None:
        self.x = x
        self.y = y

    def distance(self, other: Any) -> Any:
        return (self.x - other.x) ** 2 + (self.y - other.y) ** 2


@program(np.array([0.3, 0.8]), 50)
def history_of_objects_and_dicts(x: Any, n: int) -> Any:
    """Lists of objects and dicts that nothing else holds, of a length that the run decides."""
    track, log, k = [_Position(x[0], x[1])], [], 0
    state = _Position(x[0], 0.0)
    while k < n and track[-1].x < 4.0:
        last = track[-1]
        track.append(_Position(last.x + 0.1 * np.exp(-last.y), last.y * 0.95 + 0.01 * last.x))
        state.y += track[-1].x * x[1]
        if state.y > 1.0:
            log.append({"k": k, "loss": state.y * x[0], "kind": "far", "at": [state.y, x[0]]})
        k += 1
    length = sum(a.distance(b) for a, b in zip(track[1:], track[:-1], strict=True))
    best = max(track, key=lambda each: each.y)
    late = [entry for entry in log if entry["k"] > 3 and entry["kind"] == "far"]
    return length + best.y + sum(e["loss"] * e["at"][1] for e in late) + copy.copy(track[2]).x
