"""One corpus of plain programs with sample inputs, for every test that needs programs.

Each program is an ordinary function of numbers and NumPy arrays, small enough to read at a glance,
and named for the one thing it shows. The samples are chosen so that every program runs without a
warning, takes the branches its name promises, and is differentiable where it is evaluated: no
comparison, kink or rounding step is near a tie. The groups are in files of their own.
"""

from __future__ import annotations

from tests.corpus.language.functions.call_programs import CALL_PROGRAMS
from tests.corpus.language.small_programs import SMALL_PROGRAMS
from tests.corpus.loops.activity_programs import ACTIVITY_PROGRAMS
from tests.corpus.loops.control_programs import CONTROL_PROGRAMS
from tests.corpus.loops.element_programs import ELEMENT_PROGRAMS
from tests.corpus.loops.found_programs import FOUND_PROGRAMS
from tests.corpus.loops.numeric_programs import NUMERIC_PROGRAMS
from tests.corpus.program import Program
from tests.corpus.scalar_programs import SCALAR_PROGRAMS

PROGRAMS: list[Program] = [
    *SCALAR_PROGRAMS, *CONTROL_PROGRAMS, *ELEMENT_PROGRAMS, *CALL_PROGRAMS, *ACTIVITY_PROGRAMS,
    *NUMERIC_PROGRAMS, *SMALL_PROGRAMS, *FOUND_PROGRAMS,
]  # fmt: skip


def by_name(name: str) -> Program:
    """Return the program called `name`."""
    return next(p for p in PROGRAMS if p.name == name)


def tagged(*tags: str) -> list[Program]:
    """Return the programs that carry all of `tags`, in order."""
    return [p for p in PROGRAMS if p.tags.issuperset(tags)]


# Programs that notice what few do, found by planted bugs.
NOTICING = (
    "earlier_elements_of_a_local_array", "lstm_cell_with_scalar_loops", "matrix_power_by_loops",
    "for_over_array_sees_later_writes", "numpy_piecewise",
    "element_overwritten_in_the_next_iteration",
)  # fmt: skip


def differentiable() -> list[Program]:
    """Return the programs that have something to differentiate, in order."""
    return [p for p in PROGRAMS if p.argnums]
