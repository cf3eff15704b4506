"""Random programs, the same for the same seed: `python -m tests.fuzz --help`.

`families` are the kinds of programs: each module writes those of one kind and checks them.
`command` is the command line for most of them, and shrinks what fails (`shrink`). `campaign` checks
very many programs of all kinds a little each, and keeps the verdicts in a file.

`writers` writes code for several families, `program` is what all of them return. `lines` has what
the writers of text share, `names` gives inner variables the names of others, `limits` ends what
takes too long. `ir_random` writes text of the IR.
"""
