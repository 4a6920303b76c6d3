"""The judge itself: it finds what is not true, and reads the commands that messages print."""

import pytest

from layouts.making import of
from layouts.outcome import (
    BY_COMMAND,
    RIGHT,
    WRONG,
    commands_of,
    options_of,
    outcome_of,
    python_of,
)
from layouts.row import Layout, Truth, box

_FOLDERS = {"train/cat/1.jpg": "", "train/dog/2.jpg": "", "val/cat/3.jpg": "", "val/dog/4.jpg": ""}
_TRUTH = {path: of(path.split("/")[1], split=path.split("/")[0]) for path in _FOLDERS}
_TABLE = {
    "images/1.jpg": "",
    "images/2.jpg": "",
    "boxes.csv": "image,xmin,ymin,xmax,ymax,label\n"
    "images/1.jpg,1,2,7,9,cat\nimages/1.jpg,2,3,9,10,dog\nimages/2.jpg,3,4,5,8,dog\n",
}


def _verdict(files: dict, truth: dict, **more) -> str:
    return outcome_of(Layout("x", "none", files, truth, **more)).verdict


def test_what_is_right_is_right():
    assert _verdict(_FOLDERS, _TRUTH) == RIGHT


@pytest.mark.parametrize("path", ["train/cat/1.jpg", "val/dog/4.jpg"])
@pytest.mark.parametrize(
    "truth",
    [
        of(split="train"),
        of("bird", split="train"),
        of("cat", "dog"),
        of("cat", "dog", split="test"),
        Truth(labels=frozenset(("cat", "dog")), split="train"),
        of("cat", "dog", split="train", holds=("a caption",)),
        Truth(frozenset(("cat", "dog")), split="train", files=("train/dog/2.jpg",)),
    ],
)
def test_what_is_not_true_is_wrong(path, truth):
    assert _verdict(_FOLDERS, _TRUTH | {path: truth}) == WRONG


def test_a_further_sample_and_a_missing_one_are_wrong():
    fewer = {path: truth for path, truth in _TRUTH.items() if path != "val/dog/4.jpg"}
    assert _verdict(_FOLDERS, fewer) == WRONG
    files = {path: text for path, text in _FOLDERS.items() if path != "val/dog/4.jpg"}
    assert _verdict(files, _TRUTH) == WRONG


def test_boxes_are_compared_in_pixels():
    right = {
        "images/1.jpg": of(holds=("cat", "dog", box(1, 2, 6, 7), box(2, 3, 7, 7))),
        "images/2.jpg": of("", "dog", holds=("dog", box(3, 4, 2, 4))),
    }
    assert _verdict(_TABLE, right) == RIGHT
    for other in (box(3, 4, 5, 8), box(3, 4, 2, 5)):
        wrong = right | {"images/2.jpg": of("", "dog", holds=(other,))}
        assert _verdict(_TABLE, wrong) == WRONG


def test_a_command_is_run_as_printed():
    files = {
        "xy/images/1.jpg": "",
        "xy/images/2.jpg": "",
        "xy/labels/1.txt": "one",
        "xy/labels/2.txt": "two",
    }
    truth = {"xy/images/1.jpg": of(holds=("one",)), "xy/images/2.jpg": of(holds=("two",))}
    assert _verdict(files, truth) == BY_COMMAND
    assert _verdict(files, truth | {"xy/images/2.jpg": of(holds=("three",))}) != BY_COMMAND


def test_commands_are_read_from_sentences():
    text = (
        "Type: packer pack '/x/a b' /y --jobs 1 --pair 'mask?=/x/m'. For the images alone, packer "
        "pack /x/c /y (or --as flat); packer pack --explain /x shows more, say: it's so."
    )
    assert commands_of(text) == [
        "packer pack '/x/a b' /y --jobs 1 --pair 'mask?=/x/m'",
        "packer pack /x/c /y",
    ]
    assert options_of("give --as folder; or --class-depth 2, or --root where") == [
        "--as folder",
        "--class-depth 2",
    ]


def test_lines_of_python_are_read_from_messages():
    text = "These lines pack it:\n    import a, packer\n    packer.pack(a.b(), 'shards')\nor not."
    assert python_of(text) == ["import a, packer\npacker.pack(a.b(), 'shards')"]
