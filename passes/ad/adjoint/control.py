"""Reverse code for control flow and calls; `adjoint.body` has the rest.

An `if` becomes an `if` on the recalled condition, whose results are the cotangents that an arm
changes. A loop becomes a `reverse` of it, which carries the cotangents of the loop's carried values
and those of the values that its body captures::

    %r = if %c {                          %c.r = recall %c
      %t = mul %x %w                      %x.ct.1 = if %c.r {
      yield %t                              %w.r = recall %w
    } else {                                %x.ct = mul %r.ct %w.r
      yield 0.0:f64                         yield %x.ct
    }                                     } else {
                                            yield 0.0:f64
                                          }
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import assert_never

from adc.ir.builder import zero
from adc.ir.core import (
    Apply,
    Block,
    Call,
    Check,
    CustomRule,
    Derived,
    For,
    Function,
    Gemm,
    If,
    Load,
    Operand,
    Pop,
    Print,
    Push,
    Recall,
    Reverse,
    Stmt,
    Store,
    Value,
    While,
    Write,
    derivative_type,
)
from adc.ir.errors import IRError
from adc.ir.types import INT, Scalar
from adc.ir.walk import Names, block_reads, carried_yields, defined, substitute_block
from adc.passes.ad.adjoint.body import Region, StraightLine
from adc.passes.ad.opaque import Derivatives, commute, no_rule, not_covered


@dataclass(frozen=True)
class Signature:
    """What a callee's reverse function takes and returns, by positions in the callee.

    It takes the cotangents of `results` and, for the array parameters that the callee only reads
    (`grown`), the cotangents so far, which it adds to in place. It returns those of `params`.
    """

    name: str
    results: tuple[int, ...]
    params: tuple[int, ...]
    grown: tuple[int, ...]


class Reverser(StraightLine):
    """Writes the reverse code of `fn`."""

    def __init__(
        self,
        fn: Function,
        active: frozenset[Value],
        names: Names,
        signature: Callable[[str], Signature],
        derivatives: Derivatives,
    ) -> None:
        super().__init__(fn, active, names)
        self._derivatives = derivatives
        self._signature = signature
        self._order = {value: k for k, value in enumerate(defined(fn))}

    def stmts(self, stmts: Sequence[Stmt]) -> None:
        for stmt in reversed(stmts):
            self._stmt(stmt)

    def _stmt(self, stmt: Stmt) -> None:
        self._builder.loc = stmt.loc and stmt.loc.reversed()
        match stmt:
            case Apply():
                self._apply(stmt)
            case Load(result=result, array=array, index=index):
                self._load(array, index, self._take(result))
            case Store():
                self._store(stmt)
            case Gemm():
                self._gemm(stmt)
            case If():
                self._if(stmt)
            case For() | While():
                self._loop(stmt)
            case Call():
                opaque = self._derivatives.opaque(stmt.callee)
                if opaque is None:
                    self._call(stmt)
                else:
                    self._opaque_call(stmt, opaque)
            case Check() | Print():
                pass
            case Recall() | Reverse():
                # Reverse code may be off the path, as the gradient that a caller wants as well.
                if any(self._take(result) is not None for result in stmt.results):
                    raise IRError("reverse code is not differentiated in reverse", stmt.loc)
            case Push() | Pop() | Write():
                raise IRError("only value form is differentiated")
            case _:
                assert_never(stmt)

    def _if(self, stmt: If) -> None:
        incoming = [self._take(result) for result in stmt.results]
        if all(ct is None for ct in incoming):
            return
        cond = self._recall(stmt.cond)
        before = self.cts
        regions = (Region(), Region())
        after: list[dict[Value, Operand]] = []
        for arm, region in zip((stmt.then, stmt.orelse), regions, strict=True):
            self.cts = dict(before)
            with self._inside(region):
                for operand, ct in zip(arm.yields, incoming, strict=True):
                    self.add(operand, ct)
                self.stmts(arm.stmts)
            after.append(self.cts)
        self._builder.loc = stmt.loc and stmt.loc.reversed()
        self.cts = before
        then, orelse = after
        changed = [
            value
            for value in sorted({**then, **orelse}, key=self._order.__getitem__)
            if not then.get(value) == orelse.get(value) == before.get(value)
        ]
        # A value that both arms yield needs no choice (and can only come from outside).
        chosen = [value for value in changed if then.get(value) != orelse.get(value)]
        self.cts.update((value, then[value]) for value in changed if value not in chosen)
        blocks = []
        for cts, region in zip(after, regions, strict=True):
            with self._inside(region):
                yields = [cts[value] if value in cts else self._zeros(value) for value in chosen]
            blocks.append(Block((), tuple(region.stmts), tuple(yields)))
        if chosen:
            hints = [f"{value.name}.ct" for value in chosen]
            results = self._builder.if_(cond, blocks[0], blocks[1], hints)
            self.cts.update(zip(chosen, results, strict=True))

    def _loop(self, stmt: For | While) -> None:
        incoming = [self._take(result) for result in stmt.results]
        if all(ct is None for ct in incoming):
            return
        body = stmt.body
        live = [k for k, param in enumerate(body.params) if param in self.active]
        captured = sorted(block_reads(body) & self.active, key=self._order.__getitem__)
        init = [
            self._zeros(stmt.results[k]) if ct is None else ct
            for k, ct in enumerate(incoming)
            if k in live
        ]
        outer, self.cts = self.cts, {}
        region = Region()
        with self._inside(region):
            index = self._value("index", INT) if isinstance(stmt, While) else self._mirror(stmt)
            seeds = [self._ct_value(body.params[k]) for k in live]
            grown = {value: self._ct_value(value) for value in captured}
            self.cts.update(grown)
            for k, seed in zip(live, seeds, strict=True):
                self.add(carried_yields(stmt)[k], seed)
            self.stmts(body.stmts)
            yields = [self.ct(body.params[k]) for k in live]
            # A captured value that the body does not contribute to need not be carried.
            changed = [value for value in captured if self.cts[value] != grown[value]]
            yields += [self.cts[value] for value in changed]
        self._builder.loc = stmt.loc and stmt.loc.reversed()
        self.cts = outer
        init += [self.ct(value) for value in changed]
        params = [*seeds, *(grown[value] for value in changed)]
        # A cotangent that every iteration yields unchanged (that of a sum) is not carried.
        same = {
            param: operand
            for param, operand, after in zip(params, init, yields, strict=True)
            if param == after
        }
        final = dict(zip(params, init, strict=True))
        moving = [k for k, param in enumerate(params) if param not in same]
        if moving:
            results = tuple(self._value(params[k].name, params[k].type) for k in moving)
            final.update((params[k], result) for k, result in zip(moving, results, strict=True))
            block = Block(
                tuple(params[k] for k in moving),
                tuple(region.stmts),
                tuple(yields[k] for k in moving),
            )
            block = substitute_block(block, same)
            start = tuple(init[k] for k in moving)
            self._builder.emit(Reverse(results, stmt.label, index, start, block, self._builder.loc))
        for value in changed:
            self.cts[value] = final[grown[value]]
        for k, seed in zip(live, seeds, strict=True):
            self.add(stmt.init[k], final[seed])

    def _mirror(self, stmt: For) -> Value:
        index = self._value(f"{stmt.index.name}.r", INT)
        if not stmt.down:
            self._indices[stmt.index] = index
        return index

    def _call(self, stmt: Call) -> None:
        incoming = [self._take(result) for result in stmt.results]
        signature = self._signature(stmt.callee)
        if all(incoming[k] is None for k in signature.results) or not signature.params:
            return
        args: list[Operand] = []
        for k in signature.results:
            ct = incoming[k]
            args.append(self._zeros(stmt.results[k]) if ct is None else ct)
        # If an array is passed twice, only one parameter can carry its cotangent so far.
        grown: dict[int, Value] = {}
        for k in signature.grown:
            array = stmt.args[k]
            assert isinstance(array, Value)
            fits = array in self.active and array not in grown.values()
            args.append(self.ct(array) if fits else self._zeros(array))
            if fits:
                grown[k] = array
        results = []
        for k in signature.params:
            arg = stmt.args[k]
            name = arg.name if isinstance(arg, Value) else stmt.callee
            results.append(self._value(f"{name}.ct", derivative_type(arg.type)))
        label = self._builder.names.fresh(f"{stmt.label}.rev")
        self._builder.emit(
            Call(tuple(results), label, signature.name, tuple(args), stmt.label, self._builder.loc)
        )
        found = dict(zip(signature.params, results, strict=True))
        for k, array in grown.items():
            self.cts[array] = found.pop(k)
        for k, result in found.items():
            self.add(stmt.args[k], result)

    # -- calls of what has a declared derivative -------------------------------------------

    def _opaque_call(self, stmt: Call, callee: Function | Derived) -> None:
        incoming = [self._take(result) for result in stmt.results]
        always = isinstance(callee, Function) and callee.rule is not None and callee.rule.always
        if all(ct is None for ct in incoming) and not always:
            return
        if isinstance(callee, Derived):
            self._derived_call(stmt, callee, incoming)
            return
        rule = callee.rule
        assert rule is not None
        if rule.kind == "refused":
            raise no_rule(callee, stmt.loc)
        if rule.kind == "valued":
            self._transposed_call(stmt, rule, callee, incoming)
            return
        assert rule.kind == "recorded"
        own = stmt.results[: rule.positions[0]]
        floats = [k for k, result in enumerate(own) if result.type.kind == "f"]
        kept = self._many(stmt.results[rule.positions[0] :])
        cts = [self._ct_of(stmt.results[k], incoming[k]) for k in floats]
        moved = rule.positions[1:]
        self._check_covered(stmt, callee, moved)
        results = self._emit_call(
            rule.functions[0], stmt, (*kept, *cts), [stmt.args[k] for k in moved]
        )
        for k, result in zip(moved, results, strict=True):
            self.add(stmt.args[k], result)

    def _derived_call(
        self, stmt: Call, callee: Derived, incoming: Sequence[Operand | None]
    ) -> None:
        cts = {k: ct for k, ct in zip(callee.wrt, incoming, strict=True) if ct is not None}
        chosen = tuple(cts)
        of, last = callee.of, [chosen]
        before: Sequence[Operand] = ()
        after: Sequence[Operand] = tuple(cts.values())
        count = len(of.params)
        own, groups = stmt.args[:count], _grouped(stmt.args[count:], callee.along)
        moved = tuple(k for k, arg in enumerate(own) if arg in self.active)
        if not commute(of):
            of, last, before, after = self._derivatives.along(of, chosen), [], after, ()
        for drop in (None, *range(len(groups))):
            # With respect to the function's own arguments, then to each group of directions.
            rest = [k for k in range(len(groups)) if k != drop]
            along = (*(callee.along[k] for k in rest), *last)
            if drop is not None:
                active = [arg in self.active for arg in groups[drop]]
                moved = tuple(k for k, on in zip(callee.along[drop], active, strict=True) if on)
            if not moved:
                continue
            derived = self._derivatives.get(of, moved, along)
            directions = [arg for k in rest for arg in groups[k]]
            args = (*self._many(own), *before, *self._many(directions), *after)
            if drop is None:
                targets = [own[k] for k in moved]
            else:
                targets = [arg for arg in groups[drop] if arg in self.active]
            results = self._emit_call(derived.name, stmt, args, targets)
            for target, result in zip(targets, results, strict=True):
                self.add(target, result)

    def _transposed_call(
        self, stmt: Call, rule: CustomRule, callee: Function, incoming: Sequence[Operand | None]
    ) -> None:
        floats = rule.positions
        self._check_covered(stmt, callee, floats)
        moved = [k for k in floats if stmt.args[k] in self.active]
        at = {k: len(callee.params) + j for j, k in enumerate(floats)}
        derived = self._derivatives.transposed(rule, tuple(at[k] for k in moved), stmt.loc)
        # Linear in the dots: they may be evaluated anywhere.
        dots = [self._zeros_like(stmt.args[k]) for k in floats]
        cts = [
            self._ct_of(result, ct)
            for result, ct in zip(stmt.results, incoming, strict=True)
            if result.type.kind == "f"
        ]
        targets = [stmt.args[k] for k in moved]
        args = (*self._many(stmt.args), *dots, *cts)
        results = self._emit_call(derived.name, stmt, args, targets)
        for target, result in zip(targets, results, strict=True):
            self.add(target, result)

    def _check_covered(self, stmt: Call, callee: Function, moved: Sequence[int]) -> None:
        """Raise if a rule has no entry for a value that the function depends on."""
        for k, arg in enumerate(stmt.args):
            if k not in moved and arg in self.active:
                raise not_covered(callee, k, stmt.loc)

    def _ct_of(self, result: Value, ct: Operand | None) -> Operand:
        return self._zeros(result) if ct is None else ct

    def _zeros_like(self, operand: Operand) -> Operand:
        if isinstance(operand, Value):
            return self._zeros(operand)
        ty = derivative_type(operand.type)
        assert isinstance(ty, Scalar)
        return zero(ty)

    def _emit_call(
        self, callee: str, stmt: Call, args: tuple[Operand, ...], targets: Sequence[Operand]
    ) -> tuple[Value, ...]:
        """Call what returns cotangents of `targets`."""
        results = tuple(
            self._value(
                f"{target.name if isinstance(target, Value) else stmt.callee}.ct",
                derivative_type(target.type),
            )
            for target in targets
        )
        label = self._builder.names.fresh(f"{stmt.label}.rev")
        self._builder.emit(Call(results, label, callee, args, loc=self._builder.loc))
        return results


def _grouped(
    args: Sequence[Operand], along: tuple[tuple[int, ...], ...]
) -> list[tuple[Operand, ...]]:
    """Return the directions among the arguments of a derivative, group by group."""
    found: list[tuple[Operand, ...]] = []
    at = 0
    for group in along:
        found.append(tuple(args[at : at + len(group)]))
        at += len(group)
    return found


__all__ = ["Reverser", "Signature"]
