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


def test_classes_are_the_sorted_top_folders(make_files: MakeFiles) -> None:
    root = make_files("b/1.jpg", "a/1.jpg", "B/1.jpg", "10/1.jpg", "9/1.jpg", "é/1.jpg")
    assert opened(root).classes == ("10", "9", "B", "a", "b", "é")


@pytest.mark.parametrize("where", ["", "train/", "train/cat/", "train/cat/deep/"])
def test_a_hidden_folder_is_named_and_not_entered(make_files: MakeFiles, where: str) -> None:
    root = make_files(f"{where}.hidden/a-checkpoint.jpg", f"{where}a.jpg")
    assert [item.name for item in samples(root)] == [f"{where}a.jpg"]
    assert skipped(root) == {f"{where}.hidden": "it is a hidden folder"}
    assert opened(root).classes == (("cat",) if "cat" in where else ())


def test_what_does_not_look_like_an_image_is_ignored_with_a_name(make_files: MakeFiles) -> None:
    root = make_files("cat/a.jpg", "cat/notes.txt", "cat/empty", "cat/b.npy", "about.md", "stray")
    (root / "cat/empty").write_bytes(b"")
    found = [item for item in opened(root).scan() if isinstance(item, Skipped)]
    assert {item.name: item.ignored for item in found} == {
        **dict.fromkeys(("cat/notes.txt", "cat/empty", "about.md"), True),
        "cat/b.npy": False,  # it may be data
        "stray": False,  # it begins as an image
    }


def test_an_image_is_known_by_its_first_bytes_or_its_name(make_files: MakeFiles) -> None:
    begins = [b"\xff\xd8\xff", b"\x89PNG", b"BM", b"II*\0", b"MM\0+", b"P5 1", b"RIFF\0\0\0\0WEBP"]
    root = make_files("0.jpg", "1.HEIC", "2.tif", *(f"{n + 3}.bin" for n in range(len(begins))))
    for number, begin in enumerate(begins, 3):
        (root / f"{number}.bin").write_bytes(begin)
    assert len(samples(root)) == 3 + len(begins)
    (root / "x.bin").write_bytes(b"RIFF\0\0\0\0WAVE")
    assert set(skipped(root)) == {"x.bin"}


def test_a_second_file_for_a_member_is_rejected(make_files: MakeFiles) -> None:
    root = make_files("a.jpg", "a.JSON", "a.json")
    (item,) = [item for item in opened(root).scan() if isinstance(item, Skipped)]
    assert item == Skipped("a.json", "its image has another .json")


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
    assert opened(root).classes == ()
    assert [(item.name, item.label) for item in samples(root)] == [
        ("C.jpg", -1),
        ("a.jpg", -1),
        ("b.jpg", -1),
    ]


def test_a_split_without_images_is_named(make_files: MakeFiles) -> None:
    root = make_files("train/cat/a.jpg", "val/cat/b.jpg")
    (root / "test/cat").mkdir(parents=True)
    (root / "valid").mkdir()
    (root / "val").rename(root / "dev")
    found = [item for item in opened(root).scan() if isinstance(item, Skipped)]
    assert [(item.name, item.ignored) for item in found] == [("test/", True), ("valid/", True)]
    assert {item.reason for item in found} == {"it is the folder of a split and holds no images"}


def test_an_empty_folder_holds_nothing(tmp_path: Path) -> None:
    assert list(opened(tmp_path).scan()) == []


def test_class_folders_without_images_are_named(make_files: MakeFiles) -> None:
    root = make_files("cat/a.jpg", "litter/.DS_Store")
    (root / "dog" / "deep").mkdir(parents=True)
    (root / "empty").mkdir()
    (root / "empty" / "a.jpg").touch()
    skipped = [item for item in opened(root).scan() if isinstance(item, Skipped)]
    empty = [item for item in skipped if item.class_name]
    assert [item.class_name for item in empty] == ["dog", "empty", "litter"]
    assert [item.name for item in empty] == ["dog/", "empty/", "litter/"]
    assert not any(item.ignored for item in empty)


def test_files_beside_class_folders_are_skipped_by_name(make_files: MakeFiles) -> None:
    root = make_files("cat/a.jpg", "stray.jpg", "readme.txt")
    assert {item.name for item in samples(root)} == {"cat/a.jpg"}
    assert set(skipped(root)) == {"stray.jpg", "readme.txt"}
    assert "beside the class folders" in skipped(root)["stray.jpg"]


def test_the_litter_of_operating_systems_is_ignored(make_files: MakeFiles) -> None:
    root = make_files("cat/a.jpg", "cat/.DS_Store", "cat/Thumbs.db", ".DS_Store", "desktop.ini")
    found = [item for item in opened(root).scan() if isinstance(item, Skipped)]
    assert {item.name for item in found if item.ignored} == {
        "cat/.DS_Store",
        "cat/Thumbs.db",
        ".DS_Store",
        "desktop.ini",
    }
    assert len(found) == 4


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


