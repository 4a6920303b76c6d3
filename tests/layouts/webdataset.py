"""Folders of WebDataset tars, as the tools that write them leave them."""

import json

from layouts.archives import tar
from layouts.row import Read, Row


def shard(*keys: str, cls: str = "") -> bytes:
    """A tar with an image for each key, and its class, if there is one, or a caption."""
    files: dict[str, str | bytes] = {}
    for key in keys:
        files |= {f"{key}.jpg": "", f"{key}.cls" if cls else f"{key}.txt": cls or "a caption"}
    return tar(files)


ROWS = [
    # github.com/rom1504/img2dataset: output format webdataset
    Row(
        "img2dataset",
        "00000.parquet 00000_stats.json 00001.parquet 00001_stats.json",
        Read(
            {"000000000": None, "000010000": None},
            members=("txt",),
            ignored=frozenset(
                f"0000{n}{end}" for n in (0, 1) for end in (".parquet", "_stats.json")
            ),
            what="WebDataset",
        ),
        contents={"00000.tar": shard("000000000"), "00001.tar": shard("000010000")},
    ),
    # huggingface.co/datasets/timm/imagenet-1k-wds
    Row(
        "timm",
        "README.md .gitattributes",
        Read(
            {"a": "0", "b": "1"},
            {"a": "train", "b": "validation"},
            ignored=frozenset({"README.md", ".gitattributes", "_info.json"}),
        ),
        contents={
            "imagenet1k-train-0000.tar": shard("a", cls="0"),
            "imagenet1k-validation-00.tar": shard("b", cls="1"),
            "_info.json": json.dumps({"splits": {"train": {"num_samples": 1}}}),
        },
    ),
    Row(
        "timm, with the names of each split's tars",
        "",
        Read({"a": "0", "b": "1"}, {"a": "train", "b": "test"}, ignored=frozenset({"_info.json"})),
        contents={
            "part-000.tar": shard("a", cls="0"),
            "part-001.tar": shard("b", cls="1"),
            "_info.json": json.dumps(
                {
                    "splits": {
                        "train": {"filenames": ["part-000.tar"]},
                        "test": {"filenames": ["part-001.tar"]},
                    }
                }
            ),
        },
    ),
    # nvidia.github.io/Megatron-Energon/data_on_disk.html
    Row(
        "Energon",
        ".nv-meta/dataset.yaml .nv-meta/.info.json .nv-meta/index.sqlite shards/shard_000.tar.idx",
        Read(
            {"a": None, "b": None, "c": None},
            {"a": "train", "b": "train", "c": "val"},
            members=("txt",),
            ignored=frozenset({"shard_000.tar.idx", "../.nv-meta"}),
        ),
        contents={
            "shards/shard_000.tar": shard("a"),
            "shards/shard_001.tar": shard("b"),
            "shards/shard_002.tar": shard("c"),
            ".nv-meta/split.yaml": "exclude: []\nsplit_parts:\n  train:\n"
            "  - shards/shard_{000..001}.tar\n  val:\n  - shards/shard_002.tar\n  test: []\n",
        },
    ),
    Row(
        "Energon, whose list lacks a tar",
        ".nv-meta/dataset.yaml",
        "lacks shard_001.tar",
        contents={
            "shard_000.tar": shard("a"),
            "shard_001.tar": shard("b"),
            ".nv-meta/split.yaml": "split_parts:\n  train:\n  - shard_000.tar\n",
        },
    ),
    # webdataset.github.io/webdataset: imagenet-train-000000.tar beside imagenet-val-000000.tar
    Row(
        "series of tars for each split",
        "",
        Read(
            {"a": "0", "b": "0", "c": "1"},
            {"a": "train", "b": "train", "c": "val"},
        ),
        contents={
            "imagenet-train-000000.tar": shard("a", cls="0"),
            "imagenet-train-000001.tar": shard("b", cls="0"),
            "imagenet-val-000000.tar": shard("c", cls="1"),
        },
    ),
    Row(
        "folders of tars for each split",
        "",
        Read(
            {"train/a": "dog", "val/b": "cat", "val/c": "dog"},
            {"train/a": "train", "val/b": "val", "val/c": "val"},
        ),
        contents={
            "train/000.tar": shard("a", cls="dog"),
            "val/000.tar": tar({"b.jpg": "", "b.cls": "cat", "c.jpg": "", "c.cls": "dog"}),
        },
    ),
    # python -m tarfile and macOS's tar: ._x beside x, .DS_Store, __MACOSX
    Row(
        "a tar with the litter of macOS, and class names",
        "",
        Read(
            {"a": "dog", "b": "cat"},
            ignored=frozenset({"x.tar/._a.jpg", "x.tar/.DS_Store", "x.tar/__MACOSX/._b.jpg"}),
        ),
        contents={
            "x.tar": tar(
                {"._a.jpg": "x", "a.jpg": "", "a.cls": "dog\n", ".DS_Store": "x"}
                | {"__MACOSX/._b.jpg": "x", "b.jpg": "", "b.cls": "cat\n"}
            )
        },
        src="x.tar",
    ),
    # nvidia.com NeMo Curator, DALI's wds2idx
    Row(
        "tars with DALI's indexes",
        "a-000.idx a-001.idx",
        Read({"a": "7", "b": "7"}, ignored=frozenset({"a-000.idx", "a-001.idx"})),
        contents={"a-000.tar": shard("a", cls="7"), "a-001.tar": shard("b", cls="7")},
    ),
    Row(
        "tars beside arrays",
        "labels.npy",
        Read({"a": "0"}, rejected=frozenset({"labels.npy"})),
        contents={"a-000.tar": shard("a", cls="0")},
    ),
    # github.com/webdataset/webdataset: keys end at the first dot, which writers do not always heed
    Row(
        "keys with dots, which end at the last one",
        "",
        Read(
            {"www%2Eexample%2Eorg_0": "0", "www%2Eexample%2Eorg_1": "0"},
            {"www%2Eexample%2Eorg_0": "train", "www%2Eexample%2Eorg_1": "train"},
        ),
        contents={"train-000.tar": shard("www.example.org_0", "www.example.org_1", cls="0")},
    ),
    Row(
        "two images for each key, which ends at the first dot",
        "",
        Read({"a": None, "b": None}, members=("right.jpg", "txt")),
        contents={
            "a-000.tar": tar(
                {"a.left.jpg": "", "a.right.jpg": "", "a.txt": "a"}
                | {"b.left.jpg": "", "b.right.jpg": "", "b.txt": "b"}
            )
        },
    ),
    Row(
        "keys with dots, one of them without an image",
        "",
        "keys have dots",
        contents={
            "a-000.tar": tar({"a.0.jpg": "", "a.0.txt": "a", "a.1.txt": "a", "a.2.jpg": ""}),
        },
    ),
]
