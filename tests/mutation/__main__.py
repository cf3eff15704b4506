"""`python -m tests.mutation`."""

import sys

from tests.mutation.command import main

sys.exit(main())
