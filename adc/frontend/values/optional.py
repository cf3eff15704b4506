"""What may be None, or unbound: what conditions say about it, on the paths that they decide.

After ``if root is None: return 0.0``, `root` is a value: no check is needed where it is used. A
condition such as ``root is not None and root > x`` says so where it holds, and nothing where it
does not.
"""

from __future__ import annotations

from adc.frontend.core import numbers
from adc.frontend.core.bindings import Binding, Maybe, RecordOf, Static
from adc.frontend.core.lower import Facts, Lowerer
from adc.ir.core import Literal, Operand, Value

# The names that a path knows more about: what they are on it, and what they were.
Known = dict[str, tuple[Binding, Binding]]


def facts(lo: Lowerer, cond: Operand, holds: bool) -> Facts:
    """Return what follows where a condition holds, or where it does not."""
    if isinstance(cond, Literal):
        return frozenset()
    if_true, if_false = lo.facts.get(cond, (frozenset(), frozenset()))
    return (if_true if holds else if_false) | {(cond, holds)}


def negated(lo: Lowerer, cond: Operand) -> Operand:
    """Return whether a condition does not hold."""
    result = numbers.apply(lo, "not", cond)
    if isinstance(result, Value):
        lo.facts[result] = facts(lo, cond, False), facts(lo, cond, True)
    return result


def combined(
    lo: Lowerer, result: Operand, first: Operand, second: Operand, conjunction: bool
) -> Operand:
    """Note what follows from ``first and second``, or from ``first or second``."""
    if isinstance(result, Value):
        both = facts(lo, first, conjunction) | facts(lo, second, conjunction)
        old = lo.facts.get(result, (frozenset(), frozenset()))
        lo.facts[result] = (old[0] | both, old[1]) if conjunction else (old[0], old[1] | both)
    return result


def narrow(lo: Lowerer, cond: Operand, holds: bool) -> Known:
    """Bind the names of which a condition says whether they are None."""
    said = facts(lo, cond, holds)
    known: Known = {}
    if said:
        for name, binding in lo.frame.env.items():
            narrower = _narrowed(binding, said)
            if narrower is not binding:
                known[name] = narrower, binding
        lo.frame.env.update({name: narrower for name, (narrower, _) in known.items()})
    return known


def _narrowed(binding: Binding, said: Facts) -> Binding:
    match binding:
        case Maybe(inner=inner, some=some) if (some, True) in said:
            return inner
        case Maybe(some=some, absent=absent) if (some, False) in said:
            return Static(absent.value)  # one of its own, which tells it from another None
        case RecordOf(keys=keys, items=items) if any(isinstance(item, Maybe) for item in items):
            found = tuple(_narrowed(item, said) for item in items)
            changed = any(x is not y for x, y in zip(found, items, strict=True))
            return RecordOf(keys, found) if changed else binding
    return binding


def forget(env: dict[str, Binding], *known: Known) -> None:
    """Bind names as they were before, where they are not bound again."""
    for each in known:
        for name, (narrower, before) in each.items():
            if env.get(name) is narrower:
                env[name] = before


def rejoin(
    first: dict[str, Binding], second: dict[str, Binding], known: Known, other: Known
) -> None:
    """Bind names as before two paths that know more about them, if neither binds them again."""
    for name, (_, before) in {**known, **other}.items():
        if all(
            any(env.get(name) is each for each in (*here.get(name, ()), before))
            for env, here in ((first, known), (second, other))
        ):
            first[name] = second[name] = before
