"""The forms that are known, and what some records need before their paths lead anywhere."""

import csv
import re
from dataclasses import replace
from typing import Any

from packer.files.snapshot import Watched
from packer.layouts.exports.form import Form
from packer.layouts.exports.records import (
    Records,
    of_cvat,
    of_lines,
    of_wider,
    parse_cvat,
    parse_wider,
)
from packer.trees.walk import is_named_as_image

_LINES = (".jsonl", ".ndjson", ".manifest", ".json")
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


def _by_value(record: Any) -> Any:
    """Name a class, classes, or objects by what they are."""
    value = record.pop("label")
    if isinstance(value, list) and all(isinstance(one, dict) for one in value):
        return record | {"_objects": value}
    return record | {"_labels": value if isinstance(value, list) else [value]}


def _datumaro(record: Any) -> Any:
    parts = record["annotations"]
    labels = [one["label_id"] for one in parts if one.get("type") == "label"]
    return record | {
        "annotations": [one for one in parts if one.get("type") != "label"],
        "_labels": labels,
    }


def _of_fiftyone(value: Any) -> Any:
    return {} if value is None else _by_value({"label": value})


def _sagemaker(record: Any) -> Any:
    """Find the attribute of a labelling job by its metadata."""
    jobs = [name.removesuffix("-metadata") for name in record if name.endswith("-metadata")]
    for job in jobs:
        told, value = record[f"{job}-metadata"], record.get(job)
        names = told.get("class-map", {})
        if isinstance(value, dict) and "annotations" in value:
            things = [
                one | {"_label": names[str(one["class_id"])]} for one in value.pop("annotations")
            ]
            scores = told.get("objects", ())
            for thing, score in zip(things, scores, strict=False):
                thing.update({name: one for name, one in score.items() if name not in thing})
            return record | {"_objects": things}
        if "class-name" in told:
            return record | {"_labels": [told["class-name"]]}
        if isinstance(value, list) and names:
            return record | {"_labels": [names[str(one)] for one in value]}
    raise ValueError("no attribute of a job with classes or boxes")


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


_YOLO_LINE = re.compile(r"(.+?\.\w+)((?: -?[\d.]+(?:,-?[\d.]+){4})*)\s*")


def _yolo_keras(data: bytes) -> Any:
    match = _YOLO_LINE.fullmatch(data.decode("utf-8-sig").strip())
    if not match:
        raise ValueError("no name with x,y,x,y,class")
    rows = [list(map(float, box.split(","))) for box in match[2].split()]
    return {"image": match[1], "objects": [{"box": row[:4], "class": int(row[4])} for row in rows]}


_CAPTION = re.compile(r"(.+?)(?:#\d+\t|\| *\d+ *\| ?)(.*)")
_HEADS = (b"image_name|", b"image,caption")


def _captions(file: Watched, of: str, others: dict[str, Any]) -> Records:
    lines = of_lines(file, of, others)
    return (line for line in lines if line[1] or not line[2].startswith(_HEADS))


def _caption(data: bytes) -> Any:
    text = data.decode("utf-8-sig").strip()
    if match := _CAPTION.fullmatch(text):
        return {"image": match[1].strip(), "caption": match[2]}
    image, caption = next(csv.reader([text]))
    return {"image": image, "caption": caption}


_KILI = Form(
    "an export of Kili",
    r"^\s*\[[^\0]*\"externalId\"[^\0]*\"jsonResponse\"",
    "content | externalId",
    "_objects.*",
    "categories.0.name",
    "_box",
    "xyxy",
    1,
    labels="_labels.*",
    prepare=_kili,
)


