"""Derivative rules: ordinary arithmetic on operands, traced once for each combination of types.

Tracing turns the rule of a row (`adc.ir.opdef`) into a small IR block, from which the values that
must be alive in reverse are *computed*, never declared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

from adc.ir.core import Apply, Literal, Operand, Value
from adc.ir.errors import IRError
from adc.ir.opdef import OPS, OpDef, Static
from adc.ir.types import Scalar, Type


class _Trace:
    """The statements recorded while a rule runs.

    A cotangent that is zero contributes nothing, whatever the local derivative: where a rule
    multiplies or divides a value linear in the cotangent, `xmuly` and `xdivy` are recorded.
    """

    def __init__(self) -> None:
        self.stmts: list[Apply] = []
        # Which operands are proportional to the cotangent.
        self.linear: set[Operand] = set()

    def apply(self, op: OpDef, args: Sequence[Operand], params: tuple[Static, ...] = ()) -> Value:
        op, args = self._shielded(op, tuple(args))
        types = op.types([arg.type for arg in args], params)
        result = Value(f"r{len(self.stmts)}", types[0])
        self.stmts.append(Apply((result,), op, args, params))
        if op.linear and not self.linear.isdisjoint(args):
            self.linear.add(result)
        return result

    def _shielded(self, op: OpDef, args: tuple[Operand, ...]) -> tuple[OpDef, tuple[Operand, ...]]:
        if not op.shielded or any(isinstance(arg, Literal) for arg in args):
            return op, args
        if args[0] in self.linear:
            return OPS[op.shielded], args
        if args[1] in self.linear and op.neutral is not None:  # factors may change places
            return OPS[op.shielded], args[::-1]
        return op, args


@dataclass(frozen=True, eq=False)
class Traced:
    """An operand inside a rule that is being traced; arithmetic on it is recorded."""

    operand: Operand
    trace: _Trace = field(repr=False)

    def record(
        self, op: OpDef, args: Sequence[Traced | float], params: tuple[Static, ...] = ()
    ) -> Traced:
        """Return the result of an operation, one of whose operands this is."""
        traced = [arg for arg in args if isinstance(arg, Traced)]
        # A Python number in a rule takes the dtype of the operands it meets. In `select` that is
        # the dtype of the choices, not of the condition.
        numbers = [t for t in traced if t.operand.type.kind != "b"] or traced
        ty = Scalar(numbers[0].operand.type.dtype)
        operands = [
            arg.operand
            if isinstance(arg, Traced)
            else Literal(arg if isinstance(arg, bool) or ty.kind != "f" else float(arg), ty)
            for arg in args
        ]
        return Traced(self.trace.apply(op, operands, params), self.trace)

    def __add__(self, other: Traced | float) -> Traced:
        return self.record(OPS["add"], (self, other))

    def __radd__(self, other: float) -> Traced:
        return self.record(OPS["add"], (other, self))

    def __sub__(self, other: Traced | float) -> Traced:
        return self.record(OPS["sub"], (self, other))

    def __rsub__(self, other: float) -> Traced:
        return self.record(OPS["sub"], (other, self))

    def __mul__(self, other: Traced | float) -> Traced:
        return self.record(OPS["mul"], (self, other))

    def __rmul__(self, other: float) -> Traced:
        return self.record(OPS["mul"], (other, self))

    def __truediv__(self, other: Traced | float) -> Traced:
        return self.record(OPS["truediv"], (self, other))

    def __rtruediv__(self, other: float) -> Traced:
        return self.record(OPS["truediv"], (other, self))

    def __neg__(self) -> Traced:
        return self.record(OPS["neg"], (self,))


@dataclass(frozen=True)
class TracedRule:
    """A traced derivative rule: ``outputs`` as functions of ``params = (ct, y, *operands)``."""

    params: tuple[Value, ...]
    stmts: tuple[Apply, ...]
    outputs: tuple[Operand | None, ...]

    def needs(self, wanted: Sequence[bool] | None = None) -> frozenset[int]:
        """Return the positions in `params` that the wanted outputs read."""
        outputs = [
            out
            for k, out in enumerate(self.outputs)
            if out is not None and (wanted is None or wanted[k])
        ]
        live = {out for out in outputs if isinstance(out, Value)}
        for stmt in reversed(self.stmts):
            if stmt.result in live:
                live.update(arg for arg in stmt.args if isinstance(arg, Value))
        return frozenset(k for k, param in enumerate(self.params) if param in live)

    def only(self, wanted: Sequence[bool]) -> TracedRule:
        """Return the rule with the wanted outputs alone, and the statements that they need."""
        outputs = tuple(
            out if want else None for out, want in zip(self.outputs, wanted, strict=True)
        )
        live = {out for out in outputs if isinstance(out, Value)}
        stmts: list[Apply] = []
        for stmt in reversed(self.stmts):
            if stmt.result in live:
                live.update(arg for arg in stmt.args if isinstance(arg, Value))
                stmts.append(stmt)
        return TracedRule(self.params, tuple(reversed(stmts)), outputs)


@cache
def parts_rule(op: OpDef, types: tuple[Type, ...], params: tuple[Static, ...] = ()) -> TracedRule:
    """Trace what `op` does to the parts of complex operands.

    A complex operand has two parameters, real and imaginary part, and so has a complex result.
    """
    assert op.parts is not None
    trace = _Trace()
    values: list[Value] = []

    def traced(name: str, ty: Type) -> Traced:
        assert isinstance(ty, Scalar)
        values.append(Value(name, Scalar(ty.dtype)))
        return Traced(values[-1], trace)

    operands: list[Traced | tuple[Traced, Traced]] = []
    for k, ty in enumerate(types):
        if ty.kind == "c":
            operands.append((traced(f"re{k}", ty.part), traced(f"im{k}", ty.part)))
        else:
            operands.append(traced(f"x{k}", ty))
    result = op.types(list(types), params)[0]
    found = op.parts(*operands, *params)
    outputs = tuple([
        out.operand if isinstance(out, Traced) else Literal(float(out), result.part)
        for out in (found if isinstance(found, tuple) else (found,))
    ])  # fmt: skip
    return TracedRule(tuple(values), tuple(trace.stmts), outputs)


@cache
def vjp_rule(op: OpDef, types: tuple[Type, ...], params: tuple[Static, ...] = ()) -> TracedRule:
    """Trace the `vjp` of `op` for operands of the given types."""
    assert op.vjp is not None
    trace = _Trace()
    result = op.types(list(types), params)[0]
    strong = Scalar(result.dtype) if isinstance(result, Scalar) else result
    values = [Value("ct", strong), Value("y", strong)]
    values += [
        Value(f"x{k}", Scalar(ty.dtype) if isinstance(ty, Scalar) else ty)
        for k, ty in enumerate(types)
    ]
    trace.linear.add(values[0])
    outputs = op.vjp(*(Traced(value, trace) for value in values), *params)
    if len(outputs) != len(types):
        raise IRError(f"the rule of {op.name} has {len(outputs)} results for {len(types)} operands")
    operands: list[Operand | None] = []
    for out in outputs:
        if out is None or isinstance(out, Traced):
            operands.append(None if out is None else out.operand)
        else:
            operands.append(Literal(float(out), strong))
    return TracedRule(tuple(values), tuple(trace.stmts), tuple(operands))
