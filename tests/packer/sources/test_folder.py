import os
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from packer.errors import BadImage, UnusableInput
from packer.sources import Content, LeftOut, SourceSample
from packer.sources.folder import FolderSource

MakeFiles = Callable[..., Path]


@pytest.fixture
def make_files(tmp_path: Path) -> MakeFiles:
    """`make_files("cat/a.jpg", b"\\xff.jpg")`: a folder with these files, each of one byte."""

    def make(*names: str | bytes) -> Path:
        root = tmp_path / "root"
        for name in names:
            path = root / os.fsdecode(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"x")
        return root

    return make


def samples(root: Path) -> list[SourceSample]:
    return [item for item in FolderSource.open(root).scan() if isinstance(item, SourceSample)]


def left_out(root: Path) -> dict[str, str]:
    found = [item for item in FolderSource.open(root).scan() if isinstance(item, LeftOut)]
    assert len({item.name for item in found}) == len(found), "a file was named twice"
    return {item.name: item.reason for item in found}


def image_folder(root: Path) -> Iterator[tuple[str, int]]:
    """(name, label) of every file, by the rules of torchvision.datasets.ImageFolder."""
    classes = sorted(entry.name for entry in os.scandir(root) if entry.is_dir())
    for label, name in enumerate(classes):
        for folder, _, files in sorted(os.walk(root / name, followlinks=True)):
            for file in sorted(files):
                yield os.path.relpath(os.path.join(folder, file), root), label


def test_classes_are_the_sorted_top_folders(make_files: MakeFiles) -> None:
    root = make_files("b/1.jpg", "a/1.jpg", "B/1.jpg", "10/1.jpg", "9/1.jpg", "é/1.jpg", ".h/1.jpg")
    assert FolderSource.open(root).classes == (".h", "10", "9", "B", "a", "b", "é")


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


def test_a_flat_folder_has_no_classes_and_no_labels(make_files: MakeFiles) -> None:
    root = make_files("b.jpg", "a.jpg", "C.jpg")
    assert FolderSource.open(root).classes == ()
    assert [(item.name, item.label) for item in samples(root)] == [
        ("C.jpg", -1),
        ("a.jpg", -1),
        ("b.jpg", -1),
    ]


def test_an_empty_folder_holds_nothing(tmp_path: Path) -> None:
    assert list(FolderSource.open(tmp_path).scan()) == []


def test_class_folders_without_images_are_refused_by_name(make_files: MakeFiles) -> None:
    root = make_files("cat/a.jpg", "litter/.DS_Store")
    (root / "dog" / "deep").mkdir(parents=True)
    (root / "empty").mkdir()
    (root / "empty" / "a.jpg").touch()
    with pytest.raises(UnusableInput, match="without images: dog, empty, litter"):
        list(FolderSource.open(root).scan())


def test_files_beside_class_folders_are_left_out_by_name(make_files: MakeFiles) -> None:
    root = make_files("cat/a.jpg", "stray.jpg", "readme.txt")
    assert {item.name for item in samples(root)} == {"cat/a.jpg"}
    assert set(left_out(root)) == {"stray.jpg", "readme.txt"}
    assert "beside the class folders" in left_out(root)["stray.jpg"]


def test_the_litter_of_operating_systems_is_ignored(make_files: MakeFiles) -> None:
    root = make_files("cat/a.jpg", "cat/.DS_Store", "cat/Thumbs.db", ".DS_Store", "desktop.ini")
    found = [item for item in FolderSource.open(root).scan() if isinstance(item, LeftOut)]
    assert {item.name for item in found if item.ignored} == {
        "cat/.DS_Store",
        "cat/Thumbs.db",
        ".DS_Store",
        "desktop.ini",
    }
    assert len(found) == 4


