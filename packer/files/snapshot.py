"""A file that a source goes back to for every sample: it has to stay what it was."""

import os
from dataclasses import dataclass
from pathlib import Path

from packer.errors import (
    PackingFailed,
    UnusableInput,
)
from packer.files.transfer import read_span


@dataclass(frozen=True)
class Watched:
    """A manifest, as it was when it was opened.

    Attributes:
        size: its bytes.
        mtime_ns: when it was written.
    """

    path: Path
    size: int
    mtime_ns: int

    @classmethod
    def of(cls, path: Path) -> "Watched":
        """The file at `path` as it is now.

        Raises:
            UnusableInput: it cannot be read.
        """
        try:
            with path.open("rb") as file:
                status = os.fstat(file.fileno())
        except OSError as error:
            raise UnusableInput(f"{path} cannot be read: {error.strerror}.") from error
        return cls(path, status.st_size, status.st_mtime_ns)

    def check(self) -> None:
        """Places in a file that has changed mean nothing any more.

        Raises:
            PackingFailed: it is not what it was.
        """
        try:
            status = os.stat(self.path)
        except OSError as error:
            raise self._lost(error) from error
        if (status.st_size, status.st_mtime_ns) != (self.size, self.mtime_ns):
            raise PackingFailed(
                f"{self.path} changed while it was being packed. Run the same command again, with "
                "--overwrite to begin anew."
            )

    def read(self, *spans: tuple[int, int]) -> list[bytes]:
        """The bytes at each (offset, size).

        Raises:
            PackingFailed: the file is not what it was, or cannot be read.
        """
        self.check()
        try:
            with self.path.open("rb", buffering=0) as file:
                return [read_span(file.fileno(), offset, size) for offset, size in spans]
        except OSError as error:
            raise self._lost(error) from error

    def _lost(self, error: OSError) -> PackingFailed:
        return PackingFailed(
            f"{self.path} cannot be read any more: {error.strerror}. Once it is back, run the "
            "same command again to go on."
        )
