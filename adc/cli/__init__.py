"""The command line: ``adc COMMAND`` shows how adc compiles a function."""

from adc.cli.parser import main

__all__ = ["main"]
