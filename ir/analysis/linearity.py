"""Linearity: whether a function is linear in some of its parameters, and if not, where.

Reverse code transposes the tangent rules that users write (`opaque`), which is valid for linear
functions only: it evaluates them at tangents of zero, where ``dx * dx`` has the derivative 0. In ::

    fn rule(%x: f64, %x.dot: f64) -> f64, f64 {
      %y = sin %x                 constant
      %d = cos %x                 constant
      %a = mul %d %x.dot          linear: the derivative of `mul` by %x.dot does not depend on it
      %b = mul %a %x.dot          nonlinear: that of `mul` by %a does
      return %y %b
    }

every value has a place in the order ``zero < constant < linear < affine < nonlinear``. Whether an
operation is linear in an operand follows from its derivative rule. Elements of an array are
distinguished only where each iteration of a loop updates its own; else the array has the degree of
its highest element, so that some linear functions are not recognised.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum

from adc.ir.analysis.activity import is_zero
from adc.ir.core import (
    Apply,
    Block,
    Call,
    Check,
    Derived,
    For,
    Function,
    Gemm,
    If,
    Literal,
    Load,
    Operand,
    Print,
    Stmt,
    Store,
    Value,
    While,
)
from adc.ir.errors import IRError, Span
from adc.ir.rules import TracedRule, vjp_rule
from adc.ir.text.outside import is_external
from adc.ir.types import Array
from adc.ir.walk import stmt_reads


class Degree(IntEnum):
    """How a value depends on the parameters; the join of two is the greater one."""

    ZERO = 0
    CONSTANT = 1
    LINEAR = 2
    AFFINE = 3
    NONLINEAR = 4


ZERO, CONSTANT, LINEAR, AFFINE, NONLINEAR = Degree


@dataclass(frozen=True)
class Nonlinear:
    """Why a result is not linear: its degree, and the first line that made it so."""

    degree: Degree
    loc: Span | None


def nonlinear(
    fn: Function, params: Iterable[Value], results: Sequence[int]
) -> Nonlinear | None:  # fmt: skip
    """Return why some result of `fn` is not linear in `params`, None if all are.

    Parameters
    ----------
    fn : Function
        Value form without reverse code.
    params : iterable of Value
        Parameters of `fn`; the others are constants.
    results : sequence of int
        Results of `fn` by their positions.
    """
    moving = set(params)
    given = tuple(LINEAR if param in moving else CONSTANT for param in fn.params)
    found = _Analysis(fn)
    degrees = found.run(given)
    for k in results:
        if degrees[k] in (CONSTANT, AFFINE, NONLINEAR):
            return Nonlinear(degrees[k], found.culprit)
    return None


class _Analysis:
    """Degrees of the results of a function and its callees, for each degree of arguments."""

    def __init__(self, fn: Function) -> None:
        self.fn = fn
        self.functions = {each.name: each for each in (fn, *fn.callees)}
        self.derived = {each.name: each for each in fn.derived}
        self.culprit: Span | None = None
        # Results by function and arguments: a recursive call finds the lower bound known so far.
        self._known: dict[tuple[str, tuple[Degree, ...]], tuple[Degree, ...]] = {}
        self._visited: set[tuple[str, tuple[Degree, ...]]] = set()

    def run(self, given: tuple[Degree, ...]) -> tuple[Degree, ...]:
        while True:
            before = dict(self._known)
            self._visited.clear()
            found = self.of(self.fn.name, given)
            if self._known == before:
                return found

    def of(self, name: str, given: tuple[Degree, ...]) -> tuple[Degree, ...]:
        fn, key = self.functions[name], (name, given)
        known = self._known.setdefault(key, (ZERO,) * len(fn.results))
        if key in self._visited:
            return known
        self._visited.add(key)
        if is_external(fn):  # its statements do not say what it computes
            degree = NONLINEAR if max(given, default=CONSTANT) >= LINEAR else CONSTANT
            self._known[key] = (degree,) * len(fn.results)
            return self._known[key]
        body = _Body(self, dict(zip(fn.params, given, strict=True)))
        body.stmts(fn.body)
        self._known[key] = tuple(
            max(old, body.of(result)) for old, result in zip(known, fn.results, strict=True)
        )
        return self._known[key]


class _Body:
    """Degrees of the values of one function, for arguments of given degrees."""

    def __init__(self, analysis: _Analysis, degrees: dict[Value, Degree]) -> None:
        self._analysis = analysis
        self._degrees = degrees

    def of(self, operand: Operand) -> Degree:
        if isinstance(operand, Literal):
            return ZERO if is_zero(operand) else CONSTANT
        return self._degrees.get(operand, ZERO)

    def _raise(self, value: Value, degree: Degree, loc: Span | None) -> None:
        """Join the degree of a value with `degree`, which the operation at `loc` gave it."""
        if value.type.kind != "f" and degree is LINEAR:
            degree = NONLINEAR  # a condition, or a trip count
        old = self.of(value)
        self._degrees[value] = max(old, degree)
        if degree >= AFFINE and self._analysis.culprit is None:
            self._analysis.culprit = loc

    def _moves(self, operands: Iterable[Operand]) -> bool:
        return any(self.of(each) >= LINEAR for each in operands)

    def stmts(self, stmts: Sequence[Stmt]) -> None:
        for stmt in stmts:
            self._stmt(stmt)

    def _stmt(self, stmt: Stmt) -> None:
        match stmt:
            case Apply():
                self._raise(stmt.result, self._applied(stmt), stmt.loc)
            case Load(result=result, array=array, index=index):
                chosen = NONLINEAR if self._moves(index) else self.of(array)
                self._raise(result, chosen, stmt.loc)
            case Store(result=result, array=array, value=value, index=index):
                degree = max(self.of(array), self.of(value))
                self._raise(result, NONLINEAR if self._moves(index) else degree, stmt.loc)
            case Gemm(array=array, a=a, b=b):
                degree = _product(self.of(a), self.of(b))
                for result in stmt.results:
                    own = self.of(array) if stmt.accumulate else ZERO
                    self._raise(result, max(own, degree), stmt.loc)
            case If(cond=cond, then=then, orelse=orelse):
                self.stmts(then.stmts)
                self.stmts(orelse.stmts)
                for result, *arms in zip(stmt.results, then.yields, orelse.yields, strict=True):
                    decided = self._moves([cond]) and arms[0] != arms[1]
                    degree = NONLINEAR if decided else max(map(self.of, arms))
                    self._raise(result, degree, stmt.loc)
            case For(trips=trips, init=init, body=body):
                self._degrees[stmt.index] = CONSTANT
                self._loop(stmt, init, body, body.yields, [trips])
            case While(init=init, body=body):
                self._loop(stmt, init, body, body.yields[1:], body.yields[:1])
            case Call():
                self._call(stmt)
            case Check() | Print():
                pass
            case _:
                raise IRError("linearity is defined on value form without reverse code")

    # -- operations ----------------------------------------------------------------------------

    def _applied(self, stmt: Apply) -> Degree:
        degrees = [self.of(arg) for arg in stmt.args]
        if stmt.op.asks_shape:
            return CONSTANT
        if stmt.op.reserves or stmt.op.undefined:
            return ZERO  # it is not read before it is stored to
        highest = max(degrees)
        if highest is NONLINEAR:
            return NONLINEAR
        floats = [k for k, arg in enumerate(stmt.args) if arg.type.kind == "f"]
        moving = [k for k in floats if degrees[k] >= LINEAR]
        vanishing = moving or [k for k in floats if degrees[k] is ZERO]
        if not vanishing:
            return CONSTANT
        if stmt.op.vjp is None or stmt.result.type.kind != "f":
            return NONLINEAR if moving else CONSTANT
        rule = vjp_rule(stmt.op, tuple(arg.type for arg in stmt.args), stmt.params)
        if not _linear_in(rule, vanishing):
            return NONLINEAR if moving else CONSTANT
        fixed = [k for k in floats if k not in vanishing and degrees[k] is not ZERO]
        if any(_remains(rule, k, vanishing) for k in fixed):
            return AFFINE if moving else CONSTANT
        return highest if moving else ZERO

    # -- loops -----------------------------------------------------------------------------------

    def _loop(
        self, loop: For | While, init: Sequence[Operand], body: Block,
        following: Sequence[Operand], decide: Sequence[Operand],
    ) -> None:  # fmt: skip
        separate = [
            isinstance(loop, For) and _element_by_element(loop, k) for k in range(len(init))
        ]  # fmt: skip
        for param, start in zip(body.params, init, strict=True):
            self._degrees[param] = self.of(start)
        while True:
            self.stmts(body.stmts)
            before = [self.of(param) for param in body.params]
            for k, (param, after) in enumerate(zip(body.params, following, strict=True)):
                if not separate[k]:
                    self._raise(param, self.of(after), loop.loc)
            if before == [self.of(param) for param in body.params]:
                break
        decided = self._moves(decide)
        for result, start, after in zip(loop.results, init, following, strict=True):
            degree = max(self.of(start), self.of(after))
            self._raise(result, NONLINEAR if decided else degree, loop.loc)

    # -- calls -----------------------------------------------------------------------------------

    def _call(self, stmt: Call) -> None:
        given = tuple(self.of(arg) for arg in stmt.args)
        derived = self._analysis.derived.get(stmt.callee)
        if derived is None:
            found = self._analysis.of(stmt.callee, given)
        else:
            found = _of_derivative(derived, given)
        for result, degree in zip(stmt.results, found, strict=True):
            self._raise(result, degree, stmt.loc)


def _product(a: Degree, b: Degree) -> Degree:
    if a is ZERO or b is ZERO:
        return ZERO
    return NONLINEAR if min(a, b) >= LINEAR else max(a, b)


def _linear_in(rule: TracedRule, which: Sequence[int]) -> bool:
    """Whether an operation is linear in the operands `which` together, up to a constant."""
    for k in which:
        if is_zero(rule.outputs[k]):
            return False  # it rounds, or stops derivatives
        needs = _needs(rule, k)
        # The result depends on them, too.
        if 1 in needs or any(2 + other in needs for other in which):
            return False
    return True


def _remains(rule: TracedRule, k: int, which: Sequence[int]) -> bool:
    """Whether operand `k` counts where the operands `which` are zero, as in a sum with them."""
    if is_zero(rule.outputs[k]):
        return False
    needs = _needs(rule, k)
    return 1 not in needs and not any(2 + other in needs for other in which)


def _needs(rule: TracedRule, k: int) -> frozenset[int]:
    return rule.needs([j == k for j in range(len(rule.outputs))])


def _of_derivative(derived: Derived, given: tuple[Degree, ...]) -> tuple[Degree, ...]:
    """Return the results of a derivative: linear in each group of directions."""
    count = len(derived.of.params)
    primal = CONSTANT
    if any(each >= LINEAR for each in given[:count]):
        # Derivatives by x of a function linear in y are linear in y.
        primal = max(_Analysis(derived.of).run(given[:count]))
        if any(given[k] >= LINEAR for k in derived.wrt):
            primal = NONLINEAR
    kinds = len(derived.result_types())
    if derived.mode == "primal":
        return (primal,) * kinds
    groups = derived.along if derived.mode == "reverse" else (derived.wrt,)
    degree = primal
    at = count
    for group in groups:
        along = max(given[at : at + len(group)], default=CONSTANT)
        at += len(group)
        degree = _product(degree, along)
    before = len(derived.of.results) if derived.mode == "forward" else 0
    return (*(primal,) * before, *(degree,) * (kinds - before))


# -- loops over elements ---------------------------------------------------------------------------


def _element_by_element(loop: For, k: int) -> bool:
    """Whether no iteration reads elements of the carried array `k` that another one writes.

    That holds if all loads and stores have the loop's index at one axis.
    """
    param = loop.body.params[k]
    if not isinstance(param.type, Array):
        return False
    family = _Family(loop.index, param)
    if not family.covers(loop.body.stmts):
        return False
    own = [operand in family.versions for operand in loop.body.yields]
    return own[k] and sum(own) == 1 and bool(family.axes)


class _Family:
    """The versions of an array in the body of a loop, and the axes where the index stands."""

    def __init__(self, index: Value, param: Value) -> None:
        self._index = index
        self.versions: set[Operand] = {param}
        self.axes: set[int] = set(range(param.type.rank))

    def covers(self, stmts: Sequence[Stmt]) -> bool:
        """Follow statements; return whether only loads and stores use the array."""
        return all(self._follows(stmt) for stmt in stmts)

    def _follows(self, stmt: Stmt) -> bool:
        if not stmt_reads(stmt) & self.versions:
            return True
        match stmt:
            case Load(array=array, index=index):
                return array in self.versions and self._at(index)
            case Store(array=array, index=index, value=value):
                self.versions.add(stmt.result)
                return array in self.versions and value not in self.versions and self._at(index)
            case Apply(op=op):
                return op.asks_shape
            case If(then=then, orelse=orelse):
                if not (self.covers(then.stmts) and self.covers(orelse.stmts)):
                    return False
                return self._joined(stmt.results, then.yields, orelse.yields)
            case For(init=init, body=body):
                pairs = zip(init, body.params, strict=True)
                self.versions.update(param for start, param in pairs if start in self.versions)
                return self.covers(body.stmts) and self._joined(stmt.results, init, body.yields)
            case _:
                return False

    def _at(self, index: Sequence[Operand]) -> bool:
        self.axes &= {axis for axis, operand in enumerate(index) if operand == self._index}
        return bool(self.axes)

    def _joined(
        self, results: Sequence[Value], first: Sequence[Operand], second: Sequence[Operand]
    ) -> bool:
        for result, a, b in zip(results, first, second, strict=True):
            if (a in self.versions) != (b in self.versions):
                return False
            if a in self.versions:
                self.versions.add(result)
        return True


__all__ = ["Degree", "Nonlinear", "nonlinear"]
