"""What exporters of PyPI wrote for the streets and pets of `layouts.scenes`.

exports.json has the files of each, but for the images. `source` names the tool and its version.
"""

import json
from base64 import b64decode
from pathlib import Path, PurePosixPath
from zlib import decompress

from layouts.row import Layout, Truth
from layouts.scenes import PETS, STREET, split_of
from layouts.words import box, labelled, plain

_MASKS = {
    "datumaro: masks, camvid": "{split}annot/{name}.png",
    "datumaro: masks, cityscapes": "gtFine/{split}/{name}_gtFine_labelIds.png",
    "datumaro: masks, coco_panoptic": "annotations/panoptic_{split}/{name}.png",
    "datumaro: masks, kitti_segmentation": "{split}/semantic/{name}.png",
    "datumaro: masks, voc_segmentation": "SegmentationClass/{name}.png",
}
# The keys of what img2dataset fetched, in the order of its list.
_FETCHED = [*(f"00000/{number:06}" for number in range(5)), "00001/000010", "00001/000011"]
_FETCHED.append("00001/000012")
_WITHOUT_SPLITS = ("datumaro: boxes, mot_seq_gt", "datumaro: classes, imagenet")


def _truth(layout: str, path: str) -> Truth:
    name = PurePosixPath(path).stem.removesuffix("_leftImg8bit")
    if name.isdigit():  # a frame
        name = list(STREET)[int(name) - 1]
    has_splits = layout.startswith("datumaro") and layout not in _WITHOUT_SPLITS
    split = split_of(name) if has_splits else ""
    if name in PETS:
        return labelled(PETS[name], split=split)
    if layout in _MASKS:
        return plain(split, files=(_MASKS[layout].format(split=split, name=name),))
    things = STREET[name]
    first = int(layout == "supervision: voc")  # VOC's first pixel is 1, and its boxes are kept so
    boxes = [box(one.x + first, one.y + first, one.w - first, one.h - first) for one in things]
    if layout == "globox: yolov5":  # it writes no names
        return plain(split, *boxes)
    if "mot" in layout:
        return plain(split, *boxes, *(f"{one.x}.0" for one in things))
    return plain(split, *(one.name for one in things), *boxes)


def _layouts() -> list[Layout]:
    written = json.loads(Path(__file__).with_name("exports.json").read_text("utf-8"))
    found = []
    for name, export in written.items():
        files = {
            path: content if isinstance(content, str) else decompress(b64decode(content["zlib"]))
            for path, content in export["files"].items()
        }
        if name.startswith("img2dataset"):
            truth = {
                f"{key if 'files' in name else key[6:]}.jpg": plain(
                    "", f"a street seen {number} times at noon"
                )
                for number, key in enumerate(_FETCHED, 1)
            }
            found.append(Layout(name, f"https://pypi.org: {export['source']}", files, truth))
            continue
        pictures = [path for path in files if path.endswith(".jpg")]
        truth = {path: _truth(name, path) for path in pictures}
        found.append(Layout(name, f"https://pypi.org: {export['source']}", files, truth))
    return found


LAYOUTS = _layouts()
