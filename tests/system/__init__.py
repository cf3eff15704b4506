"""The corpus through the whole chain.

`test_oracle` (first of all: the oracles are right), `test_gradients` and `test_array_programs`
(every stage, every plan, compiled), `test_array_programs_found` (and some random programs),
`test_shared` (with functions called wherever they can be), `test_stages` (programs written by hand
at every stage), `test_stacks` (lists of elements that are alike), `test_jumps` (exceptions and
early exits), `test_long_programs`, `test_faults` (what a machine may do to a process), and tests of
the tests: `test_planted`, `test_choices` and `test_campaign`. `soak` is a command: random calls for
hours.
"""
