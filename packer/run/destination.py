"""Where a dataset is written: a folder here; `publish` has the one in a store."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from packer.files.snapshot import Watched
from packer.plan.work import Work
from packer.progress import Progress
from packer.run import log, parts
from packer.run.part import Part
from packer.run.run import Run
from packer.shards.shard_writer import is_finished
from packer.shards.written import Written
from packer.words import option
from reader.format import FormatError, Manifest, manifest

Note = Callable[[str], None]


class Destination:
    """A folder of this machine.

    Attributes:
        folder: in which shards are built.
        name: of the dataset, for a person.
        holds_all: whether the folder has room for all shards, which stay in it.
    """

    holds_all = True

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.name = str(folder)

    @property
    def committed(self) -> Path | None:
        """A folder with dataset.json and the indexes, if there is a dataset."""
        return self.folder if (self.folder / manifest.FILENAME).exists() else None

    @property
    def is_done(self) -> bool:
        """Whether there is a dataset, and no run that changes it."""
        return self.committed is not None and not (self.folder / log.JOURNAL).exists()

    def base(self) -> Path:
        """The folder of the dataset that is added to.

        Raises:
            FormatError: there is none.
        """
        if self.committed is None:
            raise self._nothing_to_add_to()
        return self.folder

    def _nothing_to_add_to(self) -> FormatError:
        return FormatError(
            f"{self.name} holds no dataset to add to: leave out {option('append', True)}, and it "
            "is made, or an interrupted run goes on."
        )

    @contextmanager
    def packing(
        self, run: Run, overwrite: bool, keep: Manifest | None, note: Note
    ) -> Iterator[Watched]:
        """Hold it for one packing run, as `log.packing` does."""
        with log.packing(self.folder, run, overwrite, keep, note) as watched:
            yield watched

    @contextmanager
    def sharing(
        self, part: Part, asked: Run, scan: Callable[[], Work], note: Note
    ) -> Iterator[tuple[Work, Watched]]:
        """Hold a part of it, as `parts.sharing` does."""
        with parts.sharing(self.folder, part, asked, scan, note) as held:
            yield held

    def finished(self, paths: Sequence[Path]) -> set[Path]:
        """Those tars that need not be written any more; the index of each is in the folder."""
        return {path for path in paths if is_finished(path)}

    def missing(self, paths: Sequence[Path]) -> int:
        """How many of the tars are not there."""
        return sum(not is_finished(path) for path in paths)

    def at_a_time(self, shards: Sequence[int], processes: int) -> Sequence[int]:
        """Of the shards to be written, so many as lie in the folder at a time."""
        return shards

    def take(self, shard: Written) -> None:
        """Have a finished shard, which will not be written otherwise."""

    def wait(self, progress: Progress) -> None:
        """Wait until all that was taken is where it belongs."""

    def commit(self, content: Manifest, progress: Progress) -> None:
        """Write dataset.json: from here on there is a dataset.

        Raises:
            PackingFailed: it cannot be written.
        """
        log.commit(self.folder, content)

    def discard(self, splits: Iterable[str], keep: Manifest | None) -> None:
        """Remove what a run has written, which will not be continued, beside what is kept."""
        log.discard(self.folder, splits, keep)

    def forget(self, content: Manifest) -> None:
        """Remove what a crash right after the commit has left."""
        log.forget(self.folder, content.source)
