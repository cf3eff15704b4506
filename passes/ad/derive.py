"""Turn declared derivatives that the code itself calls into ordinary callees.

The code calls a `Derived` function by name through all transformations, which only declare further
ones (`opaque`). `expand` replaces those in forward mode before the first transformation; their
statements are differentiated like any others. `link` replaces those in reverse mode once the
caller's reverse code has been rematerialized: each is a program of its own, with its own plan and
its own frames on the tape, which it pops before it returns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from adc.ir.core import Call, Derived, Function, Stmt
from adc.ir.functions import reached
from adc.ir.walk import map_stmts
from adc.passes.ad.adjoint import adjoint
from adc.passes.ad.tangent import tangent

_Pass = Callable[[Function], Function]


@dataclass(frozen=True)
class Through:
    """The stages that a function passes through on the way to a derivative.

    Attributes
    ----------
    primal : callable
        Before the first transformation.
    between, last : callable
        After a transformation that others follow, and after the last one.
    """

    primal: _Pass
    between: _Pass
    last: _Pass


def derive(each: Derived, through: Through) -> Function:
    """Return the function that a declaration denotes: value form, with Recalls."""
    if each.mode == "primal":
        return expand(each.of, through)
    fn = through.primal(each.of)
    if each.mode == "forward":
        return through.between(tangent(fn, each.wrt))
    made = adjoint(fn, each.wrt)
    made = replace(made, results=made.results[len(fn.results) :])
    for group in each.along:
        made = through.between(made)
        moved = tangent(made, group)
        # The results so far, then the tangents of these.
        made = replace(moved, results=moved.results[len(made.results) :])
    return through.last(made)


def expand(fn: Function, through: Through) -> Function:
    """Return `fn` with forward-mode derivatives, and undifferentiated functions, as callees."""
    plain = [each for each in fn.derived if each.mode != "reverse"]
    if not plain:
        return fn
    fn = replace(fn, derived=tuple(each for each in fn.derived if each not in plain))
    for each in plain:
        fn = _with_callee(fn, each.name, derive(each, through))
    return fn


def link(fn: Function, through: Through, finish: _Pass) -> Function:
    """Return `fn` with every derivative in it as a callee.

    `finish` rematerializes a function; it is called for each derivative.
    """
    fn = reached(fn)
    derived = fn.derived
    fn = replace(fn, derived=())
    for each in derived:
        made = link(finish(derive(each, through)), through, finish)
        fn = _with_callee(fn, each.name, made)
    return fn


def _with_callee(fn: Function, name: str, callee: Function) -> Function:
    """Return `fn` with a callee `name`, whose own callees get its name as a prefix."""
    names = [each.name for each in callee.callees] + [each.name for each in callee.derived]
    table = {each: f"{name}_{each}" for each in names} | {callee.name: name}
    family = tuple(_renamed(each, table) for each in (*callee.callees, callee))
    derived = tuple(replace(each, name=table[each.name]) for each in callee.derived)
    own = tuple(replace(each, callees=(), derived=()) for each in family)
    return replace(fn, callees=(*fn.callees, *own), derived=(*fn.derived, *derived))


def _renamed(fn: Function, table: Mapping[str, str]) -> Function:
    """Return `fn` with other names for the functions that it calls."""

    def name(old: str) -> str:
        return table.get(old, old)

    def stmts(found: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        return tuple(
            replace(stmt, callee=name(stmt.callee))
            if isinstance(stmt, Call)
            else map_stmts(stmt, stmts)
            for stmt in found
        )

    rule = fn.rule
    if rule is not None:
        rule = replace(rule, functions=tuple(map(name, rule.functions)))
    return replace(fn, name=name(fn.name), body=stmts(fn.body), mirror=name(fn.mirror), rule=rule)


__all__ = ["Through", "derive", "expand", "link"]
