#!/usr/bin/env python3
"""Records the checksums of everything that packer can write, to compare them after a change.

freeze.py write FILE      pack every case, and write the records to FILE
freeze.py compare FILE    pack the cases of FILE again, and list what differs from it

A record has the checksum of each shard and index, the fields of dataset.json, the fingerprint of
the source, and the names of rejected and ignored files; of a refusal, its type. The bytes depend on
the versions of Pillow, zlib and the transcoders: compare with a FILE written on the same machine.

Exit codes: 0 all records are equal; 1 some differ; 2 usage.
"""

import argparse
import json
import sys
import tempfile
import warnings
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from fnmatch import fnmatchcase
from functools import cache
from multiprocessing import get_context
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT), str(ROOT / "tests")]

from freezing import layouts, python, runs  # noqa: E402
from freezing.record import Case, Record, differences, record  # noqa: E402


@cache
def cases() -> dict[str, Case]:
    return layouts.cases() | runs.cases() | python.cases()


def run(name: str) -> Record:
    with tempfile.TemporaryDirectory(prefix="freeze-") as tmp, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Pillow, on hostile images
        found = record(cases()[name], Path(tmp))
    if " store" in name:  # the fingerprint of a file URL has the numbers of inodes
        found.pop("fingerprint", None)
    return found


def run_all(names: Sequence[str], jobs: int) -> dict[str, Record]:
    """Return the records of cases, packed in so many processes; 1: in this one."""
    if jobs == 1:
        return {name: run(name) for name in names}
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        return dict(zip(names, pool.map(run, names, chunksize=4), strict=True))


def matching(names: Iterable[str], patterns: Sequence[str]) -> list[str]:
    return sorted(name for name in names if any(fnmatchcase(name, one) for one in patterns))


def without(record: Record, patterns: Sequence[str]) -> Record:
    ignored = matching(record, patterns)
    return {field: value for field, value in record.items() if field not in ignored}


def write(path: Path, records: dict[str, Record]) -> int:
    path.write_text(json.dumps(records, indent=1, sort_keys=True) + "\n", "utf-8")
    packed = sum(record["outcome"] == "packed" for record in records.values())
    print(f"{len(records)} cases, {packed} of them packed, the others refused: {path}")
    return 0


def compare(old: dict[str, Record], new: dict[str, Record]) -> int:
    """List the differences of two records of the same cases."""
    found = {name: ["the case is gone"] for name in old.keys() - new.keys()}
    found |= {name: differences(old[name], record) for name, record in new.items()}
    differing = {name: lines for name, lines in sorted(found.items()) if lines}
    for name, lines in differing.items():
        more = [f"and {len(lines) - 4} more"] if len(lines) > 4 else []
        print("\n  ".join([name, *lines[:4], *more]))
    print(f"{len(differing)} of {len(old)} cases differ")
    return 1 if differing else 0


def main(arguments: Sequence[str] | None = None) -> int:
    kind = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=kind)
    parser.add_argument("action", choices=("write", "compare"))
    parser.add_argument("file", type=Path)
    only, fields = "cases, such as 'row/*'", "fields, such as fingerprint or manifest/reading"
    parser.add_argument("--only", action="append", metavar="PATTERN", help=only)
    parser.add_argument("--ignore", action="append", default=[], metavar="PATTERN", help=fields)
    parser.add_argument("--jobs", type=int, default=2, help="processes; default: 2")
    given = parser.parse_args(arguments)
    is_new = given.action == "write"
    old = {} if is_new else json.loads(given.file.read_text("utf-8"))
    names = matching(cases() if is_new else old, given.only or ["*"])
    records = run_all([name for name in names if name in cases()], given.jobs)
    new = {name: without(record, given.ignore) for name, record in records.items()}
    if is_new:
        return write(given.file, new)
    if not given.only and (fresh := len(cases().keys() - old.keys())):
        print(f"{fresh} cases are not in {given.file}")
    return compare({name: without(old[name], given.ignore) for name in names}, new)


if __name__ == "__main__":
    sys.exit(main())
