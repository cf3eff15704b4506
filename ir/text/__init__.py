"""The text form of the IR: `printer` writes it, `parser` reads it back.

::

    parse(print(fn)) == fn
"""
