"""How files of each form are read, and what some records need before paths lead anywhere."""

import csv
import re
from collections.abc import Callable, Mapping
from typing import Any

from packer.files.snapshot import Watched
from packer.sources.readings.exports import open_images
from packer.sources.readings.exports.records import (
    JSON,
    Reader,
    Records,
    of_cvat,
    of_json,
    of_lines,
    of_tracks,
    of_wider,
    parse_cvat,
    parse_frame,
    parse_json,
    parse_wider,
)
from packer.sources.trees.walk import is_named_as_image

_CLASSES = ("class", "type", "label", "name", "category", "object")  # VIA's names for a class
_CAPTION = re.compile(r"(.+?)(?:#\d+\t|\| *\d+ *\| ?)(.*)")
_PLACES = {"x", "points", "rle"}  # of Label Studio's regions
_HEADS = (b"image_name|", b"image,caption")
_YOLO_LINE = re.compile(r"(.+?\.\w+)((?: -?[\d.]+(?:,-?[\d.]+){4})*)\s*")


def _of_captions(file: Watched, of: str, others: dict[str, Any]) -> Records:
    lines = of_lines(file, of, others)
    return (line for line in lines if line[1] or not line[2].startswith(_HEADS))


def _caption(data: bytes) -> Any:
    text = data.decode("utf-8-sig").strip()
    if match := _CAPTION.fullmatch(text):
        return {"image": match[1].strip(), "caption": match[2]}
    image, caption = next(csv.reader([text]))
    return {"image": image, "caption": caption}


def _yolo_keras(data: bytes) -> Any:
    match = _YOLO_LINE.fullmatch(data.decode("utf-8-sig").strip())
    if not match:
        raise ValueError("no name with x,y,x,y,class")
    rows = [list(map(float, box.split(","))) for box in match[2].split()]
    return {"image": match[1], "objects": [{"box": row[:4], "class": int(row[4])} for row in rows]}


def _label_studio(record: Any) -> Any:
    """Leave cancelled annotations out; several people's would be objects twice.

    What is said of a region, such as a choice or a text, becomes a field of its object by the name
    of the control; what is said of the image stays in the annotation, and choices are its labels.
    """
    whole = [one for one in record["annotations"] if not one.get("was_cancelled")]
    if len(whole) > 1:
        raise ValueError(f"{len(whole)} people's annotations; export one of them")
    results = [one for work in whole for one in work.get("result", ())]
    has_regions = any("x" in one["value"] for one in results)
    regions: dict[Any, Any] = {}
    of_image = []
    for at, one in enumerate(results, 1):
        value, region = one["value"], regions.get(one.get("id"))
        if region is not None:
            new = {name: found for name, found in value.items() if name not in region}
            region |= {n if n.endswith("labels") else one["from_name"]: new[n] for n in new}
        elif "choices" in value or (has_regions and not _PLACES & value.keys()):
            of_image.append(one)
        else:
            regions[one.get("id", -at)] = value | one
    images = [text for text in record["data"].values() if _is_image(text)]
    objects = [_percents(one) for one in regions.values() if "x" in one]
    shapes = [one for one in regions.values() if "x" not in one]
    labels = [name for one in of_image for name in one["value"].get("choices", ())]
    works = [{name: one for name, one in work.items() if name != "result"} for work in whole]
    if has_regions and of_image:
        works[0]["result"] = of_image
    made = {"_image": images[0], "_objects": objects + shapes, "_labels": labels}
    return record | {"annotations": works} | made


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
            one["_box"] = _around(one["points"])
    return record | {"_labels": [name for name, on in record.get("flags", {}).items() if on]}


def _supervisely(record: Any) -> Any:
    for one in record["objects"]:
        if one.get("geometryType") == "rectangle":
            one["_box"] = _around(one["points"]["exterior"])
    return record


def _around(corners: Any) -> list[Any]:
    (a, b), (c, d) = corners
    return [min(a, c), min(b, d), max(a, c), max(b, d)]


