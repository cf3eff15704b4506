"""The command line of the random programs: see `tests.fuzz.command`."""

import sys

from tests.fuzz import command

if __name__ == "__main__":
    sys.exit(command.main())
