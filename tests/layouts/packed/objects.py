"""Several objects of an image, as one row or label file holds them."""

from typing import Any

from layouts.images import SIDE
from layouts.row import Layout
from layouts.scenes import CLASSES, STREET, dumps, images, lines, per, seen, split_of

LAYOUTS: list[Layout] = []
_HF = "https://huggingface.co/docs/datasets/image_dataset#object-detection"
_YOLO = "https://docs.ultralytics.com/datasets/"
_STUDIO = "https://labelstud.io/guide/task_format"


def _add(name: str, source: str, files: Any, truth: Any, **more: Any) -> None:
    LAYOUTS.append(Layout(name, source, files, truth, **more))


def _objects(name: str) -> dict[str, Any]:
    things = STREET[name]
    return {
        "bbox": [[one.x, one.y, one.w, one.h] for one in things],
        "categories": [one.number for one in things],
        "area": [one.w * one.h for one in things],
    }


def _seen(name: str, split: str = "", *further: str) -> Any:
    found = seen(name, split)
    texts = [text for text in found.holds if text not in CLASSES]  # numbers stand for them
    return found._replace(holds=(*texts, *further))


_add(
    "hugging face: objects of a street, with their areas",
    _HF,
    {f"{split_of(n)}/{n}.jpg": "" for n in STREET}
    | {
        f"{split}/metadata.jsonl": lines(
            {"file_name": f"{n}.jpg", "caption": f"about {n}", "objects": _objects(n)}
            for n in STREET
            if split_of(n) == split
        )
        for split in ("train", "val")
    },
    {f"{split_of(n)}/{n}.jpg": _seen(n, split_of(n), f"about {n}") for n in STREET},
)
_add(
    "csv: all boxes of an image in a cell, their classes in another",
    "https://www.kaggle.com/datasets",
    images("images/")
    | {
        "boxes.csv": "image,boxes\n" + "".join(f'{n}.jpg,"{_objects(n)["bbox"]}"\n' for n in STREET)
    },
    {f"images/{n}.jpg": _seen(n) for n in STREET},
)


def _pose(name: str) -> str:
    found = ""
    for one in STREET[name]:
        x, y = per(one.x + one.w / 2), per(one.y + one.h / 2)
        points = f"{x} {y} 2 {per(one.x)} {per(one.y)} 1"
        found += f"{one.number} {x} {y} {per(one.w)} {per(one.h)} {points}\n"
    return found


_add(
    "ultralytics: poses without a data.yaml",
    _YOLO + "pose/",
    {f"images/{split_of(n)}/{n}.jpg": "" for n in STREET}
    | {f"labels/{split_of(n)}/{n}.txt": _pose(n) for n in STREET},
    {f"images/{split_of(n)}/{n}.jpg": _seen(n, split_of(n)) for n in STREET},
)


def _tile(name: str) -> str:
    """An oriented box for each object, one of which reaches to the left of the tile."""
    found = ""
    for one in STREET[name]:
        left, top, right, bottom = map(per, (one.x - SIDE / 3, one.y, one.right, one.bottom))
        found += f"{one.number} {left} {top} {right} {top} {right} {bottom} {left} {bottom}\n"
    return found


_add(
    "ultralytics: tiles of DOTA, whose objects reach outside",
    _YOLO + "obb/dota-v2/#split-dota-images",
    {f"images/{split_of(n)}/{n}__16__0___0.jpg": "" for n in STREET}
    | {f"labels/{split_of(n)}/{n}__16__0___0.txt": _tile(n) for n in STREET}
    | {
        "dota.yaml": "train: images/train\nval: images/val\nnames:\n"
        + "".join(f"  {number}: {name}\n" for number, name in enumerate(CLASSES))
    },
    {
        f"images/{split_of(n)}/{n}__16__0___0.jpg": _seen(n, split_of(n))._replace(
            holds=tuple(str(per(one.bottom)) for one in STREET[n])
        )
        for n in STREET
    },
)


def _task(name: str, number: int) -> dict[str, Any]:
    result: list[dict[str, Any]] = []
    for at, one in enumerate(STREET[name]):
        place = {"x": one.x, "y": one.y, "width": one.w, "height": one.h}
        place = {key: per(value) * 100 for key, value in place.items()}
        region = {"id": f"r{at}", "to_name": "image"}
        label = {"from_name": "label", "type": "rectanglelabels"}
        result.append({**region, **label, "value": place | {"rectanglelabels": [one.name]}})
        hidden = {"from_name": "hidden", "type": "choices"}
        result.append({**region, **hidden, "value": place | {"choices": [f"hidden {at}"]}})
    weather = {"id": "w", "from_name": "weather", "to_name": "image", "type": "choices"}
    result.append({**weather, "value": {"choices": ["rain"]}})
    annotation = {"id": number + 50, "result": result}
    return {
        "id": number,
        "data": {"image": f"/data/upload/{name}.jpg"},
        "annotations": [annotation],
    }


_add(
    "label studio: boxes with a choice for each, and one for the image",
    _STUDIO,
    images("images/")
    | {"export.json": dumps([_task(name, number) for number, name in enumerate(STREET)])},
    {f"images/{n}.jpg": seen(n, "", "rain", "hidden 0") for n in STREET},
)
