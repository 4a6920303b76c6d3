"""What benchmarks and datasets of images and texts have, each in a form of its own."""

import csv
import re
from typing import Any

from packer.files.snapshot import Watched
from packer.layouts.exports.form import Form
from packer.layouts.exports.records import (
    Records,
    of_lines,
    of_wider,
    parse_wider,
)

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


BENCHMARKS = (
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
