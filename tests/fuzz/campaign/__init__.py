"""A campaign: very many random programs, of each a few properties, drawn from its seed.

A program of a campaign draws its kind, its size and one or two checks out of all, so that checking
it takes a tenth of a second. What one program is not asked, others are.

`command` is the command line: `python -m tests.fuzz campaign --help`. `kinds` draws programs,
`checks` what is checked of one and `stages` where, `relations` rewrites programs into others that
compute the same. `verdicts` is the file that a campaign continues from. `judge` does it for one
seed. `coverage` counts what of the front end and of the table of operations programs reach.
"""
