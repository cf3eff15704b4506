"""Branches: two paths, each lowered from the same state, and their join as an `If`."""

from __future__ import annotations

from collections.abc import Callable, Collection

from adc.frontend.control.exits import EXIT, FALLS, TORN, exit_of, exits_of
from adc.frontend.control.joins import Arm, LateSize, Merge, unread
from adc.frontend.core.bindings import Binding, Num
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.state import Dead, State
from adc.frontend.values import optional
from adc.ir.core import Block, If, Literal, Operand, Value


def run_arm(
    lo: Lowerer, body: Callable[[], None], exited: bool = False, *, sure: bool = False
) -> Arm:
    """Lower one path.

    `exited` says that an exit is pending wherever it is taken, `sure` that it always is.
    """
    dead = False
    with lo.builder.block() as stmts, lo.arm(not sure):
        try:
            body()
        except Dead:
            dead = True
    exited = exited or FALLS not in exits_of(lo, exit_of(lo))
    return Arm(stmts, lo.snapshot(), dead, exited)


def branch(
    lo: Lowerer,
    cond: Operand,
    then: Callable[[], None],
    orelse: Callable[[], None],
    *,
    else_exited: bool = False,
    late: bool | Collection[str] = False,
) -> None:
    """Lower an `if`: only one arm where the condition is known, else both, then join.

    `late` is that of `Merge`.
    """
    if isinstance(cond, Literal):
        (then if cond.value else orelse)()
        return
    before = lo.snapshot()
    known = optional.narrow(lo, cond, True)
    first = run_arm(lo, then)
    lo.restore(before)
    other = optional.narrow(lo, cond, False)
    # Where the one path raises an exception, nothing is left but the other.
    second = run_arm(lo, orelse, else_exited, sure=first.dead)
    if not (first.dead or second.dead):
        optional.rejoin(first.state.env, second.state.env, known, other)
    merge(lo, cond, before, first, second, late=late)


def merge(
    lo: Lowerer, cond: Operand, before: State, first: Arm, second: Arm, *,
    late: bool | Collection[str] = False,
) -> None:  # fmt: skip
    """Build the If and make its results the state of `lo`; `late` is that of `Merge`."""
    partial = first.state.partial | second.state.partial
    torn = {name for name in partial if name.startswith(TORN)}
    lo.frame.partial = (set(before.partial) & partial) | torn
    merging = Merge(lo, cond, (first, second), before, late=late)
    env: dict[str, Binding] = {}
    for state in (before, first.state, second.state):
        lo.complete(state.env, state.versions)
    lo.versions = dict(before.versions)
    lo.stale = {**before.stale}
    lo.sizes.known = dict(before.known)
    for arm in (first, second):
        if not arm.dead:
            lo.stale.update(arm.state.stale)
    for name in dict.fromkeys([*first.state.env, *second.state.env]):
        env[name] = merging.binding(name)
    env.update(merging.slots)
    joined = env[EXIT]
    if isinstance(joined, Num) and isinstance(joined.operand, Value):
        ends = [arm.lookup(EXIT) for arm in (first, second) if not arm.dead]
        lo.exit_values[joined.operand] = frozenset().union(
            *(exits_of(lo, end.operand) for end in ends if isinstance(end, Num))
        )
    for obj, origin in lo.origin.items():
        lo.versions.setdefault(obj, origin)
    for obj, start in before.versions.items():
        a, b = (None if arm.dead else arm.state.versions[obj] for arm in (first, second))
        if any(end is not None and end != start for end in (a, b)):
            lo.versions[obj] = merging.result(a, b, obj.name)
    lo.frame.env = env
    _emit(lo, merging)
    if first.dead and second.dead:
        raise Dead


def _emit(lo: Lowerer, merging: Merge) -> None:
    """Emit the If, and read the sizes that are known only after it."""
    yields: list[tuple[Operand, ...]] = []
    for side, arm in enumerate(merging.arms):
        with lo.builder.block() as extra:
            yields.append(
                tuple(
                    unread(lo, value) if operand is None else operand
                    for pair, value in zip(merging.pairs, merging.results, strict=True)
                    for operand in (pair[side],)
                )
            )
        arm.stmts.extend(extra)
    then, orelse = (
        Block((), tuple(arm.stmts), found) for arm, found in zip(merging.arms, yields, strict=True)
    )
    lo.builder.emit(If(tuple(merging.results), merging.cond, then, orelse, lo.builder.loc))
    for ref in merging.objects.values():
        lo.dims[ref.object] = tuple(
            lo.sizes.counts(
                lo.builder.apply(
                    "dim", size.value, params=(size.axis,), hint=f"{ref.object.name}.dim"
                )
            )
            if isinstance(size, LateSize)
            else size
            for size in lo.dims[ref.object]
        )
