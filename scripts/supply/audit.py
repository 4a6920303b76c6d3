#!/usr/bin/env python3
"""Says what pip-audit found: audit.py FILE, which `pip-audit --format json` was to write.

pip-audit passes over packages that its database has no answer for, and ends as if all were well.
So what counts is how many were looked up. Exits with 1 if a vulnerability is known, and with 0 if
none is, or if no database could be reached; that is said.
"""

import json
import sys
from pathlib import Path


def main(file: Path) -> int:
    packages = json.loads(file.read_text())["dependencies"] if file.exists() else []
    looked_up = [package for package in packages if "vulns" in package]
    if not looked_up:
        print("No database of vulnerabilities could be reached: NOTHING WAS LOOKED UP.")
        return 0
    count = 0
    for package in looked_up:
        for known in package["vulns"]:
            count += 1
            mended = ", ".join(known["fix_versions"]) or "no version yet"
            print(f"{package['name']} {package['version']}: {known['id']}, mended in {mended}")
    print(f"Of {len(packages)} packages {len(looked_up)} were looked up: {count} vulnerabilities.")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
