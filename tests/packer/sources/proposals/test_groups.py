"""What the paths of a source have in common."""

import pytest

from packer.sources.proposals.groups import groups_of

SOURCES = {
    "folders of splits": ("train/1.jpg train/2.jpg val/3.jpg", {"{split}"}),
    "splits in names": (
        "DIV_train_HR/1.png DIV_valid_HR/2.png DIV_train_LR/1.png DIV_valid_LR/2.png",
        {"DIV_{split}_HR", "DIV_{split}_LR"},
    ),
    "a split again": ("train/train_blur/1.jpg val/val_blur/2.jpg", {"{split}/{split}_blur"}),
    "classes": ("cat/1.jpg dog/2.jpg", {"{folder1}"}),
    "classes of the same names": ("cat/1.jpg cat/2.jpg dog/1.jpg dog/2.jpg", {"{folder1}"}),
    "domains of classes": (
        "photo/cat/1.jpg photo/dog/2.jpg sketch/cat/3.jpg",
        {"{folder1}/{folder2}"},
    ),
    "parts": ("images/1.jpg masks/1.png", {"images", "masks"}),
    "kinds of noise, each with the same classes": (
        "gauss_noise/cat/1.png gauss_noise/dog/2.png shot_noise/cat/1.png shot_noise/dog/2.png",
        {"{folder1}/{folder2}"},
    ),
    "sizes of the same images": (
        "images_128/1.png images_128/2.png images_256/1.png images_256/2.png",
        {"images_128", "images_256"},
    ),
    "dev beside train": ("train/image/1.png dev/image/2.png", {"{split}/image"}),
    "parts in each scene": (
        "tree/low/1.png tree/high/1.png lake/low/2.png lake/high/2.png",
        {"{folder1}/low", "{folder1}/high"},
    ),
    "texts beside classes": ("lists/a.txt cat/1.jpg dog/2.jpg", {"lists", "{folder1}"}),
}


@pytest.mark.parametrize(("paths", "folders"), SOURCES.values(), ids=SOURCES)
def test_folders_are_fields_splits_or_parts(paths: str, folders: set[str]) -> None:
    assert {group.folder for group in groups_of(paths.split())} == folders


def test_names_that_continue_others_are_a_group_of_their_own() -> None:
    groups = groups_of(["a.jpg", "a_seg.png", "b.jpg", "b_seg.png", "gt_a.txt", "gt_b.txt"])
    assert [group.template() for group in groups if group.is_image] == [
        "{key}.jpg",
        "{key}_seg.png",
    ]


def test_words_that_all_names_end_in_alternate() -> None:
    groups = groups_of([f"{n}_{word}.png" for n in "abc" for word in ("color", "depth")])
    assert {group.template() for group in groups} == {"{key}_color.png", "{key}_depth.png"}
