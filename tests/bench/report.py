"""What the benchmark says of its results: tables of ratios, Markdown, and a chart."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from tests.bench.kernels import KERNELS

OWN = "adc"
# Tools that compute no gradient, from what is nearest to adc's own code on.
FORWARD = ("adc forward", "primal", "numpy")
GROUPS = ("loops", "arrays")


@dataclass
class Result:
    """What is known of a tool on a kernel; times in seconds, memory in bytes.

    Attributes
    ----------
    median, best : float or None
        Of calls that return value and gradient, or of the forward code alone.
    gradient : float or None
        The median of calls that return the gradient alone, where a tool has them.
    first_call, warm_start : float or None
        The first call of a process; a second process, from its start to its first result.
    first_cpu, warm_cpu : float or None
        Processor time of both processes up to there, whatever else the machine does.
    first_memory, memory : int or None
        What the process grows by at its peak in its first call, which compiles, and in a later one.
    difference : float or None
        How far the gradient is from that of the reference, relative to its largest element.
    """

    kernel: str
    tool: str
    note: str = ""
    versions: str = ""
    median: float | None = None
    best: float | None = None
    gradient: float | None = None
    calls: int = 0
    first_call: float | None = None
    warm_start: float | None = None
    first_cpu: float | None = None
    warm_cpu: float | None = None
    first_memory: int | None = None
    memory: int | None = None
    difference: float | None = None

    @property
    def group(self) -> str:
        """Return which kind of kernel it is: loops, which JAX needs `lax` for, or array code."""
        return "loops" if "jax loops" in KERNELS[self.kernel].tools else "arrays"


def by_kernel(results: Iterable[Result]) -> dict[str, dict[str, Result]]:
    """Return the results that have times, by kernel and tool."""
    found: dict[str, dict[str, Result]] = {}
    for result in results:
        if result.median is not None:
            found.setdefault(result.kernel, {})[result.tool] = result
    return found


def ratios(results: Iterable[Result]) -> dict[str, dict[str, float]]:
    """Return adc's time divided by that of each other tool with a gradient, by tool and kernel."""
    found: dict[str, dict[str, float]] = {}
    for kernel, tools in by_kernel(results).items():
        own = tools.get(OWN)
        for tool, other in tools.items():
            if own is not None and tool != OWN and tool not in FORWARD:
                assert own.median is not None
                assert other.median is not None
                found.setdefault(tool, {})[kernel] = own.median / other.median
    return found


def to_forward(tools: Mapping[str, Result]) -> dict[str, float]:
    """Return adc's time divided by that of each forward code of a kernel."""
    own = tools.get(OWN)
    if own is None or own.median is None:
        return {}
    medians = {tool: tools[tool].median for tool in FORWARD if tool in tools}
    return {tool: own.median / median for tool, median in medians.items() if median is not None}


def alone(tools: Mapping[str, Result]) -> float | None:
    """Return adc's time for the gradient alone, divided by that of its forward code."""
    own, forward = tools.get(OWN), tools.get(FORWARD[0])
    if own is None or own.gradient is None or forward is None or forward.median is None:
        return None
    return own.gradient / forward.median


def geometric_mean(numbers: Sequence[float]) -> float:
    """Return the geometric mean: that of ratios the other way round is one divided by it."""
    return math.exp(sum(map(math.log, numbers)) / len(numbers))


@dataclass(frozen=True)
class Mean:
    """adc's time divided by that of a tool, over the kernels that both have."""

    tool: str
    group: str
    kernels: int
    mean: float
    least: float
    most: float


def means(results: Sequence[Result]) -> list[Mean]:
    """Return the means for each tool, in the order of the results, group by group."""
    groups = {result.kernel: result.group for result in results}
    found = []
    for tool, of_kernels in ratios(results).items():
        for group in GROUPS:
            numbers = [ratio for kernel, ratio in of_kernels.items() if groups[kernel] == group]
            if numbers:
                mean = geometric_mean(numbers)
                found.append(Mean(tool, group, len(numbers), mean, min(numbers), max(numbers)))
    return found


# --- text -----------------------------------------------------------------------------------------

Rows = list[list[str]]


def summary(results: Sequence[Result]) -> tuple[Rows, Rows]:
    """Return two tables, each with its titles first: adc against tools, and against forward code.

    The second has the gradient alone, too, and the means of its columns.
    """
    against = [["adc divided by", "group", "kernels", "geometric mean", "least", "most"]]
    for mean in means(results):
        ratios = [_ratio(number) for number in (mean.mean, mean.least, mean.most)]
        against.append([mean.tool, mean.group, str(mean.kernels), *ratios])
    forward = [["adc", *(f"x {tool}" for tool in FORWARD), f"gradient alone, x {FORWARD[0]}"]]
    columns: list[list[float]] = [[] for _ in forward[0][1:]]
    for kernel, tools in by_kernel(results).items():
        if OWN not in tools:
            continue
        found = to_forward(tools)
        numbers = [*map(found.get, FORWARD), alone(tools)]
        for column, each in zip(columns, numbers, strict=True):
            column += [] if each is None else [each]
        forward.append([kernel, *("" if each is None else f"{each:.2f}" for each in numbers)])
    cells = [f"{geometric_mean(column):.2f}" if column else "" for column in columns]
    forward.append(["geometric mean", *cells])
    return against, forward


