"""Registers, spills and local memory of the kernels: `python -m tests.bench.cuda.registers`.

The kernels of value and gradient of every program of `tests.bench.cuda.programs`, those that every
program may launch, and the ones written by hand are compiled as a launch would compile them, and
CUDA's assembler says what a thread of each takes. No GPU is needed, only the wheel of CUDA's
compiler (`pip install 'numba-cuda[cu12]'`). All of them for all capabilities are recorded in
`CUDA.md`. The exit status is 1 if an elementwise, stencil or reduction kernel spills.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from adc.backend.cuda import device
from adc.backend.cuda.api import ptx, simulated
from adc.ir.errors import AdcError
from adc.ir.types import Array, Scalar, Type
from tests.bench.cuda import hand as cuda_hand
from tests.bench.cuda.programs import ELEMENTWISE, OTHER, PROGRAMS, REDUCTION, STENCIL, Program
from tests.bench.cuda.report import record
from tests.bench.report import markdown_table, rich_table
from tests.oracle.cuda_ptx import CAPABILITIES, gradient, numba_type

RUNTIME, HAND = "runtime", "by hand"
KINDS = (ELEMENTWISE, STENCIL, REDUCTION, RUNTIME, HAND, OTHER)
# Whose kernels must not spill.
STRICT = (ELEMENTWISE, STENCIL, REDUCTION, RUNTIME)


@dataclass(frozen=True)
class Usage:
    """What a thread takes, in bytes but for the registers; the shared memory is that of a block."""

    registers: int
    stack: int
    stores: int
    loads: int
    shared: int

    @property
    def spills(self) -> bool:
        return self.stores + self.loads > 0


def read(report: str) -> Usage:
    """Return what the assembler reports (``-v``) of a kernel and the functions that it calls.

    >>> read('''ptxas info    : Function properties for kernel
    ...     432 bytes stack frame, 504 bytes spill stores, 584 bytes spill loads
    ... ptxas info    : Used 24 registers, used 1 barriers, 2048 bytes smem, 936 bytes cmem[0]''')
    Usage(registers=24, stack=432, stores=504, loads=584, shared=2048)
    """
    frames = re.findall(
        r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", report
    )
    stacks, stores, loads = zip(*(map(int, frame) for frame in frames), strict=True)
    used = re.findall(r"Used (\d+) registers(.*)", report)
    shared = re.findall(r"(\d+) bytes smem", report)
    deepest = re.findall(r"(\d+) bytes cumulative stack size", report)
    return Usage(
        max(int(count) for count, _ in used),
        max([*stacks, *map(int, deepest)]),
        sum(stores),
        sum(loads),
        max(map(int, shared), default=0),
    )


def assembler() -> Path:
    """Return CUDA's assembler, that of the wheel: another one allocates otherwise."""
    try:
        folders = list(importlib.import_module("nvidia").__path__)
    except ImportError:
        folders = []
    for folder in folders:
        for name in ("ptxas", "ptxas.exe"):
            if (found := Path(folder) / "cuda_nvcc" / "bin" / name).exists():
                return found
    sys.exit("CUDA's assembler is not there: pip install 'numba-cuda[cu12]'")


