"""What may be None, or unbound: what conditions say about it, on the paths that they decide.

After ``if root is None: return 0.0``, `root` is a value: no check is needed where it is used. A
condition such as ``root is not None and root > x`` says so where it holds, and nothing where it
does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from adc.frontend.core import numbers
from adc.frontend.core.bindings import (
    Binding,
    Maybe,
    OneOf,
    RecordOf,
    Static,
)
from adc.frontend.core.lower import Facts, Lowerer
from adc.frontend.core.structure import children, side_by_side, with_children
from adc.ir.builder import integer
from adc.ir.core import Literal, Operand, Value
from adc.ir.types import BOOL

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
        choices = frozenset(each for each in said if isinstance(each[0], tuple))
        for name, binding in lo.frame.env.items():
            narrower = _narrowed(binding, said)
            if choices:
                narrower = chosen(narrower, choices)
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


def is_item(lo: Lowerer, found: OneOf, k: int, others: Sequence[int] = ()) -> Operand:
    """Return whether it is the k-th item, where it is none of `others`."""
    cond = lo.builder.apply("eq", found.which, integer(k), hint="is")
    if isinstance(cond, Value):
        gone = frozenset(((found.which, other), False) for other in (*others, k))
        lo.facts[cond] = frozenset([((found.which, k), True)]), gone
    return cond


def by_item(lo: Lowerer, found: OneOf, holds: Sequence[Operand]) -> Operand:
    """Return whether what is true of each item is true of what is one of them."""
    if all(each == holds[0] for each in holds):
        return holds[0]
    yes = [k for k, each in enumerate(holds) if each == Literal(True, BOOL)]
    no = [k for k, each in enumerate(holds) if each == Literal(False, BOOL)]
    if len(yes) == 1 and len(no) == len(holds) - 1:
        return is_item(lo, found, yes[0])
    if len(no) == 1 and len(yes) == len(holds) - 1:
        return negated(lo, is_item(lo, found, no[0]))
    result = holds[-1]
    for k in range(len(holds) - 2, -1, -1):
        if holds[k] != result:
            result = numbers.select(lo, is_item(lo, found, k), holds[k], result)
    return result


def renumbered(lo: Lowerer, which: Operand, places: Sequence[int]) -> Operand:
    """Return the number of an item where the items have these places."""
    if isinstance(which, Literal):
        return integer(places[int(which.value)])
    if list(places) == list(range(len(places))):
        return which
    found: Operand = integer(places[-1])
    for k, place in list(enumerate(places))[-2::-1]:
        is_it = lo.builder.apply("eq", which, integer(k))
        found = lo.builder.apply("select", is_it, integer(place), found, hint="which")
    return found


def choices_in(binding: Binding) -> Iterator[OneOf]:
    """Yield what is one of several values in a binding."""
    if isinstance(binding, OneOf):
        yield binding
    for part in children(binding):
        yield from choices_in(part)


def chosen(binding: Binding, said: Facts) -> Binding:
    """Return a binding without what it is known not to be; the same if that is nothing."""
    if isinstance(binding, OneOf):
        which = binding.which
        left = [k for k in range(len(binding.items)) if ((which, k), False) not in said]
        left = [k for k in left if ((which, k), True) in said] or left
        if len(left) == 1:
            return chosen(binding.items[left[0]], said)
    return with_children(binding, lambda item: chosen(item, said))


def is_part(binding: Binding, whole: Binding) -> bool:
    """Whether a binding is what another one is known to be: one of several values of it."""
    match whole:
        case OneOf(items=items):
            return any(binding is item or is_part(binding, item) for item in items)
        case Maybe(inner=inner):
            return is_part(binding, inner)
    parts = side_by_side(binding, whole)
    return parts is not None and all(x is y or is_part(x, y) for x, y in parts)


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
