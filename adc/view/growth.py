"""Where memory goes as it grows: the peak as a formula of sizes, its parts and their exponents."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from adc.ir.analysis.sizes.formulas import Atom, Known, Sum
from adc.ir.analysis.sizes.formulas import Function as Formula
from adc.ir.analysis.sizes.symbols import Symbols
from adc.ir.core import Apply, Check, Function, Value, walk
from adc.ir.types import Array
from adc.passes.memory.peak.formula import formula
from adc.passes.remat.plan import Plan

# A page evaluates these; others need the schedules of `ir.schedule`.
EVALUATED = frozenset(
    ("max", "min", "//", "range", "count", "rounded", "if", "upto", "call", "total", "most")
)
# Others are evaluated here, at so many half powers of two of what a size is: from, to.
SAMPLED = (-8, 20)
# So many sizes have samples: those that the formula grows with fastest.
_MOST_SAMPLED = 8
# Schedules of more steps than these, and than so many leaves, are not listed to find their memory,
# which hardly grows any more.
_MOST_STEPS, _MOST_LEAVES = 2_000, 128
# The functions of formulas that list a schedule.
_LISTED = frozenset(("sweeps", "rest", "tape", "depth"))
# Longer formulas are not written out.
_WIDEST = 400


def growth(
    fn: Function, plans: Mapping[str, Plan], wrt: Collection[str], arguments: Sequence[Any]
) -> dict[str, Any]:
    """Return the formulas of memory, by the policy of the plan, and the sizes in them.

    Parameters
    ----------
    fn : Function
        The derivative, before `remat`.
    plans : mapping
        Plans, by policy or budget. The formula of one for a budget holds for its code, whatever
        the sizes are: adc makes another plan for other sizes.
    wrt : collection of str
        The names of the parameters that are differentiated.
    arguments : sequence
        Those of the run, which tell the sizes.
    """
    symbols = Symbols(fn)

    def bytes_of(values: Sequence[Any]) -> Sum:
        return sum((symbols.bytes(v) for v in values if isinstance(v.type, Array)), start=Sum())

    chosen = [param for param in fn.params if param.name in wrt]
    others = [param for param in fn.params if param.name not in wrt]
    own = {
        "parameters": bytes_of(chosen),
        "arguments": bytes_of(others),
        "gradients": bytes_of(list(dict.fromkeys(r for r in fn.results if isinstance(r, Value)))),
    }
    names: dict[str, int] = {}
    policies: dict[str, Any] = {}
    told = {policy: plan for policy, plan in plans.items() if plan.peak is not None}
    for plan in told.values():
        assert plan.peak is not None
        for size in (*own.values(), plan.peak.size + plan.peak.own):
            names |= _numbers(fn, size, arguments)
    groups = _equal(fn, sorted(names))
    for policy, plan in told.items():
        assert plan.peak is not None
        peak = plan.peak.size + plan.peak.own
        held = plan.held.size + plan.held.own if plan.held is not None else Sum()
        parts = {**own, "activations": held, "workspace": peak - held}
        names |= {name: k for name, k in _numbers(fn, held, arguments).items() if name not in names}
        policies[policy] = {
            "peak": _told(peak, names, groups),
            "text": _short(str(plan.peak)),
            "bytes": peak.value(Known(names)),
            "bound": str(plan.peak).startswith("at most"),
            "parts": [
                {"name": name, "formula": _told(size, names, groups), "text": _short(str(size)),
                 "bytes": size.value(Known(names))}
                for name, size in parts.items()
            ],
        }  # fmt: skip
    for found in policies.values():
        found["exponents"] = {}
    for policy, plan in told.items():
        assert plan.peak is not None
        size = plan.peak.size + plan.peak.own
        if size.kinds <= EVALUATED:  # a schedule keeps a budget, whatever the loop is
            policies[policy]["exponents"] = {
                group[0]: {
                    "peak": degree(size, frozenset(group)),
                    **{name: degree(each, frozenset(group)) for name, each in own.items()},
                    "activations": degree(
                        plan.held.size + plan.held.own if plan.held else Sum(), frozenset(group)
                    ),
                }
                for group in groups
            }
    return {
        "sizes": [
            {"name": group[0], "names": group, "value": names[group[0]], "label": _label(group)}
            for group in groups
        ],
        "policies": policies,
    }


def degree(size: Sum, names: frozenset[str]) -> int:
    """Return with which power a formula grows in some of its names, which grow together.

    >>> n, m = Sum.atom("n"), Sum.atom("m")
    >>> degree(n * n * m + n.max(m), frozenset({"n"})), degree(n * m, frozenset({"n", "m"}))
    (2, 2)
    """
    return max(
        [sum(_degree(atom, names) for atom in atoms) for atoms, count in size.terms if count],
        default=0,
    )


def _degree(atom: Atom, names: frozenset[str]) -> int:
    if isinstance(atom, str):
        return int(atom in names)
    args = [degree(arg, names) for arg in atom.args]
    match atom.kind:
        case "//":
            return max(args[0] - args[1], 0)
        case "total":
            inner = names | {atom.name} if args[0] else names
            return args[0] + degree(atom.args[1], inner)
        case "most":
            return degree(atom.args[1], names | {atom.name} if args[0] else names)
        case "min":
            return min(args)
        case "if":
            return max(args[1:])
        case "sweeps" | "depth":
            return 0
    return max(args, default=0)


def _numbers(fn: Function, size: Sum, arguments: Sequence[Any]) -> dict[str, int]:
    found: dict[str, int] = {}
    for name, position, axis in formula(fn, size).names:
        if position < len(arguments):
            argument = arguments[position]
            found[name] = int(argument.shape[axis] if axis >= 0 else argument)
    return found


def _equal(fn: Function, names: Sequence[str]) -> list[list[str]]:
    """Return the names in groups: the program checks that those of a group are equal."""
    group = {name: [name] for name in names}
    checked = {stmt.cond for stmt in walk(fn.body) if isinstance(stmt, Check)}
    dims: dict[str, str] = {}
    for stmt in walk(fn.body):
        if isinstance(stmt, Apply) and stmt.op.asks_shape:
            array = stmt.args[0]
            if isinstance(array, Value) and stmt.params:
                dims[stmt.result.name] = f"{array.name}.dim{stmt.params[0]}"
        if isinstance(stmt, Apply) and stmt.op.name == "eq" and stmt.result in checked:
            ends = [dims.get(a.name, a.name) for a in stmt.args if isinstance(a, Value)]
            if len(ends) == 2 and all(end in group for end in ends):
                one, other = group[ends[0]], group[ends[1]]
                if one is not other:
                    one += other
                    group.update(dict.fromkeys(other, one))
    found: list[list[str]] = []
    for name in names:
        if group[name] not in found:
            found.append(group[name])
    return found


def _label(names: Sequence[str]) -> str:
    """Return the names of sizes as users write them.

    >>> _label(["w.dim1", "b.dim0", "n"])
    'w.shape[1] = b.shape[0] = n'
    """
    shown = []
    for name in names[:3]:
        array, dot, axis = name.rpartition(".dim")
        shown.append(f"{array}.shape[{axis}]" if dot and axis.isdecimal() else name)
    return " = ".join(shown) + (" = …" if len(names) > 3 else "")


def _data(size: Sum) -> list[Any] | None:
    """Return a formula as a page evaluates it: terms of a number and factors; None if it cannot."""
    if not size.is_short() or not size.kinds <= EVALUATED:
        return None
    return [[count, [_atom(atom) for atom in atoms]] for atoms, count in size.terms]


class _Shortened(Known):
    """What names stand for, with schedules of many steps cut short.

    A schedule fills the memory that it has been made for with its first steps, so that more of them
    change little. To list all would take minutes.

    Attributes
    ----------
    cut : list of Function
        Those that were.
    """

    def __init__(self, names: Mapping[str, int], cut: list[Formula] | None = None) -> None:
        super().__init__(names)
        self.cut: list[Formula] = [] if cut is None else cut

    def number(self, made: Formula, upper: bool) -> int | None:
        if made.kind in _LISTED:
            steps, room, _, tape = (arg.value(self, upper) for arg in made.args[:4])
            if steps is not None and room is not None and tape is not None:
                most = max(_MOST_STEPS, _MOST_LEAVES * (room // max(tape, 1)))
                if steps > most:
                    self.cut.append(made)
                    made = Formula(made.kind, (Sum.number(most), *made.args[1:]))
        return super().number(made, upper)

    def iterations(self, loop: Formula) -> tuple[Iterable[Known], int] | None:
        found = super().iterations(loop)
        return found and ((_Shortened(each.names, self.cut) for each in found[0]), found[1])


def _told(size: Sum, names: Mapping[str, int], groups: Sequence[Sequence[str]]) -> Any:
    """Return a formula as a page evaluates it, else what it is here and where one size differs.

    The latter are numbers of the size, bytes, and whether these are exact.
    """
    data = _data(size)
    if data is not None:
        return data
    here = size.value(Known(names))
    if here is None:
        return None
    found: dict[str, list[list[int | bool | None]]] = {}
    steep = sorted(groups, key=lambda group: -degree(size, frozenset(group)))
    for group in steep[:_MOST_SAMPLED]:
        if size.names.isdisjoint(group):
            continue
        points: list[list[int | bool | None]] = []
        for k in range(SAMPLED[0], SAMPLED[1] + 1):
            number = max(1, math.floor(names[group[0]] * 2.0 ** (k / 2) + 0.5))
            known = _Shortened({**names, **dict.fromkeys(group, number)})
            points.append([number, size.value(known), not known.cut])
        found[group[0]] = points
    return {"here": here, "at": found}


def _atom(atom: Atom) -> Any:
    if isinstance(atom, str):
        return atom
    assert isinstance(atom, Formula)
    return {"kind": atom.kind, "name": atom.name, "args": [_data(arg) for arg in atom.args]}


def _short(text: str) -> str:
    return text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"


__all__ = ["EVALUATED", "SAMPLED", "degree", "growth"]
