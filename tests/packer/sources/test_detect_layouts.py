"""Layouts as publishers and tools lay them out, each in miniature, and what becomes of each.

A row is its name, its files, what it must be read as (`Read`, or the words of a refusal),
and options.
Where a layout is published, its row says where.
"""

import json
import random
import re
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from packer.errors import UnusableInput
from packer.sources.options import SourceOptions
from reader.format import Manifest, manifest

Write = Callable[..., Path]


class Read(NamedTuple):
    """What a layout must be read as.

    Attributes:
        labels: class of each sample by its key, None for none.
        splits: of each sample by its key; empty: none has one.
        members: of every sample.
        ignored: files and folders that are named and ignored.
    """

    labels: Mapping[str, str | None]
    splits: Mapping[str, str] = {}
    members: tuple[str, ...] = ()
    ignored: frozenset[str] = frozenset()


class Row(NamedTuple):
    name: str
    files: str
    expected: Read | str
    options: Mapping[str, Any] = {}


def in_splits(labels: Mapping[str, str | None], **splits: str) -> Read:
    """Samples whose split is told by the folder that their key begins with."""
    return Read(labels, {key: splits[key.split("/")[0]] for key in labels})


ROWS = [
    # torchvision.datasets.ImageFolder: root/class/xxx.ext
    Row("class folders", "cat/1.jpg dog/2.jpg", Read({"cat/1": "cat", "dog/2": "dog"})),
    Row("images alone", "1.jpg 2.jpg", Read({"1": None, "2": None})),
    Row(
        "images in a folder of that name", "images/1.jpg images/2.jpg", Read({"1": None, "2": None})
    ),
    Row(
        "splits of ImageNet",
        "train/n01/1.jpg train/n02/2.jpg val/n01/3.jpg test/4.jpg",
        in_splits(
            {"train/n01/1": "n01", "train/n02/2": "n02", "val/n01/3": "n01", "test/4": None},
            train="train",
            val="val",
            test="test",
        ),
    ),
    # kaggle.com/datasets/masoudnickparvar/brain-tumor-mri-dataset
    Row(
        "Training and Testing",
        "Training/glioma/1.jpg Training/pituitary/2.jpg Testing/glioma/3.jpg",
        in_splits(
            {"Training/glioma/1": "glioma", "Training/pituitary/2": "pituitary"}
            | {"Testing/glioma/3": "glioma"},
            Training="train",
            Testing="test",
        ),
    ),
    Row(
        "Train and Test",
        "Train/a/1.jpg Train/b/2.jpg Test/a/3.jpg",
        in_splits(
            {"Train/a/1": "a", "Train/b/2": "b", "Test/a/3": "a"}, Train="train", Test="test"
        ),
    ),
    Row(
        "train, dev and test",
        "train/a/1.jpg dev/a/2.jpg test/b/3.jpg",
        in_splits(
            {"train/a/1": "a", "dev/a/2": "a", "test/b/3": "b"},
            train="train",
            dev="dev",
            test="test",
        ),
    ),
    Row(
        "valid and testing",
        "training/a/1.jpg valid/a/2.jpg testing/b/3.jpg",
        in_splits(
            {"training/a/1": "a", "valid/a/2": "a", "testing/b/3": "b"},
            training="train",
            valid="valid",
            testing="test",
        ),
    ),
    # kaggle.com/datasets/puneet6060/intel-image-classification
    Row(
        "seg_train in seg_train",
        "seg_train/seg_train/sea/1.jpg seg_train/seg_train/forest/2.jpg "
        "seg_test/seg_test/sea/3.jpg seg_pred/seg_pred/4.jpg",
        in_splits(
            {"seg_train/seg_train/sea/1": "sea", "seg_train/seg_train/forest/2": "forest"}
            | {"seg_test/seg_test/sea/3": "sea", "seg_pred/seg_pred/4": None},
            seg_train="train",
            seg_test="test",
            seg_pred="pred",
        ),
    ),
    # kaggle.com/c/dogs-vs-cats, unzipped
    Row(
        "train in train, images alone",
        "train/train/cat.0.jpg train/train/dog.0.jpg test1/test1/1.jpg",
        in_splits(
            {"train/train/cat%2E0": None, "train/train/dog%2E0": None, "test1/test1/1": None},
            train="train",
            test1="test",
        ),
    ),
    Row(
        "one more folder beside splits",
        "train/a/1.jpg val/a/2.jpg extra_data/a/3.jpg",
        "train, val are named as splits are, and extra_data is not.*--as folder",
    ),
    Row(
        "the same as classes",
        "train/1.jpg val/2.jpg extra_data/3.jpg",
        Read({"extra_data/3": "extra_data", "train/1": "train", "val/2": "val"}),
        {"kind": "folder"},
    ),
    Row(
        "one more folder beside splits, without images",
        "train/a/1.jpg val/a/2.jpg weights/best.bin",
        Read(
            {"train/a/1": "a", "val/a/2": "a"},
            {"train/a/1": "train", "val/a/2": "val"},
            ignored=frozenset({"weights/best.bin"}),
        ),
    ),
    Row("a train among cars", "train/1.jpg bus/2.jpg", Read({"train/1": "train", "bus/2": "bus"})),
    Row("two folders of one split", "train/a/1.jpg Training/a/2.jpg", "splits of the same name"),
    Row(
        "splits below the classes",
        "bottle/train/1.jpg bottle/test/2.jpg cable/train/3.jpg cable/test/4.jpg",
        "bottle has the splits test, train in it",
    ),
    # github.com/phelber/EuroSAT
    Row(
        "a folder in a folder",
        "eurosat/2750/Forest/1.jpg eurosat/2750/River/2.jpg",
        Read({"Forest/1": "Forest", "River/2": "River"}),
    ),
    Row(
        "data/train",
        "data/train/a/1.jpg data/train/b/2.jpg data/val/a/3.jpg data/README.md LICENSE",
        Read(
            {"train/a/1": "a", "train/b/2": "b", "val/a/3": "a"},
            {"train/a/1": "train", "train/b/2": "train", "val/a/3": "val"},
            ignored=frozenset({"README.md", "../LICENSE"}),
        ),
    ),
    # data.vision.ee.ethz.ch/cvl/datasets_extra/food-101
    Row(
        "Food-101",
        "images/apple_pie/1.jpg images/waffles/2.jpg meta/classes.txt README.txt",
        Read(
            {"apple_pie/1": "apple_pie", "waffles/2": "waffles"},
            ignored=frozenset({"../meta/classes.txt", "../README.txt"}),
        ),
    ),
    # cs231n.stanford.edu/tiny-imagenet-200.zip
    Row(
        "Tiny-ImageNet",
        "tiny/train/n01/images/1.JPEG tiny/train/n01/n01_boxes.txt tiny/train/n02/images/2.JPEG "
        "tiny/test/images/3.JPEG tiny/wnids.txt",
        Read(
            {"train/n01/images/1": "n01", "train/n02/images/2": "n02", "test/images/3": None},
            {"train/n01/images/1": "train", "train/n02/images/2": "train", "test/images/3": "test"},
            ignored=frozenset({"train/n01/n01_boxes.txt", "wnids.txt"}),
        ),
    ),
    # vision.princeton.edu/projects/2010/SUN
    Row(
        "SUN397",
        "a/abbey/1.jpg a/airfield/2.jpg b/bar/indoor/3.jpg b/bar/outdoor/4.jpg",
        "a has no image of its own but the folders abbey, airfield.*--class-depth all",
    ),
    Row(
        "SUN397, each folder a class",
        "a/abbey/1.jpg a/airfield/2.jpg b/bar/indoor/3.jpg b/bar/outdoor/4.jpg",
        Read(
            {"a/abbey/1": "a/abbey", "a/airfield/2": "a/airfield"}
            | {"b/bar/indoor/3": "b/bar/indoor", "b/bar/outdoor/4": "b/bar/outdoor"}
        ),
        {"class_depth": -1},
    ),
    # github.com/brendenlake/omniglot: images_background/ALPHABET/CHARACTER
    Row(
        "Omniglot",
        "images_background/Greek/character01/1.png images_background/Greek/character02/2.png "
        "images_background/Latin/character01/3.png images_background/Latin/character02/4.png",
        "Greek has no image of its own",
    ),
    Row(
        "Omniglot, two levels",
        "images_background/Greek/character01/1.png images_background/Latin/character01/3.png",
        Read(
            {"Greek/character01/1": "Greek/character01", "Latin/character01/3": "Latin/character01"}
        ),
        {"class_depth": 2},
    ),
    Row(
        "Places365, two levels in splits",
        "train/a/airfield/1.jpg train/b/bar/2.jpg val/a/airfield/3.jpg",
        in_splits(
            {"train/a/airfield/1": "a/airfield", "train/b/bar/2": "b/bar"}
            | {"val/a/airfield/3": "a/airfield"},
            train="train",
            val="val",
        ),
        {"class_depth": 2},
    ),
    Row(
        "folders of frames, one class",
        "run/v1/1.jpg run/v2/2.jpg jump/v3/3.jpg jump/v4/4.jpg",
        Read({"run/v1/1": "run", "run/v2/2": "run", "jump/v3/3": "jump", "jump/v4/4": "jump"}),
        {"class_depth": 1},
    ),
    Row(
        "folders that mean nothing",
        "one/1.jpg two/2.jpg",
        Read({"one/1": None, "two/2": None}),
        {"kind": "flat"},
    ),
    Row(
        "images and masks",
        "images/1.jpg images/2.jpg masks/1.png masks/2.png",
        Read({"1": None, "2": None}, members=("mask.png",)),
    ),
    Row(
        "images and some masks",
        "images/1.jpg images/2.jpg masks/1.png",
        r"masks is named as masks are.*packer pack \S*/images DST --pair mask=\S*/masks",
    ),
    Row(
        "images and masks in splits",
        "images/train/1.jpg images/val/2.jpg masks/train/1.png masks/val/2.png",
        Read(
            {"train/1": None, "val/2": None},
            {"train/1": "train", "val/2": "val"},
            members=("mask.png",),
        ),
    ),
    Row(
        "splits with masks", "train/images/1.jpg train/masks/1.png", "train/masks is named as masks"
    ),
    # kaggle.com/c/carvana-image-masking-challenge
    Row(
        "Carvana", "train/1.jpg train_masks/1_mask.gif test/2.jpg", "train_masks is named as masks"
    ),
    # github.com/mcordts/cityscapesScripts
    Row(
        "Cityscapes",
        "leftImg8bit/train/aachen/1_leftImg8bit.png gtFine/train/aachen/1_gtFine_labelIds.png",
        r"gtFine is named as masks are.*packer pack \S*/leftImg8bit DST",
    ),
    # mvtec.com/company/research/datasets/mvtec-ad
    Row(
        "MVTec AD",
        "bottle/train/good/1.png bottle/test/broken/2.png bottle/ground_truth/broken/2_mask.png",
        "ground_truth is named as masks are",
    ),
    # robots.ox.ac.uk/~vgg/data/pets
    Row(
        "Oxford Pet",
        "images/a_1.jpg images/b_2.jpg annotations/trimaps/a_1.png annotations/trimaps/b_2.png "
        "annotations/trimaps/._a_1.png annotations/list.txt",
        Read(
            {"a_1": None, "b_2": None},
            members=("mask.png",),
            ignored=frozenset({"../annotations/list.txt"}),
        ),
    ),
    # docs.ultralytics.com/datasets/detect
    Row("YOLO", "images/train/1.jpg labels/train/1.txt", r"labels has labels.*--pair 'txt\?="),
    Row("Roboflow", "train/images/1.jpg train/labels/1.txt data.yaml", "train/labels has labels"),
    # host.robots.ox.ac.uk/pascal/VOC
    Row(
        "VOC",
        "JPEGImages/1.jpg Annotations/1.xml ImageSets/Main/train.txt",
        r"Annotations has labels of the images in JPEGImages.*--pair 'xml\?=",
    ),
    Row(
        "faces with and without masks",
        "with_mask/1.jpg without_mask/2.jpg",
        Read({"with_mask/1": "with_mask", "without_mask/2": "without_mask"}),
    ),
    Row(
        "litter",
        "cat/1.jpg cat/._1.jpg cat/Thumbs.db dog/2.jpg .DS_Store __MACOSX/cat/._1.jpg "
        "@eaDir/1.jpg .ipynb_checkpoints/1.jpg .git/HEAD",
        Read(
            {"cat/1": "cat", "dog/2": "dog"},
            ignored=frozenset(
                {"cat/._1.jpg", "cat/Thumbs.db", ".DS_Store", "__MACOSX", "@eaDir", ".git"}
                | {".ipynb_checkpoints"}
            ),
        ),
    ),
]


