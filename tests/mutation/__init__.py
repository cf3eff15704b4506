"""Mutation testing: small changes of the compiler, and whether random programs notice them.

    python -m tests.mutation baseline --n 600 --file mutants.db
    python -m tests.mutation measure --file mutants.db
    python -m tests.mutation run --n 2000 --suite --file mutants.db --workers 2
    python -m tests.mutation survivors --file mutants.db

`mutants` makes them: an operator swapped, a number off by one, a statement dropped, a condition
negated, operands exchanged (`Mutant`). `planting` puts one into the functions of this process.
`suite` runs the tests that reach the line which was changed, `programs` the programs of a campaign
(`tests.fuzz.campaign`) that call the function. `command` is the command line, `kept` the file that
it continues from.

A mutant that nobody notices is equivalent, or in code that nothing needs, or a test is missing.
"""

import os

# As `tests/conftest.py` does: before Numba is imported.
os.environ.setdefault("NUMBA_ENABLE_CUDASIM", "1")
