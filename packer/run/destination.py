"""Where a dataset is written: a folder here; `store_destination` has the one in a store."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from packer.files.snapshot import Watched
from packer.plan.work import Work
from packer.progress import Progress
from packer.run import parts
from packer.run.log import Note, RunLog
from packer.run.part import Part
from packer.run.run import Run
from packer.shards.shard_writer import is_finished
from packer.shards.written import Written
from packer.words import option
from reader.format import FormatError, Manifest, manifest


class Destination:
    """A folder of this machine.

    Attributes:
        folder: in which shards are built.
        log: of the run in that folder.
        name: of the dataset, for a person.
        holds_all: whether the folder has room for all shards, which stay in it.
    """

    holds_all = True

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = RunLog(folder)
        self.name = str(folder)

    @property
    def committed(self) -> Path | None:
        """Return a folder with dataset.json and the indexes, if there is a dataset."""
        return self.folder if (self.folder / manifest.FILENAME).exists() else None

    @property
    def is_done(self) -> bool:
        """Whether there is a dataset, and no run that changes it."""
        return self.committed is not None and not self.log.path.exists()

    def base(self) -> Path:
        """Return the folder of the dataset that is added to; raise if there is none."""
        if self.committed is None:
            raise self._nothing_to_add_to()
        return self.folder

    def _nothing_to_add_to(self) -> FormatError:
        return FormatError(
            f"{self.name} holds no dataset to add to: leave out {option('append', True)}, and it "
            "is made, or an interrupted run goes on."
        )

    def hold(
        self, run: Run, overwrite: bool, keep: Manifest | None, note: Note
    ) -> AbstractContextManager[Watched]:
        """Hold it for one packing run, as `RunLog.hold` does."""
        return self.log.hold(run, overwrite, keep, note)

    def share(
        self, part: Part, asked: Run, scan: Callable[[], Work], note: Note
    ) -> AbstractContextManager[tuple[Work, Watched]]:
        """Hold a part of it, as `parts.share` does."""
        return parts.share(self.folder, part, asked, scan, note)

    def finished(self, paths: Sequence[Path]) -> set[Path]:
        """Return those tars that need not be written; the index of each is in the folder."""
        return {path for path in paths if is_finished(path)}

    def missing(self, paths: Sequence[Path]) -> int:
        """Return how many of the tars are not there."""
        return sum(not is_finished(path) for path in paths)

    def at_a_time(self, shards: Sequence[int], processes: int) -> Sequence[int]:
        """Return as many of the shards to be written as lie in the folder at a time."""
        return shards

    def take(self, shard: Written) -> None:
        """Take a finished shard, which will not be written otherwise."""

    def wait(self, progress: Progress) -> None:
        """Wait until all that was taken is where it belongs."""

    def commit(self, content: Manifest, progress: Progress) -> None:
        """Write dataset.json: from here on there is a dataset."""
        self.log.commit(content)

    def discard(self, splits: Iterable[str], keep: Manifest | None) -> None:
        """Remove what a run has written, which will not be continued, beside what is kept."""
        self.log.discard(splits, keep)

    def forget(self, content: Manifest) -> None:
        """Remove what a crash right after the commit has left."""
        self.log.forget(content.source)
