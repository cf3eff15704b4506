"""GradBench's objectives beside C++ by hand: `python -m tests.bench.gradbench [--only NAME]`.

Both run in one process, in turns, on one core, timed by the processor time that the process takes:
what else the machine does hits both alike. What is printed is the median of the ratios of calls
that follow each other.
"""

import argparse
import ctypes
import functools
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import adc
from tests.bench.gradbench import programs as programs

Arguments = tuple[Any, ...]
Size = tuple[int, ...]
SOURCE = Path(__file__).with_name("gradbench.cpp")
FLAGS = ("-O3", "-march=native", "-std=c++17", "-shared", "-fPIC")


@functools.cache
def library() -> ctypes.CDLL:
    """Compile the functions by hand, with the compiler of the system ($CXX, or c++)."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "gradbench.so")
        compiler = os.environ.get("CXX", "c++")
        subprocess.run([compiler, *FLAGS, "-o", path, str(SOURCE)], check=True)
        return ctypes.CDLL(path)


class Hand(ctypes.Structure):
    """The model of a hand and what was measured, as `struct Hand` in C++."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in ("bones", "vertices", "measured")),
        *(
            (name, ctypes.c_void_p)
            for name in ("parents", "relatives", "inverses", "base", "weights", "wanted", "points")
        ),
    )


def pointers(*arrays: Any) -> list[ctypes.c_void_p]:
    return [ctypes.c_void_p(array.ctypes.data) for array in arrays]


def lengths(*sizes: int) -> list[ctypes.c_int64]:
    return list(map(ctypes.c_int64, sizes))


# --- calls of C++: what takes no time is done beforehand ------------------------------------------


def by_hand(name: str, *args: Any) -> Callable[[], Any]:
    """Return a call of a function that returns a number."""
    function = getattr(library(), name)
    function.restype = ctypes.c_double
    return lambda: function(*args)


def determinant_by_hand(a: Any) -> Callable[[], Any]:
    return by_hand("determinant", *pointers(a), *lengths(len(a)))


def determinant_gradient_by_hand(a: Any) -> Callable[[], Any]:
    found = np.empty_like(a)
    call = by_hand("determinant_d", *pointers(a), *lengths(len(a)), *pointers(found))
    return lambda: (call(), found)


def bundle_by_hand(*args: Any, name: str = "bundle", shape: Size = (2,)) -> Callable[[], Any]:
    n = len(args[3])
    found, rest = np.empty((n, *shape)), np.empty(n)
    call = by_hand(name, *pointers(*args), *lengths(n), *pointers(found, rest))

    def run() -> Any:
        call()
        return found, rest

    return run


def kmeans_by_hand(centroids: Any, points: Any) -> Callable[[], Any]:
    return by_hand("kmeans", *pointers(centroids, points), *lengths(len(centroids), *points.shape))


def kmeans_direction_by_hand(centroids: Any, points: Any) -> Callable[[], Any]:
    found = np.empty_like(centroids)
    sizes = lengths(len(centroids), *points.shape)
    call = by_hand("kmeans_d", *pointers(centroids, points), *sizes, *pointers(found))

    def run() -> Any:
        call()
        return found

    return run


def hand_by_hand(theta: Any, *model: Any, name: str = "hand", by: Size = ()) -> Callable[[], Any]:
    parents, _, _, base, _, wanted, _ = model
    given = Hand(len(parents), base.shape[1], len(wanted), *(each.ctypes.data for each in model))
    found = np.empty((3, len(wanted), *by))
    call = by_hand(name, *pointers(theta), ctypes.byref(given), *pointers(found))

    def run() -> Any:
        call()
        return found

    return run


# --- arguments ------------------------------------------------------------------------------------


def matrix(rng: np.random.Generator, size: Size) -> Arguments:
    return (rng.standard_normal(size),)


def observations(rng: np.random.Generator, size: Size) -> Arguments:
    """Draw cameras and points, and observations of them in turn."""
    cameras, points, n = size
    features = rng.standard_normal((n, 2))
    index = np.arange(n)
    observed = np.stack([index % cameras, index % points], axis=1)
    draw = rng.standard_normal
    return draw((cameras, 11)), draw((points, 3)), draw(n), observed, features


def clusters(rng: np.random.Generator, size: Size) -> Arguments:
    """Draw points; the centroids are some of them, so that no cluster is empty."""
    k, n, d = size
    points = rng.random((n, d))
    return points[-k:].copy(), points


def model(rng: np.random.Generator, size: Size) -> Arguments:
    """Draw a hand: wrist and forearm, and five fingers of four bones each."""
    vertices, measured = size
    parents = np.array([-1, 0, *(1 if k % 4 == 0 else k + 1 for k in range(20))])
    bones = len(parents)
    relatives, inverses = 0.5 * rng.standard_normal((2, bones, 4, 4))
    for each in (relatives, inverses):
        each[:, 3] = [0.0, 0.0, 0.0, 1.0]
    base = rng.standard_normal((4, vertices))
    base[3] = 1.0
    weights = rng.random((bones, vertices)) / bones
    wanted = rng.integers(0, vertices, measured)
    points = rng.standard_normal((3, measured))
    return rng.standard_normal(26), parents, relatives, inverses, base, weights, wanted, points


