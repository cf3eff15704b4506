"""Random programs, the same for the same seed: `python -m tests.fuzz --help`.

`command` is the command line: it checks all kinds, and shrinks what fails (`shrink`). `fuzz` writes
structured programs of scalars, `fuzz_arrays` array expressions, views and containers, `fuzz_nests`
loop nests, `fuzz_complex` complex numbers, `fuzz_threads` iterations that are independent;
`writers` is what writes the first two, `program` is what all of them return.
`fuzz_budgets` checks plans for random budgets. `fuzz_layers` writes programs of layers in lists,
`fuzz_jumps` programs of exceptions, generators and early exits, `fuzz_functions` those in which
functions are values, `fuzz_pools` those of objects, dicts and lists of which the run decides how
many there are, out of the texts in `fuzz_pools_grammar`: commands of their own. `fuzz_library`
calls any supported function. `lines` has what the writers of text share, `names` gives inner
variables the names of others, `limits` ends what takes too long. `ir_random` writes text of the IR.
`campaign` checks very many programs of all kinds a little each, and keeps the verdicts in a file.
"""
