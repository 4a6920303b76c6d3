"""What is refused, with the error that says so; and what is known to be wrong."""

from collections.abc import Mapping

from crossing.fields import FIELDS
from crossing.loading import LOADINGS
from crossing.options import OPTIONS_OF_PACKING
from crossing.scenes import PICTURES
from crossing.sources import SOURCES
from crossing.transforms import TRANSFORMS

DIMENSIONS = {
    "source": [*SOURCES],
    "picture": [*PICTURES],
    "option": [*OPTIONS_OF_PACKING],
    "field": [*FIELDS],
    "loading": [*LOADINGS],
    "transform": [*TRANSFORMS],
}


class Cells:
    """The cases that have, in each dimension that is named, one of the values that are named."""

    def __init__(self, says: str, **values: str) -> None:
        self.says = says
        self.values = {name: frozenset(text.split()) for name, text in values.items()}
        for name, chosen in self.values.items():
            assert chosen <= {*DIMENSIONS[name]}, (name, chosen - {*DIMENSIONS[name]})

    def has(self, case: Mapping[str, str]) -> bool:
        return all(case.get(name) in chosen for name, chosen in self.values.items())


_NAMED = "classes folders deep coco coco_json voc yolo outlines box_rows table parquet zip tar_gz"
_NAMED += " labelme kitti"
_OVERLAYS = "boxes boxes_xywh boxes_cxcywh boxes_visible boxes_said boxes_decoded polygons"
_OVERLAYS += " polygons_whole points points_named mask mask_filled bands bands_smooth right"

_ON_GPU = "decode_auto decode_gpu"

# By the pattern of the error. Each pair of these is tried by itself.
REFUSED = [
    Cells("classes that are not whole numbers", option="numeric", source=_NAMED),
    Cells(
        "the classes have no names|are known before it is packed",
        option="numeric",
        source="map splits stream writer",
    ),
    Cells("images one size", loading="views", transform="none shorter longest mirror own"),
    Cells(
        "images one size|antialias= or interpolation=",
        loading=_ON_GPU,
        transform="none shorter longest nearest black_box mirror own",
    ),
    Cells("transforms that change pixels", loading=_ON_GPU, transform="colours distorted"),
    Cells("does not support masks, bands, boxes", loading=_ON_GPU, field=_OVERLAYS),
    Cells("no tar has a sample with an image", option="index", source="npz"),
    Cells("have their own keys", option="append", source="map splits"),
    Cells("have their own keys", option="split", source="map"),
    Cells("name local folders", option="scratch", source="pairs"),
    Cells("in another order", option="classes", source="yolo outlines parquet"),
    Cells("does not become smaller with it", option="small_bands raw_bands"),
]

# What says nothing.
SENSELESS = [
    Cells("too little is seen", picture="thin", loading="buckets padded masked_padded"),
    # Only boxes are of two forms, if they are recorded and no field says one.
    Cells("no forms", loading="mix_of_forms", option="index"),
    Cells(
        "no forms",
        loading="mix_of_forms",
        field="boxes_said boxes_decoded polygons polygons_whole points points_named json absent",
    ),
    # Three pixels among those of a border, or behind a crop, show no colour.
    Cells(
        "too little is seen",
        picture="thin",
        transform="letterbox black_box center padded random if_needed often resized own",
    ),
    Cells("no arrays", option="max_side raw", field="bands bands_smooth"),
    # A damaged sample that is stored as pixels is another picture.
    Cells("no checksum", loading="substituted masked masked_padded", option="raw"),
    Cells("no checksum", loading="substituted masked masked_padded", source="npz"),
    # A palette of another picture than the image is read as a mask's.
    Cells("indices", source="pairs", picture="palette", field="right"),
    # Pixels are no file of an image.
    Cells("no image", loading="webdataset", option="raw"),
    Cells("no image", loading="webdataset", source="npz"),
    # Its one array has the size of all images.
    Cells("one size", source="npz", loading="decode_auto decode_gpu views"),
]

# Faults that are known, each with its cases; a row goes when its fault does.
KNOWN: list[Cells] = []


def holds(source: str, need: str | None) -> bool:
    """Whether a source gives what a field, an option or a reading needs."""
    held = SOURCES[source].holds
    if need == "text_file":
        return held.get("text") == "txt"
    if need == "recorded":
        return held.get("boxes") == "json" and not SOURCES[source].boxes
    if need == "coco":
        return SOURCES[source].kind == "coco"
    return need is None or need in held


def is_possible(case: Mapping[str, str]) -> bool:
    """Whether a case can be made, as far as it is chosen."""
    source = SOURCES.get(case.get("source", ""))
    option = OPTIONS_OF_PACKING.get(case.get("option", ""))
    field = FIELDS.get(case.get("field", ""))
    loading = LOADINGS.get(case.get("loading", ""))
    if source is not None:
        name = case["source"]
        if "picture" in case and case["picture"] not in source.pictures:
            return False
        if option is not None and not (
            source.how in option.hows
            and all(holds(name, need) for need in option.needs)
            and not any(held in source.holds for held in option.without)
        ):
            return False
        if field is not None and not holds(name, field.needs):
            return False
        if loading is not None and not holds(name, loading.needs):
            return False
    if loading is not None and not loading.is_of_loader:
        usual = {"field": "default", "transform": "none"}
        if any(case.get(name, value) != value for name, value in usual.items()):
            return False
    return not any(cells.has(case) for cells in SENSELESS)


def is_allowed(case: Mapping[str, str]) -> bool:
    """Whether a case can be made, and is to be right."""
    return is_possible(case) and not any(cells.has(case) for cells in (*REFUSED, *KNOWN))
