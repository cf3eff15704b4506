"""The text form of the IR: `printer` writes it, `parser` reads it back.

`effects` does what the statements `Print` say; `outside` calls functions outside of the program.
`raising` has which exception a check raises, `user` what users call the values: their variables and
expressions.

::

    parse(print(fn)) == fn
"""
