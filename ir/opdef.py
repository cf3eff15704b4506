"""The op table: one row per operation, in one place, never per dtype.

A row says what the operation is called, which Python callables it stands for, what it computes
(`evaluate`, on NumPy scalars), how it is spelled in emitted code, its type rule, its derivative,
its cost and where tests sample it. Derivative rules are ordinary arithmetic on traced operands;
tracing turns them into a small IR block from which the values that must be alive in reverse are
*computed*, never declared.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any

import numpy as np

from adc.ir.core import Apply, Literal, Operand, Static, Value
from adc.ir.errors import IRError
from adc.ir.types import B1, BOOL, Array, Scalar, Type

TypeRule = Callable[[Sequence[Type], tuple[Static, ...]], tuple[Type, ...]]
# (cotangent, result, *operands) -> one contribution per operand, None for "no contribution".
VjpRule = Callable[..., "tuple[Traced | float | None, ...]"]

OPS: dict[str, OpDef] = {}


def same(types: Sequence[Type], params: tuple[Static, ...]) -> tuple[Type, ...]:
    """All operands and the result have one type; the result is weak if every operand is."""
    first = types[0]
    for ty in types[1:]:
        if ty.dtype != first.dtype or isinstance(ty, Array) != isinstance(first, Array):
            raise IRError(f"operands of different types: {first} and {ty}")
    if isinstance(first, Array):
        return (first,)
    return (Scalar(first.dtype, all(isinstance(t, Scalar) and t.weak for t in types)),)


def predicate(types: Sequence[Type], params: tuple[Static, ...]) -> tuple[Type, ...]:
    """Operands of one type, a truth value as the result."""
    result = same(types, params)[0]
    return (BOOL if isinstance(result, Scalar) and result.weak else B1,)


@dataclass(frozen=True, eq=False)
class OpDef:
    """One operation.

    Attributes
    ----------
    name : str
        As printed in the IR.
    arity : int
        Number of operands; -1 for any.
    evaluate : callable
        The meaning, on NumPy scalars and arrays; the reference interpreter calls it.
    code : str
        The expression the emitter prints; ``{0}``, ``{1}`` … are the operands.
    spellings : tuple of callables
        The Python and NumPy callables that the front end lowers to this row.
    types : callable
        Type rule: operand types and static parameters to result types.
    vjp : callable or None
        ``(ct, y, *operands)`` to one contribution per operand; None: derivative is zero.
    why : str
        Why there is no `vjp`.
    refuse : bool
        True where the derivative exists but adc has no rule: an active operand is an error.
    draw : bool
        True where the result is a random draw: it is kept for the reverse code, never made again.
    cost : float
        Weight of recomputing it; an addition is 1.
    domain : tuple of (low, high)
        Where tests sample each operand.
    kinks : tuple of float
        Points where the derivative jumps, of the first operand or of the difference of both; the
        rule's choice there is tested.
    jumps : bool
        Whether what an operand rounds may change a float result by more than that: it decides, as
        all results do that are no floats.
    kinds : str
        Kinds of operands it is defined for, of ``"biuf"``.
    total : bool
        Whether it is finite for all finite operands, but for huge ones.
    image : (low, high)
        Between which numbers its results lie.
    """

    name: str
    arity: int
    evaluate: Callable[..., Any]
    code: str
    spellings: tuple[Callable[..., Any], ...] = ()
    types: TypeRule = same
    vjp: VjpRule | None = None
    why: str = ""
    refuse: bool = False
    draw: bool = False
    cost: float = 1.0
    domain: tuple[tuple[float, float], ...] = ((-3.0, 3.0),)
    kinks: tuple[float, ...] = ()
    jumps: bool = False
    kinds: str = "iuf"
    total: bool = False
    image: tuple[float, float] = (-math.inf, math.inf)
    doc: str = ""

    def __post_init__(self) -> None:
        if self.name in OPS:
            raise IRError(f"two rows named {self.name}")
        OPS[self.name] = self

    def __repr__(self) -> str:
        return f"<op {self.name}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return (_row, (self.name,))

    def __call__(self, *args: Traced | float) -> Traced:
        """Record an application of the row to traced operands, inside a rule."""
        return _record(self, args)


# Rows whose result is proportional to operands that are.
_LINEAR = frozenset(
    ("add", "sub", "neg", "mul", "truediv", "xmuly", "xdivy", "mulzeros", "select", "cast")
)


def _row(name: str) -> OpDef:
    return OPS[name]


def find(callee: object) -> OpDef | None:
    """Return the row that stands for the Python callable `callee`, or None."""
    return _spellings().get(id(callee))


@lru_cache(maxsize=1)
def _spellings() -> dict[int, OpDef]:
    return {id(spelling): op for op in OPS.values() for spelling in op.spellings}


class _Trace:
    """The statements recorded while a rule runs.

    A cotangent that is zero contributes nothing, whatever the local derivative: where a rule
    multiplies or divides what is linear in the cotangent, `xmuly` and `xdivy` are recorded.
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
        if op.name in _LINEAR and not self.linear.isdisjoint(args):
            self.linear.add(result)
        return result

    def _shielded(self, op: OpDef, args: tuple[Operand, ...]) -> tuple[OpDef, tuple[Operand, ...]]:
        if op.name not in ("mul", "truediv") or any(isinstance(arg, Literal) for arg in args):
            return op, args
        if args[0] in self.linear:
            return OPS["xmuly" if op.name == "mul" else "xdivy"], args
        if args[1] in self.linear and op.name == "mul":
            return OPS["xmuly"], args[::-1]
        return op, args


