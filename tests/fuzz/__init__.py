"""Random programs, the same for the same seed: `python -m tests.fuzz --help`.

`fuzz` writes structured programs of scalars, checks all kinds, shrinks what fails, and has the
command line. `fuzz_arrays` writes array expressions, views and containers, `fuzz_nests` loop nests,
`fuzz_threads` iterations that are independent; `fuzz_budgets` checks plans for random budgets.
`fuzz_layers` writes programs of layers in lists, and is a command of its own. `ir_random` writes
text of the IR.
"""
