"""What users call the values of the IR: their variables and expressions, for plans and graphs."""

from __future__ import annotations

import re

from adc.ir.core import Apply, Call, Gemm, Load, Operand, Value
from adc.ir.text.printer import literal_text

# The name of values that the user has not named.
TEMPORARY = "t"
# An element as a program writes it: a variable may hold an array that has another's name.
_ELEMENT = re.compile(r"[\w.]+\[[^\]]*\]")


def variable(name: str) -> str:
    """Return the name of a value without the number of its version.

    Examples
    --------
    >>> variable("total.2"), variable("t"), variable("x.1.ct")
    ('total', 't', 'x.1.ct')
    """
    root, dot, number = name.rpartition(".")
    return root if dot and number.isdecimal() else name


def expression(stmt: object) -> str:
    """Return the user's expression for what a statement computes, "" if it is none.

    Loads in array expressions have the place of the whole expression: they are elements.
    """
    if not isinstance(stmt, Apply | Call | Gemm | Load) or stmt.loc is None:
        return ""
    text = stmt.loc.excerpt()
    if isinstance(stmt, Load):
        array = variable(stmt.array.name)
        if array != TEMPORARY and not _ELEMENT.fullmatch(text):
            return f"{array}[{', '.join(map(_index, stmt.index))}]"
    return text


def _index(operand: Operand) -> str:
    return variable(operand.name) if isinstance(operand, Value) else literal_text(operand)


__all__ = ["TEMPORARY", "expression", "variable"]
