"""What loops make of formulas: what iterations add up to, need at most, and leave of others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from adc.ir.analysis.sizes.formulas import ONE, ZERO, Atom, Factors, Function, Sum, are_sizes


def total(
    label: str, index: str, trips: Sum, each: Sum, inside: frozenset[str] = frozenset()
) -> Sum:
    """Return what the iterations of a loop add up to; `inside` are the names that may vary.

    Examples
    --------
    >>> print(total("L", "k", Sum.atom("n"), Sum.atom("k") * Sum.number(8)))
    8*((n*n - n)//(2))
    """
    trips = trips.count()
    inside = inside | {index}
    found = ZERO
    for atoms, count in each.terms:
        fixed = [atom for atom in atoms if not _varies(atom, inside)]
        moving = tuple(atom for atom in atoms if _varies(atom, inside))
        if not moving:
            part = trips
        elif moving == (index,):
            part = Sum.function("//", trips * trips - trips, Sum.number(2))
        else:
            term = Sum(((moving, 1),))
            part = Sum.atom(Function("total", (trips, term), label, index))
        found += part * Sum(((tuple(fixed), count),))
    return found


def most(
    label: str, index: str, trips: Sum, each: Sum, inside: frozenset[str] = frozenset()
) -> Sum:
    """Return the most that an iteration of a loop has; `inside` are the names that may vary."""
    inside = inside | {index}
    if not each.names & inside:
        return each
    arms = [each]
    for atoms, count in each.terms:
        if count == 1 and len(atoms) == 1 and isinstance(atoms[0], Function):
            if atoms[0].kind == "max":  # the most of sums is a sum with the most
                rest = each - Sum.atom(atoms[0])
                arms = [rest + arm for arm in atoms[0].args]
                break
    if len(arms) > 1:
        found = [most(label, index, trips, arm, inside) for arm in arms]
        return found[0].max(*found[1:])
    moving = [(atoms, count) for atoms, count in each.terms if _vary(atoms, inside)]
    fixed = Sum(tuple(term for term in each.terms if not _vary(term[0], inside)))
    signs = {count > 0 for _, count in moving}
    once = all([a for a in atoms if _varies(a, inside)] == [index] for atoms, _ in moving)
    if once and len(signs) == 1:
        last = trips.count() - ONE if True in signs else ZERO
        for atoms, count in moving:
            others = tuple(atom for atom in atoms if atom != index)
            fixed += Sum(((others, count),)) * last
        return fixed
    inner = Sum(tuple(moving))
    return fixed + Sum.atom(Function("most", (trips.count(), inner), label, index))


def substituted(size: Sum, name: str, by: Sum) -> Sum:
    """Return a formula with another one in place of a name."""
    if name not in size.names:
        return size
    found = ZERO
    for atoms, count in size.terms:
        term = Sum.number(count)
        for atom in atoms:
            if isinstance(atom, Function):
                args = tuple(substituted(arg, name, by) for arg in atom.args)
                term *= Sum.atom(replace(atom, args=args))
            else:
                term *= by if atom == name else Sum.atom(atom)
        found += term
    return found


def at_most(size: Sum, inside: frozenset[str]) -> Sum | None:
    """Return a formula without names of `inside` that is at least as much; None if none is found.

    The smaller one of two numbers is at most each of them, a choice at most the larger one.
    """
    return _bound(size, inside, upper=True)


def _bound(size: Sum, inside: frozenset[str], *, upper: bool) -> Sum | None:
    """Return a formula without names of `inside` that is at least, or at most, as much."""
    found = ZERO
    for atoms, count in size.terms:
        moving = [atom for atom in atoms if _varies(atom, inside)]
        more = upper == (count > 0)  # whether a bound from above is wanted of the factors
        if moving and len(atoms) > 1:
            # More of a factor is more of a product only if the others are not negative.
            others = atoms if len(moving) > 1 else [each for each in atoms if each not in moving]
            if not are_sizes(others) or (len(moving) > 1 and not more):
                return None
        term = Sum.number(count)
        for atom in atoms:
            limit: Sum | None = Sum.atom(atom)
            if atom in moving:
                limit = None if isinstance(atom, str) else _limit(atom, inside, upper=more)
            if limit is None:
                return None
            term *= limit
        found += term
    return found


def _limit(made: Function, inside: frozenset[str], *, upper: bool) -> Sum | None:
    limits = [_bound(arg, inside, upper=upper) for arg in made.args[made.kind == "if" :]]
    known = [limit for limit in limits if limit is not None]
    # Each of two numbers bounds the smaller one from above, and the larger one from below.
    least, most = made.kind == "min" or made.is_least, made.kind == "max" or made.is_most
    if least if upper else most:
        return next(iter(known), None)
    if made.kind == "if":  # the condition bounds the arm that it chooses
        limits = [a if b is None else b for a, b in zip(limits, _arms(made, upper), strict=True)]
        known = [limit for limit in limits if limit is not None]
    if made.kind in ("if", "max", "min") and len(known) == len(limits):
        return known[0].max(*known[1:]) if upper else _least(known)
    if made.kind == "count" and known:
        return known[0].count()
    if made.kind == "upto" and upper:
        return next(iter(known), None)
    return ZERO if made.is_size and not upper else None


def _arms(choice: Function, upper: bool) -> tuple[Sum | None, Sum | None]:
    """Return what the condition of a choice says of both arms: it is positive, or it is not."""
    cond, then, orelse = choice.args
    one, other = (then + cond, orelse - cond) if upper else (then - cond, orelse + cond)
    return (
        None if one.constant is None else one - ONE if upper else one + ONE,
        None if other.constant is None else other,
    )


def _least(sums: Sequence[Sum]) -> Sum | None:
    """Return the smallest one of some formulas, if one of them is known to be that."""
    return next((each for each in sums if all(other.covers(each) for other in sums)), None)


def _vary(atoms: Factors, inside: frozenset[str]) -> bool:
    return any(_varies(atom, inside) for atom in atoms)


def _varies(atom: Atom, inside: frozenset[str]) -> bool:
    return atom in inside if isinstance(atom, str) else not inside.isdisjoint(atom.names)
