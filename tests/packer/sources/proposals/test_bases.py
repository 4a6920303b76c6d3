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
