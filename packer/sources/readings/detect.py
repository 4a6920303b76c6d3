"""Finds the one interpretation of a source by each recogniser of `published`.

The only folder in a source is searched, too: archives are often unpacked into a
folder of their own.
"""

import importlib
import pkgutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, partial
from inspect import isfunction
from pathlib import Path

from packer.errors import Ambiguous, UnusableInput, WrongOption
from packer.options.declared import SourceOptions
from packer.samples.records import Skipped, Source
from packer.sources.interpretation import Candidate, Interpretation
from packer.sources.readings import published
from packer.sources.readings.folders.reading import open_folders
from packer.sources.readings.foreign import refuse_foreign
from packer.sources.readings.published.containers import webdataset
from packer.sources.scanners.arrays.one_each import OneEach
from packer.sources.scanners.rows.source import Recognise
from packer.sources.scanners.templates.chosen import Templates
from packer.sources.scanners.templates.source import TemplateSource, surveyed_once
from packer.sources.trees.compressed import unpacks
from packer.sources.trees.globs import Globs
from packer.sources.trees.shape import inside
from packer.sources.trees.tree import Tree
from packer.sources.trees.walk import not_entered
from packer.words import Command, Message, Part, choices, command, option

_FOLDERS = 20  # that are looked into for datasets
_UNFILTERED = ("cifar", "idx")  # kinds whose files are not found by a tree
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
    "arrays": "arrays of images and of their labels (.npz, .npy, SVHN's .mat, STL-10's .bin)",
    "records": "TFRecord, LMDB, MDS, RecordIO, HDF5, and files of FFCV",
}


def read(src: Path, options: SourceOptions) -> Interpretation:
    """Return the one interpretation of a folder, an archive or a list that fits.

    It raises UnusableInput where none fits, or several do and `options` chooses none of them.
    """
    candidate = Candidate(src, options)
    with _explained(candidate):
        # Whatever else it could be.
        plain = options.kind in ("folder", "flat") or options.has_templates
        reading = None if plain else _recognised(candidate)
        if reading is None and options.kind and not plain:
            raise UnusableInput(
                f"{src} is not a source for ",
                option("kind", options.kind),
                f", which reads: {_WHAT[options.kind]}.",
            )
        if reading is None and not plain:
            _refuse_several(candidate)
            reading = _of_arrays(candidate)
        if reading is None:
            reading = (_by_templates if options.has_templates else _folders)(candidate)
        # A tar of samples names what it cannot read itself, and is not listed twice.
        tree = None if reading.kind == "webdataset" else candidate.tree
    leftovers = (*reading.leftovers, *(tree.refused if tree else ()), *_ignored(candidate, reading))
    opening = partial(_open_checked, candidate, reading)
    return replace(reading, open=opening, leftovers=leftovers)


@cache
def recognisers() -> tuple[Recognise, ...]:
    """Return the public functions of the modules of `published`, in the order of their names."""
    modules = pkgutil.iter_modules(published.__path__, f"{published.__name__}.")
    found = {
        name: value
        for module in (importlib.import_module(module.name) for module in modules)
        for name, value in vars(module).items()
        if isfunction(value) and value.__module__ == module.__name__ and not name.startswith("_")
    }
    return tuple(found[name] for name in sorted(found))


def _recognised(candidate: Candidate) -> Interpretation | None:
    """Return the interpretation of a candidate, or of the first folder within that has one."""
    kind = candidate.options.kind
    if (
        candidate.path.is_file()
        and kind in (None, "webdataset")
        and (tars := webdataset(candidate))
    ):
        return tars  # whatever else its names may say
    for within in _within(candidate):
        found = [reading for recognise in recognisers() if (reading := recognise(within))]
        found = [reading for reading in found if kind in (None, reading.kind)]
        special = {one.kind for one in found if not one.general}
        found = [one for one in found if not (one.general and one.kind in special)]
        if len(found) > 1:
            text = Message(f"{candidate.path} may be")
            for one in found:
                either = " or" * (one != found[0])
                text += Message(f"{either} {one.what} (", option("kind", one.kind), ")")
            raise UnusableInput(text, ". Choose one with ", option("kind"), ".")
        if found:
            return replace(found[0], leftovers=(*found[0].leftovers, *_above(candidate, within)))
    return None


def _refuse_several(candidate: Candidate) -> None:
    """Raise, with a command, where a folder without images holds folders that are recognised."""
    if not candidate.tree or candidate.tree.shape.below(""):
        return
    names = candidate.tree.level().folders[:_FOLDERS]
    found = {name: reading for name in names if (reading := _recognised(candidate.within(name)))}
    if found:
        each = "; ".join(f"{name} ({reading.what})" for name, reading in found.items())
        beside = ", beside other folders" * (len(found) < len(names))
        how = Message("Pack each separately: ", command(candidate.path / next(iter(found))))
        if not beside and all(one.kind == "webdataset" for one in found.values()):
            how = Message("Pack them together: ", command(candidate.path, "--as", "webdataset"))
        raise UnusableInput(f"{candidate.path} holds {each}{beside}. ", how)


def _within(candidate: Candidate) -> Iterator[Candidate]:
    """Yield a candidate, then the one folder in it that holds all, and the one in that."""
    yield candidate
    while candidate.tree and (name := candidate.tree.level().only):
        candidate = candidate.within(name)
        yield candidate


def _above(candidate: Candidate, within: Candidate) -> Iterator[Skipped]:
    """Yield the files in the folders above the one that was recognised."""
    if not (tree := candidate.tree):
        return
    up = within.path.relative_to(candidate.path).parts
    for number in range(len(up)):
        folder, prefix = "/".join(up[:number]), "../" * (len(up) - number)
        for name, reason in tree.level(folder).skipped.items():
            yield not_entered(f"{prefix}{name}", reason)
        for name in tree.names(folder):
            reason = "it is beside the folder with all others, and belongs to no sample"
            item = tree.ignored(inside(folder, name)) or Skipped(name, reason)
            yield replace(item, name=f"{prefix}{name}")


