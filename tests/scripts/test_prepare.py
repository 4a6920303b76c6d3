"""The scripts run on small archives of the publishers' layout, and what went in comes out."""

import gzip
import hashlib
import json
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from layouts.making import tar, zipped
from layouts.matlab import mat
from made_images import encode, make_image

import packer
import reader
from reader.format import Manifest

SCRIPTS = Path(packer.__file__).parent.parent / "scripts"
PREPARING = [f"prepare_{name}" for name in ("folder", "imagenet", "cifar10", "mnist", "coco")]

# 1 is n02119789, 2 is n02100735, and 3, n00000003, has these as children.
SYNSETS = [
    {"ILSVRC2012_ID": number, "WNID": name, "num_children": 2 * (number == 3)}
    for number, name in enumerate(["n02119789", "n02100735", "n00000003"], 1)
]

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def jpegs() -> list[bytes]:
    return [encode(make_image(seed, 24, 32), "JPEG") for seed in range(6)]


def contents(dst: Path, split: str | None, ext: str) -> dict[str, tuple[bytes, int]]:
    """Key -> the image's bytes and its label."""
    data = reader.Dataset(dst, split=split)
    return {
        key: (bytes(data.read(number, ext)), int(data.labels[number]))
        for number, key in enumerate(data.keys)
    }


def stamps(folder: Path) -> dict[Path, tuple[int, int]]:
    return {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in folder.rglob("*")}


@pytest.mark.parametrize("name", [*PREPARING, "pack_slurm", "pack_ray"])
def test_a_script_says_what_it_does_and_what_it_lacks(
    run_script: Run, tmp_path: Path, name: str
) -> None:
    text = run_script(name, "--help").stdout
    assert f"Usage: {name}.sh" in text
    for wrong in ((), ("--nonsense", "a", "b")):
        stderr = run_script(name, *wrong, code=2).stderr
        assert "--help" in stderr
    if name in PREPARING:
        assert "--from" in text
        assert "can be stopped and run again" in text
        assert "no option --nonsense" in stderr
        assert "DST" in run_script(name, code=2).stderr
        (tmp_path / "empty").mkdir()
    if name in PREPARING[1:]:
        stderr = run_script(name, "--from", tmp_path / "empty", tmp_path / "dst", code=2).stderr
        assert f"{tmp_path}/empty has no " in stderr
    assert not (tmp_path / "dst").exists()


