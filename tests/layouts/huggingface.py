"""Downloads from Hugging Face, and folders as its ImageFolder wants them; each row says whose."""

import io
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from PIL import Image

from layouts.row import Read, Row

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError:
    pa = None

CAT_AND_DOG = {"label": {"names": ["cat", "dog"], "_type": "ClassLabel"}}


def image(seed: int) -> bytes:
    """A small PNG."""
    data = io.BytesIO()
    Image.fromarray(np.full((8, 8, 3), 20 * seed, np.uint8)).save(data, "PNG")
    return data.getvalue()


def table(columns: Mapping[str, Any], features: Mapping[str, Any] = CAT_AND_DOG) -> "pa.Table":
    """A table of images with the library's schema."""
    told = {b"huggingface": json.dumps({"info": {"features": features}}).encode()}
    return pa.table(dict(columns)).replace_schema_metadata(told)


def rows(*labels: int, name: str = "label") -> "pa.Table":
    """Images with these labels."""
    images = [{"bytes": image(seed), "path": None} for seed, _ in enumerate(labels)]
    return table({"image": images, name: list(labels)}, {name: CAT_AND_DOG["label"]})


def parquet(content: "pa.Table") -> bytes:
    """A Parquet file."""
    data = io.BytesIO()
    pq.write_table(content, data)
    return data.getvalue()


def arrow(content: "pa.Table") -> bytes:
    """A stream of record batches."""
    data = io.BytesIO()
    with pa.ipc.new_stream(data, content.schema) as stream:
        stream.write_table(content, max_chunksize=1)
    return data.getvalue()


STATE = json.dumps({"_data_files": [{"filename": "data-00000-of-00001.arrow"}], "_split": None})
DOWNLOADED = "README.md .gitattributes .cache/huggingface/.gitignore .git/HEAD"
LITTER = frozenset({"README.md", ".gitattributes", ".cache", ".git"})
METADATA = (
    '{"file_name": "0001.png", "text": "A cat"}\n{"file_name": "0002.png", "text": "A dog"}\n'
)
OBJECTS = {"bbox": [[302.0, 109.0, 73.0, 52.0]], "categories": [0]}

ROWS = [
    # huggingface.co/docs/datasets/image_dataset: metadata.csv, .jsonl or .parquet
    Row(
        "ImageFolder with metadata.jsonl for each split",
        f"train/0001.png train/0002.png test/0003.png {DOWNLOADED}",
        Read(
            {"train/0001": None, "train/0002": None, "test/0003": None},
            {"train/0001": "train", "train/0002": "train", "test/0003": "test"},
            members=("json",),
            json={"train/0001": {"text": "A cat"}, "test/0003": {"text": "A fox"}},
            ignored=LITTER,
        ),
        contents={
            "train/metadata.jsonl": METADATA,
            "test/metadata.jsonl": '{"file_name": "0003.png", "text": "A fox"}\n',
        },
    ),
    Row(
        "ImageFolder with one metadata.csv at the root",
        "train/0001.png test/0003.png",
        Read(
            {"train/0001": "cat", "test/0003": "dog"},
            {"train/0001": "train", "test/0003": "test"},
        ),
        contents={"metadata.csv": "file_name,label\ntrain/0001.png,cat\ntest/0003.png,dog\n"},
    ),
    Row(
        "ImageFolder with objects",
        "train/0001.png train/0002.png",
        Read(
            {"train/0001": None, "train/0002": None},
            {"train/0001": "train", "train/0002": "train"},
            members=("json",),
            classes=("0",),
            json={"train/0001": {"boxes": OBJECTS["bbox"], "categories": [0]}},
        ),
        contents={
            "train/metadata.jsonl": json.dumps({"file_name": "0001.png", "objects": OBJECTS})
            + "\n"
            + json.dumps({"file_name": "0002.png", "objects": {"bbox": [], "categories": []}}),
        },
    ),
    Row(
        "ImageFolder with a second column of images",
        "train/0001.png train/masks/0001.gif",
        Read(
            {"train/0001": None},
            {"train/0001": "train"},
            members=("mask.gif",),
        ),
        contents={
            "train/metadata.csv": "file_name,mask_file_name\n0001.png,masks/0001.gif\n",
        },
    ),
    Row(
        "ImageFolder whose metadata lacks an image",
        "train/0001.png train/0002.png train/0003.png",
        Read(
            {"train/0001": None, "train/0002": None},
            {"train/0001": "train", "train/0002": "train"},
            members=("json",),
            rejected=frozenset({"train/0003.png"}),
        ),
        contents={"train/metadata.jsonl": METADATA},
    ),
    Row(
        "ImageFolder of classes with metadata that does not tell them",
        "train/cat/0001.png train/dog/0002.png",
        Read(
            {"train/cat/0001": "cat", "train/dog/0002": "dog"},
            {"train/cat/0001": "train", "train/dog/0002": "train"},
            ("json",),
            json={"train/cat/0001": {"text": "A"}, "train/dog/0002": {"text": "B"}},
        ),
        contents={
            "train/metadata.csv": "file_name,text\ncat/0001.png,A\ndog/0002.png,B\n",
        },
    ),
]

