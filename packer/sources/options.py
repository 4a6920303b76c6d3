"""How a person says that a source is to be understood."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

KINDS = (
    *("folder", "flat", "coco", "voc", "yolo", "pairs", "hf"),
    *("table", "webdataset", "cifar", "idx"),
)
WHAT = {  # what each reads, for a person; `folder` and `flat` read whatever has images
    "coco": "COCO's annotations (.json), or a folder that has them beside or among its images",
    "voc": "folders JPEGImages and Annotations, or images and XML in VOC's form",
    "yolo": "images with label files (.txt) in a folder labels or beside them, or data.yaml",
    "pairs": "folders of images and of their masks, with the same paths",
    "hf": "Parquet or Arrow that holds images, as Hugging Face's datasets lie",
    "table": "a list of images (.csv, .tsv, .jsonl, .parquet), or a folder that has one",
    "webdataset": "a tar of samples, or a folder of such tars",
    "cifar": "CIFAR's batches, in Python's or the binary form",
    "idx": "MNIST's files of images and labels (idx)",
}
PYTHON = "python"  # a dataset that a program has, which --as does not choose
FORMATS = ("xyxy", "xywh", "cxcywh")  # of boxes


@dataclass(frozen=True)
class SourceOptions:
    """How the source is to be understood.

    Attributes:
        pairs: name -> folder relative to the source, whose files belong to the images; behind the
            name, a ``?`` says that an image may be without one.
        root: folder relative to a manifest, in which the images that it names lie.
        kind: of source that it is, one of `KINDS`; None: told by what lies there.
        class_depth: how many levels of folders name a class; -1: each folder that holds images is
            one; None: one, where that is not doubtful.
        label_separator: what divides the labels of one image in a manifest; "none": it has one.
        box_format: of the boxes of a manifest, such as "xywh".
        image_column, label_column, split_column: of a manifest; None: the usual names are tried.
    """

    pairs: Mapping[str, str] = field(default_factory=dict)
    root: str | None = None
    image_column: str | None = None
    label_column: str | None = None
    split_column: str | None = None
    kind: str | None = None
    class_depth: int | None = None
    label_separator: str | None = None
    box_format: str | None = None

    @property
    def of_table(self) -> bool:
        """Whether something is said that only a manifest can have."""
        columns = (self.image_column, self.label_column, self.split_column)
        return any((self.root, *columns, self.label_separator, self.box_format))

    def dump(self) -> dict[str, Any]:
        """As dataset.json has them; what is not chosen is not named, as before it could be."""
        newer = ("kind", "class_depth", "label_separator", "box_format")
        return {
            name: value
            for name, value in asdict(self).items()
            if name not in newer or value is not None
        }
