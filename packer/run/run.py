"""The identity of a packing run, and its parts, each packed by its own command."""

import json
import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import xxhash

from packer.errors import UnusableInput
from packer.options.declared import PackOptions
from packer.options.part import Part
from packer.plan.work import Work, digests, others_than, versions
from packer.storage.folder import ALL, SHARED, open_lock, still_exists, try_lock
from packer.words import option
from reader.format import manifest

_PART_FILE = ".packing.part-"  # of parts that are being packed
_VERSIONS = "versions"  # among the settings


@dataclass(frozen=True)
class Run:
    """The identity of a packing run: what it writes, and from which source."""

    settings: Mapping[str, Any]  # what shapes a shard beside its samples
    source: str = ""  # fingerprint
    place: str = ""  # a checksum of where the source lies, or of what lies nowhere
    splits: Sequence[str] = ()  # folders that shards go into
    shards: Mapping[str, str] = field(default_factory=dict)  # by tar: a checksum of its samples
    pushed: bool = False  # a loop pushes its samples, so that nothing can continue it
    replaces: bool = False  # what is in these `splits` is being removed: it has not begun

    @classmethod
    def asked(cls, place: str, options: PackOptions, classes: Sequence[str] | None) -> "Run":
        """Return what is known before the scan; `classes` are those that were given.

        A source that lies nowhere has the place "" until it is scanned.
        """
        names = None if classes is None else "\0".join(classes).encode("utf-8", "surrogatepass")
        digest = None if names is None else xxhash.xxh3_128_hexdigest(names)
        settings = {**options.dump(), "classes": digest, _VERSIONS: versions(options.policy)}
        return cls(settings, place=xxhash.xxh3_128_hexdigest(os.fsencode(place)) if place else "")

    @property
    def versions(self) -> Mapping[str, str]:
        found = self.settings.get(_VERSIONS)
        return found if isinstance(found, dict) else {}

    def of(self, work: Work) -> "Run":
        return replace(
            self,
            source=work.scanned.fingerprint,
            place=self.place or work.scanned.files.identity,
            splits=sorted(set(work.plan.splits)),
            shards=digests(work),
        )

    def continues(self, found: "Run") -> bool:
        """Return whether the finished shards of `found` are those that this run would write."""
        has_begun = not (found.pushed or found.replaces)
        return has_begun and (found.settings, found.shards) == (self.settings, self.shards)

    def mends(self, found: "Run") -> bool:
        """Return whether `found` was this run, before its source was repaired."""
        return (found.settings, found.place) == (self.settings, self.place)

    def joins(self, found: "Run") -> bool:
        """Whether the shards of both may be one dataset's: each is compared where it exists."""
        is_source = self.source == found.source or self.place == found.place
        return is_source and self.settings == found.settings and not found.replaces

    def refusal(self, place: Path | str, found: "Run") -> UnusableInput:
        names = {*self.settings, *found.settings} - {_VERSIONS}
        differing = [n for n in sorted(names) if found.settings.get(n) != self.settings.get(n)]
        finish = "To finish it, run that command again"
        if differing:
            why = f"with other options ({', '.join(differing)}). {finish}"
        elif others := others_than(found.versions, self.versions):
            why = (
                f"that was begun with other versions: {platform.node()} has {others}. To "
                "finish it, install the versions that began it"
            )
        elif found.replaces:
            why = f"that has begun to replace a dataset. {finish}"
        else:
            why = f"of another source. {finish}"
        return UnusableInput(
            f"{place} has an unfinished run {why}. To discard its shards and begin again, pass ",
            option("overwrite", True),
            ".",
        )

    @classmethod
    def parsed(cls, text: bytes) -> "Run | None":
        """Return the run in the last complete line of a log, if there is one.

        Each further line of a run whose samples a loop makes has one more split; it has all of
        them.
        """
        found: Run | None = None
        splits: set[str] = set()
        for line in reversed(text.splitlines()):
            with suppress(TypeError, ValueError, RecursionError):
                run = cls(**json.loads(line))
                names = (*run.splits, *dict(run.shards))  # by which files are removed
                dicts = isinstance(run.shards, dict) and isinstance(run.settings, dict)
                if dicts and all(map(manifest.is_inside, names)):
                    if run.pushed or found is None:
                        found = found or run
                        splits.update(run.splits)
                    if not run.pushed:
                        break
        return found and replace(found, splits=sorted(splits))


@contextmanager
def hold_part(folder: Path, part: Part) -> Iterator[None]:
    path = _part_file(folder, part)
    with open_lock(path) as file:
        if not try_lock(file, ALL) or not still_exists(file):
            raise UnusableInput(
                f"{folder}: {_holder(path)} is already at work there. Wait until it ends."
            )
        try:
            file.truncate(0)
            file.write(f"part {part} (process {os.getpid()} on {platform.node()})".encode())
            yield
        finally:
            path.unlink(missing_ok=True)


def busy(folder: Path, besides: Part | None = None) -> UnusableInput:
    own = None if besides is None else _part_file(folder, besides)
    others = [path for path in sorted(part_files(folder)) if path != own]
    parts = [_holder(path) for path in others if _is_held(path)]
    if not parts:
        return UnusableInput(
            f"{folder}: another packer is at work there. Wait until it ends, "
            "or choose another destination."
        )
    more = f" and {len(parts) - 3} more" if len(parts) > 3 else ""
    return UnusableInput(
        f"{folder}: {', '.join(parts[:3])}{more} {'is' if len(parts) == 1 else 'are'} at work "
        "there. Wait until they end, and run the same command again."
    )


def _part_file(folder: Path, part: Part) -> Path:
    return folder / f"{_PART_FILE}{part.number}-of-{part.count}"


def part_files(folder: Path) -> Iterator[Path]:
    return folder.glob(f"{_PART_FILE}*")


def _holder(path: Path) -> str:
    number = path.name.removeprefix(_PART_FILE).replace("-of-", "/")
    text = path.read_text("utf-8", "replace") if path.exists() else ""
    return text[:200] if text.startswith("part ") else f"part {number}"


def _is_held(path: Path) -> bool:
    with path.open("rb") as file:
        return not try_lock(file, SHARED)