def assemble(text: str, capability: tuple[int, int], folder: Path) -> Usage:
    """Return what a kernel takes, from its PTX."""
    source = folder / "kernel.ptx"
    source.write_text(text)
    command = [str(assembler()), "-v", f"-arch=sm_{capability[0]}{capability[1]}", str(source)]
    done = subprocess.run(
        [*command, "-o", str(folder / "kernel.cubin")], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(done.stdout + done.stderr)
    return read(done.stdout + done.stderr)


# --- kernels --------------------------------------------------------------------------------------

Compiled = tuple[str, Any, tuple[Any, ...]]  # what it is called, itself, and its Numba types


def of_program(program: Program) -> Iterator[Compiled]:
    """Return the kernels of value and gradient, for arguments that lie in rows."""
    kernel = program.kernel
    emitted, module = gradient(kernel.loss, kernel.arguments(kernel.tiny), kernel.wrt)
    for each in emitted.kernels:
        types = tuple(numba_type(ty, "C") for ty in each.params)
        name = each.name.removeprefix(f"{emitted.name}_")
        yield f"{program.name} {name}", getattr(module, each.name), types


def of_runtime() -> Iterator[Compiled]:
    """Return kernels that every program may launch."""
    failed, index, number = Array("i64", 1), Scalar("i64"), Array("f64", 1)

    def made(name: str, kernel: Any, *types: Type) -> Compiled:
        return name, kernel, tuple(numba_type(ty, "C") for ty in types)

    yield made("fill", device._fill, failed, index, number, index, number)
    for rank in (1, 2, 3):
        array = Array("f64", rank)
        yield made(
            f"copy, rank {rank}", device._copying(rank), failed, *[index] * rank, array, array
        )
    rows = Array("f64", 2)
    for how in ("sum", "maximum"):
        parts, whole = device._combining(how, np.float64)
        yield made(f"{how} of blocks", parts, failed, index, rows, rows)
        types = (failed, index, number, number, index, number, index)
        yield made(f"{how} of those", whole, *types)


def by_hand() -> Iterator[Compiled]:
    """Return the kernels that those of the stencils are timed beside."""
    row, plane, space = (numba_type(Array("f64", rank), "C") for rank in (1, 2, 3))
    yield "sum and copy", cuda_hand._weigh, (row,) * 4
    yield "five points", cuda_hand._five, (plane,) * 2
    yield "five points, back", cuda_hand._five_back, (plane,) * 2
    yield "seven points", cuda_hand._seven, (space,) * 2
    yield "seven points, back", cuda_hand._seven_back, (space,) * 2


def groups(kinds: Sequence[str], names: Sequence[str]) -> Iterator[tuple[str, str, list[Compiled]]]:
    """Return kinds, programs, and their kernels."""
    for kind in kinds:
        if kind == RUNTIME and not names:
            yield kind, kind, list(of_runtime())
        if kind == HAND and not names:
            yield kind, kind, list(by_hand())
        for program in PROGRAMS.values():
            if program.kind == kind and (not names or program.name in names):
                try:
                    yield kind, program.name, list(of_program(program))
                except AdcError as error:
                    print(f"{program.name}: {error}")


# --- what is said of them -------------------------------------------------------------------------

Measured = tuple[str, list[Usage]]  # a kernel, for each capability
Found = dict[str, list[Measured]]  # by kind
TITLES = ["kernel", "registers", "stack", "spilled stores", "spilled loads", "shared"]


def measure(
    kinds: Sequence[str], names: Sequence[str], capabilities: Sequence[tuple[int, int]]
) -> Found:
    found: Found = {}
    with tempfile.TemporaryDirectory() as folder:
        for kind, _, kernels in groups(kinds, names):
            for name, kernel, types in kernels:
                usages = [
                    assemble(ptx(kernel, types, capability), capability, Path(folder))
                    for capability in capabilities
                ]
                found.setdefault(kind, []).append((name, usages))
    return found


def joined(numbers: Sequence[int]) -> str:
    """Return one number for all capabilities, or each.

    >>> joined([32, 32, 32]), joined([30, 32, 32])
    ('32', '30, 32, 32')
    """
    return ", ".join(map(str, numbers if len(set(numbers)) > 1 else numbers[:1]))


def rows(kernels: Sequence[Measured]) -> list[list[str]]:
    """Return a table, its titles first."""
    fields = ("registers", "stack", "stores", "loads", "shared")
    return [
        TITLES,
        *(
            [name, *(joined([getattr(usage, field) for usage in usages]) for field in fields)]
            for name, usages in kernels
        ),
    ]


def summary(found: Found) -> str:
    """Say what is worst."""
    lines = []
    for kind, kernels in found.items():
        most = max((max(u.registers for u in usages), name) for name, usages in kernels)
        spilling = [name for name, usages in kernels if any(u.spills for u in usages)]
        stacks = [name for name, usages in kernels if any(u.stack for u in usages)]
        said = f"{kind}: {len(kernels)} kernels, at most {most[0]} registers ({most[1]}); "
        said += f"spilled: {', '.join(spilling)}" if spilling else "no spills"
        lines.append(said + f"; local memory: {', '.join(stacks) or 'none'}")
    return "\n".join(f"- {line}" for line in lines)


def versions() -> str:
    said = subprocess.run(
        [str(assembler()), "--version"], capture_output=True, text=True, check=True
    )
    release = re.findall(r"V([\d.]+)", said.stdout)
    numba = importlib.metadata.version("numba-cuda")
    return f"ptxas {release[0] if release else 'unknown'}, numba-cuda {numba}"


def markdown(found: Found) -> str:
    targets = ", ".join(f"sm_{a}{b}" for a, b in CAPABILITIES)
    text = [
        f"`python -m tests.bench.cuda.registers`: {versions()}; value and gradient in f64,",
        f"arguments in rows. A number for each of {targets} where they differ. Stack and",
        "spills are bytes of a thread's local memory, shared memory is that of a block. The slow",
        "way of `sin` and `cos`, beyond 2^31, is the library's, and keeps 40 bytes there.",
        "",
        summary(found),
    ]
    for kind, kernels in found.items():
        shown = kernels if kind != OTHER else worst(kernels)
        text += ["", f"### {kind.capitalize()}", "", markdown_table(rows(shown))]
    return "\n".join(text)


def worst(kernels: Sequence[Measured]) -> list[Measured]:
    """Return one line for every program, with the most that a kernel of its takes."""
    programs: dict[str, list[list[Usage]]] = {}
    for name, usages in kernels:
        programs.setdefault(name.partition(" ")[0], []).append(usages)
    found = []
    for name, each in programs.items():
        most = [
            Usage(*(max(column) for column in zip(*map(astuple, usages), strict=True)))
            for usages in zip(*each, strict=True)
        ]
        found.append((f"{name}, the most of {len(each)}", most))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.cuda.registers", description=__doc__
    )
    parser.add_argument("--only", action="append", choices=PROGRAMS, default=[], help="this one")
    parser.add_argument("--kind", action="append", choices=KINDS, help="of these kernels")
    choices = {f"{a}{b}": (a, b) for a, b in CAPABILITIES}
    parser.add_argument("--capability", action="append", choices=choices, help="for this one")
    options = parser.parse_args()
    wanted = [choices[name] for name in options.capability or choices]
    if simulated:
        sys.exit("Numba's simulator compiles nothing: unset NUMBA_ENABLE_CUDASIM")
    assembler()
    found = measure(options.kind or KINDS, options.only, wanted)
    console = Console() if sys.stdout.isatty() else Console(width=120)
    for kind, kernels in found.items():
        console.print(rich_table(rows(kernels), kind))
    print(summary(found))
    if not (options.only or options.kind or options.capability):
        record("Registers", markdown(found))
    spilled = any(
        usage.spills for kind in STRICT for _, usages in found.get(kind, []) for usage in usages
    )
    return int(spilled)


if __name__ == "__main__":
    sys.exit(main())