if pa:
    ROWS += [
        Row(
            "ImageFolder with metadata.parquet",
            "train/0001.png test/0002.png",
            Read(
                {"train/0001": "cat", "test/0002": "dog"},
                {"train/0001": "train", "test/0002": "test"},
            ),
            contents={
                "metadata.parquet": parquet(
                    table({"file_name": ["train/0001.png", "test/0002.png"], "label": [0, 1]})
                )
            },
        ),
        # huggingface.co/datasets/AI-Lab-Makerere/beans, by huggingface-cli download
        Row(
            "data/train-00000-of-00002.parquet",
            DOWNLOADED,
            Read(
                {
                    "data/train-00000-of-00002/00000000": "dog",
                    "data/train-00001-of-00002/00000000": "cat",
                    "data/test-00000-of-00001/00000000": "cat",
                    "data/test-00000-of-00001/00000001": "dog",
                },
                {
                    "data/train-00000-of-00002/00000000": "train",
                    "data/train-00001-of-00002/00000000": "train",
                    "data/test-00000-of-00001/00000000": "test",
                    "data/test-00000-of-00001/00000001": "test",
                },
                ignored=LITTER,
                what="Parquet, as Hugging Face",
            ),
            contents={
                "data/train-00000-of-00002.parquet": parquet(rows(1)),
                "data/train-00001-of-00002.parquet": parquet(rows(0)),
                "data/test-00000-of-00001.parquet": parquet(rows(0, 1)),
            },
        ),
        # huggingface.co/datasets/uoft-cs/cifar10: plain_text, and the column `img`
        Row(
            "plain_text/train-00000-of-00001.parquet",
            DOWNLOADED,
            Read(
                {
                    "plain_text/train-00000-of-00001/00000000": "dog",
                    "plain_text/test-00000-of-00001/00000000": "cat",
                },
                {
                    "plain_text/train-00000-of-00001/00000000": "train",
                    "plain_text/test-00000-of-00001/00000000": "test",
                },
                ignored=LITTER,
            ),
            contents={
                "plain_text/train-00000-of-00001.parquet": parquet(rows(1)),
                "plain_text/test-00000-of-00001.parquet": parquet(rows(0)),
            },
        ),
        # huggingface.co/docs/dataset-viewer/parquet: the branch refs/convert/parquet
        Row(
            "default/train/0000.parquet",
            "",
            Read(
                {
                    "default/train/0000/00000000": "dog",
                    "default/validation/0000/00000000": "cat",
                },
                {
                    "default/train/0000/00000000": "train",
                    "default/validation/0000/00000000": "validation",
                },
            ),
            contents={
                "default/train/0000.parquet": parquet(rows(1)),
                "default/validation/0000.parquet": parquet(rows(0)),
            },
        ),
        Row(
            "several configurations",
            DOWNLOADED,
            r"has several configurations: en, fr. Pack one of them, such as packer pack \S*/en DST",
            contents={
                "en/train-00000-of-00001.parquet": parquet(rows(1)),
                "fr/train-00000-of-00001.parquet": parquet(rows(0)),
            },
        ),
        Row(
            "pointers of git LFS",
            "",
            "git LFS has not downloaded what it points to; run git lfs pull",
            contents={
                "data/train-00000-of-00001.parquet": "version https://git-lfs.github.com/spec/v1"
            },
        ),
        Row(
            "one of the configurations",
            "",
            Read(
                {"partial-train/0000/00000000": "dog"},
                {"partial-train/0000/00000000": "train"},
                classes=("cat", "dog"),
            ),
            contents={
                "en/partial-train/0000.parquet": parquet(rows(1)),
                "fr/train/0000.parquet": parquet(rows(0)),
            },
            src="en",
        ),
        Row(
            "a split beside a file that is not named as one",
            "",
            "more.parquet does not have the name of a split",
            contents={"train.parquet": parquet(rows(1)), "more.parquet": parquet(rows(0))},
        ),
        # huggingface.co/datasets/uoft-cs/cifar100: fine_label and coarse_label
        Row(
            "two columns of labels",
            "",
            "several columns that could be the label: 'fine_label', 'coarse_label'",
            contents={
                "cifar100/train-00000-of-00001.parquet": parquet(
                    table(
                        {"img": [{"bytes": image(1), "path": None}]}
                        | {"fine_label": [1], "coarse_label": [0]},
                        {"fine_label": CAT_AND_DOG["label"], "coarse_label": CAT_AND_DOG["label"]},
                    )
                )
            },
        ),
        # huggingface.co/datasets/scene_parse_150: a mask beside the image
        Row(
            "a column of masks",
            "",
            Read(
                {"data/train-00000-of-00001/00000000": None},
                {"data/train-00000-of-00001/00000000": "train"},
                members=("annotation.png",),
            ),
            contents={
                "data/train-00000-of-00001.parquet": parquet(
                    table(
                        {"image": [{"bytes": image(1), "path": None}]}
                        | {"annotation": [{"bytes": image(2), "path": None}]},
                        {},
                    )
                )
            },
        ),
        # huggingface.co/datasets/rishitdagli/cppe-5: objects with a ClassLabel within
        Row(
            "objects with boxes",
            "",
            Read(
                {"data/train-00000-of-00001/00000000": None},
                {"data/train-00000-of-00001/00000000": "train"},
                members=("json",),
                json={
                    "data/train-00000-of-00001/00000000": {
                        "objects": {"bbox": [[302.0, 109.0, 73.0, 52.0]], "category": [4]}
                    }
                },
                classes=("Coverall", "Face_Shield"),
            ),
            contents={
                "data/train-00000-of-00001.parquet": parquet(
                    table(
                        {
                            "image": [{"bytes": image(1), "path": None}],
                            "objects": [{"bbox": [[302.0, 109.0, 73.0, 52.0]], "category": [4]}],
                        },
                        {
                            "objects": {
                                "feature": {
                                    "category": {
                                        "names": ["Coverall", "Face_Shield"],
                                        "_type": "ClassLabel",
                                    }
                                },
                                "_type": "Sequence",
                            }
                        },
                    )
                )
            },
        ),
        # huggingface.co/docs/datasets/process#save: DatasetDict.save_to_disk
        Row(
            "save_to_disk, with splits",
            "",
            Read(
                {
                    "train/data-00000-of-00001/00000000": "dog",
                    "train/data-00000-of-00001/00000001": "cat",
                    "test/data-00000-of-00001/00000000": "cat",
                },
                {
                    "train/data-00000-of-00001/00000000": "train",
                    "train/data-00000-of-00001/00000001": "train",
                    "test/data-00000-of-00001/00000000": "test",
                },
                ignored=frozenset(
                    {"dataset_dict.json", "train/dataset_info.json", "train/state.json"}
                    | {"test/dataset_info.json", "test/state.json"}
                ),
                what="Arrow, as Hugging Face",
            ),
            contents={
                "dataset_dict.json": '{"splits": ["train", "test"]}',
                "train/dataset_info.json": "{}",
                "train/state.json": STATE,
                "train/data-00000-of-00001.arrow": arrow(rows(1, 0)),
                "test/dataset_info.json": "{}",
                "test/state.json": STATE,
                "test/data-00000-of-00001.arrow": arrow(rows(0)),
            },
        ),
        Row(
            "save_to_disk of one dataset",
            "",
            Read(
                {"data-00000-of-00001/00000000": "dog"},
                classes=("cat", "dog"),
                ignored=frozenset({"dataset_info.json", "state.json"}),
            ),
            contents={
                "dataset_info.json": "{}",
                "state.json": STATE,
                "data-00000-of-00001.arrow": arrow(rows(1, name="labels")),
            },
        ),
    ]
