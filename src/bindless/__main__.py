"""``python -m bindless`` is the command ``bindless``."""

import sys

from .cli import main

sys.exit(main())
