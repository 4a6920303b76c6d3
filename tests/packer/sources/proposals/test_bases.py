"""Templates of images and of their members, from the paths of a source."""

import pytest

from packer.sources.proposals.bases import bases
from packer.sources.proposals.groups import groups_of

SOURCES = {
    "masks": (
        "images/a.jpg images/b.jpg masks/a.png masks/b.png",
        ("--images", "images/{key}", "--member", "mask=masks/{key}"),
    ),
    "masks of some": (
        "images/a.jpg images/b.jpg masks/a.png",
        ("--images", "images/{key}", "--member", "mask?=masks/{key}"),
    ),
    "texts with a prefix": (
        "img/a.jpg img/b.jpg gt/gt_a.txt gt/gt_b.txt",
        ("--images", "img/{key}", "--member", "txt=gt/gt_{key}.txt"),
    ),
    "other names of JSON": (
        "a.jpg b.jpg a.jpg___objects.json b.jpg___objects.json",
        ("--images", "{key}", "--member", "json={key}.jpg___objects.json"),
    ),
    "scenes": (
        " ".join(f"set/00001/000{n}/im{i}.png" for n in (1, 2, 3) for i in (1, 2, 3)),
        (
            "--images",
            "set/00001/{key}/im1.png",
            *("--member", "im2=set/00001/{key}/im2.png"),
            *("--member", "im3=set/00001/{key}/im3.png"),
        ),
    ),
    "two formats of one name": (
        "a/1.jpg a/1.png a/2.jpg a/2.png",
        ("--images", "a/{key}.jpg", "--member", "picture=a/{key}.png"),
    ),
    "the split in names": (
        "training/images/1_training.tif test/images/2_test.tif "
        "training/mask/1_training_mask.gif test/mask/2_test_mask.gif",
        (
            *("--images", "{split}/images/{key}_{split}"),
            *("--member", "mask={split}/mask/{key}_{split}_mask"),
        ),
    ),
    "masks of a single class": (
        "mug/train/good/1.png mug/test/good/2.png mug/test/bad/3.png mug/masks/bad/3_mask.png "
        "cup/train/good/1.png cup/test/good/2.png cup/test/bad/3.png cup/masks/bad/3_mask.png",
        (
            *("--images", "{folder1}/{split}/{label}/{key}"),
            *("--member", "mask?={folder1}/masks/{label}/{key}_mask"),
        ),
    ),
    "masks of other names": (
        "img/1.jpg img/2.jpg mask-anno/0/00001_hair.png mask-anno/1/00002_hair.png",
        ("--images", "img/{key}", "--ignore", "mask-anno/*/*"),
    ),
    "identities": (
        "box_train/0002_c1s1_01.jpg box_train/0002_c1s1_02.jpg box_test/0007_c1s1_01.jpg "
        "box_test/0007_c2s1_01.jpg query/0007_c3s1_01.jpg",
        ("--images", "box_{split}/{label}_c{key}", "--images", "{split}/{label}_c{key}"),
    ),
    "a folder that begins like a split": (
        "train/cat/1.jpg train/dog/2.jpg test/cat/3.jpg test/dog/4.jpg test-many/5.jpg",
        ("--images", "test-many/{key}", "--images", "{split}/{label}/{key}"),
    ),
    "splits in the names of folders": (
        "x_train_HR/1.png x_val_HR/2.png x_train_LR/1x2.png x_val_LR/2x2.png",
        ("--images", "x_{split}_HR/{key}", "--member", "x_lr=x_{split}_LR/{key}x2"),
    ),
}


@pytest.mark.parametrize(("paths", "words"), SOURCES.values(), ids=SOURCES)
def test_parts_are_members_of_the_images(paths: str, words: tuple[str, ...]) -> None:
    assert next(bases(groups_of(paths.split()))).words == words


def test_folders_that_are_no_parts_may_be_classes_or_fields() -> None:
    found = [base.images for base in bases(groups_of(["cat/1.jpg", "dog/2.jpg"]))]
    assert found == [("{label}/{key}",), ("{folder1}/{key}",), ("{label:all}/{key}",)]


def test_the_template_with_more_of_the_name_comes_first() -> None:
    first = next(
        bases(
            groups_of(
                ["train_mini/cat/1.jpg", "train_mini/dog/2.jpg", "val/cat/3.jpg", "val/dog/4.jpg"]
            )
        )
    )
    assert first.images == ("{split}_mini/{label}/{key}", "{split}/{label}/{key}")


def test_numbered_folders_of_pairs_and_the_parts_of_a_class_are_no_classes() -> None:
    clips = [f"{kind}/00{n}/{key}.png" for kind in ("sharp", "blur") for n in "01" for key in "ab"]
    videos = [f"{name}/video_{n}_{name}/1.jpg" for name in ("jump", "run") for n in "01"]
    assert not any("{label" in " ".join(base.images) for base in bases(groups_of(clips)))
    assert not any("/{label}/" in " ".join(base.images) for base in bases(groups_of(videos)))
