"""Datasets of Python's: packed in parallel, continued, and read back as they were."""

import io
import os
import random
import re
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import packer
import reader

FilesOf = Callable[[Path], dict[str, bytes]]


class Pictures:
    """`length` pictures of noise with labels 0 to 2, as a map-style dataset has them."""

    def __init__(self, length: int = 40) -> None:
        self.length = length
        self.reads = 0

    def __len__(self) -> int:
        return self.length

    def picture(self, number: int) -> np.ndarray:
        assert 0 <= number < self.length
        return np.random.default_rng(number).integers(0, 256, (9, 12, 3), np.uint8)

    def __getitem__(self, number: int) -> Any:
        return Image.fromarray(self.picture(number)), number % 3


def pack(src: Any, dst: Path, **options: Any) -> packer.PackReport:
    return packer.pack(src, dst, **{"jobs": 1, "progress": False, "shard_samples": 8, **options})


def assert_same(dst: Path, dataset: Any, split: str | None = None) -> None:
    packed = reader.Dataset(dst, split=split)
    assert len(packed) == len(dataset)
    for row in range(len(packed)):
        image, label = dataset[int(packed.keys[row].rpartition("/")[2])]
        assert np.array_equal(packed[row][0], image)
        assert packed.targets[row] == label


def test_the_items_come_back_and_the_bytes_do_not_depend_on_the_processes(
    tmp_path: Path, files_of: FilesOf
) -> None:
    dataset = Pictures()
    report = pack(dataset, tmp_path / "one")
    assert (report.samples, report.classes, report.shards) == (40, 3, 5)
    assert report.reading.endswith("Pictures: 40 images; labels that are numbers.")
    assert_same(tmp_path / "one", dataset)
    pack(dataset, tmp_path / "two", jobs=2)
    assert files_of(tmp_path / "one") == files_of(tmp_path / "two")


def test_an_executor_packs_the_same_bytes_and_is_sent_the_dataset(
    tmp_path: Path, files_of: FilesOf
) -> None:
    pack(Pictures(), tmp_path / "one")
    with ThreadPoolExecutor(2) as executor:
        pack(Pictures(), tmp_path / "two", executor=executor)
    assert files_of(tmp_path / "one") == files_of(tmp_path / "two")


def test_the_same_call_again_finds_nothing_to_do_and_another_dataset_is_refused(
    tmp_path: Path,
) -> None:
    pack(Pictures(), tmp_path / "dst")
    assert pack(Pictures(), tmp_path / "dst").shards_written == 0
    with pytest.raises(packer.UnusableInput, match=r"pass append=True .* or pass overwrite=True"):
        pack(Pictures(41), tmp_path / "dst")
    assert pack(Pictures(41), tmp_path / "dst", overwrite=True).samples == 41


def test_what_is_new_in_a_dataset_that_has_grown_is_appended(tmp_path: Path) -> None:
    pack(Pictures(), tmp_path / "dst")
    report = pack(Pictures(50), tmp_path / "dst", append=True)
    assert (report.samples, report.shards_written) == (50, 2)
    assert_same(tmp_path / "dst", Pictures(50))


def test_a_run_that_was_interrupted_is_continued_with_the_bytes_of_one_that_was_not(
    tmp_path: Path, files_of: FilesOf
) -> None:
    class Ending(Pictures):
        def __getitem__(self, number: int) -> Any:
            if (tmp_path / "on").exists() and len(list((tmp_path / "dst").glob("*.tar"))) > 1:
                raise KeyboardInterrupt
            return super().__getitem__(number)

    pack(Ending(), tmp_path / "whole")
    (tmp_path / "on").touch()
    with pytest.raises(KeyboardInterrupt):
        pack(Ending(), tmp_path / "dst")
    (tmp_path / "on").unlink()
    other = Ending()
    other.picture = lambda number: Pictures().picture(number) // 2  # type: ignore[method-assign]
    for another in (Pictures(39), other):
        with pytest.raises(packer.UnusableInput, match=r"unfinished run .* another source"):
            pack(another, tmp_path / "dst")
    assert pack(Ending(), tmp_path / "dst").shards_written == 3
    assert files_of(tmp_path / "whole") == files_of(tmp_path / "dst")


class Failing(Pictures):
    """Some of its items cannot be read, while they are among `bad`."""

    bad: tuple[int, ...] = ()

    def __getitem__(self, number: int) -> Any:
        if number in self.bad:
            raise ValueError(f"row {number} is broken\nat 0x1234")
        return super().__getitem__(number)


