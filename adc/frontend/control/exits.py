"""Pending exits: of a loop, of the function, or of a block of statements with a label.

Early exits are structured here. ``$exit`` in a frame's names is 0 while control falls through;
otherwise its value says which exit is pending. Statements after one that may exit are guarded by
it. `RAISE` is an exception that a `try` of the function may catch; exits from `FIRST_LABEL` on
leave a block of statements (`jumps`).
"""

from __future__ import annotations

from collections.abc import Container, Iterable

from adc.frontend.core.bindings import Num, Unbound, Unstable
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.structure import is_slot
from adc.ir.builder import integer
from adc.ir.core import Literal, Operand

FALLS, BREAK, CONTINUE, RETURN, NATURAL, RAISE, FIRST_LABEL = range(7)
EXIT, RESULT, VALUE = "$exit", "$return", "$value"
# What the names are called that are kept at a `break` (`language.breaks`).
BROKEN = "$break"
# With a name after it: among the names that are something else where an exit is pending, one that
# is so where the exit does not leave the function. After the loop, both are possible.
TORN = "$torn "


def is_of_exit(name: str) -> bool:
    """Whether a name is read only where an exit is pending, which binds it."""
    return name == RESULT or name.startswith(BROKEN)


def exit_of(lo: Lowerer) -> Operand:
    binding = lo.frame.env[EXIT]
    assert isinstance(binding, Num)
    return binding.operand


def set_exit(lo: Lowerer, code: int) -> None:
    lo.frame.env[EXIT] = Num(integer(code))


def exits_of(lo: Lowerer, operand: Operand) -> frozenset[int]:
    """Return the exits that may be pending."""
    if isinstance(operand, Literal):
        return frozenset([int(operand.value)])
    return lo.exit_values.get(operand, frozenset(range(5)))


def jumps(codes: Iterable[int]) -> frozenset[int]:
    """Return the exits among `codes` that leave any loop: raised exceptions, and labels."""
    return frozenset([code for code in codes if code >= RAISE])


def without_exit(lo: Lowerer, code: int, instead: int | None = None) -> None:
    """Let an exit be pending no more: where it was, `instead` is; None: it was not."""
    pending = exit_of(lo)
    left = exits_of(lo, pending) - {code} | ({instead} if instead is not None else set())
    if len(left) == 1:
        set_exit(lo, *left)
    elif left and code in exits_of(lo, pending):
        gone = lo.builder.apply("eq", pending, integer(code), hint="gone")
        other = integer(min(left) if instead is None else instead)
        rest = lo.builder.apply("select", gone, other, pending, hint="exit")
        lo.exit_values[rest] = left
        lo.frame.env[EXIT] = Num(rest)


def unbind_partial(lo: Lowerer, why: str, before: Container[str] | None = None) -> None:
    """Unbind the names that are bound only where no exit is pending: one was, and is no more.

    `before` are those bound before what the exit leaves. Lists, dicts and objects made in there
    keep their contents: no name leads to one where it was not made.
    """
    for name in lo.frame.partial:
        if name.startswith(TORN):
            continue
        if not is_slot(name):
            lo.frame.env[name] = Unbound(why)
        elif before is None or name in before:
            lo.frame.env[name] = Unstable(f"differs: {why}")
    lo.frame.partial.clear()


def keep_exit(lo: Lowerer) -> None:
    """Set the exit to a constant if one is known to be pending and there is only one."""
    left = exits_of(lo, exit_of(lo)) - {FALLS}
    if len(left) == 1:
        set_exit(lo, *left)


def is_exit(operand: Operand, code: int) -> bool:
    return isinstance(operand, Literal) and operand.value == code
