"""A folder of this machine in which a dataset is written; `uploads` has one in a store."""

import os
from collections.abc import Sequence
from pathlib import Path

from packer.progress import Progress
from packer.run.log import RunLog
from packer.shards.shard_writer import Written, is_finished
from packer.words import option
from reader.format import FormatError, manifest


class Destination(RunLog):
    """A folder of this machine."""

    holds_all = True  # the folder has room for all shards, which stay in it

    def __init__(self, folder: Path) -> None:
        super().__init__(Path(os.path.realpath(folder)))
        self.name = str(self.folder)

    @property
    def committed(self) -> Path | None:
        """Return a folder with dataset.json and the indexes, if there is a dataset."""
        return self.folder if (self.folder / manifest.FILENAME).exists() else None

    @property
    def is_done(self) -> bool:
        """Whether there is a dataset, and no run that changes it."""
        return self.committed is not None and not self.path.exists()

    def base(self) -> Path:
        """Return the folder of the dataset that is added to; raise if there is none."""
        if not self._has_base():
            raise FormatError(
                f"{self.name} holds no dataset to add to: leave out {option('append', True)}, and "
                "it is made, or an interrupted run goes on."
            )
        return self.folder

    def _has_base(self) -> bool:
        return self.committed is not None

    def finished(self, paths: Sequence[Path]) -> set[Path]:
        """Return those tars that need not be written; the index of each is in the folder."""
        return {path for path in paths if is_finished(path)}

    def missing(self, paths: Sequence[Path]) -> int:
        """Return how many of the tars are neither in the folder nor in the store."""
        return sum(not is_finished(path) for path in paths)

    def at_a_time(self, shards: Sequence[int], processes: int) -> Sequence[int]:
        """Return as many of the shards to be written as lie in the folder at a time."""
        return shards

    def take(self, shard: Written) -> None:
        """Take a finished shard, which will not be written otherwise."""

    def wait(self, progress: Progress) -> None:
        """Wait until all that was taken is where it belongs."""
