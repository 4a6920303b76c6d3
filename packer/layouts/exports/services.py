"""What services and libraries write, and what some records need before paths lead anywhere."""

from dataclasses import replace
from typing import Any

from packer.layouts.exports.form import Form
from packer.trees.walk import JSON_LINES

_LINES = (*JSON_LINES, ".manifest", ".json")
_CORNERS = "left top width height"


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


SERVICES = (
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
        "annotations of V7 (Darwin)",
        "version item annotations slots",
        "item.name",
        "annotations.*",
        "name",
        "bounding_box: x y w h",
        of="file",
    ),
)
