"""What soak.py does in its rounds: one module packs, one reads, the others disturb and judge."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path += [str(ROOT), str(ROOT / "tests")]  # for what damages files; tests has a folder reader