def _ignored(candidate: Candidate, reading: Interpretation) -> Iterator[Skipped]:
    """Yield what ``--ignore`` hides; raise for a glob that matches nothing."""
    if not (globs := candidate.options.ignore):
        return
    tree = candidate.tree
    is_in_file = reading.kind == "webdataset" and candidate.path.is_file()
    if tree is None or is_in_file or reading.kind in _UNFILTERED:
        raise WrongOption(
            option("ignore"),
            f" requires a folder or an archive of images, and {candidate.path} is {reading.what}.",
        )
    hides = Globs(globs)
    used: set[str] = set()
    for name in tree.hidden():
        found = hides.matching(name)
        used |= found.keys()
        yield Skipped(name, Message(option("ignore", next(iter(found)))), ignored=True)
    for glob in globs:
        if glob not in used:
            raise WrongOption(
                option("ignore", glob),
                f" matches nothing in {candidate.path}. Globs are relative to it: '*.bak' is for "
                "the files there, '**/*.bak' for those of all folders.",
            )


def _open_checked(
    candidate: Candidate, reading: Interpretation, classes: Sequence[str] | None
) -> Source:
    src, options = candidate.path, candidate.options
    with _explained(candidate):
        source = reading.open(classes)
    if options.pairs and reading.kind not in ("folder", "flat"):
        raise UnusableInput(option("pairs"), f" requires a folder of images, and {src} is not one.")
    if options.of_table and not (reading.columns or source.facts.lists):
        raise UnusableInput(
            option("root"),
            f" and the names of columns require a list of images, and {src} is not one.",
        )
    return source


@contextmanager
def _explained(candidate: Candidate) -> Iterator[None]:
    """Make UnusableInput of an OSError; name the command that unpacks an archive first."""
    try:
        yield
    except OSError as error:
        where = error.filename or candidate.path
        raise UnusableInput(f"{where} cannot be read: {error.strerror}.") from error
    except Ambiguous as error:
        chosen = choices(candidate.path, error.readings)
        raise UnusableInput(error.message, " Choose:" * bool(chosen), chosen) from error
    except UnusableInput as error:
        inside, parts = f"{candidate.path}/", error.message.parts
        if not candidate.path.is_file() or not candidate.tree:
            raise
        text = Message(*(_unpacked(part, inside) for part in parts))
        if text.parts == parts:
            raise
        unpack = f"\n  For commands with FOLDER, first unpack the archive: {candidate.tree.unpack}"
        raise UnusableInput(text, unpack) from error


def _unpacked(part: Part, archive: str) -> Part:
    """Return a part of a message, in which a command packs from FOLDER what is in an archive."""
    if not isinstance(part, Command) or not part.source.startswith(archive):
        return part
    return replace(part, source=f"FOLDER/{part.source.removeprefix(archive)}")


def _by_templates(candidate: Candidate) -> Interpretation:
    """Return the interpretation by the templates of the caller."""
    options, tree = candidate.options, _tree(candidate)
    given = {"kind": options.kind, "class_depth": options.class_depth, "pairs": options.pairs}
    others = [name for name, value in given.items() if value] + ["root"] * options.of_table
    if others:
        raise UnusableInput(
            Message.of(
                "{}, {} and {} replace all other options of the layout. Remove {}, and options "
                "that name columns.",
                *map(option, ("images", "members", "labels", others[0])),
            )
        )
    templates = Templates.of(options)
    return Interpretation(
        "folder", templates.what, surveyed_once(partial(TemplateSource, tree, templates))
    )


def _of_arrays(candidate: Candidate) -> Interpretation | None:
    """Return the interpretation of arrays that are one image each; refuse formats of others."""
    options = candidate.options
    is_plain = not (options.pairs or options.class_depth or options.of_table)
    found = OneEach.of(candidate.tree) if candidate.tree and is_plain else None
    if found and found.is_certain:
        chosen = replace(options, images=(found.template,))
        return _by_templates(replace(candidate, options=chosen))
    try:
        refuse_foreign(candidate)
    except UnusableInput as error:
        readings = {"Or, if each is one image": ("--images", found.template)} if found else {}
        raise UnusableInput(error.message, choices(candidate.path, readings)) from None
    return None


def _tree(candidate: Candidate) -> Tree:
    path, tree = candidate.path, candidate.tree
    if command := None if tree else unpacks(path):
        raise UnusableInput(
            f"{path} is compressed as a whole, so a file in it cannot be read without all "
            f"files before it. Decompress it first (images do not get larger): {command} {path}"
        )
    if tree is None:
        raise UnusableInput(
            f"{path} is not a folder, an archive or a list that packer reads. Pass the folder, "
            "zip, tar or table of the images."
        )
    return tree


def _folders(candidate: Candidate) -> Interpretation:
    """Return the fallback: folders of images, on disk or in an archive."""
    path, options, tree = candidate.path, candidate.options, _tree(candidate)
    for name, folder in options.pairs.items():
        if tree.unpack or not (path / folder).is_dir():
            raise UnusableInput(option("pairs"), f" {name}: {path / folder} is not a folder.")

    def open_folder(classes: Sequence[str] | None) -> TemplateSource:
        kind, depth = options.kind, options.class_depth
        return open_folders(tree, classes, options.pairs, kind=kind, depth=depth)

    what = f"folders of images{tree.form}"
    return Interpretation(options.kind or "folder", what, surveyed_once(open_folder))
