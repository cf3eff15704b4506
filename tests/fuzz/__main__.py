"""The command lines of the random programs: see `tests.fuzz.command` and `tests.fuzz.campaign`."""

import sys

from tests.fuzz import command

if __name__ == "__main__":
    if sys.argv[1:2] == ["campaign"]:
        from tests.fuzz.campaign import command as campaign

        sys.exit(campaign.main(sys.argv[2:]))
    sys.exit(command.main())
