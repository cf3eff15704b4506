"""Which tools differentiate small ordinary programs: `python -m tests.bench.peers`.

Every tool gets the programs of `battery` unchanged, with its own array module as ``np``
(Warp, a language of its own, gets some of them ported by hand), in a process of its own. Gradients
are compared with central differences of the programs as NumPy runs them. A tool that is not
installed is skipped; ``--python tangent=/other/bin/python`` names an interpreter that has it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from tests.bench.peers import battery, peer

ROOT = Path(__file__).parents[3]
TOLERANCE = 1e-7
RIGHT, WRONG, NAN, REFUSED, ABSENT = "right", "WRONG", "NaN", "refused", "-"
_STYLES = {RIGHT: "green", WRONG: "bold red", NAN: "red", REFUSED: "yellow", ABSENT: "dim"}


@dataclass
class Found:
    """What a tool did: a verdict for every program, and the messages of those that it refused."""

    tool: str
    version: str = ""
    missing: str = ""
    verdicts: dict[str, str] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)


def differences(fn: Callable[[Any], Any]) -> np.ndarray[Any, Any]:
    """Return the gradient of a program by fourth-order central differences."""
    x, step = np.array(battery.X), 1e-3

    def at(k: int, shift: float) -> float:
        moved = x.copy()
        moved[k] += shift
        return float(fn(moved))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # roots behind `where`
        return np.array(
            [
                (8.0 * (at(k, step) - at(k, -step)) - (at(k, 2 * step) - at(k, -2 * step)))
                / (12.0 * step)
                for k in range(len(x))
            ]
        )


def verdict(gradient: list[float], wanted: np.ndarray[Any, Any]) -> str:
    """Compare a gradient with differences.

    >>> verdict([1.0, 2.0], np.array([1.0, 2.0])), verdict([1.0, 2.1], np.array([1.0, 2.0]))
    ('right', 'WRONG')
    """
    found = np.array(gradient)
    if np.isnan(found).any():
        return NAN
    scale = float(np.max(np.abs(wanted)))
    same = found.shape == wanted.shape and bool(np.all(np.abs(found - wanted) < TOLERANCE * scale))
    return RIGHT if same else WRONG


def ask(tool: str, python: str) -> Found:
    """Run all programs with a tool."""
    run = subprocess.run(
        [python, str(Path(peer.__file__)), tool],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT) if tool == "adc" else ""},
        check=False,
    )
    answers = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
    if not answers:
        return Found(tool, missing=(run.stderr.splitlines() or ["no answer"])[-1])
    if "missing" in answers[0]:
        return Found(tool, missing=answers[0]["missing"])
    found = Found(tool, answers[0]["version"])
    programs = {fn.__name__: fn for fn in battery.PROGRAMS}
    for answer in answers[1:]:
        name = answer["name"]
        if "error" in answer:
            found.verdicts[name], found.errors[name] = REFUSED, answer["error"]
        else:
            found.verdicts[name] = verdict(answer["gradient"], differences(programs[name]))
    return found


def rows(results: list[Found]) -> list[list[str]]:
    """Return a row for each program, and one with the number that are right."""
    names = [fn.__name__ for fn in battery.PROGRAMS]
    found = [
        [name.replace("_", " "), *(each.verdicts.get(name, ABSENT) for each in results)]
        for name in names
    ]
    counts = [
        f"{sum(v == RIGHT for v in each.verdicts.values())} of {len(each.verdicts)}"
        for each in results
    ]
    return [*found, [RIGHT, *counts]]


def show(results: list[Found], console: Console) -> None:
    """Print the table."""
    table = Table("program", *(each.tool for each in results))
    *programs, counts = rows(results)
    for row in programs:
        table.add_row(row[0], *(f"[{_STYLES[cell]}]{cell}[/]" for cell in row[1:]))
    table.add_section()
    table.add_row(*counts)
    console.print(table)


def markdown(results: list[Found]) -> str:
    """Return the table as Markdown."""
    lines = [["program", *(each.tool for each in results)], ["---"] * (len(results) + 1)]
    for row in rows(results):
        lines.append([f"**{cell}**" if cell in (WRONG, NAN) else cell for cell in row])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def main() -> None:
    """Ask every tool, and print what came of it."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.peers", description=__doc__)
    parser.add_argument("--only", action="append", choices=peer.TOOLS, help="this tool")
    parser.add_argument(
        "--python", action="append", default=[], metavar="TOOL=PATH", help="its interpreter"
    )
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    parser.add_argument("--errors", action="store_true", help="print the messages, too")
    options = parser.parse_args()
    interpreters = dict(text.split("=", 1) for text in options.python)
    console = Console() if sys.stdout.isatty() else Console(width=100)
    results: list[Found] = []
    for tool in options.only or peer.TOOLS:
        found = ask(tool, interpreters.get(tool, sys.executable))
        if found.missing:
            print(f"{tool} skipped: {found.missing}")
            continue
        print(found.version)
        results.append(found)
    if options.markdown:
        print(markdown(results))
    else:
        show(results, console)
    if options.errors:
        for each in results:
            for name, text in each.errors.items():
                print(f"{each.tool}, {name.replace('_', ' ')}: {text}")


if __name__ == "__main__":
    main()
