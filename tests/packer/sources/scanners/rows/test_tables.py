import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from packing import pack

import reader
from packer.errors import BadImage, UnusableInput
from packer.options.declared import PackOptions

Opened = Callable[..., Any]
Scanned = Callable[..., Any]

CSV = "path,label,split,caption\n0.jpg,dog,train,A dog\n1.jpg,cat,val,A cat\n2.jpg,dog,train,\n"


@pytest.fixture
def write(images: Path) -> Callable[[str, str | bytes], Path]:
    """`write("list.csv", text)`: a manifest beside the images."""

    def to_file(name: str, content: str | bytes) -> Path:
        path = images / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return to_file


def test_a_list_whose_images_lie_elsewhere_is_told_by_examples_and_a_hint(
    write: Callable[..., Path], tmp_path: Path
) -> None:
    names = "".join(f"gone/x{number}.jpg\n" for number in range(24))
    path = write("list.csv", f"path\n{names}")
    with pytest.raises(UnusableInput) as error:
        pack(path, tmp_path / "dst", PackOptions(), 1)
    lines = str(error.value).splitlines()
    assert len(lines) == 2 + 10 + 1
    assert "None of the 24 images that it names was found in " in lines[0]
    assert lines[0].endswith(f"{path.parent}. Check --root, the folder of the images.")
    assert lines[1] == "  24 files: ...: it cannot be read: No such file or directory"
    assert lines[-1] == "    and 14 more"


def test_absolute_paths_below_the_root_are_taken(
    images: Path, write: Callable[..., Path], opened: Opened, scanned: Scanned
) -> None:
    (images.parent / "linked").symlink_to(images)
    text = f"path\n{images / '0.jpg'}\n{images.parent / 'linked' / '1.jpg'}\n../images/2.jpg\n"
    samples, skipped = scanned(opened(write("l.csv", text)))
    assert list(samples) == ["0.jpg", "1.jpg"]
    assert "leads out" in skipped["l.csv:4"]


def test_a_changed_image_is_noticed(
    images: Path, write: Callable[..., Path], opened: Opened, scanned: Scanned
) -> None:
    source = opened(write("l.csv", CSV))
    samples, _ = scanned(source)
    later = samples["0.jpg"].mtime_ns + 10**9
    os.utime(images / "0.jpg", ns=(later, later))
    with pytest.raises(BadImage, match="changed"):
        source.files.read(samples["0.jpg"])


def test_what_rows_said_when_they_were_scanned_is_packed(
    write: Callable[..., Path], opened: Opened, scanned: Scanned
) -> None:
    path = write("l.csv", CSV)
    source = opened(path)
    samples, _ = scanned(source)
    before = source.files.read(samples["0.jpg"])
    assert before.members
    path.unlink()
    assert source.files.read(samples["0.jpg"]) == before


@pytest.mark.parametrize(
    ("columns", "row"),
    [
        ("xmin,ymin,xmax,ymax", "2,4,6,12"),
        ("x,y,width,height", "2,4,4,8"),
        ("x_center,y_center,w,h", "4,8,4,8"),
        ("bbox", '"[2.0, 4.0, 4.0, 8.0]"'),
    ],
)
def test_rows_of_boxes_arrive_in_a_batch_as_those_of_coco_do(
    write: Callable[..., Path], tmp_path: Path, columns: str, row: str
) -> None:
    """The third box tells that a text of four numbers is no two corners."""
    one_text = '"[9, 9, 3, 3]"' if columns == "bbox" else row
    rows = [f"0.jpg,dog,{row}", f"1.jpg,cat,{row}", f"0.jpg,cat,{one_text}"]
    table = write("l.csv", "\n".join([f"path,class,{columns}", *rows]))
    pack(table, tmp_path / "dst", PackOptions(seed=None), 1)
    boxes = reader.Boxes("json", format="xywh", labels="categories")
    with reader.Loader(
        tmp_path / "dst", batch_size=2, shuffle=False, workers=0, fields=(boxes, "key", "label")
    ) as loader:
        ((found, keys, labels),) = list(loader)
        assert loader.dataset.classes == ["cat", "dog"]
    assert sorted(keys) == ["0", "1"]
    assert labels.tolist() == [-1, -1]
    of_0, of_1 = (found[keys.index(key)] for key in ("0", "1"))
    assert of_0["labels"].tolist() == [1, 0]
    assert of_0["boxes"][0].tolist() == of_1["boxes"][0].tolist() == [2, 4, 4, 8]


@pytest.mark.parametrize(("scale", "normalized"), [(1, True), (16, False)])
def test_boxes_of_fractions_are_recorded_as_normalized(
    write: Callable[..., Path],
    opened: Opened,
    scanned: Scanned,
    json_of: Callable[..., Any],
    scale: int,
    normalized: bool,
) -> None:
    """Open Images has fractions of the image in columns that others fill with pixels."""
    box = [str(number * scale) for number in (0.25, 0.75, 0.5, 1)]
    head = "ImageID,LabelName,XMin,XMax,YMin,YMax"
    source = opened(write("l.csv", f"{head}\n0.jpg,car,{','.join(box)}\n"))
    (encoding,) = source.facts.boxes.values()
    assert encoding.normalized is normalized
    sample = scanned(source)[0]["0.jpg"]
    assert json_of(source, sample)["boxes"] == [[n * scale for n in (0.25, 0.5, 0.5, 0.5)]]
