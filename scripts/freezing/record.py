"""The record of one packing run: checksums of its shards and indexes, and the names it reports."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import xxhash
from packing import files_of

import packer

Record = dict[str, Any]
Case = Callable[[Path], Any]
"""Packs into `dst` of an empty folder; returns a PackReport, what --json prints, or None."""

USUAL: dict[str, Any] = {"jobs": 1, "progress": False, "on_error": "skip"}
KEPT: dict[str, Any] = {"jpeg": "verbatim", "png": "verbatim"}
VERBATIM: dict[str, Any] = {**USUAL, **KEPT}
LISTS = ("ignored", "rejected", "untiled", "unbanded")


def record(case: Case, tmp: Path) -> Record:
    """Return the record of the dataset that a case packs, or of its refusal.

    Reasons and error texts are left out, because wording may change.
    """
    try:
        report = case(tmp)
    except Exception as error:  # a defect is a difference, too
        public = [kind for kind in type(error).__mro__ if kind.__module__ in ("packer", "builtins")]
        return {"outcome": public[0].__name__, "rejected": _names(getattr(error, "files", ()))}
    report = asdict(report) if isinstance(report, packer.PackReport) else report
    names = {name: _names(report.get(name, ())) for name in LISTS} if report else {}
    manifest = json.loads((tmp / "dst" / "dataset.json").read_bytes())
    del manifest["checksum"]  # of the other fields
    found = {"outcome": "packed", **names, "fingerprint": manifest.pop("source")}
    if rejections := manifest.pop("rejections", None):
        found["manifest/rejections"] = _names(rejections["files"])
    found |= {f"manifest/{name}": value for name, value in manifest.items()}
    for name, content in files_of(tmp / "dst").items():
        if name.endswith((".tar", ".safetensors")):
            found[f"files/{name}"] = xxhash.xxh3_128_hexdigest(content)
    return found


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Return a line for each field that two records do not share; only one for other outcomes."""
    missing = object()
    fields = old.keys() | new.keys() if old["outcome"] == new["outcome"] else {"outcome"}
    pairs = {field: (old.get(field, missing), new.get(field, missing)) for field in sorted(fields)}
    return [
        f"{field}: {' -> '.join('nothing' if one is missing else _short(one) for one in pair)}"
        for field, pair in pairs.items()
        if pair[0] != pair[1]
    ]


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _names(files: Iterable[Any]) -> list[str]:
    pairs = (file.values() if isinstance(file, dict) else file for file in files)
    return sorted(str(name) for name, _ in pairs)
