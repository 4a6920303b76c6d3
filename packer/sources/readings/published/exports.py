"""Annotations as tools and services export them, of the forms that `readings.exports` knows."""

from collections.abc import Iterator
from functools import partial

from packer.errors import UnusableInput
from packer.sources.interpretation import Candidate, Interpretation
from packer.sources.readings.exports.form import Form
from packer.sources.readings.exports.known import form_of, suffixes
from packer.sources.readings.exports.source import open_export
from packer.sources.readings.folders.reading import layout_of
from packer.sources.trees.folder import FolderTree
from packer.sources.trees.shape import inside
from packer.sources.trees.tree import Tree
from packer.words import listed, option

_MOST = 8  # files of one kind in a folder; more are for one image each
_LOOKED_AT = 1000  # files


def exports(candidate: Candidate) -> Interpretation | None:
    """Exports of annotation tools, services and benchmarks: boxes, shapes, classes, captions.

    CVAT for images and videos 1.1, Label Studio (JSON and JSON_MIN), VIA, VoTT, LabelMe,
    Supervisely, Darwin, Labelbox, Hasty, Kili, Encord, Scale, Datumaro, FiftyOne, Create ML,
    SageMaker Ground Truth, Vertex AI, Azure's AutoML, BDD100K, CrowdHuman, WIDER FACE, Open Images,
    Visual Genome, COCO-Text, Roboflow's lines for YOLO in Keras, Flickr8k and Flickr30k, and the
    conversations of LLaVA, as each documents its own. Files are known by the fields in them; images
    are found by path, by name, or by the end of an address.
    Boxes become each sample's ``json``, as COCO's do, with all other fields; shapes without a box
    are ``shapes`` there; a class for each image is its label.
    """
    options, tree, path = candidate.options, candidate.tree, candidate.path
    if options.pairs or options.kind not in (None, "table"):
        return None
    if tree is None and candidate.suffix in suffixes():
        tree = FolderTree(path.parent)
        form = form_of(tree, path.name)
        found = [(form, path.name)] if form else []
    elif tree is None:
        return None
    else:
        found = list(_found(tree))
    if not found or (options.of_table and found[0][0].joins):
        return None
    forms = list(dict.fromkeys(form.what for form, _ in found))
    if len(forms) > 1:
        files = listed([name for _, name in found], 3)
        raise UnusableInput(
            f"{path} has {' and '.join(forms)} ({files}). Move all but one of them to another "
            "folder, or pass ",
            option("kind", "folder"),
            " to pack only the folders.",
        )
    each = {name: form for form, name in sorted(found, key=lambda one: not one[0].objects)}
    what = f"{forms[0]} ({listed(list(each), 3)})"
    return Interpretation("table", what, partial(open_export, tree, each))


def _has_classes(tree: Tree) -> bool:
    """Return whether folders of images are classes; where it is doubtful, several may be."""
    try:
        return len(layout_of(tree).classes(tree.shape)) > 1
    except UnusableInput:
        return True


def _found(tree: Tree) -> Iterator[tuple[Form, str]]:
    """Yield the files that are of a form, with it."""
    looked_at = 0
    for folder, level in tree.walk():
        for suffix in suffixes():
            are_many = level.counts.get(suffix, 0) > _MOST
            for name in level.examples.get(suffix, ())[: 1 if are_many else None]:
                if (looked_at := looked_at + 1) > _LOOKED_AT:
                    return
                form = form_of(tree, inside(folder, name))
                if form is None or (form.of == "file" and level.images and _has_classes(tree)):
                    continue  # members of images that have the classes of their folders
                if not are_many:
                    yield form, inside(folder, name)
                elif form.of == "file":
                    names = (one for one in tree.names(folder) if one.lower().endswith(suffix))
                    yield from ((form, inside(folder, one)) for one in names)