@pytest.fixture
def lay_out(tmp_path: Path, jpegs: list[bytes], write_files: Write) -> Callable[[str], Path]:
    """`lay_out("cat/1.jpg notes.txt")`: a folder with these files, whose images are images."""

    def write(names: str) -> Path:
        images = re.compile(r"\.(jpg|JPEG|png|gif)$")
        return write_files(
            tmp_path / "src",
            {
                name: jpegs[number % len(jpegs)] if images.search(name) else b"{}"
                for number, name in enumerate(names.split())
            },
        )

    return write


def check(found: Any, expected: Read) -> None:
    classes = found.source.classes
    labels = {s.key: classes[s.label] if s.label >= 0 else None for s in found.samples}
    assert labels == expected.labels
    assert {s.key: s.split for s in found.samples if s.split} == expected.splits
    assert not found.skipped
    assert found.ignored == expected.ignored
    assert {s.members for s in found.samples} == {expected.members}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_layout_is_read_right_or_refused(
    row: Row, lay_out: Callable[[str], Path], scan: Callable[..., Any]
) -> None:
    src, options = lay_out(row.files), SourceOptions(**row.options)
    if isinstance(row.expected, Read):
        check(scan(src, options=options), row.expected)
    else:
        with pytest.raises(UnusableInput, match=row.expected):
            scan(src, options=options)


