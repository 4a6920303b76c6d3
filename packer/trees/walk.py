"""Walking folders: sorted, through symbolic links, but never round a loop of them."""

import errno
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from packer.errors import BadImage
from packer.samples.records import Skipped
from packer.trees.likeness import (
    MAY_BE_DATA,
    NOT_AN_IMAGE,
    begins_as_image,
    is_named_as_data,
    is_named_as_image,
)

HIDDEN = "it is a hidden folder"
JUNK = "it belongs to the operating system or another program"
LOOP = "it is a symbolic link back to a folder that holds it (a loop)"

Identity = tuple[int, int]

_FACTS = {
    *(errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.EACCES, errno.EPERM)
}
_LITTER = {  # in lower case
    *(".ds_store", "icon\r", ".localized", ".apdisk", ".volumeicon.icns", ".directory"),
    *("thumbs.db", "ehthumbs.db", "desktop.ini", "picasa.ini", ".picasa.ini", ".nomedia"),
    *(".gitattributes", ".gitignore", ".gitkeep", "synoindex_media_info"),
}
_LITTER_FOLDERS = {
    *(".ipynb_checkpoints", "__pycache__", ".git", ".svn", ".hg", ".cache", ".huggingface"),
    *(".idea", ".vscode", "__macosx", ".appledouble", ".spotlight-v100", ".trashes", ".fseventsd"),
    *(".temporaryitems", ".documentrevisions-v100", "$recycle.bin", "system volume information"),
    *("@eadir", "@recycle", "@recently-snapshot", "#recycle", "#snapshot", ".@__thumb"),
    *(".snapshot", ".thumbnails", "lost+found", ".nv-meta"),
}


def is_litter(name: str) -> bool:
    """Whether a file is a system's own: ``._x`` is what macOS leaves of ``x``, ``.nfs1`` NFS."""
    return name.lower() in _LITTER or name.startswith(("._", ".nfs"))


def is_litter_folder(name: str) -> bool:
    """Whether a folder holds nothing of a dataset's own."""
    return name.lower() in _LITTER_FOLDERS or name.startswith(".Trash-")


def names_an_image(name: str) -> bool:
    """Whether a file is named as an image is, and is none of the operating system's."""
    return is_named_as_image(name) and not is_litter(name)


def tells_of_file(error: OSError) -> bool:
    """Whether an error tells something of the file or folder itself.

    Any other is the disk's or the machine's and may pass: if the file were skipped for it, the
    next run would find another source.
    """
    return error.errno in _FACTS


def skipped(path: str, reason: str) -> Skipped:
    """`path` with the reason, unless it is litter, which needs none."""
    if is_litter(os.path.basename(path)):
        return Skipped(path, "it belongs to the operating system", ignored=True)
    return Skipped(path, reason)


def not_an_image(path: str, begin: Callable[[], bytes]) -> Skipped | None:
    """What to report of a file that is not meant to be an image; None for one that is or may be."""
    name = os.path.basename(path)
    if is_litter(name):
        return skipped(path, "")
    if is_named_as_image(name):
        return None
    if is_named_as_data(name):
        return Skipped(path, MAY_BE_DATA)
    try:
        is_image = begins_as_image(begin())
    except BadImage:
        return None
    return None if is_image else Skipped(path, NOT_AN_IMAGE, ignored=True)


@dataclass
class Inside:
    """The sorted names of what a folder holds."""

    # and links to folders, but none that is hidden or leads back
    folders: list[str] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)  # the other folders, with the reason
    files: list[str] = field(default_factory=list)  # whatever is not a folder


def passed_over(path: str) -> tuple[str, str] | None:
    """The first folder on the way to a file that is passed over, and the reason."""
    folders = path.split("/")[:-1]
    for number, name in enumerate(folders, 1):
        if is_litter_folder(name):
            return "/".join(folders[:number]), JUNK
        if name.startswith(".") and name != "..":
            return "/".join(folders[:number]), HIDDEN
    return None


def not_entered(path: str, reason: str) -> Skipped:
    """What to report of a folder that is passed over."""
    return Skipped(path, reason, ignored=reason == JUNK, damaged=reason == LOOP)


def look(folder: str, above: frozenset[Identity] | None = None) -> Inside:
    """List what a folder holds."""
    found = Inside()
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if not is_folder(entry):
                found.files.append(entry.name)
            elif entry.is_symlink() and _leads_back(entry, folder, above):
                found.skipped[entry.name] = LOOP
            elif is_litter_folder(entry.name):
                found.skipped[entry.name] = JUNK
            elif entry.name.startswith("."):
                found.skipped[entry.name] = HIDDEN
            else:
                found.folders.append(entry.name)
    return found


def _leads_back(link: "os.DirEntry[str]", folder: str, above: frozenset[Identity] | None) -> bool:
    if above is None:
        above = with_parents(Path(folder))
    return identity(link) in above or identity(link) == identity(folder)


def folders_below(
    root: Path, path: str, above: frozenset[Identity]
) -> Iterator[tuple[str, list[str]] | Skipped]:
    """`path` and all folders below it, relative to `root`, each with the names of its files."""
    folder = f"{root}/{path}"
    try:
        found = look(folder, above)
        if found.folders:
            above |= {identity(folder)}
    except OSError as error:
        if not tells_of_file(error):
            raise
        yield Skipped(path, f"the folder cannot be read: {error.strerror}", damaged=True)
        return
    for name, reason in found.skipped.items():
        yield not_entered(f"{path}/{name}", reason)
    yield path, found.files
    for name in found.folders:
        yield from folders_below(root, f"{path}/{name}", above)


def is_folder(entry: "os.DirEntry[str]") -> bool:
    """Whether an entry is a folder, or a link to one."""
    try:
        return entry.is_dir()
    except OSError:
        return False  # a link to itself; the file's own stat names the reason


def identity(folder: "str | os.PathLike[str]") -> Identity:
    """What tells one folder from all others, whatever its path."""
    status = os.stat(folder)
    return status.st_dev, status.st_ino


def with_parents(folder: Path) -> frozenset[Identity]:
    """The identities of a folder and all that hold it."""
    resolved = folder.resolve()
    return frozenset(map(identity, (resolved, *resolved.parents)))