def test_items_that_raise_are_named_and_mended_ones_are_packed_by_the_next_call(
    tmp_path: Path,
) -> None:
    dataset = Failing(200)
    dataset.bad = (3, 78)
    with pytest.raises(
        packer.Rejected, match="00000078: reading it raises ValueError: row 78 is"
    ) as error:
        pack(dataset, tmp_path / "dst", shard_samples=20)
    assert "because 2 items were rejected. Repair or remove them and pack again" in str(error.value)
    report = pack(dataset, tmp_path / "skipped", on_error="skip")
    assert report.samples == 198
    assert [name for name, _ in report.rejected] == ["00000003", "00000078"]
    dataset.bad = ()
    report = pack(dataset, tmp_path / "dst", shard_samples=20)
    assert report.samples == 200
    assert 1 <= report.shards_written <= 2
    assert_same(tmp_path / "dst", dataset)


def test_a_dataset_of_which_nothing_can_be_packed_is_refused_before_anything_is_written(
    tmp_path: Path,
) -> None:
    with pytest.raises(packer.UnusableInput, match=r"None of the 10 items .* channels come last"):
        pack(np.zeros((10, 3, 8, 8), np.uint8), tmp_path / "dst")
    assert not (tmp_path / "dst").exists()


class Drawn(Pictures):
    """A random transform, as torchvision has them."""

    def __getitem__(self, number: int) -> Any:
        picture = self.picture(number)
        return picture[:, :: random.choice((1, -1))], int(np.random.randint(2))


def test_random_transforms_are_drawn_once_for_each_sample_whatever_the_processes(
    tmp_path: Path, files_of: FilesOf
) -> None:
    random.seed(5)
    before = random.getstate()
    report = pack(Drawn(), tmp_path / "one")
    assert random.getstate() == before
    assert report.remarks == [
        "Items differ between two reads (random transforms): each is stored as in its first "
        "read, which is the same in every run."
    ]
    random.seed(6)
    with ThreadPoolExecutor(2) as executor:
        pack(Drawn(), tmp_path / "two", executor=executor)
    assert files_of(tmp_path / "one") == files_of(tmp_path / "two")


class Restless(Pictures):
    """No two reads of an item are the same, and no generator decides it."""

    def __getitem__(self, number: int) -> Any:
        self.reads += 1
        return np.full((4, 4), self.reads % 251, np.uint8)


def test_a_dataset_that_never_gives_the_same_says_so_and_is_not_continued(tmp_path: Path) -> None:
    report = pack(Restless(), tmp_path / "dst")
    assert "cannot be continued" in report.remarks[0]
    with pytest.raises(packer.UnusableInput, match="the source has changed since"):
        pack(Restless(), tmp_path / "dst")


def test_each_split_is_a_dataset_of_its_own(tmp_path: Path) -> None:
    report = pack({"train": Pictures(20), "val": Pictures(9)}, tmp_path / "dst")
    assert report.splits == {"train": 20, "val": 9}
    assert_same(tmp_path / "dst", Pictures(20), "train")
    assert_same(tmp_path / "dst", Pictures(9), "val")
    shares = pack(Pictures(), tmp_path / "shares", split={"a": 0.5, "b": 0.5}).splits
    assert sum(shares.values()) == 40
    for options in ({}, {"split_column": "part"}):
        rows = [{"image": Pictures().picture(n), "split": "a", "part": "b"} for n in range(3)]
        with pytest.raises(
            packer.UnusableInput, match=r"names its split, but shards are planned before"
        ):
            pack(rows, tmp_path / "late", **options)
    with pytest.raises(packer.UnusableInput, match=r"split 'val', an int, has no __len__"):
        pack({"train": Pictures(), "val": 3}, tmp_path / "other")


def test_items_with_keys_are_divided_by_these_or_not_at_all(tmp_path: Path) -> None:
    rows = [{"image": Pictures().picture(n), "key": f"k{n}"} for n in range(40)]
    shares = {"train": 0.5, "val": 0.5}
    with pytest.raises(
        packer.UnusableInput, match=r"split= divides by keys.* Pass iter\(dataset\)"
    ):
        pack(rows, tmp_path / "dst", split=shares)
    assert not (tmp_path / "dst").exists()
    for name, some in (("all", rows), ("fewer", rows[:0:-1])):
        pack(iter(some), tmp_path / name, split=shares)
    both = (reader.Dataset(tmp_path / name, split="val").keys for name in ("all", "fewer"))
    whole, part = map(set, both)
    assert len(part) > 10
    assert whole - {"k0"} == part


