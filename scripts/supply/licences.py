#!/usr/bin/env python3
"""Prints the licence of each package in a lock file, as the installed package states it.

    scripts/supply/licences.py [LOCK]

Exits with 1 if one states none that is known here: that is copyleft alone, or has to be looked at.
Of several that are joined by OR, one that is known suffices; by AND, all must be.
"""

import re
import sys
from collections.abc import Iterator
from importlib.metadata import PackageMetadata, PackageNotFoundError, metadata
from pathlib import Path

LOCK = Path(__file__).parent / "requirements.lock"
PERMISSIVE = {
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD",  # which one is not said
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "MIT",
    "MIT-CMU",
    "PSF-2.0",
    "Zlib",
}
BY_FILE = {"MPL-2.0"}  # copyleft of its own files alone
# How packages say it that use no SPDX expression.
OTHER_WORDS = {
    "2-clause BSD License": "BSD-2-Clause",
    "Apache 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
UNKNOWN = "unknown"


def packages(lock: Path) -> Iterator[tuple[str, str]]:
    """The (name, version) of each package of a lock file, or of constraints for Python 3.11."""
    for line in lock.read_text().splitlines():
        if found := re.match(r"([\w.-]+)==([^\s;]+)(?!.*python_version <)", line):
            yield found[1], found[2]


def licence(stated: PackageMetadata) -> str:
    """An SPDX expression, or what the package says instead."""
    if expression := stated.get("License-Expression"):
        return str(expression)
    classifiers = [str(one) for one in stated.get_all("Classifier", [])]
    words = [str(stated.get("License", ""))]
    words += [one.rsplit(" :: ", 1)[1] for one in classifiers if one.startswith("License :: OSI")]
    for word in words:
        word = OTHER_WORDS.get(word, word)
        if is_known(word):
            return word
    return next((word for word in words if word), UNKNOWN)


def is_known(expression: str) -> bool:
    """Whether an SPDX expression without brackets permits use under known terms."""
    return any(
        all(term.strip() in PERMISSIVE | BY_FILE for term in choice.split(" AND "))
        for choice in expression.split(" OR ")
    )


def main() -> int:
    """Print the table; the exit code."""
    lock = Path(sys.argv[1]) if len(sys.argv) > 1 else LOCK
    refused = []
    for name, version in packages(lock):
        try:
            stated = licence(metadata(name))
        except PackageNotFoundError:
            stated = f"{UNKNOWN}: it is not installed"
        print(f"{name:28}{version:20}{stated}")
        if not is_known(stated):
            refused.append(name)
    if refused:
        print(f"To be looked at: {', '.join(refused)}", file=sys.stderr)
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
