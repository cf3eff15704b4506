"""A campaign: very many random programs, of each a few properties, drawn from its seed.

A program of a campaign draws its kind, its size and a check out of all, so that checking it takes a
tenth of a second or two. What one program is not asked, others are.

`command` is the command line: `python -m tests.fuzz campaign --help`. `kinds` draws programs;
`composed` makes programs of others, or uses their derivatives. `judge` gives the verdict on a seed,
`checks` has what is checked, of a `subject`: a program and its stages; `slopes` compares with
differences, `relations` rewrites programs into others that compute the same. `verdicts` is the file
that a campaign continues from. `coverage` counts what of the front end and of the passes programs
reach, `planted` how many it takes to notice a defect.
"""
