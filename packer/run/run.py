"""What tells one packing run from another: what its shards are made of, and with."""

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import xxhash

from packer.options.declared import PackOptions
from packer.plan.work import Work, digests, others_than, versions

_VERSIONS = "versions"  # among the settings


@dataclass(frozen=True)
class Run:
    """What a packing run is to write.

    Attributes:
        settings: what shapes a shard beside its samples.
        source: fingerprint of the source.
        place: tells where the source lies, by a checksum.
        splits: the folders that shards go into.
        shards: each tar with a checksum of the samples that it is made from.
        pushed: a loop pushes its samples, so that nothing can continue it.
    """

    settings: Mapping[str, Any]
    source: str = ""
    place: str = ""
    splits: Sequence[str] = ()
    shards: Mapping[str, str] = field(default_factory=dict)
    pushed: bool = False

    @classmethod
    def asked(cls, place: str, options: PackOptions, classes: Sequence[str] | None) -> "Run":
        """What is known of it before the source is scanned; `classes` are those that were given."""
        names = None if classes is None else "\0".join(classes).encode("utf-8", "surrogatepass")
        digest = None if names is None else xxhash.xxh3_128_hexdigest(names)
        settings = {**options.dump(), "classes": digest, _VERSIONS: versions(options.policy)}
        return cls(settings, place=xxhash.xxh3_128_hexdigest(os.fsencode(place)))

    @property
    def versions(self) -> Mapping[str, str]:
        """Return what it is packed with."""
        found = self.settings.get(_VERSIONS)
        return found if isinstance(found, dict) else {}

    def of(self, work: Work) -> "Run":
        """Return all of it, when the source is scanned."""
        splits = sorted(set(work.plan.splits))
        return replace(self, source=work.scanned.fingerprint, splits=splits, shards=digests(work))

    def continues(self, found: "Run") -> bool:
        """Whether all that `found` has finished is what this run would write."""
        return (found.settings, found.shards) == (self.settings, self.shards)

    def mends(self, found: "Run") -> bool:
        """Whether `found` was this run, before its source was mended."""
        return (found.settings, found.place) == (self.settings, self.place)

    def difference(self, found: "Run") -> str:
        """Say why `found` is not this run, and how to finish it; follows "a run"."""
        names = {*self.settings, *found.settings} - {_VERSIONS}
        differing = [n for n in sorted(names) if found.settings.get(n) != self.settings.get(n)]
        if differing:
            return f"with other options ({', '.join(differing)}). Repeat that command to finish it"
        if others := others_than(found.versions, self.versions):
            return (
                f"that was begun with other versions: {platform.node()} has {others}. Install "
                "those that it was begun with, to finish it"
            )
        return "of another source. Repeat that command to finish it"
