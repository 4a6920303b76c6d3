import os
import pickle
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from image_folder import image_folder

from packer.errors import BadImage, UnusableInput
from packer.samples.records import Content, Sample, Skipped
from packer.sources.readings.folders.reading import layout_of, templates_of
from packer.sources.scanners.templates.source import TemplateSource
from packer.sources.trees.folder import FolderTree

MakeFiles = Callable[..., Path]


@pytest.fixture
def make_files(tmp_path: Path) -> MakeFiles:
    """`make_files("cat/a.jpg", b"\\xff.jpg")`: a folder with these files.

    Each has one byte; those without an extension begin as a GIF.
    """

    def make(*names: str | bytes) -> Path:
        root = tmp_path / "root"
        for name in names:
            path = root / os.fsdecode(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"x" if "." in path.name[1:] else b"GIF8")
        return root

    return make


def opened(
    root: Path,
    classes: Sequence[str] | None = None,
    *,
    pairs: Mapping[str, str] = {},
    kind: str | None = None,
    depth: int | None = None,
) -> TemplateSource:
    """The source of a folder."""
    tree = FolderTree(root)
    layout = layout_of(tree, pairs, kind, depth)
    return TemplateSource(tree, templates_of(tree, layout, pairs, kind), classes)


def samples(root: Path) -> list[Sample]:
    return [item for item in opened(root).scan() if isinstance(item, Sample)]


def skipped(root: Path) -> dict[str, str]:
    found = [item for item in opened(root).scan() if isinstance(item, Skipped)]
    assert len({item.name for item in found}) == len(found), "a file was named twice"
    return {item.name: item.reason for item in found}


def test_samples_come_in_the_order_of_imagefolder(make_files: MakeFiles) -> None:
    root = make_files(
        *(f"{name}/{file}" for name in ("cat", "Cat", "a cat") for file in ("b.jpg", "B.jpg", "c")),
        *(f"cat/{folder}/z.jpg" for folder in ("a", "a-b", "a.b", "a/b", "a/-", "A", "a b")),
        *(b"cat/\xff/1.jpg", b"cat/\xff.jpg", "cat/猫/1.jpg", "cat/😀.jpg", "cat/\uffee.jpg"),
    )
    expected = list(image_folder(root))
    assert len(expected) == 21
    assert [(sample.name, sample.label) for sample in samples(root)] == expected


def test_linked_folders_belong_to_the_class_that_links_them(
    make_files: MakeFiles, tmp_path: Path
) -> None:
    root = make_files("cat/a.jpg", "dog/b.jpg")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "c.jpg").write_bytes(b"x")
    (root / "cat" / "linked").symlink_to(tmp_path / "elsewhere")
    (root / "fox").symlink_to(tmp_path / "elsewhere")
    (root / "cat" / "dogs").symlink_to(root / "dog")
    expected = list(image_folder(root))
    assert ("cat/linked/c.jpg", 0) in expected
    assert ("fox/c.jpg", 2) in expected
    assert [(sample.name, sample.label) for sample in samples(root)] == expected


def test_an_empty_folder_holds_nothing(tmp_path: Path) -> None:
    assert list(opened(tmp_path).scan()) == []


@pytest.mark.parametrize("folder", ["", "cat"], ids=["flat", "class"])
def test_what_is_no_file_is_skipped_with_a_reason(make_files: MakeFiles, folder: str) -> None:
    root = make_files(os.path.join(folder, "good.jpg"))
    where = root / folder
    (where / "empty.jpg").touch()
    os.mkfifo(where / "fifo.jpg")
    (where / "nowhere.jpg").symlink_to("does-not-exist")
    (where / "itself.jpg").symlink_to("itself.jpg")
    (where / "there.jpg").symlink_to("back.jpg")
    (where / "back.jpg").symlink_to("there.jpg")
    (where / "device.jpg").symlink_to("/dev/null")
    reasons = {Path(name).name: reason for name, reason in skipped(root).items()}
    assert [item.name for item in samples(root)] == [os.path.join(folder, "good.jpg")]
    assert set(reasons) == {
        *("empty.jpg", "fifo.jpg", "nowhere.jpg", "itself.jpg"),
        *("there.jpg", "back.jpg", "device.jpg"),
    }
    assert reasons["empty.jpg"] == "it is empty"
    assert "regular file" in reasons["fifo.jpg"]
    assert "leads nowhere" in reasons["nowhere.jpg"]


@pytest.mark.parametrize(
    ("files", "loop", "targets"),
    [
        (["a.jpg"], "loop", ["."]),
        (["cat/a.jpg"], "loop", [".", "..", "/"]),
        (["cat/a.jpg", "cat/deep/b.jpg"], "cat/deep/loop", ["..", "../..", "../../..", "../deep"]),
    ],
)
def test_a_loop_is_skipped_by_name(
    make_files: MakeFiles, files: list[str], loop: str, targets: list[str]
) -> None:
    root = make_files(*files)
    for target in targets:
        (root / loop).symlink_to(target)
        assert [item.name for item in samples(root)] == files
        assert set(skipped(root)) == {loop}
        assert opened(root).classes == (("cat",) if "/" in files[0] else ())
        (root / loop).unlink()


