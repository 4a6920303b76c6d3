"""Looks whether samples have the fields of the JSON that are to be columns of the index."""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from difflib import get_close_matches
from itertools import chain
from pathlib import Path
from typing import Any

from packer.errors import BadImage, UnusableInput
from packer.files.hashed_file import read_span
from packer.plan.work import Work
from packer.shards.shard_writer import index_of
from packer.words import listed, many, option
from reader.format import Index
from reader.format.fields import values_at
from reader.format.files import open_regular

_FIRST = 256  # samples, evenly spread: most sources have each field in one of them
_NAMED = 12


def refuse_unknown_columns(columns: Iterable[str], contents: Iterable[Any]) -> None:
    """Raise if no JSON among `contents` has one of `columns`; read them until all are found."""
    missing, known, count = [*columns], dict[str, None](), 0
    for content in contents if missing else ():
        count += 1
        try:
            found = dict(values_at(content, missing))
        except ValueError as error:
            raise UnusableInput(
                f"{option('columns', ','.join(missing))}: {error}. Name fields below it, such as "
                "size.0 or size.width."
            ) from error
        missing = [path for path in missing if path not in found]
        if not missing:
            return
        known.update(dict.fromkeys(_paths(content)))
    if missing:
        near = get_close_matches(missing[0], known, 3) or [*known]
        has = f"they have {listed(near, _NAMED)}" if near else "they have no JSON"
        raise UnusableInput(
            f"{option('columns', ','.join(missing))}: none of {many(count, 'sample')} has "
            f"{missing[0]!r} in its JSON; {has}. Nothing was committed."
        )


def json_of_source(work: Work) -> Iterator[Any]:
    """Yield the JSON of some samples of a source, then of the others; None where there is none."""
    samples, files = work.scanned.listing, work.scanned.files
    count, step = len(samples), len(samples) // _FIRST + 1
    for number in chain(range(0, count, step), (n for n in range(count) if n % step)):
        content = None
        with suppress(BadImage, KeyError, ValueError, OSError):
            content = json.loads(files.read(samples[number]).members["json"])
        yield content


def json_of_shards(folder: Path, tars: Iterable[str]) -> Iterator[Any]:
    for name in tars:
        index = Index(index_of(folder / name), mapped=False)
        with open(open_regular(folder / name), "rb", buffering=0) as file:
            for row in range(len(index)):
                span = index.span("json", row)
                yield json.loads(read_span(file.fileno(), *span)) if span else None


def _paths(content: Any, before: str = "") -> Iterator[str]:
    for name, value in content.items() if isinstance(content, Mapping) else ():
        yield f"{before}{name}"
        yield from _paths(value, f"{before}{name}.")
