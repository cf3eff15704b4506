"""The formula of how much memory a call uses, as data: its numbers, and where its names come from.

Names are those of the IR, with the name of the function in front, ``f: x``, where that is not the
one that the formula is of.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adc.ir.analysis.sizes.formulas import ZERO, Known, Sum, dims, is_bound
from adc.ir.core import Function, While, walk
from adc.ir.functions import primal_names
from adc.ir.types import Array
from adc.ir.walk import inner_values


@dataclass(frozen=True)
class Peak:
    """The most bytes that a call holds.

    Attributes
    ----------
    size : Sum
        What it takes from the workspace and the tapes.
    own : Sum
        The arrays that own their memory.
    names : tuple of (name, position, axis)
        Which names are sizes of arguments, or, where the axis is -1, integer arguments.
    lines : tuple of (name, line)
        Where the other names come from: ``W0.n`` are the iterations of a `while` loop, ``x.dim0``
        is a size of the array ``x``.
    bound : bool
        Whether a call may need less, even if all names are known.
    functions : tuple of (name, formula)
        What the calls of recursive functions need.
    tapes : tuple of (dtype, formula)
        What a call takes from each tape.
    disk : Sum
        What all tapes take where they are in files; that is no part of `size`.
    """

    size: Sum
    own: Sum
    names: tuple[tuple[str, int, int], ...]
    lines: tuple[tuple[str, int], ...] = ()
    bound: bool = False
    functions: tuple[tuple[str, Sum], ...] = ()
    tapes: tuple[tuple[str, Sum], ...] = ()
    disk: Sum = ZERO

    def __str__(self) -> str:
        whole = self.size + self.own
        return f"{'at most ' if self.bound or 'if' in whole.kinds else ''}{whole}"

    def legend(self) -> str:
        """Return where the names come from that no argument tells, "" if there are none."""
        return ", ".join(f"{name} of line {line}" for name, line in self.lines)

    @staticmethod
    def from_data(data: Any) -> Peak:
        """Return what `dataclasses.asdict` made plain."""
        return Peak(
            Sum.from_data(data["size"]),
            Sum.from_data(data["own"]),
            tuple((name, position, axis) for name, position, axis in data["names"]),
            tuple((name, line) for name, line in data["lines"]),
            data["bound"],
            tuple((name, Sum.from_data(size)) for name, size in data["functions"]),
            tuple((dtype, Sum.from_data(size)) for dtype, size in data["tapes"]),
            Sum.from_data(data["disk"]),
        )

    def at(
        self, arguments: Sequence[object], counts: Mapping[str, int] | None = None
    ) -> int | None:
        """Return the number for the arguments of a kernel, None if it is known only at run time.

        `counts` are numbers to take for names that no argument tells, as ``{"W0.n": 10}``.
        """
        return (self.size + self.own).value(Known(self._names(arguments, counts)))

    def tapes_at(self, arguments: Sequence[object]) -> dict[str, int]:
        """Return the bytes that a call needs of each tape, where they are known."""
        known = Known(self._names(arguments))
        found = {dtype: size.value(known) for dtype, size in self.tapes}
        return {dtype: size for dtype, size in found.items() if size is not None}

    def _names(
        self, arguments: Sequence[object], counts: Mapping[str, int] | None = None
    ) -> dict[str, int]:
        found: dict[str, int] = dict(counts or {})
        for name, position, axis in self.names:
            if position < len(arguments):  # cotangents, which follow, are as large as results
                argument: Any = arguments[position]
                found[name] = int(argument.shape[axis] if axis >= 0 else argument)
        return found

    def at_sizes(
        self, sizes: Mapping[str, int | Sequence[int]], params: Sequence[str]
    ) -> int | None:
        """Return the number for integers and shapes, by the names of the parameters."""
        found: dict[str, int] = {}
        for name, position, axis in self.names:
            size = sizes[params[position]]
            found[name] = size if isinstance(size, int) else size[axis]
        return (self.size + self.own).value(Known(found))


def formula(
    fn: Function,
    size: Sum,
    own: Sum = ZERO,
    bound: bool = False,
    functions: tuple[tuple[str, Sum], ...] = (),
    tapes: tuple[tuple[str, Sum], ...] = (),
    disk: Sum = ZERO,
) -> Peak:
    """Return bytes that can be told from the arguments of a function."""
    names: dict[str, tuple[int, int]] = {}
    places = {param.name: k for k, param in enumerate(fn.params)}
    bases = primal_names(fn)
    for param in fn.params:
        # A call says how large a tangent is by what it is the tangent of.
        position = places[bases.get(param.name, param.name)]
        if isinstance(param.type, Array):
            sizes = dims(param.name, param.type)
            names.update((name, (position, axis)) for axis, name in enumerate(sizes))
        elif param.type.kind in "iu":
            names[param.name] = (position, -1)
    whole = size + own
    used = tuple((n, *at) for n, at in names.items() if n in whole.names | disk.names)
    lines = _lines(fn, whole.free - names.keys())
    bound = bound or is_bound(whole)
    return Peak(size, own, used, lines, bound, functions, tapes, disk)


def _lines(fn: Function, names: frozenset[str]) -> tuple[tuple[str, int], ...]:
    """Return the lines of the source where names come from that no argument tells."""
    found: dict[str, int] = {}
    for each in (fn, *fn.callees):
        prefix = "" if each is fn else f"{each.name}: "
        for stmt in walk(each.body):
            if stmt.loc is None:
                continue
            if isinstance(stmt, While):
                found[f"{prefix}{stmt.label}.n"] = stmt.loc.line
            for value in (*inner_values(stmt), *stmt.results):
                found[prefix + value.name] = stmt.loc.line
                for name in dims(prefix + value.name, value.type):
                    found.setdefault(name, stmt.loc.line)
    return tuple((name, found[name]) for name in sorted(names & found.keys()))