def test_shellcheck_has_nothing_to_say() -> None:
    own = Path(sys.executable).parent
    program = shutil.which("shellcheck", path=own) or shutil.which("shellcheck")
    if program is None:
        pytest.skip("shellcheck is not installed")
    paths = sorted(f"scripts/{path.name}" for path in SCRIPTS.glob("*.sh"))
    command = [program, "-x", *paths]
    done = subprocess.run(command, cwd=SCRIPTS.parent, capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("", 0)


@pytest.fixture
def cifar(tmp_path: Path) -> tuple[Path, dict[str, np.ndarray]]:
    """A folder with cifar-10-binary.tar.gz, and the pixels of each batch."""
    rng = np.random.default_rng(0)
    files = {"batches.meta.txt": "\n".join(f"kind{n}" for n in range(10)).encode()}
    batches = {}
    for name in [*(f"data_batch_{number}" for number in range(1, 6)), "test_batch"]:
        batches[name] = rng.integers(0, 256, (10, 3, 32, 32), dtype=np.uint8)
        rows = [bytes([row]) + batches[name][row].tobytes() for row in range(10)]
        files[f"{name}.bin"] = b"".join(rows)
    (tmp_path / "from").mkdir()
    archive = tar({f"cifar-10-batches-bin/{n}": data for n, data in files.items()}, "gz")
    (tmp_path / "from" / "cifar-10-binary.tar.gz").write_bytes(archive)
    return tmp_path / "from", batches


@pytest.mark.slow
def test_cifar10(
    tmp_path: Path, cifar: tuple[Path, dict[str, np.ndarray]], run_script: Run
) -> None:
    dst = tmp_path / "dst"
    run_script("prepare_cifar10", "--from", cifar[0], dst, "--shard-samples", 20, "--quiet")
    assert len(list(dst.glob("train/*.tar"))) == 3
    found = contents(dst, "train", "raw") | contents(dst, "test", "raw")
    assert found == {
        f"{name}/{row:05d}": (pixels[row].transpose(1, 2, 0).tobytes(), row)
        for name, pixels in cifar[1].items()
        for row in range(10)
    }
    before = stamps(dst)
    run_script(
        "prepare_cifar10",
        *("--from", cifar[0] / "cifar-10-binary.tar.gz", dst, "--shard-samples", 20),
    )
    assert stamps(dst) == before


@pytest.mark.slow
def test_mnist_and_a_folder_by_its_url(tmp_path: Path, run_script: Run) -> None:
    rng = np.random.default_rng(0)
    (tmp_path / "from").mkdir()
    expected = {}
    for name, split in (("train", "train"), ("t10k", "test")):
        images = rng.integers(0, 256, (8, 28, 28), dtype=np.uint8)
        header = struct.pack(">4B3I", 0, 0, 8, 3, 8, 28, 28)
        path = tmp_path / "from" / f"{name}-images-idx3-ubyte.gz"
        path.write_bytes(gzip.compress(header + images.tobytes()))
        header = struct.pack(">4BI", 0, 0, 8, 1, 8)
        path = tmp_path / "from" / f"{name}-labels-idx1-ubyte.gz"
        path.write_bytes(gzip.compress(header + bytes(range(8))))
        expected |= {f"{split}/{row:06d}": (images[row].tobytes(), row) for row in range(8)}
    url = (tmp_path / "from").as_uri()
    stderr = run_script("prepare_mnist", "--from", url, tmp_path / "dst", code=2).stderr
    assert "is not what its publisher published" in stderr
    run_script("prepare_mnist", "--no-checksum", "--from", url, tmp_path / "dst")
    dst = tmp_path / "dst"
    assert contents(dst, "train", "raw") | contents(dst, "test", "raw") == expected


@pytest.mark.slow
def test_imagenet(tmp_path: Path, jpegs: list[bytes], run_script: Run) -> None:
    place, dst = tmp_path / "from", tmp_path / "dst"
    place.mkdir()
    inner = {
        "n02119789.tar": tar({"n02119789_1.JPEG": jpegs[0], "n02119789_22.JPEG": jpegs[1]}),
        "n02100735.tar": tar({"n02100735_7.JPEG": jpegs[2]}),
    }
    (place / "ILSVRC2012_img_train.tar").write_bytes(tar(inner))
    images = {f"ILSVRC2012_val_0000000{n}.JPEG": jpegs[2 + n] for n in (1, 2, 3)}
    (place / "ILSVRC2012_img_val.tar").write_bytes(tar(images))
    kit = {
        "ILSVRC2012_devkit_t12/data/meta.mat": mat(synsets=SYNSETS),
        "ILSVRC2012_devkit_t12/data/ILSVRC2012_validation_ground_truth.txt": b"2\n1\n1\n",
    }
    (place / "ILSVRC2012_devkit_t12.tar.gz").write_bytes(tar(kit, "gz"))
    cut = tmp_path / "dst.work" / "imagenet" / "val.tar.part"  # by a run that was killed
    cut.parent.mkdir(parents=True)
    cut.write_bytes(bytes(700))
    run_script("prepare_imagenet", "--from", place, dst, "--jpeg", "verbatim", "--jobs", 1)
    assert reader.Dataset(dst, split="val").classes == ["n02100735", "n02119789"]
    assert contents(dst, "train", "jpg") == {
        "train/n02119789/n02119789_1": (jpegs[0], 1),
        "train/n02119789/n02119789_22": (jpegs[1], 1),
        "train/n02100735/n02100735_7": (jpegs[2], 0),
    }
    expected = {
        "val/n02100735/ILSVRC2012_val_00000001": (jpegs[3], 0),
        "val/n02119789/ILSVRC2012_val_00000002": (jpegs[4], 1),
        "val/n02119789/ILSVRC2012_val_00000003": (jpegs[5], 1),
    }
    assert contents(dst, "val", "jpg") == expected
    shutil.rmtree(tmp_path / "dst.work")
    (place / "ILSVRC2012_devkit_t12.tar.gz").unlink()
    (place / "LOC_val_solution.csv").write_text(
        "ImageId,PredictionString\n"
        "ILSVRC2012_val_00000002,n02119789 85 1 499 272 \n"
        "ILSVRC2012_val_00000001,n02100735 1 2 3 4 n02100735 5 6 7 8 \n"
        "ILSVRC2012_val_00000003,n02119789 1 2 3 4 \n"
    )
    before = stamps(dst)
    run_script("prepare_imagenet", "--from", place, dst, "--jpeg", "verbatim", "--jobs", 1)
    assert stamps(dst) == before


def test_imagenet_without_a_class_for_an_image_is_refused(
    tmp_path: Path, jpegs: list[bytes], run_script: Run
) -> None:
    place = tmp_path / "from"
    place.mkdir()
    inner = {"n02119789.tar": tar({"n02119789_1.JPEG": jpegs[0]})}
    (place / "ILSVRC2012_img_train.tar").write_bytes(tar(inner))
    images = {"ILSVRC2012_val_00000001.JPEG": jpegs[1], "ILSVRC2012_val_00000002.JPEG": jpegs[2]}
    (place / "ILSVRC2012_img_val.tar").write_bytes(tar(images))
    (place / "LOC_val_solution.csv").write_text(
        "ImageId,PredictionString\nILSVRC2012_val_00000001,n02119789 1 2 3 4\n"
    )
    stderr = run_script("prepare_imagenet", "--from", place, tmp_path / "dst", code=1).stderr
    assert "ILSVRC2012_val_00000002.JPEG has no class" in stderr
    assert not (tmp_path / "dst").exists()


@pytest.mark.slow
def test_coco(tmp_path: Path, jpegs: list[bytes], run_script: Run) -> None:
    place, dst = tmp_path / "from", tmp_path / "dst"
    place.mkdir()
    annotations = {}
    for split, first in (("train2017", 0), ("val2017", 3)):
        names = {f"{split}/{number:012d}.jpg": jpegs[number] for number in range(first, first + 3)}
        (place / f"{split}.zip").write_bytes(zipped(names))
        annotations[f"annotations/instances_{split}.json"] = {
            "images": [
                {"id": number, "file_name": f"{number:012d}.jpg", "height": 24, "width": 32}
                for number in range(first, first + 3)
            ],
            "categories": [{"id": 3, "name": "cat"}, {"id": 7, "name": "dog"}],
            "annotations": [
                {"id": 1, "image_id": first, "category_id": 7, "bbox": [1, 2, 3, 4], "iscrowd": 0}
            ],
        }
    texts = {name: json.dumps(content) for name, content in annotations.items()}
    (place / "annotations_trainval2017.zip").write_bytes(zipped(texts))
    cut = tmp_path / "dst.work" / "unpacking" / "train2017"  # by a run that was killed
    cut.mkdir(parents=True)
    (cut / "cut.jpg").write_bytes(jpegs[0][:99])
    run_script("prepare_coco", "--from", place, dst, "--jpeg", "verbatim", "--jobs", 1)
    found: list[bytes] = []
    assert Manifest.load(dst).splits == ("train", "val")
    for split in ("train", "val"):
        data = reader.Dataset(dst, split=split)
        assert list(data.classes) == ["cat", "dog"]
        found += [bytes(data.read(number, "jpg")) for number in range(len(data))]
        boxes = [json.loads(bytes(data.read(number, "json")))["boxes"] for number in range(3)]
        assert sorted(boxes) == [[], [], [[1, 2, 3, 4]]]
    assert sorted(found) == sorted(jpegs)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["folder", "tar", "tgz", "url"])
