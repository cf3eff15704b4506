"""Options that commands share: a function, its arguments, and how its derivative is compiled."""

from __future__ import annotations

import argparse
from typing import Any

from adc.options import POLICIES, TARGETS

# How a derivative is compiled; the names are those of `adc.grad`.
COMPILED = ("remat", "memory", "offload", "parallel", "target")


def add_function(command: argparse.ArgumentParser, *, optional: bool = False) -> None:
    """Add a function, its arguments, and how its derivative is compiled."""
    command.add_argument(
        "function",
        metavar="FILE.py:FUNCTION",
        nargs="?" if optional else None,
        help="the function to inspect",
    )
    given = command.add_mutually_exclusive_group()
    given.add_argument("--args", metavar="TYPES", help='types of the arguments: "f64[:], i64"')
    given.add_argument(
        "--example", metavar="NAME", help="a function that returns a tuple of arguments"
    )
    command.add_argument(
        "--argnums",
        type=_numbers,
        metavar="N[,N]",
        help="positions of the arguments to differentiate (default 0)",
    )
    compiled = command.add_argument_group("how it is compiled, as options of adc.grad")
    compiled.add_argument(
        "--target",
        choices=TARGETS,
        help="compile for the CPU, for a GPU (cuda), or for CPython (default: cpu)",
    )
    compiled.add_argument(
        "--parallel",
        nargs="?",
        const=True,
        type=_threads,
        metavar="N",
        help="let N threads share loops; without N, as many as there are cores",
    )
    compiled.add_argument(
        "--remat",
        choices=POLICIES,
        help="store or recompute all values (default: auto, the fastest)",
    )
    compiled.add_argument(
        "--memory", metavar="SIZE", help='limit the memory of a call, for instance "64 MB"'
    )
    compiled.add_argument(
        "--offload",
        choices=("disk", "host"),
        help="keep the tapes on the disk; those of a GPU on the host",
    )


def add_line(command: argparse.ArgumentParser) -> None:
    """Add the choice of one line of the user's file."""
    command.add_argument(
        "--line",
        type=int,
        metavar="N",
        help="show only what comes from line N of the file, and the loops and branches around it",
    )


def compiled(args: argparse.Namespace) -> dict[str, Any]:
    """Return the given options of how a derivative is compiled.

    >>> compiled(argparse.Namespace(memory="1 MB", remat=None))
    {'memory': '1 MB'}
    """
    found = {name: getattr(args, name, None) for name in COMPILED}
    return {name: value for name, value in found.items() if value is not None}


def _numbers(text: str) -> int | tuple[int, ...]:
    numbers = tuple([int(part) for part in text.split(",")])
    return numbers if "," in text else numbers[0]


def _threads(text: str) -> int:
    """Return a number of threads.

    >>> _threads("4")
    4
    """
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a number of threads; where none is given, --parallel comes last"
        )
    return int(text)


__all__ = ["COMPILED", "add_function", "add_line", "compiled"]