def test_two_folders_that_link_each_other_end_somewhere(make_files: MakeFiles) -> None:
    root = make_files("cat/a.jpg", "dog/b.jpg")
    (root / "cat" / "dog").symlink_to(root / "dog")
    (root / "dog" / "cat").symlink_to(root / "cat")
    assert [item.name for item in samples(root)] == [
        *("cat/a.jpg", "cat/dog/b.jpg"),
        *("dog/b.jpg", "dog/cat/a.jpg"),
    ]
    assert set(skipped(root)) == {"cat/dog/cat", "dog/cat/dog"}


def test_every_name_has_its_own_key(make_files: MakeFiles) -> None:
    names = [
        *("a.b.jpg", "a.c.jpg", "x.jpg", "x.png", "x.jpg.png", "X.jpg", "a b.jpg", "a%20b.jpg"),
        *("猫.jpg", "noextension", ".hidden.jpg", ".jpg", b"\xff.jpg", "%FF.jpg", "a\nb.jpg"),
    ]
    source = opened(make_files(*names), kind="folder")
    keys = [item.key for item in source.scan() if isinstance(item, Sample)]
    assert len(set(keys)) == len(keys) == len(names)
    assert not [key for key in keys if "." in key or " " in key or "\n" in key]


def test_a_sample_reads_back_as_the_file(make_files: MakeFiles) -> None:
    root = make_files("cat/a.jpg", b"cat/\xff.jpg")
    files = pickle.loads(pickle.dumps(opened(root).files))  # as it goes to a process
    for sample in samples(root):
        (root / sample.name).write_bytes(b"y")
        os.utime(root / sample.name, ns=(0, sample.mtime_ns))
        assert files.read(sample) == Content(b"y")


@pytest.mark.parametrize(
    "change",
    [
        lambda path: path.write_bytes(b"longer"),
        lambda path: os.utime(path, ns=(0, 1)),
        lambda path: path.unlink(),
        lambda path: (path.unlink(), path.mkdir()),
    ],
    ids=["longer", "touched", "removed", "a folder now"],
)
def test_a_file_that_changed_since_the_scan_is_rejected(
    make_files: MakeFiles, change: Callable[[Path], object]
) -> None:
    root = make_files("cat/a.jpg")
    (sample,) = samples(root)
    change(root / sample.name)
    with pytest.raises(BadImage, match=r"changed|cannot be read"):
        opened(root).files.read(sample)


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for name in ("missing", "file"):
        with pytest.raises(UnusableInput, match=name):
            opened(tmp_path / name)


def test_a_sidecar_that_changes_after_the_scan_is_noticed(make_files: MakeFiles) -> None:
    root = make_files("cat/a.jpg", "cat/a.txt")
    (sample,) = samples(root)
    (root / "cat/a.txt").write_bytes(b"longer")
    with pytest.raises(BadImage, match="changed"):
        opened(root).files.read(sample)


def test_a_sidecar_that_cannot_be_packed_costs_no_image(make_files: MakeFiles) -> None:
    root = make_files("cat/a.jpg", "cat/b.jpg")
    (root / "cat/a.txt").symlink_to("missing")
    os.mkfifo(root / "cat/b.txt")
    assert [(item.name, item.members) for item in samples(root)] == [
        ("cat/a.jpg", ()),
        ("cat/b.jpg", ()),
    ]
    assert set(skipped(root)) == {"cat/a.txt", "cat/b.txt"}


def test_a_cls_file_that_holds_more_than_a_number_is_named(make_files: MakeFiles) -> None:
    root = make_files("a.jpg", "b.jpg")
    (root / "a.cls").write_bytes(b"7".ljust(21))
    os.mkfifo(root / "b.cls")
    assert skipped(root) == {
        "a.cls": "it has more than 20 bytes, too many for a class number",
        "b.cls": "it is not a regular file",
    }
    assert {item.name: item.label for item in samples(root)} == {"a.jpg": -1, "b.jpg": -1}


def test_a_parallel_folder_gives_each_image_a_member(make_files: MakeFiles) -> None:
    root = make_files("cat/a.jpg", "cat/b.jpg", "../masks/cat/a.png", "../masks/cat/b.PNG")
    source = opened(root, pairs={"mask": "../masks"})
    found = [item for item in source.scan() if isinstance(item, Sample)]
    assert [(item.key, item.members) for item in found] == [
        ("cat/a", ("mask.png",)),
        ("cat/b", ("mask.png",)),
    ]
    (root / "../masks/cat/a.png").write_bytes(b"m")
    os.utime(root / "../masks/cat/a.png", ns=(0, 0))
    os.utime(root / "cat/a.jpg", ns=(0, found[0].mtime_ns))
    assert source.files.read(found[0]) == Content(b"x", {"mask.png": b"m"})


class Counted(str):
    """A name that counts how often any of its kind is compared."""

    compared = 0

    def __eq__(self, other: object) -> bool:
        Counted.compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def test_the_number_of_a_class_is_not_looked_for_among_all(make_files: MakeFiles) -> None:
    root = make_files(*(f"{number:03}/a.jpg" for number in range(200)))
    source = opened(root, tuple(Counted(f"{n:03}") for n in range(200)))
    labels = [item.label for item in source.scan() if isinstance(item, Sample)]
    assert labels == list(range(200))
    assert Counted.compared < 1000
