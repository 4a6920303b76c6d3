"""Which source a path is: told by what lies there.

Each module of `layouts` is asked. What is in a folder that alone lies in the place is looked for
there, too: archives are often unpacked into a folder of their own.
"""

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

from packer.errors import UnusableInput
from packer.layouts import published as layouts
from packer.layouts.folders.pairs import Pairs
from packer.layouts.folders.source import FolderSource
from packer.layouts.foreign import refuse_foreign
from packer.layouts.interpretation import Place, Reading
from packer.layouts.published.webdataset import recognise as webdataset
from packer.options.declared import SourceOptions
from packer.samples.records import Skipped, Source
from packer.trees.compressed import unpacks
from packer.trees.shape import inside
from packer.trees.walk import not_entered
from packer.words import option

_FOLDERS = 20  # that are looked into for datasets
_WHAT = {  # a kind of source -> what it reads; `folder` and `flat` read whatever has images
    "coco": "COCO's annotations (.json), or a folder that has them beside or among its images",
    "voc": "folders JPEGImages and Annotations, or images and XML in VOC's form",
    "yolo": "images with label files (.txt) in a folder labels or beside them, or data.yaml",
    "pairs": "folders of images and of their masks, with the same paths",
    "hf": "Parquet or Arrow that holds images, as Hugging Face's datasets have it",
    "table": "a list of images (.csv, .tsv, .jsonl, .parquet), or a folder that has one",
    "webdataset": "a tar of samples, or a folder of such tars",
    "cifar": "CIFAR's batches, in Python's or the binary form",
    "idx": "MNIST's files of images and labels (idx)",
}

Recognise = Callable[[Place], Reading | None]


def open_source(src: Path, options: SourceOptions, classes: Sequence[str] | None = None) -> Source:
    """The source at `src`, as `read` understands it."""
    return read(src, options).open(classes)


def read(src: Path, options: SourceOptions) -> Reading:
    """How `src` is understood: the one reading that fits.

    Args:
        src: a folder, an archive or a manifest.
        options: how it is to be understood.

    Raises:
        UnusableInput: none fits, or several do and `options` chooses none of them.
    """
    place = Place(src, options, partial(read, options=options))
    try:
        plain = options.kind in ("folder", "flat")  # whatever else it could be
        reading = None if plain else _recognised(place)
        if reading is None and options.kind and not plain:
            raise UnusableInput(
                f"{src} is not what {option('kind', options.kind)} reads: {_WHAT[options.kind]}."
            )
        if reading is None and not plain:
            _refuse_several(place)
            refuse_foreign(place)
        reading = reading or _folders(place)
    except OSError as error:
        raise UnusableInput(f"{src} cannot be read: {error.strerror}.") from error
    except UnusableInput as error:
        raise _unpacked_first(place, error) from error
    return replace(reading, open=partial(_open_checked, place, reading.open))


@cache
def recognisers() -> tuple[Recognise, ...]:
    """What each module of `layouts` recognises its own by."""
    names = [module.name for module in pkgutil.iter_modules(layouts.__path__)]
    modules = [importlib.import_module(f"{layouts.__name__}.{name}") for name in names]
    return tuple(module.recognise for module in modules)


def _recognised(place: Place) -> Reading | None:
    """The reading of a place, or of the first folder within that has one.

    Raises:
        UnusableInput: it has several.
    """
    kind = place.options.kind
    if place.path.is_file() and kind in (None, "webdataset") and (tars := webdataset(place)):
        return tars  # whatever else its names may say
    for within in _within(place):
        found = [reading for recognise in recognisers() if (reading := recognise(within))]
        found = [reading for reading in found if kind in (None, reading.kind)]
        special = {reading.kind for reading in found if not reading.general}
        found = [reading for reading in found if not (reading.general and reading.kind in special)]
        if len(found) > 1:
            both = " or ".join(
                f"{reading.what} ({option('kind', reading.kind)})" for reading in found
            )
            raise UnusableInput(f"{place.path} may be {both}. Say which one with {option('kind')}.")
        if found:
            return replace(found[0], beside=(*found[0].beside, *_above(place, within)))
    return None


