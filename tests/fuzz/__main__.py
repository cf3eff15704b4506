"""The command line of the random programs: see `tests.fuzz.fuzz`."""

import sys

from tests.fuzz import fuzz

if __name__ == "__main__":
    sys.exit(fuzz.main())
