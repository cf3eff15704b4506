"""Gradients on a GPU, checked and timed: `python -m tests.bench.cuda`.

The gradients of all programs of `tests.bench.cuda.programs` on the GPU are compared with those on
the CPU. Some are timed: elementwise programs beside a copy from the device to itself, stencils
beside kernels written by hand, and a batch of adaptive ODEs, an n-body problem and a mixture of
Gaussians beside JAX (jit) and PyTorch (eager) on the same GPU, where these are installed
(``--peer-python`` names the interpreter that has them). Times are medians of calls that return
value and gradients, data and results on the device, until the device is done; those of adc's
kernels alone are there, too. `CUDA.md` keeps what comes out, with the name of the device.

Every tool has a process of its own for each program, which may fail or take too long: that is a
line of the table. ``--small`` takes the smallest sizes, to try it, and does so in Numba's simulator
(``NUMBA_ENABLE_CUDASIM=1``), whose times say nothing. The exit status is 1 if a gradient is wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console

from adc.ir.errors import DeviceError
from tests.bench.cuda.programs import COPY, HAND, PEERS, PROGRAMS, Program
from tests.bench.cuda.report import record
from tests.bench.cuda.worker import distance
from tests.bench.report import Rows, markdown_table, rich_table

ROOT = Path(__file__).parents[3]
_SLOWEST = 5
EXACT, CLOSE = 1e-12, 1e-9  # of adc against itself on the CPU, and of others
OTHERS: dict[str, tuple[str, ...]] = {HAND: ("hand",), PEERS: ("jax", "torch")}

Known = dict[str, Any]  # what a process of `tests.bench.cuda.worker` says
Results = dict[str, dict[str, Known]]  # by program and tool


# --- processes ------------------------------------------------------------------------------------


def ask(tool: str, name: str, options: argparse.Namespace) -> Known:
    """Return what a process finds out about a tool and a program."""
    python = options.peer_python if tool in OTHERS[PEERS] else sys.executable
    size = "small" if options.small else "large"
    command = [python, "-m", "tests.bench.cuda.worker", tool, name, size, str(options.rounds)]
    environment = {**os.environ, "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, timeout=options.limit,
            check=False,
        )  # fmt: skip
        out, last = done.stdout, (done.stderr.decode().strip().splitlines() or [""])[-1]
        failure = f"the process ended with {done.returncode}: {last}" if done.returncode else ""
    except subprocess.TimeoutExpired as error:
        out, failure = error.stdout or b"", f"took longer than {options.limit:g} s"
    known: Known = {}
    for line in out.decode().splitlines():
        if line.startswith("{"):
            known.update(json.loads(line))
    if failure:
        known.setdefault("error", failure)
    return known


def measure(programs: Sequence[Program], options: argparse.Namespace) -> Results:
    """Ask all tools, and compare what they find.

    Processes of programs that nothing is timed of run side by side, then the others one by one.
    """

    def asked(program: Program) -> dict[str, Known]:
        tools = ["adc", *OTHERS.get(program.beside, ())]
        tools = [tool for tool in tools if tool not in options.skip]
        found = {tool: ask(tool, program.name, options) for tool in tools}
        wanted = found.get("adc", {}).get("wanted")
        for tool, known in found.items():
            if "found" in known and wanted is not None:
                known["off"] = known.get("off", distance(known["found"], wanted))
            text = known.get("error") or f"off by {known.get('off', float('nan')):.1e}"
            print(f"{program.name}, {tool}: {text}", flush=True)
        return found

    checked = [each for each in programs if not each.beside]
    with ThreadPoolExecutor(options.jobs) as pool:
        found = dict(zip((each.name for each in checked), pool.map(asked, checked), strict=True))
    found |= {each.name: asked(each) for each in programs if each.beside}
    return {each.name: found[each.name] for each in programs}


def device(options: argparse.Namespace) -> str:
    """Return the name of the GPU, and its driver."""
    name = ask("device", "", options).get("device", "an unknown device")
    try:
        query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
        done = subprocess.run(query, capture_output=True, text=True, check=True)
        return f"{name}, driver {done.stdout.split()[0]}"
    except (OSError, subprocess.CalledProcessError, IndexError):
        return str(name)


# --- what is said of them -------------------------------------------------------------------------


def milliseconds(known: Known, what: str) -> str:
    return f"{1e3 * known[what]:.3g}" if what in known else ""


def divided(known: Known, what: str, other: Known) -> str:
    """Return a time divided by another tool's."""
    return f"{known[what] / other['median']:.2f}" if what in known and "median" in other else ""


