"""One shard to be written, as plain data: what a packing process is sent."""

import os
from dataclasses import dataclass
from pathlib import Path

from packer.errors import PackingFailed
from packer.images.encode import Policy
from packer.planning.listing import Listing
from packer.planning.mandate import Mandate
from packer.sources.records import Source


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
        """Nothing can be said of a source's files where it is not there itself.

        Raises:
            PackingFailed: it is gone, or something else is in its place.
        """
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


@dataclass(frozen=True)
class ShardJob:
    """One shard to be written.

    Attributes:
        path: of its tar.
        threads: that encode at a time, where there are fewer shards than cores.
        origin: where the source lies.
        needs_all: leave the shard unfinished if a file cannot be read now: another time it may be.
        mandate: what to make sure of before anything is written.
    """

    path: Path
    source: Source
    samples: Listing
    policy: Policy
    threads: int = 1
    origin: Origin | None = None
    needs_all: bool = False
    mandate: Mandate | None = None
