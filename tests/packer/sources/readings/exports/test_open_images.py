from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

WriteFiles = Callable[..., Path]
Lay = Callable[..., Path]
BOXES = "ImageID,Source,LabelName,Confidence,XMin,XMax,YMin,YMax,IsOccluded\n"
LABELS = "ImageID,Source,LabelName,Confidence\n"
FACTS = "ImageID,Subset,OriginalURL,Title,Rotation\n"


@pytest.fixture
def lay_out(tmp_path: Path, jpegs: list[bytes], write_files: WriteFiles) -> Lay:
    """Write the images a and b of train, the names of three classes, and lists by name."""

    def write(**lists: str) -> Path:
        files = {"train/a.jpg": jpegs[0], "train/b.jpg": jpegs[1]}
        lists["class-descriptions"] = '/m/1,Cat\n/m/2,"Bow, arrow"\n/m/3,Cat\n'
        texts = {f"{name.replace('_', '-')}.csv": text for name, text in lists.items()}
        return write_files(
            tmp_path / "src", files | {name: text.encode() for name, text in texts.items()}
        )

    return write


def test_boxes_and_labels_of_an_image_are_put_together(
    lay_out: Lay, scan: Any, json_of: Callable[..., Any]
) -> None:
    src = lay_out(
        train_annotations_bbox=BOXES + "a,xclick,/m/2,1,0.1,0.5,0.2,0.6,-1\n",
        train_annotations_human_imagelabels=LABELS
        + "a,verification,/m/1,1\na,verification,/m/3,0\nb,verification,/m/2,1\n",
        train_annotations_machine_imagelabels=LABELS + "a,machine,/m/3,0.7\n",
        train_images_with_rotation=FACTS + 'a,train,http://x,"A, b",0\nz,train,http://x,,0\n',
    )
    found = scan(src)
    assert found.source.classes == ("Cat (/m/1)", "Bow, arrow", "Cat (/m/3)")
    assert {sample.split for sample in found.samples} == {"train"}
    first, second = (json_of(found.source, sample) for sample in found.samples)
    assert (first["boxes"], first["categories"]) == ([[0.1, 0.2, 0.5, 0.6]], [1])
    assert first["IsOccluded"] == [-1]
    image = first["image"]
    assert (image["Title"], first["labels"]) == ("A, b", [0])
    assert image["other_labels"] == [
        {"Source": "verification", "LabelName": "/m/3", "Confidence": 0}
    ]
    assert [one["Confidence"] for one in image["machine_labels"]] == ["0.7"]
    assert (second["boxes"], second["labels"]) == ([], [1])
    assert "train-images-with-rotation.csv: z" in found.ignored


def test_boxes_in_two_files_are_not_added_up(lay_out: Lay, scan: Any) -> None:
    rows = BOXES + "a,xclick,/m/2,1,0.1,0.5,0.2,0.6,-1\n"
    found = scan(lay_out(train_annotations_bbox=rows, train_bbox=rows))
    assert "give its objects" in found.skipped["train/a.jpg"]


@pytest.mark.parametrize("row", ["a,xclick,/m/2,1,0.1\n", "a,xclick,/m/2,1,far,0.5,0.2,0.6,0\n"])
def test_a_row_that_is_damaged_is_named(lay_out: Lay, scan: Any, row: str) -> None:
    found = scan(lay_out(train_annotations_bbox=f"{BOXES}{row}b,xclick,/m/2,1,0,1,0,1,0\n"))
    assert any("train-annotations-bbox.csv: byte" in name for name in found.skipped)