def _refuse_several(place: Place) -> None:
    """Raise where a folder without images holds folders of which some are recognised.

    Raises:
        UnusableInput: with the commands that pack them.
    """
    if not place.tree or place.tree.shape.below(""):
        return
    names = place.tree.level().folders[:_FOLDERS]
    found = {name: reading for name in names if (reading := _recognised(place.within(name)))}
    if found:
        each = "; ".join(f"{name} ({reading.what})" for name, reading in found.items())
        raise UnusableInput(
            f"{place.path} holds {each}, beside other folders. Pack each by itself: packer pack "
            f"{place.path / next(iter(found))} DST"
        )


def _within(place: Place) -> Iterator[Place]:
    """A place, then the one folder in it that holds all, and the one in that."""
    yield place
    while place.tree and (name := place.tree.level().only):
        place = place.within(name)
        yield place


def _above(place: Place, within: Place) -> Iterator[Skipped]:
    """What lies in the folders above the one that was recognised."""
    if not (tree := place.tree):
        return
    up = within.path.relative_to(place.path).parts
    for number in range(len(up)):
        folder, prefix = "/".join(up[:number]), "../" * (len(up) - number)
        for name, reason in tree.level(folder).skipped.items():
            yield not_entered(f"{prefix}{name}", reason)
        for name in tree.names(folder):
            reason = "it lies beside the folder that holds all others and belongs to nothing"
            item = tree.ignored(inside(folder, name)) or Skipped(name, reason)
            yield replace(item, name=f"{prefix}{name}")


def _open_checked(
    place: Place,
    opening: Callable[[Sequence[str] | None], Source],
    classes: Sequence[str] | None,
) -> Source:
    src, options = place.path, place.options
    try:
        source = opening(classes)
    except OSError as error:
        raise UnusableInput(f"{src} cannot be read: {error.strerror}.") from error
    except UnusableInput as error:
        raise _unpacked_first(place, error) from error
    if options.pairs and "pairs" not in source.facts.heeds:
        raise UnusableInput(f"{option('pairs')} goes with a folder of images, and {src} is none.")
    if options.of_table and "columns" not in source.facts.heeds:
        raise UnusableInput(
            f"{option('root')} and the names of columns go with a list of images, and {src} is "
            "none."
        )
    return source


def _unpacked_first(place: Place, error: UnusableInput) -> UnusableInput:
    """Return the error; where it proposes to pack a folder in an archive, with what that needs."""
    if place.path.is_dir() or f"packer pack {place.path}/" not in str(error) or not place.tree:
        return error
    return UnusableInput(f"{error} First unpack the archive: {place.tree.unpack}")


def _folders(place: Place) -> Reading:
    """What no other source recognises: folders of images, on disk or in an archive."""
    path, options, tree = place.path, place.options, place.tree
    if command := None if tree else unpacks(path):
        raise UnusableInput(
            f"{path} is compressed as a whole, so that no file in it can be read without those "
            f"before it. Images do not get smaller by it: unpack it first with {command} {path}"
        )
    if tree is None:
        raise UnusableInput(
            f"{path} is neither a folder nor an archive or list that can be packed."
        )
    for name, folder in options.pairs.items() if not tree.unpack else ():
        if not (path / folder).is_dir():
            raise UnusableInput(f"{option('pairs')} {name}: {path / folder} is not a folder.")

    def open_folder(classes: Sequence[str] | None) -> Source:
        if tree.unpack and options.pairs:
            raise UnusableInput(
                f"{option('pairs')} goes with a folder of images, and {path} is none."
            )
        pairs, kind, depth = Pairs(options.pairs), options.kind, options.class_depth
        return FolderSource.open(tree, classes, pairs, kind=kind, depth=depth)

    return Reading(options.kind or "folder", f"folders of images{tree.form}", open_folder)