def test_fields_have_names_keys_and_members(tmp_path: Path) -> None:
    rows = [
        {
            "picture": Pictures().picture(number),
            "kind": "ab"[number % 2],
            "key": f"folder/{number}.v1",
            "txt": f"number {number}",
            "score": number / 2,
        }
        for number in range(10)
    ]
    fields = {"image_column": "picture", "label_column": "kind", "classes": ["b", "a"]}
    told = pack(rows, tmp_path / "dst", **fields).reading
    assert told == "Read as a list: 10 images; 2 classes (b, a); members json, txt."
    packed = reader.Dataset(tmp_path / "dst")
    row = packed.keys.index("folder/7%2Ev1")
    assert (packed.classes, packed.targets[row]) == (["b", "a"], 0)
    assert packed.read(row, "txt") == b"number 7"
    assert packed.read(row, "json") == b'{"score":3.5}'
    with pytest.raises(packer.UnusableInput, match=r"no field 'image', but 'picture', .* image_"):
        pack(rows, tmp_path / "other")
    with pytest.raises(packer.UnusableInput, match=r"packer.Writer\(..., append=True\)"):
        pack(rows, tmp_path / "dst", **fields, append=True)


def test_two_items_of_one_key_are_refused_and_found_again_when_they_are_mended(
    tmp_path: Path,
) -> None:
    rows = [{"image": Pictures(61).picture(n), "key": f"{n % 60}"} for n in range(61)]
    with pytest.raises(packer.UnusableInput, match="1 key belongs to several samples: '0'"):
        pack(rows, tmp_path / "dst", seed=1)
    assert not (tmp_path / "dst" / "dataset.json").exists()
    rows[60]["key"] = "60"
    assert pack(rows, tmp_path / "dst", seed=1, overwrite=True).samples == 61


def test_a_key_that_only_some_have_is_refused(tmp_path: Path) -> None:
    rows: list[Any] = [{"image": Pictures().picture(n), "key": f"{n}"} for n in range(3)]
    rows.append({"image": Pictures().picture(3)})
    with pytest.raises(packer.Rejected, match="some items have a key and others have none"):
        pack(rows, tmp_path / "dst")


def test_encoded_bytes_and_files_are_stored_as_they_are(
    tmp_path: Path, make_image: Callable[..., Image.Image], encode: Callable[..., bytes]
) -> None:
    data = [encode(make_image(seed, 16, 16), "JPEG") for seed in range(4)]
    for number, content in enumerate(data):
        (tmp_path / f"{number}.jpg").write_bytes(content)
    for name, items in (
        ("bytes", data),
        ("paths", [(tmp_path / f"{number}.jpg", 0) for number in range(4)]),
        ("undecoded", [{"image": {"bytes": content, "path": None}} for content in data]),
    ):
        pack(items, tmp_path / name, jpeg="verbatim")
        packed = reader.Dataset(tmp_path / name)
        stored = [bytes(packed.read(row, "jpg")) for row in range(4)]
        assert stored == [data[int(key)] for key in packed.keys]


def test_pixels_are_a_png_a_jpeg_or_raw_as_options_say(tmp_path: Path) -> None:
    for name, options in {"png": {}, "jpg": {"quality": 80}, "raw": {"raw": (8, 8)}}.items():
        pack(Pictures(), tmp_path / name, **options)
        assert reader.Dataset(tmp_path / name).read(0, name)


def test_what_does_not_pickle_is_named_and_read_in_this_process_with_one_job(
    tmp_path: Path,
) -> None:
    dataset = Pictures()
    dataset.lines = (line for line in ("a", "b"))  # type: ignore[attr-defined]
    with pytest.raises(packer.UnusableInput) as error:
        pack(dataset, tmp_path / "dst", jobs=2)
    assert "its attribute 'lines': cannot pickle 'generator' object" in str(error.value)
    assert "Or pass jobs=1" in str(error.value)
    assert pack(dataset, tmp_path / "dst").samples == 40


def test_what_cannot_be_made_again_in_a_packing_process_is_told(tmp_path: Path) -> None:
    class Lost(Pictures):
        def __reduce__(self) -> Any:
            return os.listdir, ("/nowhere/at/all",)

    with pytest.raises(packer.UnusableInput, match=r"cannot be unpickled .*: FileNotFoundError"):
        pack(Lost(), tmp_path / "dst", jobs=2)


def test_labels_that_a_dataset_names_are_its_classes(tmp_path: Path) -> None:
    dataset = Pictures()
    dataset.classes = ["c", "a", "b"]  # type: ignore[attr-defined]
    pack(dataset, tmp_path / "dst")
    assert reader.Dataset(tmp_path / "dst").classes == ["c", "a", "b"]
    assert_same(tmp_path / "dst", dataset)
    pack(dataset, tmp_path / "other", classes=["a", "b", "c", "d"])
    packed = reader.Dataset(tmp_path / "other")
    for row, key in enumerate(packed.keys):
        assert packed.classes[packed.targets[row]] == "cab"[int(key) % 3]


