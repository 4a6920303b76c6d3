"""Each line of Python that a message of `packer.pack` prints as remedy is pasted, and works."""

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import packer

PIXELS = np.zeros((8, 9, 3), np.uint8)


def png() -> bytes:
    from io import BytesIO

    Image.fromarray(PIXELS).save(file := BytesIO(), "PNG")
    return file.getvalue()


class Keys:
    """A dataset whose items name their keys."""

    lock: Any = None

    def __len__(self) -> int:
        return 2

    def __getitem__(self, number: int) -> dict[str, Any]:
        if number > 1:
            raise IndexError
        return {"image": PIXELS, "key": f"key {number}"}


class Splits(Keys):
    """A dataset whose items name their splits, too, which are known once they are read."""

    def __getitem__(self, number: int) -> dict[str, Any]:
        return {**super().__getitem__(number), "split": "train"}


def pack(source: Any, dst: Path, **options: Any) -> packer.PackReport:
    report = packer.pack(source, dst, **{"jobs": 1, "progress": False, **options})
    assert isinstance(report, packer.PackReport)
    return report


@pytest.mark.parametrize(
    ("image", "code"),
    [
        (np.frombuffer(png(), np.uint8), "array.tobytes()"),
        (np.zeros((3, 8, 9), np.uint8), "np.moveaxis(image, 0, -1)"),
        (np.zeros((8, 9, 4), np.uint8), 'Image.fromarray(image, "RGBA")'),
        (np.zeros((8, 9, 4), np.uint8), "image[:, :, :3]"),
        (np.zeros((8, 9, 3)), "(image * 255).astype(np.uint8)"),
        (np.zeros((8, 9), np.uint16), "(image >> 8).astype(np.uint8)"),
        (np.zeros((8, 9), bool), "image.astype(np.uint8) * 255"),
        (Image.new("CMYK", (8, 9)), 'image.convert("RGB")'),
    ],
    ids=lambda given: given if isinstance(given, str) else None,
)
def test_an_image_of_another_kind_is_converted_as_advised(image: Any, code: str, dst: Path) -> None:
    with pytest.raises(packer.UnusableInput) as caught:
        pack([{"image": image}], dst)
    assert code in str(caught.value)
    made = eval(code, {"np": np, "Image": Image, "image": image, "array": image})
    assert pack([{"image": made}], dst).samples == 1


def test_a_mask_of_whole_numbers_is_converted_as_it_is_advised(dst: Path) -> None:
    array = np.zeros((8, 9), np.int64)
    with pytest.raises(packer.UnusableInput, match=r"give array\.astype\(np\.uint8\)"):
        pack([{"image": PIXELS, "mask.png": array}], dst)
    pack([{"image": PIXELS, "mask.png": array.astype(np.uint8)}], dst)


def test_a_data_frame_and_columns_become_rows_as_it_is_advised(dst: Path) -> None:
    pandas = pytest.importorskip("pandas")
    images, labels = [PIXELS, PIXELS], [0, 1]
    columns = {"image": images, "label": labels}
    frame = pandas.DataFrame(columns)
    for source, code in (
        (frame, 'frame.to_dict("records")'),
        (columns, "list(zip(images, labels))"),
    ):
        with pytest.raises(packer.UnusableInput) as caught:
            pack(source, dst)
        assert code in str(caught.value)
        rows = eval(code, {"frame": frame, "images": images, "labels": labels})
        assert pack(rows, dst, overwrite=True).classes == 2


def test_names_of_classes_are_passed_as_it_is_advised(tmp_path: Path) -> None:
    items = [{"image": PIXELS, "label": "cat"}]
    with pytest.raises(packer.UnusableInput, match=r"pass classes=\[\.\.\.\]"):
        pack(items, tmp_path / "names")
    assert pack(items, tmp_path / "names", classes=["cat"]).classes == 1


def test_items_that_name_their_split_are_iterated_as_it_is_advised(dst: Path) -> None:
    with pytest.raises(packer.UnusableInput, match=r"or iter\(dataset\)"):
        pack(Splits(), dst)
    assert pack(iter(Splits()), dst).splits == {"train": 2}


def test_items_with_keys_are_added_by_a_writer_as_it_is_advised(dst: Path) -> None:
    items = [{"image": PIXELS, "key": "a"}]
    pack(items, dst)
    with pytest.raises(packer.UnusableInput, match=r"packer\.Writer\(\.\.\., append=True\)"):
        pack([{"image": PIXELS, "key": "b"}], dst, append=True)
    with packer.Writer(dst, append=True, progress=False) as writer:
        writer.write({"image": PIXELS, "key": "b"})
    assert writer.report is not None
    assert writer.report.samples == 2


def test_items_that_no_process_can_have_are_read_in_this_one_as_it_is_advised(dst: Path) -> None:
    source = Keys()
    source.lock = threading.Lock()  # cannot be sent to another process
    with pytest.raises(packer.UnusableInput, match=r"pass jobs=1 to read it in this process"):
        pack(source, dst, jobs=2)
    pack(source, dst, jobs=1)


def test_a_dataset_of_python_is_replaced_as_it_is_advised(dst: Path) -> None:
    pack([{"image": PIXELS}], dst)
    with pytest.raises(packer.UnusableInput) as caught:
        pack([{"image": PIXELS}], dst, quality=50)
    assert "pass overwrite=True to replace it" in str(caught.value)
    pack([{"image": PIXELS}], dst, quality=50, overwrite=True)
