"""Publishers' images with masks, in folders of their own."""

import os
from collections.abc import Iterator

from packer.samples.records import Skipped
from packer.sources.interpretation import Candidate, Interpretation
from packer.sources.scanners.rows.lists import Lists, Row
from packer.sources.scanners.rows.source import by_lists
from packer.sources.trees.names import splits_of

_KIND = "pairs"


def cityscapes(candidate: Candidate) -> Interpretation | None:
    """Cityscapes: ``leftImg8bit/SPLIT/CITY`` with the masks of ``gtFine``.

    As https://www.cityscapes-dataset.com/dataset-overview/ has it. The member ``mask.png`` has the
    label ids, ``instances.png`` the instance ids, and ``train_ids.png`` what cityscapesScripts make
    of them; without ``gtFine`` those of ``gtCoarse`` are taken. Coloured masks and polygons are
    ignored.
    """
    tree, base = candidate.tree, "leftImg8bit"
    if not tree or not (splits := splits_of(tree.level(base).folders)):
        return None
    kinds = [name for name in ("gtCoarse", "gtFine") if tree.level(name).folders]
    ids = {"mask.png": "label", "instances.png": "instance", "train_ids.png": "labelTrain"}

    def rows() -> Iterator[Row | Skipped]:
        for folder, _ in tree.walk(base):
            name = f"{folder}/".split("/")[1]
            split = name if name == "train_extra" else splits.get(name)
            for image in tree.images(folder) if split is not None else ():  # else they are anything
                stem = image.partition(f"_{base}")[0]
                files: dict[str, str] = {}
                for kind in kinds:  # the finer ones come last
                    path = f"{kind}{folder[len(base) :]}/{stem}_{kind}_"
                    found = {ext: f"{path}{of}Ids.png" for ext, of in ids.items()}
                    files = {ext: mask for ext, mask in found.items() if tree.has(mask)} or files
                yield Row(f"{folder}/{image}", None, split or "", files)
        for kind in reversed(kinds):
            for folder, _ in tree.walk(kind):
                for image in tree.images(folder):
                    if image.endswith("_color.png"):
                        reason = "it is a mask in colours, for people"
                        yield Skipped(os.path.join(folder, image), reason, ignored=True)

    lists = Lists(rows, ignored={"license.txt": "it is the licence"})
    return by_lists(candidate, "Cityscapes", (), lambda _: lists, _KIND) if kinds else None


def mvtec(candidate: Candidate) -> Interpretation | None:
    """MVTec AD: one object's ``train`` and ``test``, and masks of its defects in ``ground_truth``.

    As https://www.mvtec.com/company/research/datasets/mvtec-ad has it: the folders in ``train`` and
    ``test`` are classes, ``good`` and the kinds of defects; ``test/KIND/000.png`` has the mask
    ``ground_truth/KIND/000_mask.png``, the member ``mask.png``. An image with a defect whose mask
    is missing is rejected.
    """
    tree = candidate.tree
    if not tree or tree.level("train").folders != ("good",):
        return None
    kinds, masked = tree.level("test").folders, tree.level("ground_truth").folders
    if not masked or not set(masked) <= set(kinds):
        return None

    def rows() -> Iterator[Row]:
        for split in ("train", "test"):
            for kind in tree.level(split).folders:
                folder, masks = f"{split}/{kind}", f"ground_truth/{kind}"
                has_masks = split == "test" and bool(tree.level(masks).images)
                for name in tree.images(folder):
                    mask = f"{masks}/{name.rpartition('.')[0]}_mask.png"
                    files = {"mask.png": mask} if has_masks else {}
                    yield Row(f"{folder}/{name}", kind, split, files)

    lists = Lists(rows, tuple(sorted({"good", *kinds})))
    what = "an object of MVTec AD, with masks of defects"
    return by_lists(candidate, what, (), lambda _: lists, _KIND)