def note(tools: Known) -> str:
    """Say what a tool did not do."""
    found = [f"{tool}: {known['error']}" for tool, known in tools.items() if "error" in known]
    found += [known["note"] for known in tools.values() if known.get("note")]
    return "; ".join(found).replace("|", "/")


def wrong(known: Known, tolerance: float) -> bool:
    """Whether a gradient is off by more than it moves where arguments are rounded differently."""
    tolerance = max(tolerance, 3.0 * known.get("rounding", 0.0))
    return "off" in known and not known["off"] <= tolerance


def equality(results: Results, small: bool) -> Rows:
    """Return how far gradients are from those on the CPU."""
    table = [["program", "size", "off by", "first call s", "note"]]
    for name, tools in results.items():
        known = tools.get("adc", {})
        off = f"{known['off']:.1e}" if "off" in known else ""
        off += " (WRONG)" if wrong(known, EXACT) else ""
        if known.get("off", 0.0) > EXACT:
            off += f", rounding {known.get('rounding', 0.0):.1e}"
        size = " x ".join(map(str, PROGRAMS[name].size(small)))
        first = f"{known['first']:.2f}" if "first" in known else ""
        table.append([name, size, off, first, note({"adc": known})])
    return table


def beside_copy(results: Results, copy: Known) -> Rows:
    """Return which part of a copy's bandwidth elementwise programs have."""
    titles = ["program", "call ms", "kernels ms", "launches", "GB", "of a copy", "kernels alone"]
    table = [[*titles, "note"]]
    bandwidth = copy.get("bandwidth")
    for name, tools in of(results, COPY):
        known = tools.get("adc", {})
        for what in ("", "gradient "):
            parts = [
                f"{known['bytes'] / known[time] / bandwidth:.0%}"
                if bandwidth and time in known else ""
                for time in (f"{what}median", f"{what}kernels")
            ]  # fmt: skip
            table.append([
                f"{name}, {'the gradient alone' if what else 'with its value'}",
                milliseconds(known, f"{what}median"), milliseconds(known, f"{what}kernels"),
                str(known.get(f"{what}launches", "")),
                f"{1e-9 * known['bytes']:.3g}" if "bytes" in known else "", *parts,
                "" if what else note(tools),
            ])  # fmt: skip
    return table


def beside_others(results: Results, beside: str) -> Rows:
    """Return times of adc and of others."""
    others = OTHERS[beside]
    titles = ["program", "adc ms", "kernels ms", "launches", *(f"{t} ms" for t in others)]
    table = [[*titles, *(f"adc / {t}" for t in others), *(f"{t} off by" for t in others), "note"]]
    for name, tools in of(results, beside):
        own, them = tools.get("adc", {}), [tools.get(tool, {}) for tool in others]
        table.append([
            name, milliseconds(own, "median"), milliseconds(own, "kernels"),
            str(own.get("launches", "")), *(milliseconds(known, "median") for known in them),
            *(divided(own, "median", known) for known in them),
            *(f"{known['off']:.0e}" if "off" in known else "" for known in them), note(tools),
        ])  # fmt: skip
    return table


def slowest(results: Results) -> Rows:
    """Return the kernels of adc that take longest."""
    table = [["program", "kernel", "launches", "ms", "of all kernels"]]
    for name, tools in results.items():
        known = tools.get("adc", {})
        each = sorted(known.get("each", {}).items(), key=lambda item: -item[1][0])
        for kernel, (seconds, count) in each[:_SLOWEST]:
            part = f"{seconds / known['kernels']:.0%}"
            table.append([name, kernel, str(count), f"{1e3 * seconds:.3g}", part])
    return table


def of(results: Results, beside: str) -> Iterable[tuple[str, dict[str, Known]]]:
    return ((name, each) for name, each in results.items() if PROGRAMS[name].beside == beside)