FORMS = (
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
        "Create ML's annotations",
        "annotations label coordinates image",
        "image",
        "annotations.*",
        "label",
        "coordinates: x y width height",
        "cxcywh",
    ),
    Form(
        "Create ML's annotations",
        "annotation label coordinates imagefilename",
        "imagefilename",
        "annotation.*",
        "label",
        "coordinates: x y width height",
        "cxcywh",
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
        "annotations of Datumaro",
        "items categories",
        "image.path | id",
        "annotations.*",
        "label_id",
        "bbox",
        names="categories.label.labels.*.name",
        labels="_labels.*",
        of="items",
        prepare=_datumaro,
    ),
    Form(
        "labels of FiftyOne",
        r"^\s*\{\s*\"classes\"\s*:[^{}]*\"labels\"\s*:\s*\{",
        "@key",
        "_objects.*",
        "label",
        "bounding_box",
        scale=1,
        labels="_labels.*",
        names="classes.*",
        of="labels",
        prepare=_of_fiftyone,
    ),
    Form(
        "a dataset of FiftyOne",
        "samples filepath _media_type",
        "filepath",
        "*.detections.*",
        "label",
        "bounding_box",
        scale=1,
        labels="*.label | *.classifications.*.label",
        of="samples",
    ),
    Form(
        "a manifest of SageMaker Ground Truth",
        "source-ref",
        "source-ref",
        "_objects.*",
        "_label",
        f": {_CORNERS}",
        labels="_labels.*",
        suffixes=_LINES[:3],
        prepare=_sagemaker,
    ),
    Form(
        "annotations for Vertex AI",
        "imageGcsUri",
        "imageGcsUri",
        "boundingBoxAnnotations.*",
        "displayName",
        ": xMin yMin xMax yMax",
        "xyxy",
        1,
        labels="classificationAnnotation.displayName | classificationAnnotations.*.displayName",
        split="dataItemResourceLabels.*",
        suffixes=_LINES[:3],
    ),
    Form(
        "annotations for Azure's AutoML",
        "image_url label",
        "image_url",
        "_objects.*",
        "label",
        ": topX topY bottomX bottomY",
        "xyxy",
        1,
        labels="_labels.*",
        suffixes=_LINES[:3],
        prepare=_by_value,
    ),
    Form(
        "an export of Labelbox",
        "data_row media_attributes projects",
        "data_row.external_id | data_row.row_data",
        "projects.*.labels.*.annotations.objects.*",
        "name",
        f"bounding_box: {_CORNERS}",
        labels="projects.*.labels.*.annotations.classifications.*.radio_answer.name",
        split="data_row.details.data_split",
        suffixes=_LINES,
    ),
    Form(
        "annotations of BDD100K",
        "name labels category box2d",
        "name",
        "labels.*",
        "category",
        "box2d: x1 y1 x2 y2",
        "xyxy",
    ),
    Form(
        "annotations of BDD100K, a file for each image",
        "name frames objects category",
        "name",
        "frames.*.objects.*",
        "category",
        "box2d: x1 y1 x2 y2",
        "xyxy",
        of="file",
    ),
    Form(
        "annotations of CrowdHuman",
        "ID gtboxes tag fbox",
        "ID",
        "gtboxes.*",
        "tag",
        "fbox",
        suffixes=(".odgt",),
    ),
    Form(
        "tasks of Scale",
        "task_id params attachment response",
        "params.attachment",
        "response.annotations.*",
        "label",
        f": {_CORNERS}",
    ),
    Form(
        "an export of Hasty",
        "export_format_version images image_name labels class_name",
        "image_name",
        "labels.*",
        "class_name",
        "bbox",
        "xyxy",
        split="dataset_name",
        of="images",
    ),
    Form(
        "labels of Encord",
        "label_hash data_title data_units",
        "data_title",
        "data_units.*.labels.objects.*",
        "name",
        "boundingBox: x y w h",
        scale=1,
    ),
    _KILI,
    replace(_KILI, needs='^\\s*\\{[^{]*"externalId"[^\\0]*"jsonResponse"', of="file"),
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
        "annotations of V7 (Darwin)",
        "version item annotations slots",
        "item.name",
        "annotations.*",
        "name",
        "bounding_box: x y w h",
        of="file",
    ),
    Form(
        "conversations, as LLaVA has them",
        "image conversations",
        "image",
        several="records",
    ),
    Form(
        "faces of WIDER FACE",
        r"^[^\n]+\.\w+\r?\n\d+\r?\n-?\d+( -?\d+){9} *\r?\n",
        "image",
        "faces.*",
        box=": x y w h",
        suffixes=(".txt",),
        split_up=of_wider,
        parse=parse_wider,
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
    Form(
        "captions of Flickr8k or Flickr30k",
        r"^(image_name\|[^\n]*\n[^\n|]+\| *\d+ *\||[^\n\t]+\.\w+#\d+\t)",
        "image",
        several="caption",
        gather="caption",
        suffixes=(".txt", ".token", ".csv"),
        split_up=_captions,
        parse=_caption,
    ),
    Form(
        "captions of Flickr8k, as Kaggle has them",
        r"^image,caption\r?\n",
        "image",
        several="caption",
        gather="caption",
        suffixes=(".txt",),
        split_up=_captions,
        parse=_caption,
    ),
    Form(
        "captions with splits, by Karpathy",
        "images sentids sentences filename",
        "filename",
        of="images",
        several="caption",
        gather="sentences.*.raw",
        split="split",
    ),
    Form(
        "captions or questions of TextVQA",
        "dataset_name data image_id set_name",
        "image_id",
        of="data",
        several="records",
        split="set_name",
    ),
    Form(
        "prompts of DiffusionDB",
        "p se c st sa",
        "@key",
        of="*",
    ),
    Form(
        "text in images, as ICDAR's ArT and LSVT have it",
        "transcription points illegibility",
        "@key",
        "texts.*",
        of="*",
        prepare=lambda texts: {"texts": texts},
    ),
    Form(
        "forms of FUNSD",
        "form box text label linking",
        "@stem",
        "form.*",
        "label",
        "box",
        "xyxy",
        of="file",
    ),
)
