"""What a command means is said in plain words, made of its own options."""

import pytest

from packer.sources.evidence.described import described

COMMANDS = {
    "Folders are classes; folders are splits": ("--images", "{split}/{label}/{key}"),
    "Each folder that holds images is a class": ("--images", "{label:all}/{key}"),
    "The last folder is the class; other folders go into the json": (
        *("--images", "{folder1}/{label}/{key}"),
    ),
    "The first folder is the class; folders mean nothing": ("--images", "{label}/{_}/{key}"),
    "Names have the classes": ("--images", "{label:letters}{key}"),
    "Images in HR have lr, txt": (
        *("--images", "HR/{key}", "--member", "lr=LR/{key}x4", "--member", "txt?=texts/{key}.txt"),
    ),
    "Folders go into the json; labels.csv has the classes": (
        *("--images", "{folder_label}/{key}", "--labels", "labels.csv: {key:image} {label:class}"),
    ),
    "Folders are classes; values of labels.csv go into the json": (
        *("--images", "{label}/{key}", "--labels", "labels.csv: {key:image} {listed:class}"),
    ),
    "Folders are classes; a.csv, b.csv have the same classes": (
        *("--images", "{label}/{key}", "--labels", "a.csv: {key:f} {label:l}"),
        *("--labels", "b.csv: {key:f} {label:l}"),
    ),
    "Each list is a split; train.txt, val.txt have the classes": (
        *("--images", "{key}", "--labels", "train.txt: {key} {label} {split=train}"),
        *("--labels", "val.txt: {key} {label} {split=val}"),
    ),
    "All images are samples; ignore a.csv": ("--images", "images/{key}", "--ignore", "a.csv"),
}


@pytest.mark.parametrize("said", COMMANDS)
def test_a_command_is_described(said: str) -> None:
    assert described(COMMANDS[said]) == said


def test_files_that_stay_unread_are_named() -> None:
    left = ["a.txt", "b.txt", "c.txt"]
    said = described(("--images", "{label}/{key}"), left)
    assert said == "Folders are classes; a.txt, b.txt and 1 more are not read"
