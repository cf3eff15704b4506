"""The command line: ``adc COMMAND``, to look into what adc makes of a function."""

from adc.cli.parser import main

__all__ = ["main"]
