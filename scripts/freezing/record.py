"""The record of one packing run: checksums of its shards and indexes, and the names it reports."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import xxhash

import packer

Record = dict[str, Any]
Case = Callable[[Path], Record]
"""A function that packs below an empty folder and returns the record."""

LISTS = ("ignored", "rejected", "untiled", "unbanded")


def record(dst: Path, pack: Callable[[], Any]) -> Record:
    """Return the record of the dataset that `pack` writes to `dst`, or of its refusal.

    Reasons and error texts are left out, because wording may change. `pack` may return a
    `packer.PackReport`, the report that the command prints as JSON, or None.
    """
    try:
        report = pack()
    except Exception as error:  # a defect is a difference, too
        public = [kind for kind in type(error).__mro__ if kind.__module__ in ("packer", "builtins")]
        return {"outcome": public[0].__name__, "rejected": _names(getattr(error, "files", ()))}
    if isinstance(report, packer.PackReport):
        report = asdict(report)
    names = {name: _names(report.get(name, ())) for name in LISTS} if report else {}
    return {"outcome": "packed", **names, **contents(dst)}


def without_fingerprint(found: Record) -> Record:
    """Return a record of a source at a file URL, whose fingerprint has the numbers of inodes."""
    return {field: value for field, value in found.items() if field != "fingerprint"}


def contents(dst: Path) -> Record:
    """Return the checksums of a dataset's shards and indexes, and the fields of dataset.json."""
    manifest = json.loads((dst / "dataset.json").read_bytes())
    del manifest["checksum"]  # of the other fields
    found = {"fingerprint": manifest.pop("source")}
    if rejections := manifest.pop("rejections", None):
        found["manifest/rejections"] = _names(rejections["files"])
    found |= {f"manifest/{name}": value for name, value in manifest.items()}
    for path in sorted(dst.rglob("*")):
        if path.suffix in (".tar", ".safetensors"):
            name = path.relative_to(dst).as_posix()
            found[f"files/{name}"] = xxhash.xxh3_128_hexdigest(path.read_bytes())
    return found


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Return a line for each field that two records do not share; only one for other outcomes."""
    missing = object()
    fields = old.keys() | new.keys() if old["outcome"] == new["outcome"] else {"outcome"}
    return [
        f"{field}: {_short(old.get(field, missing), missing)} -> "
        f"{_short(new.get(field, missing), missing)}"
        for field in sorted(fields)
        if old.get(field, missing) != new.get(field, missing)
    ]


def _short(value: Any, missing: object) -> str:
    text = "nothing" if value is missing else json.dumps(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _names(files: Iterable[Any]) -> list[str]:
    pairs = (file.values() if isinstance(file, dict) else file for file in files)
    return sorted(str(name) for name, _ in pairs)