@dataclass(frozen=True)
class Objective:
    """What is computed from arguments of a size, by adc and by hand; and a size for tests.

    `python` is the plain function where there is one: derivatives have none.
    """

    call: Callable[..., Any]
    hand: Callable[..., Callable[[], Any]]
    draw: Callable[[np.random.Generator, Size], Arguments]
    size: Size
    tiny: Size
    python: Callable[..., Any] | None = None

    def arguments(self, size: Size) -> Arguments:
        return self.draw(np.random.default_rng(0), size)


def primal(python: Callable[..., Any], hand: Any, draw: Any, size: Size, tiny: Size) -> Objective:
    return Objective(adc.jit(python), hand, draw, size, tiny, python)


CAMERAS, FEW_CAMERAS = (21, 5000, 20_000), (3, 5, 8)
POINTS, FEW_POINTS = (100, 10_000, 8), (3, 10, 4)
VERTICES, FEW_VERTICES = (544, 100), (7, 5)
OBJECTIVES = {
    "det": primal(programs.determinant, determinant_by_hand, matrix, (8, 8), (4, 4)),
    "det gradient": Objective(
        adc.value_and_grad(programs.determinant),
        determinant_gradient_by_hand,
        matrix,
        (8, 8),
        (4, 4),
    ),
    "ba": primal(programs.bundle, bundle_by_hand, observations, CAMERAS, FEW_CAMERAS),
    "ba jacobian": Objective(
        adc.jit(programs.bundle_jacobian),
        functools.partial(bundle_by_hand, name="bundle_d", shape=(2, 15)),
        observations,
        CAMERAS,
        FEW_CAMERAS,
    ),
    # C++ that does what adc does: a pass for each row of the Jacobian, rows share nothing.
    "ba jacobian, C++ by rows": Objective(
        adc.jit(programs.bundle_jacobian),
        functools.partial(bundle_by_hand, name="bundle_rows", shape=(2, 15)),
        observations,
        CAMERAS,
        FEW_CAMERAS,
    ),
    "kmeans": primal(programs.kmeans, kmeans_by_hand, clusters, POINTS, FEW_POINTS),
    "kmeans direction": Objective(
        programs.kmeans_direction,
        kmeans_direction_by_hand,
        clusters,
        POINTS,
        FEW_POINTS,
    ),
    "ht": primal(programs.hand, hand_by_hand, model, VERTICES, FEW_VERTICES),
    "ht jacobian": Objective(
        adc.jacfwd(programs.hand),
        functools.partial(hand_by_hand, name="hand_d", by=(26,)),
        model,
        VERTICES,
        FEW_VERTICES,
    ),
    # C++ that does what adc does: the program does not say which bones an angle leaves alone.
    "ht jacobian, C++ moves all bones": Objective(
        adc.jacfwd(programs.hand),
        functools.partial(hand_by_hand, name="hand_dense", by=(26,)),
        model,
        VERTICES,
        FEW_VERTICES,
    ),
}


# --- measuring ------------------------------------------------------------------------------------


def seconds(call: Callable[[], Any], repeat: int) -> float:
    """Return the processor time of a call, the mean of some."""
    start = time.process_time()
    for _ in range(repeat):
        call()
    return (time.process_time() - start) / repeat


def measured(objective: Objective, rounds: int) -> tuple[float, float, float]:
    """Return the median times of adc and of C++, and the median ratio of neighbouring calls."""
    args = objective.arguments(objective.size)
    calls: list[Callable[[], Any]] = [
        functools.partial(objective.call, *args),
        objective.hand(*args),
    ]
    repeat = []
    for call in calls:
        call()
        repeat.append(max(1, int(0.02 / max(seconds(call, 3), 1e-7))))
    spent = [tuple(map(seconds, calls, repeat)) for _ in range(rounds)]
    ours, theirs = zip(*spent, strict=True)
    ratio = statistics.median(a / b for a, b in spent)
    return statistics.median(ours), statistics.median(theirs), ratio


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.gradbench", description=__doc__)
    parser.add_argument("--only", action="append", choices=OBJECTIVES, help="this one")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    table = Table(title="GradBench, one core, processor time", title_justify="left")
    for title in ("objective", "size", "adc ms", "C++ ms", "adc / C++"):
        table.add_column(title, justify="left" if title == "objective" else "right", no_wrap=True)
    for name in options.only or OBJECTIVES:
        objective = OBJECTIVES[name]
        ours, theirs, ratio = measured(objective, options.rounds)
        size = " x ".join(map(str, objective.size))
        table.add_row(name, size, f"{1e3 * ours:.3f}", f"{1e3 * theirs:.3f}", f"{ratio:.2f}")
    console = Console() if sys.stdout.isatty() else Console(width=100)
    console.print(table)


if __name__ == "__main__":
    main()
