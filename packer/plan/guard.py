"""What a process makes sure of before it writes a shard, whichever machine it is on."""

import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from packer import __version__
from packer.errors import PackingFailed, UnusableInput
from packer.files.snapshot import Watched
from packer.images.encode import Policy, transcoders
from reader.format import Manifest


def versions(policy: Policy) -> dict[str, str]:
    """What the bytes of a shard depend on here, beside its samples: of whichever, its version."""
    return {"packer": __version__, **transcoders(policy)}


def others_than(wanted: Mapping[str, str], here: Mapping[str, str]) -> str:
    """What is here in another version than is wanted, to end a sentence; empty if nothing is."""
    names = sorted(name for name in {*wanted, *here} if wanted.get(name) != here.get(name))
    return ", ".join(
        f"{name} {here.get(name, '(none)')} instead of {wanted.get(name, '(none)')}"
        for name in names
    )


def all_versions(used: Mapping[str, str], base: Manifest | None) -> dict[str, str]:
    """With those that made what is kept: of one that has changed since, both versions."""
    versions = {name: [version] for name, version in (base.transcoders if base else {}).items()}
    for name, version in used.items():
        if version not in ", ".join(before := versions.setdefault(name, [])).split(", "):
            before.append(version)
    return {name: ", ".join(both) for name, both in sorted(versions.items())}


@dataclass(frozen=True)
class RunGuard:
    """The run that a job belongs to: it may come late, or to a machine that is not like the others.

    Attributes:
        journal: of the run, as it was when the job was given out.
        versions: of what the run packs with.
    """

    journal: Watched
    versions: Mapping[str, str]

    def check_versions(self, policy: Policy) -> None:
        """Raise where another version is here, which may write other bytes."""
        if others := others_than(self.versions, versions(policy)):
            raise PackingFailed(
                f"{platform.node()} has {others}, which may write other bytes than the run was "
                "begun with. Install the same versions there, and pack again."
            )

    def check(self) -> None:
        """Raise where the run is over, or its destination is not there."""
        path = self.journal.path
        try:
            if Watched.of(path) == self.journal:
                return
        except UnusableInput as error:
            raise PackingFailed(
                f"{error} Either that run is over, or {platform.node()} does not share "
                f"{path.parent} with the machine that began it: source and destination must be "
                "there under the same paths."
            ) from error
        raise PackingFailed(f"{path} is of another run now: that of this shard is over.")


@dataclass(frozen=True)
class Origin:
    """The place that a source lies at, to tell a file that is gone from a disk that is gone.

    Attributes:
        inode: of the folder or file at `path`; on a shared file system all machines see the same,
            while the device that it is mounted as is each one's own.
    """

    path: Path
    inode: int

    @classmethod
    def of(cls, path: Path) -> "Origin":
        """What lies at `path` now."""
        return cls(path, os.stat(path).st_ino)

    def check(self) -> None:
        """Raise where the source itself is gone: nothing can be said of its files then."""
        try:
            if os.stat(self.path).st_ino == self.inode:
                return
            reason = "something else is in its place"
        except OSError as error:
            reason = str(error.strerror)
        raise PackingFailed(
            f"{self.path} is not there any more: {reason}. Finished shards are kept: once it is "
            "back, pack again to go on."
        )
