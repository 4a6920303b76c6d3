import errno
import gc
import os
import re
import shutil
import tempfile
import warnings
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import numpy as np
import PIL
import pytest
import simplejpeg
import webdataset
from finished import verify
from hypothesis import given, settings
from hypothesis import strategies as st
from image_folder import image_folder
from made_images import encode, make_folder, make_image, turned, write_files
from packing import files_of, pack, run_pack, samples_of
from PIL import Image
from safetensors import safe_open
from safetensors.numpy import load_file

import packer
from packer.errors import NothingToPack, PackingFailed, Rejected, UnusableInput
from packer.images import tiling
from packer.images.tiling import compiling
from packer.keys import unescape
from packer.options.declared import PackOptions, SourceOptions
from packer.progress import Progress
from packer.run.report import PackReport
from reader.format import FormatError, Index, Manifest

Zoo = tuple[Path, dict[str, bytes], dict[str, str]]
PackedZoo = tuple[Path, PackReport]

WRONG_EXTENSIONS = {"JPEG": "cat/jpeg.png", "PNG": "cat/png.jpg", "WEBP": "cat/webp.bmp"}
WRONG_EXTENSIONS |= {"BMP": "cat/bmp.gif", "GIF": "cat/gif.webp", "TIFF": "cat/tiff.ppm"}
WRONG_EXTENSIONS["PPM"] = "cat/ppm.tiff"
ODD_NAMES = [
    *("cat/a.b.jpg", "cat/a.c.jpg", "cat/x.jpg", "cat/x.png", "cat/with some space.jpg"),
    *("cat/猫.jpg", os.fsdecode(b"cat/\xff\xe9.jpg"), "cat/line\nbreak.jpg", "cat/50%.jpg"),
    *("cat/case.jpg", "cat/CASE.jpg", "cat/Case.JPG", "cat/noextension", "cat/.hidden.jpg"),
    *("dog v1.0/deep/deeper/a.jpg", "狗/" + "狗" * 80 + "/" + "长" * 80 + ".jpg"),
    *("cat/" + "d" * 200 + "/" + "n" * 240 + ".jpg", os.fsdecode(b"caf\xe9/a.jpg")),
    *("__init__/a.jpg", "__/a.jpg", "a.b/a.jpg", "%/a.jpg"),
]


