"""The columns of a manifest: which one is what (pure)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from packer.errors import BadImage, UnusableInput
from packer.options.declared import SourceOptions
from packer.options.kinds import SPLIT_NAME
from packer.tables.boxes import Box
from packer.tables.table import Table
from packer.trees.meaning import splits_of
from packer.trees.shape import plain
from packer.words import option

# As `plain` has them: `ImageId` and `image_id` are `imageid`.
IMAGE = (
    *("image", "path", "file", "filename", "imagepath", "filepath", "img", "imgpath", "imagefile"),
    *("imagename", "imageid", "imgid", "imgname", "imagefilename", "filepaths", "imageindex"),
    *("picture", "photo", "idcode", "uuid", "id"),
)
LABEL = (
    *("label", "labels", "finelabel", "coarselabel", "labelname", "labelid", "classlabel"),
    *("class", "classes", "cls", "classname", "classid", "category", "categoryname", "categoryid"),
    *("target", "tags", "attributeids", "findinglabels", "landmarkid", "breed", "diagnosis", "dx"),
)
SPLIT = "split"
_MAY_BE_SPLIT = ("set", "dataset", "subset", "partition", "phase", "usage")
RUN_LENGTHS = ("encodedpixels", "rle", "rlemask", "maskrle", "segmentation")
NONE = "none"  # as the name of the label column: there is none


@dataclass(frozen=True)
class Columns:
    """The names of the columns with a meaning of their own; every other one is a sample's JSON.

    Attributes:
        box: that a row is of one object, and where its box is.
        is_object: whether a row is of one object, with a box or an outline.
        pictures: columns that name further images -> the names of the members they become.
    """

    image: str
    label: str | None
    split: str | None
    box: Box | None = None
    is_object: bool = False
    pictures: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def find(
        cls,
        table: Table,
        options: SourceOptions,
        where: object,
        image: str,
        head: Sequence[Mapping[str, Any]] = (),
    ) -> "Columns":
        """Those that `options` name, else those with the usual names.

        Args:
            table: whose columns they are.
            options: names that a person has said.
            where: what to name in an error.
            image: the column of the images.
            head: the first rows.

        Raises:
            UnusableInput: a column that is named is not there, or several could be the label.
        """
        names = [name for name in table.columns if name != image]
        box = Box.of([name for name in names if name not in table.compound], options.box_format)
        return cls(
            image,
            _label(table, names, options.label_column, where),
            _split(names, options.split_column, where, head),
            box,
            box is not None or any(plain(name) in RUN_LENGTHS for name in names),
        )

    def label_of(self, fields: Mapping[str, Any]) -> Any:
        """A record's label, None for none."""
        return None if self.label is None else fields.get(self.label)

    def split_of(self, fields: Mapping[str, Any]) -> Any:
        """A record's split, None for none."""
        return None if self.split is None else fields.get(self.split)

    def others(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """What belongs into the sample's JSON as it is."""
        named = {self.image, self.label, self.split, *(self.box.names if self.box else ())}
        return {
            name: value
            for name, value in fields.items()
            if name not in named and name not in self.pictures
        }


def image_columns(table: Table, options: SourceOptions, where: object) -> list[str]:
    """The columns that may name the images, those with usual names first.

    Raises:
        UnusableInput: the column that is named is not there.
    """
    columns = table.columns
    if options.image_column is not None:
        return [_chosen(columns, options.image_column, option("image_column"), where)]
    named = {plain(name): name for name in reversed(columns) if name not in table.compound}
    usual = [named[name] for name in IMAGE if name in named]
    others = [name for name in columns if plain(name) not in (*IMAGE, *LABEL, SPLIT)]
    return usual + [name for name in others if name not in table.compound]


def is_usual(column: str) -> bool:
    """Whether a column is named as those of images are, and as no other is."""
    return plain(column) in IMAGE[: IMAGE.index("imageid")]


def is_id(column: str) -> bool:
    """Whether a column is named as those are that often name images without folder or extension."""
    return plain(column) in IMAGE


def listed(columns: Sequence[str]) -> str:
    """The names of columns, for an error."""
    return ", ".join(map(repr, columns[:20])) or "none"


def split_text(value: Any) -> str:
    """The name of a split, "" for none.

    Raises:
        BadImage: no folder should have such a name.
    """
    text = "" if value is None else str(value)
    if text and not SPLIT_NAME.fullmatch(text):
        raise BadImage(
            f"its split, {text[:80]!r}, is not a plain name such as train, of 255 "
            "characters at most"
        )
    return text


def _chosen(columns: Sequence[str], chosen: str, option: str, where: object) -> str:
    if chosen not in columns:
        raise UnusableInput(
            f"{where} has no column {chosen!r} ({option}): it has {listed(columns)}."
        )
    return chosen


def _split(
    names: Sequence[str], chosen: str | None, where: object, head: Sequence[Mapping[str, Any]]
) -> str | None:
    """The column that is chosen, named as splits are, or that names nothing but splits."""
    if chosen is not None:
        return _chosen(names, chosen, option("split_column"), where)
    for name in names:
        if plain(name) == SPLIT:
            return name
        values = {str(row.get(name)) for row in head}
        if plain(name) in _MAY_BE_SPLIT and values and set(splits_of(sorted(values))) == values:
            return name
    return None


def _label(table: Table, names: Sequence[str], chosen: str | None, where: object) -> str | None:
    """The column that is chosen, declared to hold labels, or named as they are."""
    if chosen is not None:
        if chosen == NONE and NONE not in names:
            return None
        return _chosen(names, chosen, option("label_column"), where)
    named = [name for name in names if plain(name) in LABEL and name not in table.compound]
    found = [name for name in table.class_names if name in names] or named
    if len(found) > 1:
        found = [name for name in found if plain(name) == LABEL[0]] or found
    if len(found) > 1:
        raise UnusableInput(
            f"{where} has several columns that could be the label: {listed(found)}. "
            f"Say which one it is with {option('label_column')}, or that there is none with "
            f"{option('label_column', NONE)}."
        )
    return found[0] if found else None
