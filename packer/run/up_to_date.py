"""Whether a destination holds what is to be packed: then nothing is, and nothing is fetched."""

import json
import time
from collections.abc import Sequence
from pathlib import Path

from packer.errors import UnusableInput
from packer.options.declared import PackOptions, by_name
from packer.plan.prepare import version_of
from packer.plan.work import Work
from packer.run.destination import Destination
from packer.run.report import PackReport, report
from packer.shards.written import Written
from packer.storage.source import StoreSource
from packer.words import option
from reader.format import Manifest, manifest


def packed_from(
    src: StoreSource,
    to: Destination,
    options: PackOptions,
    classes: Sequence[str] | None,
    began: float,
) -> PackReport | None:
    """The report on a dataset that was packed of what the store lists; nothing is fetched then."""
    if (there := to.committed) is None or not to.is_done:
        return None
    content = Manifest.load(there)
    _refuse_other(to, content, options, content.source.endswith(version_of(src.version, classes)))
    if content.rejected:
        return None  # only the files tell which
    to.forget(content)
    return report(
        to.name,
        content,
        read(there, content),
        reading=content.reading,
        remarks=[f"It is packed: {src.name} lists what it was packed of. Nothing was fetched."],
        shards_written=0,
        seconds=time.monotonic() - began,
        rejected=[],
        ignored=[],
    )


def refuse_other_options(to: Destination, base: Path, options: PackOptions) -> None:
    """Raise where what is appended would be packed otherwise than what is there."""
    if differing := _differing(Manifest.load(base), options):
        raise UnusableInput(
            f"{to.name} was packed with other options: {differing}. Repeat them to append to it "
            "(dataset.json names them)."
        )


def already_packed(to: Destination, work: Work) -> Path | None:
    """The folder of `to.committed`, if an earlier run of the same command has committed it."""
    if (there := to.committed) is None:
        return None
    content, classes = Manifest.load(there), work.scanned.classes
    is_same = (
        content.source == work.scanned.fingerprint
        and (not classes or content.classes == classes)
        and work.scanned.listing.newest_ns <= (there / manifest.FILENAME).stat().st_mtime_ns
    )
    _refuse_other(to, content, work.options, is_same)
    return there


def _refuse_other(to: Destination, content: Manifest, options: PackOptions, is_same: bool) -> None:
    """Raise if a dataset is of other options, or not of the same source."""
    if differing := _differing(content, options):
        made, add = f"made with other options: {differing}", ""
    elif not is_same:
        made = "made with the same options from another source, or the source has changed since"
        add = f", give {option('append', True)} to add what is new"
    else:
        return
    raise UnusableInput(
        f"{to.name} already holds a dataset, {made}. Choose another destination{add}, or give "
        f"{option('overwrite', True)} to replace it."
    )


def _differing(content: Manifest, options: PackOptions) -> str:
    """Name each option that is not as in a dataset, with both values; "" if all are the same."""
    there, now = by_name(content.options), by_name(options.dump())
    return ", ".join(
        f"{name} ({json.dumps(there.get(name))} there, {json.dumps(now.get(name))} now)"
        for name in sorted(there.keys() | now.keys())
        if there.get(name) != now.get(name)
    )


def read(dst: Path, content: Manifest) -> Written:
    """Return what a dataset holds, as if it had been written now."""
    written = Written()
    for shard in content.shards:
        written.add(Written.of(dst / shard.file, shard.split))
    return written