@pytest.fixture(scope="module")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Zoo:
    """A folder with everything that people's folders hold: it, its good files, its bad files."""
    root = tmp_path_factory.mktemp("zoo") / "images"
    image = make_image(7, 40, 50)
    whole = {kind: encode(image, kind) for kind in WRONG_EXTENSIONS}
    good = {name: whole[kind] for kind, name in WRONG_EXTENSIONS.items()}
    good |= {name: encode(make_image(seed), "JPEG") for seed, name in enumerate(ODD_NAMES)}
    for kind in ("JPEG", "PNG"):
        good[f"dog v1.0/turned {kind}"] = encode(image, kind, exif=turned(6))
    bad = {f"cat/cut.{kind}": whole[kind][: len(whole[kind]) // 2] for kind in WRONG_EXTENSIONS}
    bad |= {"cat/text.jpg": b"some text", "cat/empty.jpg": b"", "stray.jpg": whole["JPEG"]}
    write_files(root, good | bad)
    (root / "cat" / ".DS_Store").write_bytes(b"litter")
    os.mkfifo(root / "cat" / "fifo.jpg")
    links = {"cat/nowhere.jpg": "missing", "cat/itself.jpg": "itself.jpg", "cat/loop": ".."}
    links |= {"loop": ".", "dog v1.0/deep/loop": "../deep"}
    for name, target in links.items():
        (root / name).symlink_to(target)
    (root / "cat" / "linked.jpg").symlink_to("x.jpg")
    good["cat/linked.jpg"] = good["cat/x.jpg"]
    reasons = dict.fromkeys(bad, "damaged or cut short|not an image")
    reasons |= {"cat/text.jpg": "not an image", "cat/empty.jpg": "empty", "stray.jpg": "beside"}
    reasons |= {"cat/fifo.jpg": "regular file", "cat/nowhere.jpg": "leads nowhere"}
    reasons |= {"cat/itself.jpg": "symbolic link", "cat/loop": "loop", "loop": "loop"}
    reasons |= {"dog v1.0/deep/loop": "loop"}
    return root, good, reasons


@pytest.fixture(scope="module")
def packed_zoo(tmp_path_factory: pytest.TempPathFactory, zoo: Zoo) -> PackedZoo:
    dst = tmp_path_factory.mktemp("packed") / "zoo"
    report = run_pack(zoo[0], dst, jobs=2, skip_rejected=True, shard_samples=5, jpeg="verbatim")
    return dst, report


def read_with_webdataset(dst: Path) -> dict[str, tuple[bytes, int]]:
    """The image and the label of every sample by its key, as stock WebDataset has them."""
    urls = [str(path) for path in sorted(dst.glob("*.tar"))]
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # it leaves its files to be collected
        for sample in webdataset.WebDataset(urls, shardshuffle=False):
            (image,) = [data for ext, data in sample.items() if ext[0] != "_" and ext != "cls"]
            assert sample["__key__"] not in found
            found[sample["__key__"]] = image, int(sample.get("cls", -1))
        gc.collect()
    return found


def stamps(folder: Path) -> dict[str, tuple[int, int]]:
    """What changes if a file is written anew."""
    return {path.name: (path.stat().st_ino, path.stat().st_mtime_ns) for path in folder.iterdir()}


def test_every_good_file_is_packed_with_its_own_bytes(zoo: Zoo, packed_zoo: PackedZoo) -> None:
    samples = samples_of(packed_zoo[0])
    assert len(samples) == len(zoo[1])
    assert {sample.name: sample.data for sample in samples} == zoo[1]


def test_every_bad_file_is_named_with_its_reason(zoo: Zoo, packed_zoo: PackedZoo) -> None:
    rejected = dict(packed_zoo[1].rejected)
    assert len(rejected) == len(packed_zoo[1].rejected)
    assert rejected.keys() == zoo[2].keys()
    for name, reason in zoo[2].items():
        assert re.search(reason, rejected[name]), name
    assert Manifest.load(packed_zoo[0]).rejected == len(rejected)
    assert [name for name, _ in packed_zoo[1].ignored] == ["cat/.DS_Store"]


def test_every_sample_has_a_key_of_its_own_that_gives_back_its_name(packed_zoo: PackedZoo) -> None:
    samples = samples_of(packed_zoo[0])
    assert len({sample.key for sample in samples}) == len(samples)
    for sample in samples:
        assert unescape(sample.key) in (sample.name, os.path.splitext(sample.name)[0])


def test_the_index_tells_orientation_and_size(packed_zoo: PackedZoo) -> None:
    turned = [sample for sample in samples_of(packed_zoo[0]) if "turned" in sample.name]
    assert [(sample.orientation, sample.size) for sample in turned] == [(6, (40, 50))] * 2


def test_stock_webdataset_reads_every_sample(zoo: Zoo, packed_zoo: PackedZoo) -> None:
    classes = sorted({name.split("/")[0] for name in zoo[1]}, key=os.fsencode)
    assert list(Manifest.load(packed_zoo[0]).classes) == classes
    expected = {
        sample.key: (zoo[1][sample.name], classes.index(sample.name.split("/")[0]))
        for sample in samples_of(packed_zoo[0])
    }
    assert len(expected) == len(zoo[1])
    assert read_with_webdataset(packed_zoo[0]) == expected


def test_tiling_changes_no_pixel_for_any_number_of_processes(tmp_path: Path, zoo: Zoo) -> None:
    for jobs in (1, 3):
        run_pack(zoo[0], tmp_path / str(jobs), jobs, skip_rejected=True, shard_samples=7)
    assert files_of(tmp_path / "1") == files_of(tmp_path / "3")
    samples = samples_of(tmp_path / "1")
    assert len(samples) == len(zoo[1])
    for sample in samples:
        source = zoo[1][sample.name]
        if sample.kind == "jpg":
            pixels = simplejpeg.decode_jpeg(sample.data)
            np.testing.assert_array_equal(pixels, simplejpeg.decode_jpeg(source))
        else:
            assert sample.data == source


def test_bad_files_stop_a_run_before_it_writes_and_one_process_writes_what_two_do(
    dst: Path, zoo: Zoo, packed_zoo: PackedZoo
) -> None:
    with pytest.raises(Rejected, match="do not belong to it") as caught:
        run_pack(zoo[0], dst, shard_samples=5, jpeg="verbatim")
    assert {name for name, _ in caught.value.files} < zoo[2].keys()
    assert not dst.exists(), "the scan alone has shown it"
    run_pack(zoo[0], dst, shard_samples=5, jpeg="verbatim", skip_rejected=True)
    assert files_of(dst) == files_of(packed_zoo[0])


def test_class_folders_without_images_need_a_list_of_classes(dst: Path, own_source: Path) -> None:
    for name in ("empty", "void"):
        (own_source / name).mkdir()
    with pytest.raises(Rejected, match="leave out the classes") as caught:
        packer.pack(own_source, dst, progress=False)
    assert [name for name, _ in caught.value.files] == ["empty/", "void/"]
    assert {"on_error", "classes"} <= set(re.findall(r"\w+", str(caught.value)))
    assert not (dst).exists()
    names = ["void", "empty", "class0", "class1", "class2"]
    packer.pack(own_source, dst, progress=False, classes=names, jpeg="verbatim")
    assert Manifest.load(dst).classes == tuple(names)


def test_a_second_run_does_nothing_and_reports_the_same(dst: Path, source: Path) -> None:
    first = run_pack(source, dst, shard_samples=10)
    before = stamps(dst)
    second = run_pack(source, dst, jobs=2, shard_samples=10)
    assert stamps(dst) == before
    assert (first.shards_written, second.shards_written) == (4, 0)
    written = sum(path.stat().st_size for path in (dst).glob("shard-*"))
    for report in (first, second):
        assert (report.samples, report.classes, report.shards) == (39, 3, 4)
        assert (report.bytes, report.rejected, report.ignored) == (written, [], [])


def test_the_library_of_safetensors_reads_every_index(packed_zoo: PackedZoo) -> None:
    paths = sorted(packed_zoo[0].glob("*.safetensors"))
    assert paths
    for path in paths:
        index, theirs = Index(path), load_file(path)
        assert theirs.keys() == index.columns.keys()
        for name, column in theirs.items():
            np.testing.assert_array_equal(column, index.columns[name])
        with safe_open(path, "numpy") as file:
            assert file.metadata() == index.metadata


def test_a_copy_of_a_source_gives_the_same_files(dst: Path, own_source: Path, packed: Path) -> None:
    for path in own_source.rglob("*.jpg"):
        os.utime(path, ns=(0, 10**18))
    run_pack(own_source, dst, shard_samples=10)
    assert files_of(dst) == files_of(packed)


def test_a_packed_folder_holds_shards_indexes_and_dataset_json_alone(packed: Path) -> None:
    shards = [f"shard-{number:06d}" for number in range(4)]
    assert sorted(path.name for path in packed.iterdir()) == [
        "dataset.json",
        *(f"{shard}.{ext}" for shard in shards for ext in ("safetensors", "tar")),
    ]


def test_unshuffled_samples_have_the_order_of_imagefolder(dst: Path, own_source: Path) -> None:
    deep = own_source / "class1"
    for folder, number in (("b", 3), ("a-b", 4), ("a", 5), ("a/c", 6)):
        (deep / folder).mkdir(exist_ok=True)
        (deep / f"image{number:03d}.jpg").rename(deep / folder / "image.jpg")
    run_pack(own_source, dst, seed=None, shard_samples=4)
    samples = samples_of(dst)
    assert [(s.name, s.label) for s in samples] == list(image_folder(own_source))
    assert Manifest.load(dst).classes == ("class0", "class1", "class2")


def test_a_shuffle_mixes_the_classes_and_keeps_the_labels(source: Path, packed: Path) -> None:
    samples = samples_of(packed)
    labels = [sample.label for sample in samples]
    assert sorted((s.name, s.label) for s in samples) == sorted(image_folder(source))
    assert labels != sorted(labels)
    assert all(sample.label_data == b"%d" % sample.label for sample in samples)


def test_folders_without_images_can_be_skipped(dst: Path, own_source: Path, packed: Path) -> None:
    (own_source / "an empty class").mkdir()
    write_files(own_source, {"class01/deep/empty.jpg": "", ".hidden/image-checkpoint.jpg": "x"})
    report = run_pack(own_source, dst, skip_rejected=True, shard_samples=10)
    assert dict(report.rejected) == {
        ".hidden": "it is a hidden folder",
        "an empty class/": "it is a class folder without images",
        "class01/": "it is a class folder whose images are all rejected",
        "class01/deep/empty.jpg": "it is empty",
    }
    assert Manifest.load(dst).classes == ("class0", "class1", "class2")
    tars = {name: data for name, data in files_of(packed).items() if name.endswith(".tar")}
    assert tars.items() <= files_of(dst).items()


def test_a_class_of_damaged_files_keeps_its_number(tmp_path: Path, own_source: Path) -> None:
    (own_source / "class00").mkdir()
    (own_source / "class00" / "a.jpg").write_text("text")
    with pytest.raises(Rejected):
        run_pack(own_source, tmp_path / "dst")
    for shards in (1, 0):
        report = run_pack(own_source, tmp_path / "other", skip_rejected=True)
        assert (report.samples, report.shards_written) == (39, shards)
        assert [name for name, _ in report.rejected] == ["class00/a.jpg"]
        remark, _ = report.remarks
        assert remark.endswith("keep their numbers: class00.")
    assert Manifest.load(tmp_path / "other").classes == ("class0", "class00", "class1", "class2")
    assert {sample.label for sample in samples_of(tmp_path / "other")} == {0, 2, 3}


def test_a_source_of_damaged_files_alone_is_refused(tmp_path: Path) -> None:
    write_files(tmp_path / "src", {f"{number:02}.jpg": "text" for number in range(12)})
    with pytest.raises(NothingToPack, match="12 files: it is not an image") as caught:
        run_pack(tmp_path / "src", tmp_path / "dst", skip_rejected=True)
    assert len(caught.value.files) == 12
    assert not (tmp_path / "dst" / "dataset.json").exists()


def test_what_the_scan_rejects_is_told_before_packing(dst: Path, own_source: Path) -> None:
    (own_source / "class0" / "empty.jpg").touch()
    told = []

    class Told(Progress):
        def rejected(self, files: Collection[tuple[str, str]]) -> None:
            told.append((files, dst.exists()))

    pack(own_source, dst, PackOptions(), 1, skip_rejected=True, progress=Told(quiet=True))
    assert told == [([("class0/empty.jpg", "it is empty")], False)]


def test_a_folder_that_may_not_be_read_is_named_as_such(
    monkeypatch: pytest.MonkeyPatch, dst: Path, own_source: Path
) -> None:
    scandir = os.scandir

    def refuse(path: str) -> Any:
        if str(path).endswith("class1"):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(Rejected) as caught:
        run_pack(own_source, dst)
    named = [(name, reason) for name, reason in caught.value.files if "class1" in name]
    assert named == [("class1", "the folder cannot be read: Permission denied")]
    with pytest.raises(UnusableInput, match=r"class1 .*: Permission denied"):
        run_pack(own_source / "class1", dst)


@pytest.mark.parametrize(
    "options",
    [
        *({"seed": 1}, {"seed": None}, {"shard_samples": 11}, {"shard_size": 10**8}),
        *({"jpeg": "verbatim"}, {"max_side": 50}, {"quality": 80}),
    ],
    ids=str,
)
def test_other_options_are_refused(source: Path, packed: Path, options: dict[str, Any]) -> None:
    before = stamps(packed)
    (name,) = options
    with pytest.raises(UnusableInput, match=rf"packed with other options: {name} \(.* now\)\. "):
        run_pack(source, packed, **{"shard_samples": 10, **options})
    assert stamps(packed) == before


def rewrite(root: Path) -> None:
    """Other contents of the same size."""
    path = root / "class0" / "image000.jpg"
    path.write_bytes(path.read_bytes()[::-1])


@pytest.mark.parametrize(
    "change",
    [
        lambda root: (root / "class0" / "image000.jpg").unlink(),
        lambda root: shutil.copy(root / "class0" / "image000.jpg", root / "class0" / "new.jpg"),
        lambda root: (root / "class0").rename(root / "class9"),
        lambda root: (root / "class0" / "image000.jpg").rename(root / "class0" / "renamed.jpg"),
        rewrite,
    ],
    ids=["removed", "added", "class renamed", "file renamed", "rewritten"],
)
def test_a_changed_source_is_refused_and_nothing_is_touched(
    own_source: Path, packed: Path, change: Callable[[Path], object]
) -> None:
    before = stamps(packed)
    change(own_source)
    with pytest.raises(UnusableInput, match="--overwrite to"):
        run_pack(own_source, packed, skip_rejected=True, shard_samples=10)
    assert stamps(packed) == before


def test_overwriting_keeps_foreign_files(dst: Path, source: Path, packed: Path) -> None:
    run_pack(source, dst, shard_samples=1, seed=5)
    names = "notes.txt", "photos.tar", "shard-notes.tar", "shard-0.txt", "sub/shard-000000.tar"
    foreign = dict.fromkeys(names, b"mine")
    write_files(dst, foreign)
    pack(source, dst, PackOptions(shard_samples=10), jobs=1, overwrite=True)
    assert files_of(dst) == files_of(packed) | foreign


def test_a_damaged_dataset_can_be_overwritten(tmp_path: Path, source: Path, packed: Path) -> None:
    dst = shutil.copytree(packed, tmp_path / "dst")
    (dst / "dataset.json").write_text("{")
    with pytest.raises(FormatError, match="damaged"):
        run_pack(source, dst, shard_samples=10)
    pack(source, dst, PackOptions(shard_samples=10), jobs=1, overwrite=True)
    assert files_of(dst) == files_of(packed)


@pytest.mark.parametrize("where", [".", "dst", "class0/dst", "../linked/dst"])
def test_a_destination_within_the_source_is_refused(own_source: Path, where: str) -> None:
    (own_source.parent / "linked").symlink_to(own_source)
    with pytest.raises(UnusableInput, match=r"(is|is inside .*,) the folder to pack"):
        run_pack(own_source, own_source / where)
    assert sorted(path.name for path in own_source.iterdir()) == ["class0", "class1", "class2"]


def test_a_repeated_record_is_refused_with_both_lines(tmp_path: Path, own_source: Path) -> None:
    table = tmp_path / "t.csv"
    names = sorted(str(path) for path in own_source.rglob("*.jpg"))
    table.write_text("\n".join(["image", *names, names[1]]) + "\n")
    with pytest.raises(Rejected, match="Remove one of the records that name the same") as caught:
        run_pack(table, tmp_path / "dst")
    ((where, reason),) = caught.value.files
    assert where == f"t.csv:{len(names) + 2}"
    assert "t.csv:3" in reason
    report = run_pack(table, tmp_path / "dst", skip_rejected=True)
    assert report.rejected
    assert not any("--append" in remark for remark in report.remarks)


def test_skipping_is_proposed_only_for_few_damaged_files(dst: Path, own_source: Path) -> None:
    def refusal() -> str:
        with pytest.raises(Rejected) as caught:
            run_pack(own_source, dst)
        return str(caught.value)

    (own_source / "class0" / "bad.jpg").write_bytes(b"")
    assert "--on-error skip" in refusal()
    (own_source / "scores.mat").write_bytes(b"x")
    assert "--on-error skip" not in refusal()
    (own_source / "scores.mat").unlink()
    for path in own_source.rglob("*.jpg"):
        path.write_bytes(b"")
    (own_source / "class0" / "good.jpg").write_bytes(b"\xff\xd8\xff")
    assert "--on-error skip" not in (said := refusal())
    assert said.startswith("Nothing was packed, because")


def test_wrong_annotations_and_pixels_are_named_in_one_run(tmp_path: Path, source: Path) -> None:
    root, dst = tmp_path / "root", tmp_path / "dst"
    image = (source / "class0" / "image000.jpg").read_bytes()
    write_files(root, {f"images/{number}.jpg": image for number in range(7)})
    write_files(root, {f"labels/{number}.txt": "0 0.5 0.5 0.2 0.2\n" for number in range(8)})
    others = {"data.yaml": "train: images\nnc: 80\n", "images/7.jpg": image[:400]}
    others["labels/3.txt"] = "0 0.5 0.5 0.2 0.2\n\n99 0.5 0.5 0.2 0.2\n"
    write_files(root, others)
    with pytest.raises(Rejected, match=r"Or leave them out: packer pack .* --on-error skip") as got:
        run_pack(root, dst, shard_samples=2)
    reasons = dict(got.value.files)
    assert reasons.keys() == {f"images/{n}.jpg" for n in (3, 7)} | {
        f"labels/{n}.txt" for n in (3, 7)
    }
    assert reasons["images/3.jpg"].startswith("'labels/3.txt', line 3: class 99 of 80")
    assert reasons["images/7.jpg"].startswith("it is damaged")
    report = run_pack(root, dst, shard_samples=2, skip_rejected=True)
    assert report.rejected == got.value.files
    assert report.shards_written == 0, "the refused run has kept its shards"
    assert Manifest.load(dst).rejected == len(reasons)


@pytest.mark.parametrize(
    ("is_mended", "cap"),
    [(True, {"shard_samples": 4}), (False, {"shard_size": 20_000})],
    ids=["mended", "removed"],
)
def test_a_run_that_was_stopped_keeps_what_is_right_once_its_files_are_mended(
    tmp_path: Path, own_source: Path, is_mended: bool, cap: dict[str, int]
) -> None:
    dst, bad = tmp_path / "dst", own_source / "class0" / "bad.jpg"
    image = own_source / "class0" / "image000.jpg"
    bad.write_bytes(image.read_bytes()[:-300])
    with pytest.raises(Rejected, match="pack again; finished shards that are"):
        run_pack(own_source, dst, **cap)
    before = stamps(dst)
    if is_mended:
        bad.write_bytes(image.read_bytes())
    else:
        bad.unlink()
    report = run_pack(own_source, dst, **cap)
    assert (report.samples, report.rejected) == (39 + is_mended, [])
    kept = sum(stamps(dst).get(name) == stamp for name, stamp in before.items() if "tar" in name)
    assert kept == report.shards - report.shards_written > 0
    assert report.shards_written == 1 or not is_mended
    run_pack(own_source, tmp_path / "anew", **cap)
    assert files_of(dst) == files_of(tmp_path / "anew")


@given(
    changes=st.dictionaries(st.integers(0, 11), st.sampled_from(["gone", "touched", "other"])),
    added=st.integers(0, 5),
    cap=st.sampled_from([{"shard_samples": 3}, {"shard_size": 12_000}]),
)
@settings(deadline=None, max_examples=12)
def test_a_stopped_run_goes_on_with_a_changed_source_to_the_bytes_of_a_fresh_one(
    changes: dict[int, str], added: int, cap: dict[str, int]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root, dst = make_folder(Path(folder, "src"), images=4), Path(folder, "dst")
        paths, bad = sorted(root.rglob("*.jpg")), root / "class0" / "bad.jpg"
        bad.write_text("text")
        options: dict[str, Any] = {"source": SourceOptions(kind="folder"), "jpeg": "verbatim"} | cap
        with pytest.raises(Rejected):
            run_pack(root, dst, **options)
        image = paths[3].read_bytes()
        for label in range(3):
            (root / f"class{label}" / "stays.jpg").write_bytes(image)
        for number in range(added):
            (root / "class1" / f"new{number}.jpg").write_bytes(image)
        bad.unlink()
        for number, change in changes.items():
            if change == "gone":
                paths[number].unlink()
            elif change == "touched":
                os.utime(paths[number], ns=(0, 10**18))
            else:
                paths[number].write_bytes(image)
        run_pack(root, dst, **options)
        run_pack(root, Path(folder, "anew"), **options)
        assert files_of(dst) == files_of(Path(folder, "anew"))


def test_the_versions_of_what_tiles_are_told_and_other_ones_do_not_go_on(
    dst: Path, own_source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = own_source / "class0" / "bad.jpg"
    bad.write_bytes(bytes(100) + b"\xff\xd8")
    with pytest.raises(Rejected):
        run_pack(own_source, dst)
    with monkeypatch.context() as patch:
        others = f"has tiler another instead of {tiling.VERSION}"
        patch.setattr(tiling, "VERSION", "another")
        with pytest.raises(UnusableInput, match=f"unfinished run .* {others}\\. .* install"):
            run_pack(own_source, dst, skip_rejected=True)
    run_pack(own_source, dst, skip_rejected=True)
    assert Manifest.load(dst).transcoders["tiler"] == tiling.VERSION
    assert not verify(dst, 1).damages


def test_what_looks_at_every_image_is_named_with_its_version(tmp_path: Path, source: Path) -> None:
    used = {"Pillow": PIL.__version__, "simplejpeg": simplejpeg.__version__}
    for options in ({"jpeg": "verbatim", "png": "verbatim"}, {"raw": (8, 8)}):
        dst = tmp_path / next(iter(options))
        run_pack(source / "class0", dst, **options)
        assert Manifest.load(dst).transcoders == used


def test_compiling_is_announced_once_and_only_where_jpegs_are_tiled(
    tmp_path: Path,
    source: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(compiling, "is_complete", lambda: False)
    png = write_files(tmp_path / "pngs", {"one.PNG": make_image(0, 20, 30)}) / "one.PNG"
    jpeg = next(source.rglob("*.jpg"))
    packer.pack(png.parent, tmp_path / "files")
    packer.pack(iter([{"image": str(png)}]), tmp_path / "items")
    packer.pack(source / "class0", tmp_path / "verbatim", jpeg="verbatim")
    assert "Compiling" not in capsys.readouterr().err
    packer.pack(source / "class0", tmp_path / "tiled")
    assert capsys.readouterr().err.count("Compiling the code that tiles JPEGs, once") == 1
    with packer.Writer(tmp_path / "loop") as writer:
        for path in (png, jpeg, jpeg):
            writer.write({"image": str(path)})
    assert capsys.readouterr().err.count("Compiling the code that tiles JPEGs, once") == 1


def test_no_shard_is_larger_than_it_may_be_where_names_are_long(tmp_path: Path) -> None:
    folder = tmp_path / "src" / ("很长的名字" * 15) / ("很长的名字" * 15)
    images = {f"{number:02d}.jpg": Image.new("RGB", (8, 8), (number, 0, 0)) for number in range(40)}
    write_files(folder, images)
    one = SourceOptions(kind="folder")
    run_pack(tmp_path / "src", tmp_path / "dst", source=one, shard_size=30_000, jpeg="verbatim")
    sizes = [path.stat().st_size for path in (tmp_path / "dst").glob("*.tar")]
    assert len(sizes) > 1
    assert max(sizes) <= 30_000


class DuringPacking(Progress):
    """Progress that does something once the scan is over."""

    def __init__(self, action: Callable[[], object]) -> None:
        super().__init__(quiet=True)
        self._action = action

    def phase(self, name: str, *args: object) -> Any:
        if name == "pack":
            self._action()
        return super().phase(name, *args)  # type: ignore[arg-type]


@pytest.mark.parametrize("harm", ["vanishes", "is cut", "cannot be opened"])
def test_a_file_that_could_not_be_read_is_packed_by_the_next_run(
    monkeypatch: pytest.MonkeyPatch, dst: Path, own_source: Path, packed: Path, harm: str
) -> None:
    path = own_source / "class0" / "image000.jpg"
    content, status = path.read_bytes(), path.stat()
    opened = os.open

    def refuse(name: str, *args: Any, **options: Any) -> int:
        if str(name) == str(path):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return opened(name, *args, **options)

    action = {
        "vanishes": path.unlink,
        "is cut": lambda: path.write_bytes(content[:100]),
        "cannot be opened": lambda: monkeypatch.setattr(os, "open", refuse),
    }[harm]
    options = PackOptions(shard_samples=10)
    with pytest.raises(Rejected) as caught:
        pack(own_source, dst, options, 1, progress=DuringPacking(action))  # type: ignore[arg-type]
    assert [name for name, _ in caught.value.files] == ["class0/image000.jpg"]
    assert len(list(dst.glob("*.tar"))) == 3, "the other shards are kept"
    monkeypatch.undo()
    path.write_bytes(content)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert run_pack(own_source, dst, shard_samples=10).shards_written == 1
    assert files_of(dst) == files_of(packed)


@pytest.mark.parametrize("put", [None, "an empty folder, as a mount leaves it"])
def test_no_file_is_rejected_because_the_source_has_gone(
    tmp_path: Path, own_source: Path, packed: Path, put: str | None
) -> None:
    dst, gone = tmp_path / "dst", tmp_path / "gone"

    def vanish() -> None:
        own_source.rename(gone)
        if put:
            own_source.mkdir()

    options = PackOptions(shard_samples=10)
    with pytest.raises(PackingFailed, match="own_source no longer exists"):
        pack(
            *(own_source, dst, options, 1),
            skip_rejected=True,
            progress=DuringPacking(vanish),  # type: ignore[arg-type]
        )
    shutil.rmtree(own_source, ignore_errors=True)
    gone.rename(own_source)
    assert run_pack(own_source, dst, skip_rejected=True, shard_samples=10).rejected == []
    assert files_of(dst) == files_of(packed)


def test_a_failing_disk_is_named(monkeypatch: pytest.MonkeyPatch, dst: Path, source: Path) -> None:
    """If the file were left out, the next run would find another source, and be refused."""
    stat = os.stat

    def fail(path: Any, *args: Any, **options: Any) -> os.stat_result:
        if str(path).endswith("class1/image003.jpg"):
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))
        return stat(path, *args, **options)

    monkeypatch.setattr(os, "stat", fail)
    with pytest.raises(OSError, match=r"Input/output error.*class1/image003\.jpg"):
        run_pack(source, dst, skip_rejected=True)
    assert not (dst).exists()


@pytest.mark.parametrize(
    ("call", "what"),
    [
        ("fsync", "shard-000002.tar"),
        ("replace", "shard-000002.tar"),
        ("replace", "shard-000002.safetensors"),
        ("fsync", "dataset.json"),
    ],
)
def test_a_full_disk_is_named_and_the_next_run_finishes(
    monkeypatch: pytest.MonkeyPatch, dst: Path, source: Path, packed: Path, call: str, what: str
) -> None:
    """The disk is full from the moment on when `what` is to be written out, or renamed."""
    sound = getattr(os, call)

    def full(first: Any, *others: Any) -> Any:
        path = os.readlink(f"/proc/self/fd/{first}") if isinstance(first, int) else str(first)
        if what in path:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return sound(first, *others)

    shard = "dst" if what == "dataset.json" else r"shard-000002\.tar"
    with monkeypatch.context() as patch:
        patch.setattr(os, call, full)
        with pytest.raises(PackingFailed, match=rf"{shard}.* cannot be written: No space left"):
            run_pack(source, dst, shard_samples=10)
    assert not (dst / "dataset.json").exists()
    assert not list(dst.glob("*.tmp*"))
    assert run_pack(source, dst, shard_samples=10).shards_written == (0 if shard == "dst" else 2)
    assert files_of(dst) == files_of(packed)