@pytest.mark.parametrize("target", [".", "..", "/"])
def test_a_loop_beside_class_folders_is_skipped_by_name(make_files: MakeFiles, target: str) -> None:
    root = make_files("cat/a.jpg")
    (root / "loop").symlink_to(target)
    assert opened(root).classes == ("cat",)
    assert [item.name for item in samples(root)] == ["cat/a.jpg"]
    assert "loop" in skipped(root)["loop"]


def test_a_loop_in_a_flat_folder_is_skipped_by_name(make_files: MakeFiles) -> None:
    root = make_files("a.jpg")
    (root / "loop").symlink_to(".")
    assert [item.name for item in samples(root)] == ["a.jpg"]
    assert set(skipped(root)) == {"loop"}


@pytest.mark.parametrize("target", [".", "..", "../..", "deep"])
def test_a_loop_within_a_class_is_skipped_by_name(make_files: MakeFiles, target: str) -> None:
    root = make_files("cat/a.jpg", "cat/deep/b.jpg")
    (root / "cat" / "deep" / "loop").symlink_to(Path("..") / target)
    assert [item.name for item in samples(root)] == ["cat/a.jpg", "cat/deep/b.jpg"]
    assert set(skipped(root)) == {"cat/deep/loop"}


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


def test_the_key_is_the_path_without_its_extension(make_files: MakeFiles) -> None:
    root = make_files("cat/a.jpg", "cat/x.jpg", "cat/x.png", "dog.v2/deep/a.b.JPEG")
    assert [sample.key for sample in samples(root)] == [
        *("cat/a", "cat/x%2Ejpg", "cat/x%2Epng"),
        "dog.v2/deep/a%2Eb",
    ]


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


def test_sidecars_are_members_of_their_images_sample(make_files: MakeFiles) -> None:
    root = make_files("cat/a.jpg", "cat/a.JSON", "cat/a.mask.png", "cat/b.jpg", "cat/b.txt")
    a, b = samples(root)
    assert (a.key, a.members, a.size) == ("cat/a", ("json", "mask.png"), 3)
    assert (b.key, b.members, b.size) == ("cat/b", ("txt",), 2)
    (root / "cat/a.JSON").write_bytes(b"{}")
    os.utime(root / "cat/a.JSON", ns=(0, 5))
    (a, _) = samples(root)
    content = opened(root).files.read(a)
    assert content == Content(b"x", {"json": b"{}", "mask.png": b"x"})


def test_a_sidecar_that_changes_after_the_scan_is_noticed(make_files: MakeFiles) -> None:
    root = make_files("cat/a.jpg", "cat/a.txt")
    (sample,) = samples(root)
    (root / "cat/a.txt").write_bytes(b"longer")
    with pytest.raises(BadImage, match="changed"):
        opened(root).files.read(sample)


def test_the_sidecars_of_a_rejected_image_are_named_too(make_files: MakeFiles) -> None:
    root = make_files("cat/a.jpg", "cat/a.txt", "cat/b.jpg")
    (root / "cat/a.jpg").write_bytes(b"")
    assert set(skipped(root)) == {"cat/a.jpg", "cat/a.txt"}
    assert "cat/a.jpg" in skipped(root)["cat/a.txt"]


def test_a_sidecar_that_cannot_be_packed_costs_no_image(make_files: MakeFiles) -> None:
    root = make_files("cat/a.jpg", "cat/b.jpg")
    (root / "cat/a.txt").symlink_to("missing")
    os.mkfifo(root / "cat/b.txt")
    assert [(item.name, item.members) for item in samples(root)] == [
        ("cat/a.jpg", ()),
        ("cat/b.jpg", ()),
    ]
    assert set(skipped(root)) == {"cat/a.txt", "cat/b.txt"}


def test_a_cls_file_labels_an_image_of_a_flat_folder(make_files: MakeFiles) -> None:
    root = make_files("a.jpg", "b.jpg", "c.jpg", "c.cls")
    (root / "a.cls").write_text("7\n")
    assert [(item.name, item.label, item.members) for item in samples(root)] == [
        ("a.jpg", 7, ()),
        ("b.jpg", -1, ()),
        ("c.jpg", -1, ()),
    ]
    assert "no class number" in skipped(root)["c.cls"]


def test_a_cls_file_that_holds_more_than_a_number_is_named(make_files: MakeFiles) -> None:
    root = make_files("a.jpg", "b.jpg")
    (root / "a.cls").write_bytes(b"7".ljust(21))
    os.mkfifo(root / "b.cls")
    assert skipped(root) == {
        "a.cls": "it has more than 20 bytes, too many for a class number",
        "b.cls": "it is not a regular file",
    }
    assert {item.name: item.label for item in samples(root)} == {"a.jpg": -1, "b.jpg": -1}


