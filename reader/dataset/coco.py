"""COCO's annotations as torchvision's CocoDetection gives them."""

import json
from typing import Any

_OWN = ("image", "boxes", "categories", "captions")  # what `packer pack` adds, or names its own way


def coco_target(data: bytes) -> list[dict[str, Any]]:
    """The annotations of an image, as its annotation file has them, category ids included."""
    content = json.loads(data)
    if not isinstance(content, dict) or "image" not in content or "categories" not in content:
        raise ValueError("it has no objects of a COCO annotation file")
    columns = {name: values for name, values in content.items() if name not in _OWN}
    if "boxes" in content:
        columns["bbox"] = content["boxes"]
    count = len(content["categories"])
    if count and "category_id" not in columns:
        raise ValueError("it was packed without the ids of categories: pack it again")
    return [
        {
            "image_id": content["image"]["id"],
            **{name: values[at] for name, values in columns.items() if values[at] is not None},
        }
        for at in range(count)
    ]