def tables(results: Results, copy: Known, small: bool) -> dict[str, Rows]:
    """Return all tables that have lines, by title."""
    bandwidth = copy.get("bandwidth", float("nan"))
    found = {
        "Gradients against those on the CPU, relative to their largest elements": equality(
            results, small
        ),
        f"Bytes that must move, beside a copy's {1e-9 * bandwidth:.0f} GB/s": beside_copy(
            results, copy
        ),
        "Stencils, beside kernels written by hand": beside_others(results, HAND),
        "Beside other tools": beside_others(results, PEERS),
        "The kernels that take longest": slowest(results),
    }
    return {title: rows for title, rows in found.items() if len(rows) > 1}


def verdicts(results: Results, copy: Known) -> list[str]:
    """Say what holds of what should."""
    known = {name: tools["adc"] for name, tools in results.items() if "adc" in tools}
    right = [name for name, each in known.items() if "off" in each and not wrong(each, EXACT)]
    said = [f"equal to the CPU to {EXACT:g}, or rounding: {len(right)} of {len(known)} programs"]

    def goal(text: str, numbers: dict[str, float | None], least: bool, bound: float) -> None:
        for name, number in numbers.items():
            holds = number is not None and (number >= bound if least else number <= bound)
            shown = "not measured" if number is None else f"{number:.2f}"
            said.append(f"{name}, {text}: {shown}, {'yes' if holds else 'no'}")

    def ratio(name: str, tool: str) -> float | None:
        own, other = (results[name].get(each, {}).get("median") for each in ("adc", tool))
        return own / other if own and other else None

    def part(name: str, time: str) -> float | None:
        each = known.get(name, {})
        if time not in each or "bandwidth" not in copy:
            return None
        return float(each["bytes"] / each[time] / copy["bandwidth"])

    parts = {name: part(name, "gradient median") for name, _ in of(results, COPY)}
    goal("gradient at 0.8 of a copy's bandwidth or more", parts, True, 0.8)
    ratios = {name: ratio(name, "hand") for name, _ in of(results, HAND)}
    goal("1.3 times the kernels by hand or less", ratios, False, 1.3)
    for tool in OTHERS[PEERS]:
        ratios = {name: ratio(name, tool) for name, _ in of(results, PEERS)}
        goal(f"less than {tool} takes", ratios, False, 1.0)
    return said


def markdown(where: str, results: Results, copy: Known) -> str:
    versions = {known.get("versions", "") for tools in results.values() for known in tools.values()}
    date = datetime.now(UTC).date().isoformat()
    text = [f"`python -m tests.bench.cuda`, {where}, {date}; f64.", ""]
    text += [f"- {line}" for line in sorted(versions - {""})]
    text += ["", *(f"- {line}" for line in verdicts(results, copy))]
    for title, rows in tables(results, copy, small=False).items():
        text += ["", f"### {title}", "", markdown_table(rows)]
    return "\n".join(text)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.cuda", description=__doc__)
    parser.add_argument("--only", action="append", choices=PROGRAMS, help="this program")
    skipped = ["adc", *(tool for tools in OTHERS.values() for tool in tools)]
    parser.add_argument("--skip", action="append", choices=skipped, default=[], help="not this")
    parser.add_argument("--small", action="store_true", help="the smallest sizes, to try it")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=1, help="processes at once that time nothing")
    parser.add_argument("--limit", type=float, default=120.0, help="seconds of one process")
    parser.add_argument(
        "--peer-python", default=sys.executable, help="the interpreter that has the peers"
    )
    options = parser.parse_args(arguments)
    try:
        from adc.backend.cuda.api import require, simulated

        require()
    except DeviceError as error:
        sys.exit(f"Nothing is measured: {str(error).splitlines()[0]}")
    if simulated and not options.small:
        parser.error("the simulator can do --small only")
    where = device(options)
    print(where)
    programs = [PROGRAMS[name] for name in options.only or PROGRAMS]
    copy = ask("copy", "", options) if any(each.beside == COPY for each in programs) else {}
    results = measure(programs, options)
    console = Console() if sys.stdout.isatty() else Console(width=160)
    for title, rows in tables(results, copy, options.small).items():
        console.print(rich_table(rows, title))
    if simulated:
        print("Times in the simulator say nothing.")
    else:
        print("\n".join(verdicts(results, copy)))
    if not (options.only or options.skip or options.small):
        record("Measured", markdown(where, results, copy))
    return int(
        any(
            wrong(known, EXACT if tool == "adc" else CLOSE)
            for tools in results.values()
            for tool, known in tools.items()
        )
    )


if __name__ == "__main__":
    sys.exit(main())
