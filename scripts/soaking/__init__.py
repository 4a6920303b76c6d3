"""What soak.py does in its rounds: one module packs, one reads, the others disturb and judge."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "tests"))  # for what damages files