@pytest.mark.parametrize(
    "row",
    [row for row in ROWS if not getattr(row.expected, "members", ())],
    ids=lambda row: row.name,
)
def test_a_zip_of_a_layout_is_read_as_the_layout(
    row: Row, tmp_path: Path, lay_out: Callable[[str], Path], scan: Callable[..., Any]
) -> None:
    src, options = lay_out(row.files), SourceOptions(**row.options)
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for name in row.files.split():
            archive.write(src / name, name)
    if isinstance(row.expected, str):
        with pytest.raises(UnusableInput, match=re.sub(r"\\S\*/", r"\\S*/", row.expected)):
            scan(tmp_path / "a.zip", options=options)
        return
    found = scan(tmp_path / "a.zip", options=options)
    classes = found.source.classes
    labels = {s.key: classes[s.label] if s.label >= 0 else None for s in found.samples}
    assert labels == row.expected.labels
    assert {s.key: s.split for s in found.samples if s.split} == row.expected.splits
    assert not found.skipped


@pytest.mark.parametrize("seed", range(60))
def test_what_is_made_of_layouts_by_chance_loses_no_image_in_silence(
    seed: int, lay_out: Callable[[str], Path], scan: Callable[..., Any]
) -> None:
    """Parts are deleted, renamed and wrapped: an image is a sample, is named, or all is refused."""
    rng = random.Random(seed)
    names = rng.choice(ROWS).files.split()
    for _ in range(rng.randint(1, 3)):
        part = rng.choice(rng.choice(names).split("/"))
        how = rng.choice(["delete", "rename", "wrap", "add"])
        if how == "delete" and len(names) > 1:
            names.remove(rng.choice(names))
        elif how == "rename" and "." not in part:
            other = rng.choice(["train", "Test", "masks", "images", "x", "val2", "labels", "a b"])
            names = ["/".join(other if p == part else p for p in n.split("/")) for n in names]
        elif how == "wrap":
            wrapper = rng.choice(["data", "images", "train", "archive/1"])
            names = [f"{wrapper}/{name}" for name in names]
        else:
            names.append(f"{rng.choice(['more', 'test', 'masks', 'images'])}/{len(names)}.jpg")
    names = [name for name in dict.fromkeys(names) if " " not in name]
    src = lay_out(" ".join(names))
    try:
        found = scan(src)
    except UnusableInput as error:
        refused = str(error)
    else:
        refused = ""
    if refused:
        assert "--as" in refused or "--class-depth" in refused
        return
    told = {*found.ignored, *found.skipped}
    root = found.source.root
    packed = {str((root / s.name).resolve()) for s in found.samples}
    for sample in found.samples:
        members = found.source.member_files(sample)
        packed |= {str((root / member).resolve()) for member in members}
    named = {str((root / name).resolve()) for name in told}
    for name in names:
        path = (src / name).resolve()
        known = {str(path), *map(str, path.parents)}
        assert str(path) in packed or known & named or path.name.startswith("._"), name
    assert len(found.labels) == len(found.samples)
    splits = {s.split for s in found.samples}
    assert splits == {""} or "" not in splits
    words = {"train", "test", "val", "training", "testing", "valid", "masks"}
    assert len(words.intersection(map(str.lower, found.source.classes))) < 2


