"""The command line: ``adc supported`` (more commands come with the tools that they show)."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; return its exit status."""
    parser = argparse.ArgumentParser(prog="adc", description="Gradients of plain Python functions.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser(
        "supported", help="list every construct and function, and whether adc has it"
    )
    parser.parse_args(argv)
    from adc.supported import page

    sys.stdout.write(page(refused=True))
    return 0


if __name__ == "__main__":
    sys.exit(main())
