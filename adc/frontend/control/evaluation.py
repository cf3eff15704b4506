"""The value of an expression: computed, or as a condition.

``a and b`` as a condition is one operation if `b` can neither fail nor have side effects, and a
branch otherwise.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Sequence

from adc.frontend.control import chains
from adc.frontend.control.branches import branch, merge, run_arm
from adc.frontend.control.exits import VALUE
from adc.frontend.core import dispatch, numbers
from adc.frontend.core.bindings import Binding, Maybe, Num
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.names import usable
from adc.frontend.values import elementwise, operators, optional
from adc.ir.core import Apply, Literal, Operand
from adc.ir.types import BOOL


def lower_expr(lo: Lowerer, node: ast.expr) -> Binding:
    """Lower an expression and return its binding."""
    binding = dispatch.evaluate(lo, node)
    with lo.at(node):
        return elementwise.materialised(lo, binding, node)


def lower_owner(lo: Lowerer, node: ast.Attribute) -> Binding:
    """Lower what an attribute is set or deleted of and return its binding."""
    binding = dispatch.owner_of(lo, node)
    with lo.at(node.value):
        return elementwise.materialised(lo, binding, node.value)


def lower_filled(lo: Lowerer, node: ast.expr) -> Binding:
    """Lower an index, the end of a slice or a key, and return its binding: it is not None."""
    binding = dispatch.filled(lo, node)
    with lo.at(node):
        return elementwise.materialised(lo, binding, node)


def lower_optional(lo: Lowerer, node: ast.expr) -> Binding:
    """Lower an expression that may be None and return its binding."""
    binding = dispatch.optional(lo, node)
    with lo.at(node):
        return elementwise.materialised(lo, binding, node)


def condition(lo: Lowerer, node: ast.expr) -> Operand:
    """Lower an expression that is used as a condition."""
    if isinstance(node, ast.BoolOp):
        with lo.at(node):
            return _truth_chain(lo, chains.operands(lo, node), isinstance(node.op, ast.And))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        with lo.at(node):
            return optional.negated(lo, condition(lo, node.operand))
    binding = lower_optional(lo, node)
    with lo.at(node):
        return truth(lo, binding, node)


def truth(lo: Lowerer, binding: Binding, node: ast.AST) -> Operand:
    """Return the truth of a binding that may be None."""
    if isinstance(binding, Maybe):
        inner = binding.inner
        return all_of(lo, [lambda: binding.some, lambda: operators.truth(lo, inner, node)])
    return operators.truth(lo, binding, node)


def _truth_chain(lo: Lowerer, nodes: Sequence[ast.expr], conjunction: bool) -> Operand:
    parts = [functools.partial(condition, lo, node) for node in nodes]
    return chained(lo, parts, conjunction)


def all_of(lo: Lowerer, parts: Sequence[Callable[[], Operand]]) -> Operand:
    """Evaluate booleans left to right until one is false."""
    return chained(lo, parts, True)


def chained(lo: Lowerer, parts: Sequence[Callable[[], Operand]], conjunction: bool) -> Operand:
    """Evaluate booleans left to right until one decides."""
    first = parts[0]()
    if len(parts) == 1:
        return first
    if isinstance(first, Literal):
        return chained(lo, parts[1:], conjunction) if first.value == conjunction else first
    before = lo.snapshot()
    known = optional.narrow(lo, first, conjunction)
    kept: list[Operand] = []

    def rest() -> None:
        kept.append(chained(lo, parts[1:], conjunction))
        lo.frame.env[VALUE] = Num(kept[-1])

    arm = run_arm(lo, rest)
    if not arm.dead and all(isinstance(stmt, Apply) for stmt in arm.stmts):
        # Nothing in the rest can fail or change anything: evaluate it always.
        lo.frame.env.pop(VALUE)
        optional.forget(lo.frame.env, known)
        lo.builder.stmts.extend(arm.stmts)
        result = numbers.apply(lo, "and" if conjunction else "or", first, kept[0])
        return optional.combined(lo, result, first, kept[0], conjunction)
    optional.forget(arm.state.env, known)
    lo.restore(before)

    def decided() -> None:
        lo.frame.env[VALUE] = Num(Literal(not conjunction, BOOL))

    # The rest is not lowered again: doing so at every link would take exponential time.
    other = run_arm(lo, decided)
    merge(lo, first, before, *((arm, other) if conjunction else (other, arm)), late=True)
    value = lo.frame.env.pop(VALUE)
    assert isinstance(value, Num)
    if not kept:
        return value.operand
    return optional.combined(lo, value.operand, first, kept[0], conjunction)


def choose(
    lo: Lowerer,
    cond: Operand,
    then: Callable[[], None],
    orelse: Callable[[], None],
    node: ast.AST,
) -> Binding:
    """Lower two expressions, of which `cond` selects one."""
    return picked(lo, lambda: branch(lo, cond, then, orelse, late=True), node)


def picked(lo: Lowerer, branches: Callable[[], None], node: ast.AST) -> Binding:
    """Return the value that the arms of branches yield."""
    outer = lo.frame.env.pop(VALUE, None)
    branches()
    result = usable(lo, lo.frame.env.pop(VALUE), "this expression", node)
    if outer is not None:
        lo.frame.env[VALUE] = outer
    return result


def either(
    lo: Lowerer, cond: Operand, first: Callable[[], Binding], second: Callable[[], Binding],
    node: ast.AST,
) -> Binding:  # fmt: skip
    """Return what one of two functions returns, of which `cond` selects one."""

    def arm(value: Callable[[], Binding]) -> None:
        lo.frame.env[VALUE] = value()

    if isinstance(cond, Literal):
        return first() if cond.value else second()
    return choose(lo, cond, lambda: arm(first), lambda: arm(second), node)


def one_of_two(
    lo: Lowerer, cond: Operand, first: Binding, second: Binding, node: ast.AST
) -> Binding:  # fmt: skip
    """Return one of two values, of which `cond` selects one."""
    return either(lo, cond, lambda: first, lambda: second, node)
