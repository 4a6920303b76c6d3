"""The targets, imported as ``scripts/fuzz_target.py`` imports them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
