"""Time against memory: the plans for a series of budgets, and a plot of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adc.ir.errors import MissingPackageError, installing


@dataclass(frozen=True)
class Point:
    """What a budget gives.

    Attributes
    ----------
    budget, peak : int
        Bytes that may be held, and that are.
    predicted, bound : float
        Seconds of a call, and the least that any plan within the budget takes, both by the model.
    measured : float
        Seconds of a call.
    """

    budget: int
    peak: int
    predicted: float
    bound: float
    measured: float


def check() -> None:
    """Raise MissingPackageError if the package matplotlib is not installed."""
    _matplotlib()


def _matplotlib() -> tuple[Any, Any]:
    """Return what figures are made with: without the state of pyplot, and without a screen."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingPackageError(
            "curves need the package matplotlib, which is not installed",
            None,
            installing("plot"),
        ) from None
    return Figure, FigureCanvasAgg


def draw(points: Sequence[Point], path: Path) -> None:
    """Write a picture of a curve in the format that the name of the file says.

    Raises
    ------
    MissingPackageError
        If the package matplotlib is not installed.
    """
    figure_of, canvas_of = _matplotlib()
    figure = figure_of(figsize=(6.4, 4.0), layout="constrained")
    canvas_of(figure)
    axes = figure.add_subplot()
    peaks = [point.peak / 1e6 for point in points]
    axes.plot(peaks, [1e3 * point.measured for point in points], "o-", label="measured")
    axes.plot(peaks, [1e3 * point.predicted for point in points], "s--", label="predicted")
    budgets = [point.budget / 1e6 for point in points]
    axes.plot(budgets, [1e3 * point.bound for point in points], "k:", label="lower bound (model)")
    axes.set_xlabel("peak of a call, MB")
    axes.set_ylabel("time of a call, ms")
    axes.set_ylim(bottom=0.0)
    axes.legend()
    axes.grid(alpha=0.3)
    figure.savefig(path)


__all__ = ["Point", "check", "draw"]
