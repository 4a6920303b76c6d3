"""Writes the files that another tool needs, beside tars that stay as they are."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from packer.errors import UnusableInput, cannot_write, naming
from packer.files.atomic import remove_leavings, sync_folder, write_file
from packer.files.hashed_file import measure
from packer.progress import Advance
from packer.sources.archive.tar_reader import Member, members, samples
from packer.sources.records import Skipped
from reader.format import FORMATS, FormatError, Index, Manifest, ShardEntry, tar
from reader.format.checksum import checksum_of


@dataclass
class Export:
    """One run: the dataset, and the files that were written for the tool.

    Attributes:
        folder: of the dataset.
        out: where the files go, as they are to lie beside the tars.
        overwrite: replace files that are there with other content.
        files: that the tool needs, relative to `out`.
    """

    folder: Path
    out: Path
    content: Manifest
    overwrite: bool
    advance: Advance = lambda count: None
    files: list[str] = field(default_factory=list)

    def write(self, name: str, content: bytes) -> None:
        """Write the file `name` if it is not there with this content.

        Raises:
            UnusableInput: something else is there.
            PackingFailed: it cannot be written.
            OSError: the disk fails.
        """
        path = self.out / name
        remove_leavings([path])
        if self._is_wanted(name, lambda: (len(content), checksum_of(content))):
            with naming(path):
                path.parent.mkdir(parents=True, exist_ok=True)
            write_file(path, content)

    def place(self, name: str, made: Path) -> None:
        """Move a finished file to where the tool looks for it, as `write` does."""
        path = self.out / name
        if self._is_wanted(name, lambda: measure(made)):
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                os.replace(made, path)
                sync_folder(path.parent)
            except OSError as error:
                raise cannot_write(path, error) from error

    def _is_wanted(self, name: str, new: Callable[[], tuple[int, str]]) -> bool:
        """Whether the file `name`, which measures `new`, is to be written."""
        path = self.out / name
        self.files.append(name)
        if self.overwrite or not path.exists():
            return True
        with naming(path):
            if measure(path) == new():
                return False
        raise UnusableInput(
            f"{path} is there already, with other content. Remove it, or give --overwrite."
        )

    def samples(self, shard: ShardEntry) -> Iterator[list[Member]]:
        """The members of each sample in the order of the tar, as other tools group them."""
        if self.content.external:
            runs: Iterator[list[Member] | Skipped] = samples(members(self.folder / shard.file))
        else:
            classes = len(self.content.classes)
            runs = _by_index(Index.of_shard(self.folder, shard, classes, mapped=False))
        for run in runs:
            if not isinstance(run, Skipped):
                yield run
                self.advance(1)


def _by_index(index: Index) -> Iterator[list[Member] | Skipped]:
    """Without reading the tar: a tar of ours is determined by its index."""
    columns = index.columns
    for row in range(len(index)):
        key = index.key(row)
        run = []
        for ext in (FORMATS[int(columns["format"][row])], *index.members):
            span = index.span(ext, row)
            if span is not None:
                name = f"{key}.{ext}"
                start = span[0] - len(tar.header(name, 0))  # of one length for any size
                if start < 0:
                    raise FormatError(
                        f"{index.path} is damaged: there is no room for a header before the "
                        f".{ext} of row {row}. Restore it from a copy, or pack the dataset again."
                    )
                run.append(Member(name, start, *span))
        yield sorted(run, key=lambda member: member.offset)
