"""What users call the values of the IR: their variables and expressions, for plans and graphs."""

from __future__ import annotations

from adc.ir.core import Apply, Call, Gemm, Load, Operand, Value
from adc.ir.text.printer import literal_text

# The name of values that the user has not named.
TEMPORARY = "t"


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
        is_element = text.startswith(f"{array}[") and text.find("]") == len(text) - 1
        if array != TEMPORARY and not is_element:
            return f"{array}[{', '.join(map(_index, stmt.index))}]"
    return text


def _index(operand: Operand) -> str:
    return variable(operand.name) if isinstance(operand, Value) else literal_text(operand)


__all__ = ["TEMPORARY", "expression", "variable"]