def test_folder(tmp_path: Path, jpegs: list[bytes], run_script: Run, form: str) -> None:
    files = {f"set/{name}/{n}.jpg": jpegs[n] for n, name in enumerate(["cat", "dog", "cat"])}
    archive = tar(files, "gz" if form == "tgz" else "")
    path = tmp_path / ("set.tgz" if form == "tgz" else "set.tar")
    path.write_bytes(archive)
    arguments: list[object] = [path]
    if form == "folder":
        for name, data in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_bytes(data)
        arguments = [tmp_path / "set"]
    elif form == "url":
        arguments = [path.as_uri(), "--md5", hashlib.md5(archive).hexdigest()]
    dst = tmp_path / "dst"
    run_script("prepare_folder", "--from", *arguments, dst, "--jpeg", "verbatim", "--jobs", 1)
    assert contents(dst, None, "jpg") == {
        "cat/0": (jpegs[0], 0),
        "dog/1": (jpegs[1], 1),
        "cat/2": (jpegs[2], 0),
    }


@pytest.mark.parametrize("there", ["", "some", "some bytes"])
@pytest.mark.parametrize("published", ["some bytes", "other bytes"])
def test_a_download_goes_on_where_it_was_cut_and_is_kept_if_it_is_the_publishers(
    tmp_path: Path, there: str, published: str
) -> None:
    wanted = "some bytes"
    (tmp_path / "published").write_text(published)
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "file.part").write_text(there)
    url, sum_ = (tmp_path / "published").as_uri(), hashlib.md5(wanted.encode()).hexdigest()
    program = f'. "{SCRIPTS}/prepare_common.sh"; FROM="" WORK="{tmp_path}/work" CHECKSUM=yes'
    fetch = f'{program}; fetch file {sum_} "{url}"; cat "$FILE"'
    done = subprocess.run(["bash", "-eu", "-c", fetch], capture_output=True, text=True)
    kept = [path.name for path in (tmp_path / "work").iterdir()]
    if published == wanted:
        assert (done.returncode, done.stdout[-len(wanted) :], kept) == (0, wanted, ["file"])
    else:
        assert (done.returncode, wanted in done.stdout, kept) == (2, False, [])
        assert sum_ in done.stderr
