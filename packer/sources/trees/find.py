"""The tree at a path: of a folder, of an archive, or of a folder of archives by split."""

from collections.abc import Sequence
from pathlib import Path

from packer.sources.trees.archive import ArchiveTree
from packer.sources.trees.compressed import beginning
from packer.sources.trees.folder import FolderTree
from packer.sources.trees.globs import Globs
from packer.sources.trees.names import SPLITS
from packer.sources.trees.shape import inside
from packer.sources.trees.tar_reader import holds_samples, is_tar
from packer.sources.trees.tree import Tree
from packer.sources.trees.walk import TABLES, is_litter

_NO_ARCHIVES = (*TABLES, ".npz", ".npy")  # whose names tell enough
_INDEXES = (".safetensors", ".idx", ".index", "_stats.json", "dataset.json", "info.json")
_TEXTS = (*TABLES, ".txt", ".md")  # beside the archives


def is_index(name: str) -> bool:
    """Return whether a file beside archives only repeats what they hold."""
    return is_litter(name) or name.endswith(_INDEXES)


def split_parts(tree: Tree) -> dict[str, str]:
    """The archives and folders in a folder, by split; empty if they are not named as splits are."""
    files = (name for name in tree.names() if not is_index(name) and not name.endswith(_TEXTS))
    names = sorted((*tree.level().folders, *files))
    parts = {name.removesuffix(".tar").removesuffix(".zip"): name for name in names}
    return parts if len(parts) == len(names) and SPLITS.issuperset(parts) else {}


def tree_at(path: Path, globs: Sequence[str] = ()) -> Tree | None:
    """Return the tree of a folder, a zip or a tar without what `globs` hide; None for any other."""
    hiding = Globs(tuple(globs)) if globs else None
    if not path.is_dir():
        return ArchiveTree(path, hiding) if _is_archive(path) else None
    tree = FolderTree(path, hiding)
    archives = {split: name for split, name in split_parts(tree).items() if tree.has(name)}
    if not archives or not all(_is_archive(path / name) for name in archives.values()):
        return tree
    if any(is_tar(path / name) and holds_samples(path / name) for name in archives.values()):
        return tree
    everything = FolderTree(path)
    others = [name for name in everything.names() if name not in archives.values()]
    for folder in everything.level().folders:
        for below, _ in everything.walk(folder):
            others += [inside(below, name) for name in everything.readable_names(below) or ()]
    return ArchiveTree(path, hiding, archives, others)


def _is_archive(path: Path) -> bool:
    if path.suffix.lower() in _NO_ARCHIVES or not path.is_file():
        return False
    return beginning(path).startswith(b"PK") or is_tar(path)
