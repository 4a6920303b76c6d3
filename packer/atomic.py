"""Writes a file so that it is there as a whole, or as it was before."""

import os
from pathlib import Path

from packer.errors import cannot_write
from packer.shard_writer import sync_folder


def write_file(path: Path, content: bytes) -> None:
    """Make or replace the file.

    Raises:
        PackingFailed: it cannot be written.
    """
    temporary = path.with_name(f".{path.name}.tmp-{os.getpid()}")
    try:
        with open(temporary, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
        sync_folder(path.parent)
    except OSError as error:
        raise cannot_write(path, error) from error
    finally:
        temporary.unlink(missing_ok=True)
