"""LMDB: what values may be, keys that belong together, damage."""

import io
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from layouts.huggingface import image
from layouts.records import lmdb, message
from PIL import Image

import packer
from reader import Dataset

Items = list[tuple[str, bytes]]


def write(path: Path, items: Items) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(lmdb([{"key": key.encode(), "value": value} for key, value in items]))
    return path


def pack(source: Path, **options: Any) -> Dataset:
    packer.pack(source, source.parent / "shards", jobs=1, shuffle=False, **options)
    return Dataset(source.parent / "shards")


def large(seed: int) -> bytes:
    """An image with pages of its own."""
    pixels = np.random.default_rng(seed).integers(0, 255, (60, 60, 3), np.uint8)
    data = io.BytesIO()
    Image.fromarray(pixels).save(data, "PNG")
    return data.getvalue()


def test_values_in_leaves_and_in_pages_of_their_own_are_kept(tmp_path: Path) -> None:
    pictures = {f"k{n:02d}": large(n) if n % 2 else image(n) for n in range(12)}
    write(tmp_path / "data/data.mdb", list(pictures.items()))
    dataset = pack(tmp_path / "data")
    assert list(dataset.keys) == list(pictures)
    for number, data in enumerate(pictures.values()):
        assert np.array_equal(dataset[number][0], np.asarray(Image.open(io.BytesIO(data))))


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("form", [tuple, list, "dict", "numpy"])
def test_pickles_of_an_image_and_its_label_are_read_and_not_run(
    form: Any, protocol: int, tmp_path: Path
) -> None:
    items = []
    for number in range(4):
        label = np.int64(number % 2) if form == "numpy" else number % 2
        pair = (image(number), label)
        value: Any = {"image": pair[0], "label": label} if form == "dict" else pair
        value = list(pair) if form is list else value
        items.append((f"{number}", pickle.dumps(value, protocol)))
    items += [("__len__", pickle.dumps(4)), ("__keys__", pickle.dumps([b"0", b"1"]))]
    dataset = pack(write(tmp_path / "a.lmdb", items))
    assert dataset.targets == [0, 1, 0, 1]
    assert [dataset.read(n, "png") for n in range(4)] == [image(n) for n in range(4)]


class Evil:
    """What a stranger's pickle may do."""

    def __reduce__(self) -> Any:
        return Path.touch, (Path("ran"),)


def test_a_pickle_that_would_run_something_is_rejected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    items = [("a", pickle.dumps((image(1), 0))), ("b", pickle.dumps((image(2), Evil())))]
    source = write(tmp_path / "a.lmdb", items)
    with pytest.raises(packer.Rejected, match="is not run"):
        pack(source)
    assert not Path("ran").exists()


@pytest.mark.parametrize(
    ("pairs", "member", "expected"),
    [
        ({"{}": 0, "{}.txt": "a dog"}, "txt", b"a dog"),
        ({"{}.png": 0, "{}.txt": "a dog"}, "txt", b"a dog"),
        ({"{}.png": 0, "{}.png.txt": "a dog"}, "txt", b"a dog"),
        ({"{}": 0, "{}.json": '{"a": 1}'}, "json", b'{"a":1}'),
        ({"image-{}": 0, "caption-{}": "x"}, "json", b'{"caption":"x"}'),
        ({"{}_image": 0, "{}_text": "x"}, "json", b'{"text":"x"}'),
        ({"num-samples": "3", "image-{}": 0, "label-{}": "word"}, "json", b'{"text":"word"}'),
    ],
)
def test_texts_of_other_keys_belong_to_their_image(
    pairs: dict[str, Any], member: str, expected: bytes, tmp_path: Path
) -> None:
    items = {
        key.format(number): image(number) if value == 0 else value.encode()
        for number in range(1, 4)
        for key, value in pairs.items()
    }
    dataset = pack(write(tmp_path / "a.lmdb", sorted(items.items())))
    assert len(dataset) == 3
    assert [dataset.read(n, member) for n in range(3)] == [expected] * 3


@pytest.mark.parametrize("ends", [("{}", "{}.cls"), ("image-{}", "label-{}")])
def test_labels_of_other_keys_are_labels(ends: tuple[str, str], tmp_path: Path) -> None:
    items = {ends[0].format(n): image(n) for n in range(4)}
    items |= {ends[1].format(n): b"ant" if n < 2 else b"bee" for n in range(4)}
    dataset = pack(write(tmp_path / "a.lmdb", sorted(items.items())))
    assert dataset.classes == ["ant", "bee"]
    assert dataset.targets == [0, 0, 1, 1]


def test_folders_of_keys_are_classes_unless_there_is_one(tmp_path: Path) -> None:
    items = [(f"{kind}/{n}.png", image(n)) for kind in ("ant", "bee", "cat") for n in range(3)]
    dataset = pack(write(tmp_path / "a.lmdb", [*items, ("__len__", b"9")]))
    assert dataset.classes == ["ant", "bee", "cat"]
    (tmp_path / "one").mkdir()
    dataset = pack(write(tmp_path / "one/a.lmdb", items[:3]))
    assert dataset.classes == []


def test_caffes_datum_is_read(tmp_path: Path) -> None:
    encoded = [(f"{n}", message((4, image(n)), (5, n % 2), (7, 1))) for n in range(4)]
    dataset = pack(write(tmp_path / "a.lmdb", encoded))
    assert dataset.targets == [0, 1, 0, 1]
    grey = [
        (f"{n}", message((1, 1), (2, 4), (3, 5), (4, bytes([n] * 20)), (5, n))) for n in range(3)
    ]
    (tmp_path / "grey").mkdir()
    dataset = pack(write(tmp_path / "grey/a.lmdb", grey))
    assert dataset.targets == [0, 1, 2]
    assert dataset[2][0].shape[:2] == (4, 5)
    assert dataset[2][0].max() == 2


def test_a_value_that_is_no_image_is_named(tmp_path: Path) -> None:
    source = write(tmp_path / "a.lmdb", [("a", image(1)), ("b", b"\0\1\2"), ("c", image(2))])
    report = packer.pack(source, tmp_path / "shards", jobs=1, on_error="skip")
    assert [name for name, _ in report.rejected] == ["a.lmdb: key b"]
    assert len(Dataset(tmp_path / "shards")) == 2


def test_a_damaged_page_costs_its_keys_and_a_cut_file_is_named(tmp_path: Path) -> None:
    source = write(tmp_path / "a.lmdb", [(f"k{n:02d}", image(n)) for n in range(9)])
    data = bytearray(source.read_bytes())
    data[3 * 4096 + 8 : 3 * 4096 + 16] = bytes(8)  # the second leaf
    source.write_bytes(data)
    report = packer.pack(source, tmp_path / "shards", jobs=1, on_error="skip")
    assert "page 3 is damaged" in report.rejected[0][1]
    assert len(Dataset(tmp_path / "shards")) == 6
    source.write_bytes(bytes(data[: 2 * 4096]))
    with pytest.raises(packer.UnusableInput, match="ends before"):
        packer.pack(source, tmp_path / "other")
    source.write_bytes(b"x" * 9000)
    with pytest.raises(packer.UnusableInput, match="not a database of LMDB"):
        packer.pack(source, tmp_path / "other")
