"""The command line: ``adc COMMAND`` shows how adc compiles a function.

============  ======================================================================================
`parser`      the commands and their options
`options`     options that several commands take
`target`      ``FILE.py:FUNCTION`` as a derivative with sample arguments
`commands`    commands that show something
`slices`      ``--line``: what comes from one line of the user's file
`check`       ``adc check``: gradients against finite differences
`curve`       ``adc plan --curve``
`completion`  ``adc completion``
`output`      tables in a terminal, plain text in a pipe
`failure`     errors of the user's program, without adc's frames
============  ======================================================================================
"""

from adc.cli.parser import main

__all__ = ["main"]