def _via(record: Any) -> Any:
    regions = record["regions"]
    for one in regions.values() if isinstance(regions, dict) else regions:
        attributes = one["region_attributes"]
        known = [attributes[name] for name in _CLASSES if attributes.get(name)]
        is_clear = known or len(attributes) == 1
        one["_label"] = (known or [*attributes.values()])[0] if is_clear else ""
    return record


def _by_value(record: Any) -> Any:
    """Name a class, classes, or objects by what they are."""
    value = record.pop("label")
    if isinstance(value, list) and all(isinstance(one, dict) for one in value):
        return record | {"_objects": value}
    return record | {"_labels": value if isinstance(value, list) else [value]}


def _fiftyone(value: Any) -> Any:
    return {} if value is None else _by_value({"label": value})


def _datumaro(record: Any) -> Any:
    parts = record["annotations"]
    labels = [one["label_id"] for one in parts if one.get("type") == "label"]
    others = [one for one in parts if one.get("type") != "label"]
    return record | {"annotations": others, "_labels": labels}


def _sagemaker(record: Any) -> Any:
    """Find the attribute of a labelling job by its metadata."""
    jobs = [name.removesuffix("-metadata") for name in record if name.endswith("-metadata")]
    for job in jobs:
        metadata, value = record[f"{job}-metadata"], record.get(job)
        names = metadata.get("class-map", {})
        if isinstance(value, dict) and "annotations" in value:
            things = [
                one | {"_label": names[str(one["class_id"])]} for one in value.pop("annotations")
            ]
            scores = metadata.get("objects", ())
            for thing, score in zip(things, scores, strict=False):
                thing.update({name: one for name, one in score.items() if name not in thing})
            return record | {"_objects": things}
        if "class-name" in metadata:
            return record | {"_labels": [metadata["class-name"]]}
        if isinstance(value, list) and names:
            return record | {"_labels": [names[str(one)] for one in value]}
    raise ValueError("no attribute of a job with classes or boxes")


def _kili(record: Any) -> Any:
    jobs = [job for label in record["labels"][-1:] for job in label["jsonResponse"].values()]
    things = [one for job in jobs for one in job.get("annotations", ())]
    for one in things:
        if one.get("type") == "rectangle":
            points = one["boundingPoly"][0]["normalizedVertices"]
            across, down = ([point[axis] for point in points] for axis in "xy")
            one["_box"] = [min(across), min(down), max(across), max(down)]
    labels = [one["name"] for job in jobs for one in job.get("categories", ())]
    return record | {"_objects": things, "_labels": labels}


def _coco_text(record: Any, others: Mapping[str, Any]) -> Any:
    """Add the texts of an image, which are elsewhere in the file."""
    numbers = others.get("imgToAnns", {}).get(str(record["id"]), ())
    return record | {"_objects": [others["anns"][str(number)] for number in numbers]}


def _last(file: Watched, of: str, others: dict[str, Any]) -> Records:
    """Yield the records once all else in the file has been read."""
    return iter(list(of_json(file, of, others)))


def _changed(change: Callable[[Any], Any]) -> Reader:
    return Reader(of_json, lambda data: change(parse_json(data)))


READERS = {
    "": JSON,
    "azure": _changed(_by_value),
    "captions": Reader(_of_captions, _caption),
    "coco_text": Reader(_last, parse_json, _coco_text),
    "cvat": Reader(of_cvat, parse_cvat),
    "cvat_video": Reader(of_tracks, lambda _: {}, parse_frame),
    "datumaro": _changed(_datumaro),
    "fiftyone": _changed(_fiftyone),
    "kili": _changed(_kili),
    "open_images": open_images.LABELS,
    "open_images_facts": open_images.FACTS,
    "label_studio": _changed(_label_studio),
    "label_studio_min": _changed(_label_studio_min),
    "labelme": _changed(_labelme),
    "sagemaker": _changed(_sagemaker),
    "supervisely": _changed(_supervisely),
    "texts": _changed(lambda texts: {"texts": texts}),
    "via": _changed(_via),
    "wider": Reader(of_wider, parse_wider),
    "yolo_keras": Reader(of_lines, _yolo_keras),
}
