"""What tools for annotation write, and what some records need before paths lead anywhere."""

import re
from typing import Any

from packer.layouts.exports.form import Form
from packer.layouts.exports.records import (
    of_cvat,
    of_lines,
    parse_cvat,
)
from packer.trees.walk import is_named_as_image

_CORNERS = "left top width height"


def _label_studio(record: Any) -> Any:
    """Leave cancelled annotations out; several people's would be objects twice."""
    whole = [one for one in record["annotations"] if not one.get("was_cancelled")]
    if len(whole) > 1:
        raise ValueError(f"{len(whole)} people's annotations; export one of them")
    values = [one["value"] | one for work in whole for one in work.get("result", ())]
    images = [text for text in record["data"].values() if _is_image(text)]
    objects = [_percents(one) for one in values if "choices" not in one and "x" in one["value"]]
    shapes = [one for one in values if "choices" not in one and "x" not in one["value"]]
    works = [{name: one for name, one in work.items() if name != "result"} for work in whole]
    labels = [name for one in values for name in one.get("choices", ())]
    return (
        record
        | {"annotations": works}
        | {"_image": images[0], "_objects": objects + shapes, "_labels": labels}
    )


def _label_studio_min(record: Any) -> Any:
    """Sort the fields, which are named as a project names them, by what they hold."""
    lists = [one for one in record.values() if isinstance(one, list) and one]
    shapes = [list for list in lists if all(isinstance(one, dict) for one in list)]
    objects = [_percents(one) for list in shapes for one in list]
    chosen = record.get("choice", record.get("choices", ()))
    labels = chosen.get("choices") if isinstance(chosen, dict) else chosen
    images = [text for text in record.values() if _is_image(text)]
    rest = {name: value for name, value in record.items() if value not in shapes}
    labels = [labels] if isinstance(labels, str) else labels
    return rest | {"_image": images[0], "_objects": objects, "_labels": labels}


def _percents(item: Any) -> Any:
    names = next((value for name, value in item.items() if name.endswith("labels")), None)
    rest = {name: value for name, value in item.items() if name != "value"}
    return rest | {"_label": names[0] if isinstance(names, list) and len(names) == 1 else None}


def _is_image(text: Any) -> bool:
    return isinstance(text, str) and any(map(is_named_as_image, (text, text.partition("?")[0])))


def _labelme(record: Any) -> Any:
    record.pop("imageData", None)  # the image itself
    for one in record["shapes"]:
        if one.get("shape_type") == "rectangle":
            (a, b), (c, d) = one["points"]
            one["_box"] = [min(a, c), min(b, d), max(a, c), max(b, d)]
    return record | {"_labels": [name for name, on in record.get("flags", {}).items() if on]}


def _supervisely(record: Any) -> Any:
    for one in record["objects"]:
        if one.get("geometryType") == "rectangle":
            (a, b), (c, d) = one["points"]["exterior"]
            one["_box"] = [min(a, c), min(b, d), max(a, c), max(b, d)]
    return record


def _via(record: Any) -> Any:
    regions = record["regions"]
    for one in regions.values() if isinstance(regions, dict) else regions:
        attributes = one["region_attributes"]
        known = [attributes[name] for name in _CLASSES if attributes.get(name)]
        one["_label"] = (
            (known or [*attributes.values()])[0] if len(attributes) == 1 or known else ""
        )
    return record


_CLASSES = ("class", "type", "label", "name", "category", "object")


_YOLO_LINE = re.compile(r"(.+?\.\w+)((?: -?[\d.]+(?:,-?[\d.]+){4})*)\s*")


def _yolo_keras(data: bytes) -> Any:
    match = _YOLO_LINE.fullmatch(data.decode("utf-8-sig").strip())
    if not match:
        raise ValueError("no name with x,y,x,y,class")
    rows = [list(map(float, box.split(","))) for box in match[2].split()]
    return {"image": match[1], "objects": [{"box": row[:4], "class": int(row[4])} for row in rows]}


TOOLS = (
    Form(
        "annotations of CVAT for images",
        "^[^\\0]*<annotations>[^\\0]*<image ",
        "name",
        "objects.*",
        "label",
        ": xtl ytl xbr ybr",
        "xyxy",
        labels="tags.*.label",
        split="subset",
        suffixes=(".xml",),
        split_up=of_cvat,
        parse=parse_cvat,
    ),
    Form(
        "tasks of Label Studio",
        "annotations result data from_name",
        "_image",
        "_objects.*",
        "_label",
        ": x y width height",
        scale=100,
        labels="_labels.*",
        prepare=_label_studio,
    ),
    Form(
        "annotations of Label Studio (JSON_MIN)",
        "annotator id image",
        "_image",
        "_objects.*",
        "_label",
        ": x y width height",
        scale=100,
        labels="_labels.*",
        prepare=_label_studio_min,
    ),
    Form(
        "a project of VIA",
        "_via_img_metadata filename regions shape_attributes",
        "filename",
        "regions.*",
        "_label",
        "shape_attributes: x y width height",
        of="_via_img_metadata",
        prepare=_via,
    ),
    Form(
        "annotations of VIA",
        "filename size regions shape_attributes region_attributes",
        "filename",
        "regions.*",
        "_label",
        "shape_attributes: x y width height",
        of="*",
        prepare=_via,
    ),
    Form(
        "an export of VoTT",
        "assets asset regions",
        "asset.name",
        "regions.*",
        "tags.0",
        f"boundingBox: {_CORNERS}",
        of="assets",
    ),
    Form(
        "assets of VoTT",
        "asset regions version",
        "asset.name",
        "regions.*",
        "tags.0",
        f"boundingBox: {_CORNERS}",
        of="file",
    ),
    Form(
        "annotations of LabelMe",
        "shapes imagePath imageHeight",
        "imagePath",
        "shapes.*",
        "label",
        "_box",
        "xyxy",
        labels="_labels.*",
        of="file",
        prepare=_labelme,
    ),
    Form(
        "annotations of Supervisely",
        "size objects tags height",
        "@stem",
        "objects.*",
        "classTitle",
        "_box",
        "xyxy",
        of="file",
        prepare=_supervisely,
    ),
    Form(
        "boxes in lines, as Roboflow writes them for YOLO in Keras",
        r"^[^\n]+?\.\w+( [\d.]+(,[\d.]+){4})+ *\r?\n",
        "image",
        "objects.*",
        "class",
        "box",
        "xyxy",
        names="classes.*",
        suffixes=(".txt",),
        split_up=of_lines,
        parse=_yolo_keras,
    ),
)
