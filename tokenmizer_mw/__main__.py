"""``python -m tokenmizer_mw`` is ``tokenmizer-mw``."""

import sys

from tokenmizer_mw.cli import main

sys.exit(main())