COCO = b"""{"images": [{"id": 1, "file_name": "1.jpg"}], "categories": [{"id": 7, "name": "cat"}],
"annotations": [{"image_id": 1, "category_id": 7, "bbox": [0, 0, 2, 2]}]}"""


def test_what_cocos_annotations_do_not_list_is_named(
    tmp_path: Path, jpegs: list[bytes], write_files: Write, scan: Callable[..., Any]
) -> None:
    files = {"annotations/instances_train2017.json": COCO, "README.md": b"x"}
    files |= {"train2017/1.jpg": jpegs[0], "train2017/2.jpg": jpegs[1], "train2017/notes.md": b"x"}
    found = scan(write_files(tmp_path / "coco", files | {"test2017/3.jpg": jpegs[2]}))
    assert [(s.key, s.split) for s in found.samples] == [("train2017/1", "train")]
    assert found.skipped == {"train2017/2.jpg": "no annotation file lists it"}
    assert found.ignored == {"README.md", "train2017/notes.md", "test2017/"}


def test_series_of_tars_named_as_splits_are_splits(
    tmp_path: Path, jpegs: list[bytes], write_tar: Write, scan: Callable[..., Any]
) -> None:
    for name in ("set-train-000", "set-train-001", "set-val-000"):
        write_tar(tmp_path / f"{name}.tar", {f"{name}.jpg": jpegs[0], f"{name}.cls": b"0"})
    found = scan(tmp_path)
    assert {s.key: s.split for s in found.samples} == {
        "set-train-000": "train",
        "set-train-001": "train",
        "set-val-000": "val",
    }
    write_tar(tmp_path / "more.tar", {"1.jpg": jpegs[0], "1.cls": b"0"})
    with pytest.raises(UnusableInput, match=r"more\.tar is not"):
        scan(tmp_path)


def test_the_sentence_is_kept_and_one_without_it_still_loads(
    tmp_path: Path, lay_out: Callable[[str], Path], run_pack: Callable[..., Any]
) -> None:
    report = run_pack(lay_out("Training/cat/1.jpg Testing/dog/2.jpg"), tmp_path / "dst")
    assert report.reading == (
        "Read as folders of images: 2 images; 2 classes (cat, dog); splits test 1, train 1."
    )
    path = tmp_path / "dst" / "dataset.json"
    assert Manifest.load(path.parent).reading == report.reading
    content = json.loads(path.read_text())
    del content["reading"], content["checksum"]
    path.write_text(json.dumps({**content, "checksum": manifest.checksum_of(content)}))
    assert Manifest.load(path.parent).reading == ""
    again = run_pack(tmp_path / "src", tmp_path / "dst")
    assert again.shards_written == 0