def test_a_cls_file_has_no_say_in_a_class_folder(make_files: MakeFiles) -> None:
    root = make_files("cat/a.jpg", "cat/a.cls")
    assert [item.label for item in samples(root)] == [0]
    assert "the name of the folder" in skipped(root)["cat/a.cls"]


def test_folders_named_train_val_and_test_are_splits_with_the_same_classes(
    make_files: MakeFiles,
) -> None:
    root = make_files("train/cat/a.jpg", "train/dog/a.jpg", "val/dog/a.jpg", "test/a.jpg", "odd")
    assert opened(root).classes == ("cat", "dog")
    assert [(item.split, item.key, item.label) for item in samples(root)] == [
        ("test", "test/a", -1),
        ("train", "train/cat/a", 0),
        ("train", "train/dog/a", 1),
        ("val", "val/dog/a", 1),
    ]
    assert "beside the folders of the splits" in skipped(root)["odd"]


def test_a_class_named_train_among_others_is_a_class(make_files: MakeFiles) -> None:
    root = make_files("train/a.jpg", "bus/a.jpg")
    assert opened(root).classes == ("bus", "train")


def test_given_classes_fix_the_order_and_may_lack_images(make_files: MakeFiles) -> None:
    root = make_files("cat/a.jpg", "dog/a.jpg")
    source = opened(root, ["dog", "fox", "cat"])
    assert source.classes == ("dog", "fox", "cat")
    labels = [item.label for item in source.scan() if isinstance(item, Sample)]
    assert labels == [2, 0]


def test_a_class_folder_that_is_not_among_the_given_classes_is_refused(
    make_files: MakeFiles,
) -> None:
    with pytest.raises(UnusableInput, match="not in the list of classes: dog"):
        opened(make_files("cat/a.jpg", "dog/a.jpg"), ["cat"])


def test_many_missing_classes_are_told_in_a_few_words(make_files: MakeFiles) -> None:
    root = make_files(*(f"class{number:03}/a.jpg" for number in range(500)))
    with pytest.raises(UnusableInput, match=r": class000, .*, class019 and 480 more\.$"):
        opened(root, ["cat"])


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


def test_a_member_is_not_named_twice_after_its_extension(make_files: MakeFiles) -> None:
    root = make_files("a.jpg", "../labels/a.txt")
    source = opened(root, pairs={"txt": "../labels"})
    assert [item.members for item in source.scan() if isinstance(item, Sample)] == [("txt",)]


def test_an_image_may_be_without_an_optional_member(make_files: MakeFiles) -> None:
    root = make_files("a.jpg", "b.jpg", "../labels/a.txt", "../labels/c.txt", "../masks/b.png")
    source = opened(root, pairs={"txt?": "../labels", "mask?": "../masks"})
    records = list(source.scan())
    members = {item.key: item.members for item in records if isinstance(item, Sample)}
    assert members == {"a": ("txt",), "b": ("mask.png",)}
    assert [item.name for item in records if isinstance(item, Skipped)] == ["../labels/c.txt"]


def test_no_paired_file_is_passed_over_in_silence(make_files: MakeFiles) -> None:
    """Beside the splits, for two images of one name, or in the place of a file beside the image."""
    images = ("train/a.jpg", "train/b.jpg", "train/b.png", "val/c.jpg", "val/c.txt")
    labels = ("train.cache", "classes.txt", "train/a.txt", "train/b.txt", "val/c.txt")
    root = make_files(*images, *(f"../labels/{name}" for name in labels))
    source = opened(root, pairs={"txt?": "../labels"})
    records = list(source.scan())
    found = {item.name: item for item in records if isinstance(item, Skipped)}
    assert {name for name, item in found.items() if item.ignored} == {
        "../labels/train.cache",
        "../labels/classes.txt",
    }
    assert {name: item.reason for name, item in found.items() if not item.ignored} == {
        "../labels/train/b.txt": "more than one image has its name",
        "val/c.txt": "'../labels/val/c.txt' takes its place as .txt",
    }
    assert [item.members for item in records if isinstance(item, Sample)] == [
        *(("txt",), (), (), ("txt",))
    ]


def test_images_and_paired_files_without_each_other_are_named(make_files: MakeFiles) -> None:
    root = make_files("a.jpg", "b.jpg", "b.txt", "../masks/a.png", "../masks/c.png")
    (root / "../masks/deep").mkdir()
    (root / "../masks/deep/d.png").write_bytes(b"x")
    source = opened(root, pairs={"mask": "../masks"})
    records = list(source.scan())
    assert [item.key for item in records if isinstance(item, Sample)] == ["a"]
    reasons = {item.name: item.reason for item in records if isinstance(item, Skipped)}
    assert "no mask: there is no ../masks/b" in reasons["b.jpg"]
    assert "no mask: there is no ../masks/b" in reasons["b.txt"]
    assert "no image" in reasons["../masks/c.png"]
    assert "no image" in reasons["../masks/deep/d.png"]


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
