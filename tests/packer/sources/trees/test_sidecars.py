import os
import re
import shlex
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from made_images import make_image

import packer
from packer.cli.main import main
from packer.errors import UnusableInput
from packer.sources.trees.sidecars import MAPS, group, members_named
from packer.sources.trees.tree import Level
from reader import Dataset


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


def of(*folders: str, chosen: frozenset[str] = frozenset()) -> set[str]:
    """The words that name members, beside those that always do."""
    found = [Level.of((), names.split()).companions for names in folders]
    return set(members_named(found, "photos", chosen=chosen)) - MAPS


@pytest.mark.parametrize(
    ("folders", "words"),
    [
        (["x.jpg x.right.png y.jpg y.right.png"], {"right"}),
        (["x.jpg x.right.png", "y.jpg y.RIGHT.jpg"], {"right"}),
        (["a.jpg a.left.jpg a.left.depth.png b.jpg b.left.jpg"], {"left"}),
        (["a.jpg a.l.nir.png b.jpg b.l.nir.png"], {"l.nir"}),
        (["img.001.jpg img.001.nir.jpg img.002.jpg img.002.nir.jpg img.jpg img.nir.jpg"], {"nir"}),
        # Numbers count pictures, names of other files say nothing, and maps may be absent.
        (["img.jpg img.001.jpg img.002.jpg", "x.jpg x.right.txt"], set()),
        (["x.jpg x.mask.png y.jpg"], set()),
        (["x.jpg"], set()),
        ([], set()),
    ],
)
def test_a_picture_that_every_image_has_beside_it_is_a_member(
    folders: list[str], words: set[str]
) -> None:
    assert of(*folders) == words


@pytest.mark.parametrize(
    "folders",
    [
        ["x.jpg x.right.png y.jpg"],
        ["x.jpg x.right.png", "y.jpg"],
        ["x.jpg x.right.png"],
        ["x.jpg x.right.png y.jpg y.left.png"],
        ["photo.jpg photo.copy.jpg a.jpg b.jpg"],
    ],
)
def test_a_picture_that_only_some_images_have_beside_them_is_refused(folders: list[str]) -> None:
    with pytest.raises(UnusableInput, match="photos: the picture"):
        of(*folders)


def test_chosen_words_need_not_be_everywhere() -> None:
    names = "x.jpg x.right.png x.nir.png y.jpg y.nir.png"
    assert of(names, chosen=frozenset({"right"})) == {"right", "nir"}


def test_many_words_are_no_command() -> None:
    names = " ".join(["x.jpg", "y.jpg", *(f"x.v{n}.jpg" for n in range(9))])
    with pytest.raises(UnusableInput, match="--as folder") as refused:
        of(names)
    assert "--pair" not in str(refused.value)


@pytest.mark.parametrize("kind", ["folder", "tar", "zip"])
def test_pictures_beside_all_images_are_members(kind: str, tmp_path: Path) -> None:
    root = tmp_path / "pictures"
    for stem in ("cat/a", "cat/b", "dog/a"):
        (root / stem).parent.mkdir(parents=True, exist_ok=True)
        make_image(1).save(root / f"{stem}.jpg")
        make_image(2).save(root / f"{stem}.right.png")
    source = root if kind == "folder" else Path(shutil.make_archive(str(root), kind, root))
    packer.pack(source, tmp_path / "shards", jobs=1)
    dataset = Dataset(tmp_path / "shards")
    assert sorted(dataset.keys) == ["cat/a", "cat/b", "dog/a"]
    assert dataset.read(0, "right.png")


@pytest.mark.parametrize("kind", ["folder", "zip"])
def test_pictures_beside_some_images_are_refused_with_commands_that_work(
    kind: str, tmp_path: Path
) -> None:
    root = tmp_path / "my pictures"
    root.mkdir()
    for name in ("a.jpg", "a.right.png", "b.jpg"):
        make_image(1).save(root / name)
    source = root if kind == "folder" else Path(shutil.make_archive(str(root), kind, root))
    refused = CliRunner().invoke(main, ["pack", str(source), str(tmp_path / "shards")])
    assert refused.exit_code == 2
    advised = re.findall(r"^  [^:]*: (.*)$", refused.output, re.MULTILINE)
    found = []
    for number, command in enumerate(advised):
        folder, shards = tmp_path / f"folder{number}", tmp_path / f"shards{number}"
        for line in command.replace("FOLDER", str(folder)).split(" && "):
            words = shlex.split(line.replace(str(tmp_path / "shards"), str(shards)))
            if words[0] == "packer":
                assert CliRunner().invoke(main, [*words[1:], "--jobs", "1"]).exit_code == 0
            else:  # it unpacks
                shutil.unpack_archive(words[-2], words[-1])
        dataset = Dataset(shards)
        found.append(sorted(dataset.keys))
    assert found[:2] == [["a", "b"], ["a", "a%2Eright", "b"]]
    assert found[2:] == [["a", "b"]] * len(found[2:])  # commands that keep all images


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
