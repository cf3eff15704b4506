"""``python -m adc`` is the command ``adc``."""

import sys

from adc.cli import main

if __name__ == "__main__":
    sys.exit(main())