@dataclass(frozen=True, eq=False)
class Traced:
    """An operand inside a rule that is being traced; arithmetic on it is recorded."""

    operand: Operand
    trace: _Trace = field(repr=False)

    def __add__(self, other: Traced | float) -> Traced:
        return OPS["add"](self, other)

    def __radd__(self, other: float) -> Traced:
        return OPS["add"](other, self)

    def __sub__(self, other: Traced | float) -> Traced:
        return OPS["sub"](self, other)

    def __rsub__(self, other: float) -> Traced:
        return OPS["sub"](other, self)

    def __mul__(self, other: Traced | float) -> Traced:
        return OPS["mul"](self, other)

    def __rmul__(self, other: float) -> Traced:
        return OPS["mul"](other, self)

    def __truediv__(self, other: Traced | float) -> Traced:
        return OPS["truediv"](self, other)

    def __rtruediv__(self, other: float) -> Traced:
        return OPS["truediv"](other, self)

    def __neg__(self) -> Traced:
        return OPS["neg"](self)


def _record(op: OpDef, args: Sequence[Traced | float]) -> Traced:
    traced = [arg for arg in args if isinstance(arg, Traced)]
    if not traced:
        raise IRError(f"{op.name} is applied to no traced operand")
    # A Python number in a rule takes the dtype of the operands it meets. In `select` that is the
    # dtype of the choices, not of the condition.
    numbers = [t for t in traced if t.operand.type.kind != "b"] or traced
    ty = Scalar(numbers[0].operand.type.dtype)
    operands = [
        arg.operand
        if isinstance(arg, Traced)
        else Literal(arg if isinstance(arg, bool) or ty.kind != "f" else float(arg), ty)
        for arg in args
    ]
    trace = traced[0].trace
    return Traced(trace.apply(op, operands), trace)


@dataclass(frozen=True)
class Rule:
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

    def only(self, wanted: Sequence[bool]) -> Rule:
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
        return Rule(self.params, tuple(reversed(stmts)), outputs)


@cache
def vjp_rule(op: OpDef, types: tuple[Type, ...], params: tuple[Static, ...] = ()) -> Rule:
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
    return Rule(tuple(values), tuple(trace.stmts), tuple(operands))


def numpy_value(value: object, ty: Type) -> Any:
    """Return `value` as the NumPy scalar of type `ty`."""
    if type(value) is ty.numpy.type:
        return value
    return np.asarray(value).astype(ty.numpy)[()]
