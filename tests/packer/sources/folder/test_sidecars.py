import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from packer.sources.folder.sidecars import group


@pytest.mark.parametrize(
    ("names", "samples"),
    [
        ("x.jpg x.json x.txt x.npy", {"x.jpg": "json npy txt"}),
        ("x.jpg x.mask.png x.seg.png x.depth.png", {"x.jpg": "depth.png mask.png seg.png"}),
        ("x.jpg x.tokens.npy", {"x.jpg": "tokens.npy"}),
        ("x.JPG x.TXT", {"x.JPG": "txt"}),
        ("x.jpg y.txt", {"x.jpg": "", "y.txt": ""}),
        # The longest name counts, and dots in an image's name are not extension.
        ("a.b.jpg a.b.json a.jpg a.json", {"a.b.jpg": "json", "a.jpg": "json"}),
        ("img.0001.jpg img.0002.jpg img.jpg", {f"img{n}.jpg": "" for n in (".0001", ".0002", "")}),
        # A map is a sample where no image has its name.
        ("x.mask.png", {"x.mask.png": ""}),
        ("x.mask.png x.txt", {"x.mask.png": "", "x.txt": ""}),
        # What could not be an extension makes a file of its own.
        ("x.jpg x.jpg~ x.a*b", {"x.jpg": "", "x.jpg~": "", "x.a*b": ""}),
        (".jpg .json", {".jpg": "", ".json": ""}),
    ],
)
def test_files_that_share_an_images_stem_belong_to_it(names: str, samples: dict[str, str]) -> None:
    grouping = group(names.split())
    assert {name: " ".join(sorted(exts)) for name, exts in grouping.samples.items()} == samples
    assert not grouping.refused


def test_a_file_that_two_images_could_own_is_refused() -> None:
    grouping = group(["x.jpg", "x.png", "x.json", "y.jpg"])
    assert list(grouping.samples) == ["x.jpg", "x.png", "y.jpg"]
    assert grouping.refused == {"x.json": "more than one image has its name"}


def test_of_two_files_for_one_member_the_later_is_refused() -> None:
    grouping = group(["x.jpg", "x.json", "x.JSON"])
    assert grouping.samples == {"x.jpg": {"json": "x.JSON"}}
    assert grouping.refused == {"x.json": "its image has another .json"}


stems = st.sampled_from(["x", "y", "x.y", ".x", "x.mask", ""])
extensions = st.sampled_from([".jpg", ".png", ".json", ".mask.png", ".txt", "", "."])


@given(st.sets(st.builds(str.__add__, stems, extensions)))
def test_every_file_is_a_sample_a_member_or_refused_and_only_once(names: set[str]) -> None:
    grouping = group(names)
    members = [file for owned in grouping.samples.values() for file in owned.values()]
    assert sorted([*grouping.samples, *members, *grouping.refused]) == sorted(names)
    for name, owned in grouping.samples.items():
        for ext, file in owned.items():
            assert file.lower() == f"{os.path.splitext(name)[0]}.{ext}".lower()