@pytest.mark.parametrize("folder", ["", "cat"], ids=["flat", "class"])
def test_what_is_no_file_is_left_out_with_a_reason(make_files: MakeFiles, folder: str) -> None:
    root = make_files(os.path.join(folder, "good.jpg"))
    where = root / folder
    (where / "empty.jpg").touch()
    os.mkfifo(where / "fifo.jpg")
    (where / "nowhere.jpg").symlink_to("does-not-exist")
    (where / "itself.jpg").symlink_to("itself.jpg")
    (where / "there.jpg").symlink_to("back.jpg")
    (where / "back.jpg").symlink_to("there.jpg")
    (where / "device.jpg").symlink_to("/dev/null")
    reasons = {Path(name).name: reason for name, reason in left_out(root).items()}
    assert [item.name for item in samples(root)] == [os.path.join(folder, "good.jpg")]
    assert set(reasons) == {
        *("empty.jpg", "fifo.jpg", "nowhere.jpg", "itself.jpg"),
        *("there.jpg", "back.jpg", "device.jpg"),
    }
    assert reasons["empty.jpg"] == "it is empty"
    assert "regular file" in reasons["fifo.jpg"]
    assert "leads nowhere" in reasons["nowhere.jpg"]


@pytest.mark.parametrize("target", [".", "..", "/"])
def test_a_loop_beside_class_folders_is_left_out_by_name(
    make_files: MakeFiles, target: str
) -> None:
    root = make_files("cat/a.jpg")
    (root / "loop").symlink_to(target)
    assert FolderSource.open(root).classes == ("cat",)
    assert [item.name for item in samples(root)] == ["cat/a.jpg"]
    assert "loop" in left_out(root)["loop"]


def test_a_loop_in_a_flat_folder_is_left_out_by_name(make_files: MakeFiles) -> None:
    root = make_files("a.jpg")
    (root / "loop").symlink_to(".")
    assert [item.name for item in samples(root)] == ["a.jpg"]
    assert set(left_out(root)) == {"loop"}


@pytest.mark.parametrize("target", [".", "..", "../..", "deep"])
def test_a_loop_within_a_class_is_left_out_by_name(make_files: MakeFiles, target: str) -> None:
    root = make_files("cat/a.jpg", "cat/deep/b.jpg")
    (root / "cat" / "deep" / "loop").symlink_to(Path("..") / target)
    assert [item.name for item in samples(root)] == ["cat/a.jpg", "cat/deep/b.jpg"]
    assert set(left_out(root)) == {"cat/deep/loop"}


def test_two_folders_that_link_each_other_end_somewhere(make_files: MakeFiles) -> None:
    root = make_files("cat/a.jpg", "dog/b.jpg")
    (root / "cat" / "dog").symlink_to(root / "dog")
    (root / "dog" / "cat").symlink_to(root / "cat")
    assert [item.name for item in samples(root)] == [
        *("cat/a.jpg", "cat/dog/b.jpg"),
        *("dog/b.jpg", "dog/cat/a.jpg"),
    ]
    assert set(left_out(root)) == {"cat/dog/cat", "dog/cat/dog"}


def test_every_name_has_its_own_key(make_files: MakeFiles) -> None:
    names = [
        *("a.b.jpg", "a.c.jpg", "x.jpg", "x.png", "x.jpg.png", "X.jpg", "a b.jpg", "a%20b.jpg"),
        *("猫.jpg", "noextension", ".hidden.jpg", ".jpg", b"\xff.jpg", "%FF.jpg", "a\nb.jpg"),
    ]
    keys = [sample.key for sample in samples(make_files(*names))]
    assert len(set(keys)) == len(keys) == len(names)
    assert not [key for key in keys if "." in key or " " in key or "\n" in key]


def test_the_key_is_the_path_without_its_extension(make_files: MakeFiles) -> None:
    root = make_files("cat/a.jpg", "cat/x.jpg", "cat/x.png", "dog.v2/deep/a.b.JPEG")
    assert [sample.key for sample in samples(root)] == [
        *("cat/a", "cat/x%2Ejpg", "cat/x%2Epng"),
        "dog.v2/deep/a%2Eb",
    ]


def test_a_sample_reads_back_as_the_file(make_files: MakeFiles) -> None:
    root = make_files("cat/a.jpg", b"cat/\xff.jpg")
    opened = pickle.loads(pickle.dumps(FolderSource.open(root)))  # as it goes to a process
    for sample in samples(root):
        (root / sample.name).write_bytes(b"y")
        os.utime(root / sample.name, ns=(0, sample.mtime_ns))
        assert opened.read(sample) == Content(b"y")


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
        FolderSource.open(root).read(sample)


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for name in ("missing", "file"):
        with pytest.raises(UnusableInput, match=name):
            FolderSource.open(tmp_path / name)
