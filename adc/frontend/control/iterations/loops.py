"""Loops: variables that an iteration may change are loop-carried, and types join to a fixed point.

A loop is lowered by attempts. Each attempt records its findings (a wider type, a name bound to
another array, a suspected alias) in a memo, and the next attempt starts from it. The memo outlives
the attempts of enclosing loops, so nesting does not multiply the number of attempts.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Sequence

from adc.frontend.control.exits import FALLS, RESULT, set_exit
from adc.frontend.control.iterations.carried import close
from adc.frontend.control.iterations.entering import entered
from adc.frontend.control.iterations.findings import Attempt, Carried, LoopMemo, Retry, hint_of
from adc.frontend.control.iterations.leaving import bind_after, late_bindings, late_values
from adc.frontend.control.joins import unread
from adc.frontend.core.bindings import (
    ArrayObject,
    ArrayRef,
    Binding,
    Late,
    Num,
    Unbound,
    Unstable,
    related,
    suspect,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.state import Dead, State
from adc.frontend.core.structure import is_slot, leaves, rebuild
from adc.frontend.syntax import scope
from adc.ir.core import Block, For, Literal, Operand, Stmt, Value, While
from adc.ir.errors import TypeUnstableError
from adc.ir.types import BOOL, INT, Array, Scalar, join
from adc.ir.walk import substitute_block


def lower_loop(
    lo: Lowerer,
    node: ast.AST,
    names: Sequence[str],
    body: Callable[[Value | None], Operand | None],
    *,
    trips: Operand | None,
    definite: bool,
    unrolls: bool = False,
    peels: bool = False,
    sure: Collection[str] = (),
) -> None:
    """Lower a loop.

    Parameters
    ----------
    names : sequence of str
        Names that the body may bind.
    body : callable
        Lowers one iteration, given the counter (None for a `while`); returns whether to run again
        (None for a `for`).
    trips : Operand or None
        The number of iterations of a `for`.
    definite : bool
        Whether at least one iteration runs, so that names bound in it are bound after it.
    unrolls : bool
        Whether the caller can do without a loop, if this raises a `RestructuredError`.
    peels : bool
        Whether it can lower the first iteration apart, if this raises a `FirstError`.
    sure : collection of str
        Names that are bound after it even if no iteration runs: by the test of a `while`.
    """
    breaks = isinstance(node, ast.For | ast.While) and scope.has_break(node.body)
    key = (lo.frame.path, id(node))
    memo = lo.memo.setdefault(
        key,
        LoopMemo(
            unrolls=unrolls,
            breaks=breaks,
            avoids_none=unrolls or (peels and trips is not None),
            avoids_numbers=peels and trips is None,
        ),
    )
    assert isinstance(memo, LoopMemo)
    before = lo.point()
    emitted = lo.builder.emitted
    for attempt in range(40):
        if attempt:
            # What is lowered again does not make the program longer.
            lo.builder.emitted = emitted
            lo.undo(before)
        lo.inlines += 1
        try:
            entry, slots = entered(lo, memo, node)
            always = {*names, *slots} if definite else {*sure, RESULT}
            _attempt(lo, entry, memo, [*names, *slots], body, trips, definite, always)
            return
        except Retry:
            if attempt == 39:
                raise TypeUnstableError(
                    "the types of this loop's variables do not converge", lo.span(node)
                ) from None
        finally:
            lo.inlines -= 1


def _attempt(
    lo: Lowerer,
    before: State,
    memo: LoopMemo,
    names: Sequence[str],
    body: Callable[[Value | None], Operand | None],
    trips: Operand | None,
    definite: bool,
    sure: Collection[str],
) -> None:
    suspects = {obj: set(obj.alias) for obj in before.versions}
    bound = [
        n for n in names if not isinstance(before.env.get(n, Unbound()), Unbound | Unstable | Late)
    ]
    it = Attempt(before, memo, names, bound)
    _begin(lo, it)
    index = lo.builder.value("k", INT) if trips is not None else None
    if index is not None:
        lo.sizes.counts(index)
    label = lo.builder.names.fresh("L0" if trips is not None else "W0")
    with lo.builder.block() as stmts, lo.perhaps():
        _open_fresh(lo, it)
        for end, message in memo.stale.items():
            if not isinstance(end, tuple):
                lo.stale.setdefault(end, message)
            elif end in it.fresh:
                lo.stale.setdefault(it.fresh[end].object, message)
        set_exit(lo, FALLS)
        dead = False
        again: Operand | None
        around, lo.changing = lo.changing, lo.changing | it.memo.slots
        try:
            again = body(index)
        except Dead:
            dead, again = True, None if trips is not None else Literal(False, BOOL)
            lo.restore(before)
            for item in it.carried:
                item.next = item.param
        finally:
            lo.changing = around
        ends: dict[str, Binding] = {}
        if not dead:
            close(lo, it)
            if any(obj.alias & before.versions.keys() - known for obj, known in suspects.items()):
                raise Retry  # what an iteration does last, the next one knows first
            ends = late_bindings(lo, it, sure)
            it.carried += late_values(lo, before, ends)
    _emit(lo, label, index, trips, it.carried, stmts, again)
    if dead and definite:
        raise Dead  # nothing after the loop can be reached; its body still must run
    bind_after(lo, it, ends, sure, trips)


def _begin(lo: Lowerer, it: Attempt) -> None:
    """Bind names to what they are when an iteration begins, and note what the loop carries."""

    def carry(init: Operand, param: Value, key: tuple[str, int] | ArrayObject) -> None:
        it.by_key[key] = Carried(init, param, key)
        it.carried.append(it.by_key[key])

    def opened(name: str, key: tuple[str, int], leaf: Num | ArrayRef) -> Num | ArrayRef:
        if isinstance(leaf, Num):
            ty = leaf.operand.type
            assert isinstance(ty, Scalar)
            wide = it.memo.types.get(key, ty)
            assert isinstance(wide, Scalar)
            ty = join(ty, wide)
            init, param = lo.exact(leaf.operand, ty), lo.builder.value(hint_of(name), ty)
            carry(init, param, key)
            return Num(param)
        if key not in it.memo.fresh:
            return leaf
        obj = leaf.object
        array = it.memo.types.get(key, obj.type)
        assert isinstance(array, Array)
        carry(it.before.versions[obj], lo.builder.value(hint_of(name), array), key)
        called = obj.name if is_slot(name) else name
        kept = obj.kept | it.memo.kept.get(key, frozenset())
        it.fresh[key] = ArrayRef(ArrayObject(array, called, lo.builder.loc, kept=kept))
        return it.fresh[key]

    with lo.builder.block() as opening:
        for name in it.bound:
            start = it.before.env[name]
            it.memo.see(name, start)
            found = [opened(name, (name, k), leaf) for k, leaf in enumerate(leaves(start))]
            lo.frame.env[name] = rebuild(start, iter(found))
        for name in it.names:
            if name not in it.bound:
                start = it.before.env.get(name, Unbound())
                lo.frame.env[name] = Unbound() if isinstance(start, Late) else start
    lo.builder.stmts.extend(opening)
    for obj, version in list(lo.versions.items()):
        param = lo.builder.value(obj.name, obj.type)
        carry(version, param, obj)
        lo.versions[obj] = param


def _open_fresh(lo: Lowerer, it: Attempt) -> None:
    """Give the objects that rebound names denote in the body their versions, sizes, suspects."""
    entries = _entries(it.before, it.fresh)
    # What names outside of the loop denote still, by object.
    held = {
        leaf.object
        for name, binding in it.before.env.items()
        for k, leaf in enumerate(leaves(binding))
        if isinstance(leaf, ArrayRef) and (name, k) not in it.fresh
    }
    for key, ref in it.fresh.items():
        obj = ref.object
        lo.versions[obj] = it.by_key[key].param
        entry = entries[key]
        if entry in it.before.stale:
            lo.stale[obj] = it.before.stale[entry]
        lo.dims[obj] = tuple(
            lo.sizes.counts(
                lo.builder.apply(
                    "dim", it.by_key[key].param, params=(axis,), hint=f"{obj.name}.dim"
                )
            )
            if (*key, axis) in it.memo.sizes
            else size
            for axis, size in enumerate(lo.dims[entry])
        )
        # On the first iteration it is the object that the name had on entry, if anybody else
        # still holds that one.
        if entry in held or entry in lo.origin or _held_outside(lo, entry):
            suspect(obj, entry)
        for other in entry.alias:
            if other in it.before.versions:
                suspect(obj, other)
    keys = list(it.fresh)
    for i, a in enumerate(keys):
        for b in keys[i + 1 :]:
            if related(entries[a], entries[b]):
                suspect(it.fresh[a].object, it.fresh[b].object)
    for pair in it.memo.alias:
        ends = [
            it.fresh[end].object if isinstance(end, tuple) else end
            for end in pair
            if not isinstance(end, tuple) or end in it.fresh
        ]
        if len(ends) == 2:
            suspect(*ends)


def _entries(before: State, keys: Iterable[tuple[str, int]]) -> dict[tuple[str, int], ArrayObject]:
    """Return the arrays of names and places before the loop."""
    known = {name: list(leaves(before.env[name])) for name in {name for name, _ in keys}}
    found: dict[tuple[str, int], ArrayObject] = {}
    for name, k in keys:
        leaf = known[name][k]
        assert isinstance(leaf, ArrayRef)
        found[name, k] = leaf.object
    return found


def _held_outside(lo: Lowerer, obj: ArrayObject) -> bool:
    """Whether a frame other than the current one has a name for `obj`."""
    frame = lo.frame.caller
    while frame is not None:
        for binding in frame.env.values():
            if any(isinstance(leaf, ArrayRef) and leaf.object is obj for leaf in leaves(binding)):
                return True
        frame = frame.caller
    return False


def _emit(
    lo: Lowerer,
    label: str,
    index: Value | None,
    trips: Operand | None,
    carried: list[Carried],
    stmts: list[Stmt],
    again: Operand | None,
) -> None:
    """Build the loop, without the carried values that no iteration changes."""
    kept: list[Carried] = []
    env: dict[Value, Operand] = {}
    for item in carried:
        if item.next == item.param:
            env[item.param] = item.init
            item.result = None
        else:
            kept.append(item)
            if item.init == item.param:
                item.init = unread(lo, item.param)
            item.result = lo.builder.value(item.param.name, item.param.type)
    nexts = tuple(item.next for item in kept if item.next is not None)
    block = Block(
        tuple(item.param for item in kept),
        tuple(stmts),
        nexts if again is None else (again, *nexts),
    )
    block = substitute_block(block, env)
    results = tuple(item.result for item in kept if item.result is not None)
    init = tuple(item.init for item in kept)
    if trips is not None:
        assert index is not None
        lo.builder.emit(For(results, label, index, trips, init, block, loc=lo.builder.loc))
    else:
        lo.builder.emit(While(results, label, init, block, lo.builder.loc))
