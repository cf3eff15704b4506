"""Programs in the text form of the IR with sample arguments, for tests of the derivative passes.

Every program is smooth around its sample. `wrt` are the positions to differentiate; the first
result is the one that has a gradient.

`case` says what a case is; `straight` has those without control flow, `loops` those of `for`,
`control` those of `if`, `while` and calls.
"""

from tests.corpus.ir_cases import control, loops, straight  # noqa: F401  (they enter their cases)
from tests.corpus.ir_cases.case import CASES, X4, Case, difference, directions, inner

__all__ = ["CASES", "X4", "Case", "difference", "directions", "inner"]