def rich_table(rows: Rows, title: str) -> Table:
    """Return a table of rows of which the first has the titles; all but one column are numbers."""
    table = Table(title=title, title_justify="left")
    for k, name in enumerate(rows[0]):
        table.add_column(name, justify="right" if k else "left")
    for row in rows[1:]:
        table.add_row(*row)
    return table


def markdown_table(rows: Rows) -> str:
    """Return a table of rows of which the first has the titles."""
    rule = ["---", *["---:"] * (len(rows[0]) - 1)]
    return "\n".join(f"| {' | '.join(row)} |" for row in [rows[0], rule, *rows[1:]])


def markdown(results: Sequence[Result]) -> str:
    """Return the tables of a README: milliseconds by kernel and tool, and the summary."""
    kernels = by_kernel(results)
    order = [*FORWARD[::-1], *dict.fromkeys(result.tool for result in results)]
    present = {tool for tools in kernels.values() for tool in tools}
    tools = [tool for tool in dict.fromkeys(order) if tool in present]
    rows = [["kernel, ms", *tools]]
    for kernel, found in kernels.items():
        cells = [_milliseconds(found[tool].median) if tool in found else "" for tool in tools]
        if OWN in found:
            own = tools.index(OWN)
            cells[own] = f"**{cells[own]}**"
        rows.append([kernel, *cells])
    return "\n\n".join(map(markdown_table, (rows, *summary(results)))) + "\n"


def _ratio(number: float) -> str:
    return f"{number:.2f}" if number >= 0.1 else f"{number:.2g}"


def _milliseconds(seconds: float | None) -> str:
    """Return three digits, or all in front of the point."""
    if seconds is None:
        return ""
    number = 1e3 * seconds
    return f"{number:.{max(2 - math.floor(math.log10(number)), 0)}f}"


# --- a picture ------------------------------------------------------------------------------------


def check_chart() -> None:
    """Raise ImportError if charts cannot be drawn."""
    _matplotlib()


def _matplotlib() -> tuple[Any, Any]:
    """Return what figures are made with: without the state of pyplot, and without a screen."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    return Figure, FigureCanvasAgg


# By the beginning of a tool's name: variants of a tool share a colour and differ by their marks.
_COLOURS = {
    "adc": "tab:blue", "primal": "black", "numpy": "grey", "as": "tab:olive", "hand": "tab:brown",
    "jax": "tab:orange", "torch": "tab:red", "autograd": "tab:purple", "enzyme": "tab:green",
}  # fmt: skip
_MARKS = {"loops": "s", "arrays": "o", "library": "^", "forward": "<"}


def chart(results: Sequence[Result], path: Path) -> None:
    """Write a picture of all tools' times as multiples of adc's, one line of marks a kernel."""
    figure_of, canvas_of = _matplotlib()
    kernels = {name: tools for name, tools in by_kernel(results).items() if OWN in tools}
    figure = figure_of(figsize=(8.0, 1.6 + 0.42 * len(kernels)), layout="constrained")
    canvas_of(figure)
    axes = figure.add_subplot()
    places: dict[str, tuple[list[float], list[int]]] = {}
    for k, tools in enumerate(kernels.values()):
        own = tools[OWN].median
        for tool, result in tools.items():
            if tool != OWN and result.median is not None and own is not None:
                at = places.setdefault(tool, ([], []))
                at[0].append(result.median / own)
                at[1].append(k)
    for tool, (multiples, rows) in places.items():
        first, *variant = tool.split()
        axes.plot(
            multiples, rows, linestyle="", label=tool, alpha=0.85, markersize=7,
            marker=_MARKS.get(variant[-1] if variant else "", "D"),
            color=_COLOURS.get(first, "tab:cyan"),
        )  # fmt: skip
    axes.axvline(1.0, color=_COLOURS[OWN], linewidth=1.5, label="adc")
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.set_yticks(range(len(kernels)), list(kernels))
    axes.set_ylim(len(kernels) - 0.5, -0.5)  # the first on top
    axes.set_xlabel("time of a call divided by adc's (right of the line: slower than adc)")
    axes.grid(alpha=0.3)
    figure.legend(loc="outside right upper", fontsize="small")
    figure.savefig(path, dpi=150)
