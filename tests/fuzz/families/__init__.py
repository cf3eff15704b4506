"""The kinds of random programs: each module writes those of one kind and checks them.

`python -m tests.fuzz` checks structured programs of scalars (`fuzz_scalars`), array expressions,
views and containers (`fuzz_arrays`), loop nests (`fuzz_nests`), complex numbers (`fuzz_complex`)
and iterations that are independent (`fuzz_threads`). `fuzz_budgets` checks plans of these for
random budgets.

The others are commands of their own. `fuzz_layers` writes programs of layers in lists, `fuzz_jumps`
those of exceptions, generators and early exits, `fuzz_functions` those in which functions are
values, `fuzz_pools` those of objects, dicts and lists of which the run decides how many there are,
out of the texts in `fuzz_pools_grammar`. `fuzz_library` calls any supported function.
"""
