"""The scripts, imported as they import each other."""

import sys
from pathlib import Path

SCRIPTS = Path(__file__).parents[2] / "scripts"
sys.path[:0] = [str(SCRIPTS), str(SCRIPTS / "supply")]
