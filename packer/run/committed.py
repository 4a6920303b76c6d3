"""Datasets that are there already: what the same command has packed, and what is added to."""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from packer.errors import UnusableInput
from packer.options.declared import by_name
from packer.plan.prepare import version_of
from packer.plan.work import Work
from packer.run.destination import Destination
from packer.shards.shard_writer import Written
from packer.storage.dataset import Finished
from packer.words import option
from reader.format import Limits, Manifest, manifest

_FORMER_PIXELS = 1 << 29  # the default limit of earlier versions, whose datasets are the same


def packed_from(
    version: str, to: Destination, recorded: Mapping[str, Any], classes: Sequence[str] | None
) -> Finished | None:
    """Return the dataset in `to`, if it was packed from this version of a source."""
    if not version or (found := to.committed) is None or not to.is_done:
        return None
    is_same = found.content.source.endswith(version_of(version, classes))
    _refuse_other(found, recorded, is_same)
    return None if found.content.rejected else found  # which ones is known from the files only


def packed_before(to: Destination, work: Work, recorded: Mapping[str, Any]) -> Finished | None:
    """Return the dataset in `to`, if an earlier run of the same command committed it."""
    if (found := to.committed) is None:
        return None
    content, classes = found.content, work.scanned.classes
    is_same = (
        content.source == work.scanned.fingerprint
        and (not classes or content.classes == classes)
        and work.scanned.listing.newest_ns <= (found.folder / manifest.FILENAME).stat().st_mtime_ns
    )
    _refuse_other(found, recorded, is_same)
    return found


def refuse_other_options(
    base: Finished, recorded: Mapping[str, Any], only: Collection[str] = ()
) -> None:
    """Raise if the dataset that is added to was packed with other options, or `only` with these."""
    base.content.check_images(base.place)
    if differing := _differing(base.content, recorded, only):
        raise UnusableInput(
            f"{base} was packed with other options: {differing}. To append to it, pass the "
            "same options (they are in dataset.json)."
        )


def _refuse_other(found: Finished, recorded: Mapping[str, Any], is_same: bool) -> None:
    if differing := _differing(found.content, recorded):
        made, add = f"packed with other options: {differing}", ""
    elif not is_same:
        made = "packed with the same options from another source, or the source has changed since"
        add = f", pass {option('append', True)} to add new samples" if found.content.images else ""
    else:
        return
    raise UnusableInput(
        f"{found} already holds a dataset, {made}. Choose another destination{add}, or pass "
        f"{option('overwrite', True)} to replace it."
    )


def _differing(content: Manifest, recorded: Mapping[str, Any], only: Collection[str] = ()) -> str:
    """Name each option that is not as in a dataset, with both values; "" if all are the same."""
    old, now = by_name(content.options), by_name(recorded)
    if (old.get("pixels"), now.get("pixels")) == (_FORMER_PIXELS, Limits.pixels):
        old["pixels"] = Limits.pixels
    return ", ".join(
        f"{name} ({json.dumps(old.get(name))} in the dataset, {json.dumps(now.get(name))} now)"
        for name in sorted(only or old.keys() | now.keys())
        if old.get(name) != now.get(name)
    )


def written_of(dataset: Finished) -> Written:
    """Return the shards of a dataset as if they had been written now."""
    written, since = Written(), dataset.content.packed_since
    for shard in dataset.content.shards:
        written.add(Written.of(dataset.folder / shard.file, shard.split))
    written.rejected = [file for file in written.rejected if file not in since]
    return written