@pytest.mark.parametrize("name", ["class_depth", "pairs", "dedupe"])
def test_arguments_of_paths_are_refused(tmp_path: Path, name: str) -> None:
    value = {"class_depth": 1, "pairs": {"mask": tmp_path}, "dedupe": True}
    with pytest.raises(packer.UnusableInput, match=f"{name}= requires a path or a URL"):
        pack(Pictures(), tmp_path / "dst", **{name: value[name]})


def test_that_some_items_have_no_label_is_said(tmp_path: Path) -> None:
    items = [(Pictures().picture(0), 1), (Pictures().picture(1), None)]
    for name, samples in (("items", items), ("in turn", iter(items))):
        report = pack(samples, tmp_path / name)
        assert report.remarks[-1] == "Some samples have no label: a Loader returns -1 for them."
    assert not pack(items[:1], tmp_path / "all").remarks


def test_an_empty_dataset_holds_nothing_to_pack(tmp_path: Path) -> None:
    with pytest.raises(packer.NothingToPack, match="a list, has no items"):
        pack([], tmp_path / "dst")


def test_a_script_needs_no_guard_and_its_own_class_is_sent_to_the_processes(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(
            f"""
            import numpy as np, packer
            class Mine:
                handle = None
                def __len__(self): return 12
                def __getitem__(self, number):
                    if self.handle is None:
                        self.handle = open(__file__)  # is never pickled
                    return np.full((4, 4), number, np.uint8), number % 2
            print(packer.pack(Mine(), {str(tmp_path / "dst")!r}, jobs=2, shard_samples=3).samples)
            """
        )
    )
    environment = os.environ | {"PYTHONPATH": str(Path(packer.__file__).parents[1])}
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, env=environment)
    assert done.stdout == "12\n", done.stderr
    assert re.search(r"Read as a Mine: 12 images; labels that are numbers.", done.stderr)


@pytest.mark.slow
def test_a_kill_costs_the_shards_that_were_under_way_alone(
    tmp_path: Path, files_of: FilesOf
) -> None:
    script = textwrap.dedent(
        f"""
        import time, numpy as np, packer
        class Slow:
            def __len__(self): return 40
            def __getitem__(self, number):
                time.sleep(0.01)
                return np.full((4, 4), number, np.uint8), 0
        packer.pack(Slow(), {str(tmp_path / "dst")!r}, jobs=2, shard_samples=4, progress=False)
        """
    )
    run = [sys.executable, "-c", script]
    environment = os.environ | {"PYTHONPATH": str(Path(packer.__file__).parents[1])}
    with subprocess.Popen(run, env=environment) as process:
        while not list((tmp_path / "dst").glob("*.safetensors")):
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    assert not (tmp_path / "dst" / "dataset.json").exists()
    subprocess.run(run, env=environment, check=True)
    assert reader.Dataset(tmp_path / "dst").targets == [0] * 40
    assert not [name for name in files_of(tmp_path / "dst") if name.startswith(".")]


@pytest.mark.parametrize("executor", [None, "pool"])
def test_pictures_opened_from_memory_are_stored_as_their_files_by_any_processes(
    executor: str | None, tmp_path: Path, files_of: FilesOf
) -> None:
    def pictures() -> list[dict[str, Any]]:
        opened = []
        for number in range(16):
            file = io.BytesIO()
            Image.fromarray(Pictures().picture(number)).save(file, ("JPEG", "PNG")[number % 2])
            opened.append({"image": Image.open(file), "caption.txt": str(number)})
        return opened

    pack(pictures(), tmp_path / "alone")
    several = pictures()
    with ThreadPoolExecutor(2) as pool:
        for run in range(2):  # pickling leaves the pictures as they are
            elsewhere = {"executor": pool} if executor else {"jobs": 2}
            pack(several, tmp_path / f"several{run}", **elsewhere)
            assert files_of(tmp_path / f"several{run}") == files_of(tmp_path / "alone")


def test_a_picture_keeps_its_name_and_notes_in_the_packing_processes(tmp_path: Path) -> None:
    path = tmp_path / "0.jpg"
    Image.fromarray(Pictures().picture(0)).save(path, comment=b"a note")

    class Named:
        def __init__(self, image: Image.Image) -> None:
            self.images = [image] * 16

        def __len__(self) -> int:
            return len(self.images)

        def __getitem__(self, number: int) -> Any:
            image = self.images[number]
            note = image.info["comment"].decode()
            return {"image": image, "caption.txt": f"{Path(image.filename).name}: {note}"}

    with Image.open(path) as image:
        pack(Named(image), tmp_path / "dst", jobs=2)
    assert bytes(reader.Dataset(tmp_path / "dst").read(0, "caption.txt")) == b"0.jpg: a note"
