"""Long chains of decisions: `elif`, `case`, conditional expressions, `and`, early exits.

In Python's syntax tree, and as branches, each link of a chain is nested in the one before it.
Passes, emitted source and compilers have a limited nesting depth, so a chain of more than `LONG`
links becomes a sequence of branches.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterator, Sequence

from adc.frontend.control.branches import branch
from adc.frontend.core import numbers
from adc.frontend.core.bindings import Num
from adc.frontend.core.lower import Lowerer
from adc.frontend.syntax import scope
from adc.ir.builder import integer
from adc.ir.core import Literal, Operand

# So many links of a chain may lie within each other.
LONG = 32
# In a frame's names: which arm is taken.
_ARM = "$arm"


def pick(
    lo: Lowerer, tests: Sequence[Callable[[], Operand]], arms: Sequence[Callable[[], None]]
) -> None:
    """Run the arm of the first test that holds, or the last arm."""
    if len(tests) > LONG:
        _pick_of_many(lo, tests, arms)
        return

    def go_on(k: int) -> None:
        if k == len(tests):
            arms[k]()
        else:
            branch(lo, tests[k](), arms[k], lambda: go_on(k + 1))

    go_on(0)


def _pick_of_many(
    lo: Lowerer, tests: Sequence[Callable[[], Operand]], arms: Sequence[Callable[[], None]]
) -> None:
    """Find the number of the arm, by nests of `LONG` tests; a search leads to the arm.

    What tests bind is not seen in the arms.
    """
    outer = lo.frame.env.pop(_ARM, None)
    last = len(tests)
    reached = {last}

    def decide(k: int, end: int) -> None:
        """Note the first test from `k` on that holds."""

        def take() -> None:
            reached.add(k)
            lo.frame.env[_ARM] = Num(integer(k))

        if k < end:
            holds = tests[k]()
            if isinstance(holds, Literal) and holds.value:
                reached.discard(last)
            branch(lo, holds, take, lambda: decide(k + 1, end))

    lo.frame.env[_ARM] = Num(integer(last))
    for start in range(0, last, LONG):
        chunk = functools.partial(decide, start, min(start + LONG, last))
        undecided = numbers.apply(lo, "eq", _arm(lo), integer(last))
        branch(lo, undecided, chunk, lambda: None)
        if last not in reached:
            break
    taken = _arm(lo)
    lo.frame.env.pop(_ARM)
    if outer is not None:
        lo.frame.env[_ARM] = outer
    _search(lo, taken, sorted(reached), arms)


def _arm(lo: Lowerer) -> Operand:
    held = lo.frame.env[_ARM]
    assert isinstance(held, Num)
    return held.operand


def _search(
    lo: Lowerer, taken: Operand, found: Sequence[int], arms: Sequence[Callable[[], None]]
) -> None:
    """Run the arm whose number is `taken`, one of those given."""
    if len(found) == 1:
        arms[found[0]]()
        return
    half = len(found) // 2
    below = numbers.apply(lo, "lt", taken, integer(found[half]))
    branch(
        lo,
        below,
        lambda: _search(lo, taken, found[:half], arms),
        lambda: _search(lo, taken, found[half:], arms),
    )


def links(stmt: ast.If) -> tuple[list[ast.If], list[ast.stmt]]:
    """Return a chain of `elif`, and the statements of its `else`."""
    found = [stmt]
    while len(found[-1].orelse) == 1 and isinstance(found[-1].orelse[0], ast.If):
        found.append(found[-1].orelse[0])
    return found, found[-1].orelse


def is_long(tests: Sequence[ast.expr]) -> bool:
    """Whether tests are too many to be nested, and none binds a name that arms may read."""
    return len(tests) > LONG and not any(binds(test) for test in tests)


def binds(test: ast.expr) -> bool:
    return any(isinstance(part, ast.NamedExpr) for part in ast.walk(test))


def choices(node: ast.IfExp) -> tuple[list[ast.expr], list[ast.expr]]:
    """Return the tests of a chain of conditional expressions, and its values: one more."""
    tests, values = [node.test], [node.body]
    while isinstance(node.orelse, ast.IfExp):
        node = node.orelse
        tests.append(node.test)
        values.append(node.body)
    return tests, [*values, node.orelse]


def operands(lo: Lowerer, node: ast.BoolOp) -> Sequence[ast.expr]:
    """Return the operands of `and` or `or`: of many, groups of them."""
    if not is_long(node.values):
        return node.values

    def group(part: Sequence[ast.expr]) -> ast.expr:
        return ast.copy_location(ast.BoolOp(node.op, list(part)), part[0])

    key = ("operands", id(node))
    if key not in lo.memo:  # the same nodes every time: they are known by what they are
        found = node.values
        while len(found) > LONG:
            found = [group(found[k : k + LONG]) for k in range(0, len(found), LONG)]
        lo.memo[key] = found
    return lo.memo[key]  # type: ignore[no-any-return]


def sections(stmts: Sequence[ast.stmt]) -> Iterator[Sequence[ast.stmt]]:
    """Yield statements in order, in sections with at most `LONG` possible exits.

    What comes after such a statement lies in a branch, up to the end of the part.
    """
    start, exits = 0, 0
    for k, stmt in enumerate(stmts):
        exits += scope.may_exit(stmt)
        if exits == LONG and k + 1 < len(stmts):
            yield stmts[start : k + 1]
            start, exits = k + 1, 0
    yield stmts[start:]
