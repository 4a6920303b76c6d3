import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from packer.errors import PackingFailed, UnusableInput

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

Opened = Callable[..., Any]
Scanned = Callable[..., Any]
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path, jpegs: list[bytes]) -> Write:
    """`write("train.parquet", names=["cat", "dog"], text=[...])`: as the library datasets does.

    `names` are the classes of the column `label`, `declared` those of any columns.
    """

    def to_file(
        name: str,
        images: list[Any] | None = None,
        names: list[str] | None = None,
        declared: dict[str, list[str]] | None = None,
        **columns: Any,
    ) -> Path:
        path = tmp_path / "hf" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if images is None:
            images = [{"bytes": data, "path": f"n{row}.JPEG"} for row, data in enumerate(jpegs[:4])]
        kind = pa.struct({"bytes": pa.binary(), "path": pa.string()})
        table = pa.table({"image": pa.array(images, kind), **columns})
        declared = {"label": names} if names else declared
        if declared:
            features: dict[str, Any] = {"image": {"_type": "Image"}}
            for column, of in declared.items():
                features[column] = {"names": of, "_type": "ClassLabel"}
            table = table.replace_schema_metadata(
                {"huggingface": json.dumps({"info": {"features": features}})}
            )
        pq.write_table(table, path, row_group_size=3)
        return path

    return to_file


def test_images_labels_and_names_come_from_the_file(
    write: Write, opened: Opened, scanned: Scanned, json_of: Callable[..., Any], jpegs: list[bytes]
) -> None:
    path = write("some.parquet", names=["dog", "cat"], label=[1, 0, -1, 1], text=list("abcd"))
    source = opened(path)
    samples, skipped = scanned(source)
    assert not skipped
    assert source.classes == ("dog", "cat")
    assert [(s.name, s.key, s.label, s.split, s.block) for s in samples.values()] == [
        ("some/00000000-n0.JPEG", "some/00000000-n0", 1, "", 0),
        ("some/00000001-n1.JPEG", "some/00000001-n1", 0, "", 0),
        ("some/00000002-n2.JPEG", "some/00000002-n2", -1, "", 0),
        ("some/00000003-n3.JPEG", "some/00000003-n3", 1, "", 1),
    ]
    assert [source.files.read(sample).image for sample in samples.values()] == jpegs[:4]
    assert [json_of(source, sample) for sample in samples.values()] == [
        {"text": text} for text in "abcd"
    ]


@pytest.mark.parametrize("folder", ["", "data/"])
def test_a_folder_of_files_gives_their_splits(
    tmp_path: Path, write: Write, opened: Opened, scanned: Scanned, folder: str
) -> None:
    for name in ("train-00000-of-00002", "train-00001-of-00002", "test-00000-of-00001-a1b2"):
        write(f"{folder}{name}.parquet", label=["a", "b", "b", "a"])
    (tmp_path / "hf" / folder / "README.md").write_text("about")
    source = opened(tmp_path / "hf")
    samples, skipped = scanned(source)
    assert len(samples) == 12
    assert source.classes == ("a", "b")
    assert {sample.name.split("-")[0]: sample.split for sample in samples.values()} == {
        f"{folder}train": "train",
        f"{folder}test": "test",
    }
    assert list(skipped) == [f"{folder}README.md"]


def test_classes_fix_the_order(write: Write, opened: Opened, scanned: Scanned) -> None:
    path = write("some.parquet", names=["dog", "cat"], label=[1, 0, -1, 1])
    source = opened(path, classes=["cat", "fox", "dog"])
    assert [sample.label for sample in scanned(source)[0].values()] == [0, 2, -1, 0]
    with pytest.raises(UnusableInput, match="not in the list of classes: dog"):
        opened(path, classes=["cat"])


def test_rows_without_an_image_are_named_with_their_number(
    write: Write, opened: Opened, scanned: Scanned, jpegs: list[bytes]
) -> None:
    images = [
        {"bytes": jpegs[0], "path": None},
        {"bytes": None, "path": "elsewhere.jpg"},
        None,
        {"bytes": b"", "path": None},
        {"bytes": None, "path": None},
        {"bytes": jpegs[1], "path": "../../x\0.jpg"},
        {"bytes": jpegs[2], "path": "../../y.jpg"},
    ]
    samples, skipped = scanned(opened(write("some.parquet", images)))
    assert list(samples) == ["some/00000000", "some/00000005", "some/00000006-y.jpg"]
    assert skipped == {
        "some.parquet: row 1": "it holds no image, only the path 'elsewhere.jpg'",
        "some.parquet: row 2": "it holds no image (null)",
        "some.parquet: row 3": "its image is empty",
        "some.parquet: row 4": "it holds no image (null)",
    }


def test_a_label_that_has_no_name_is_refused_with_its_row(
    write: Write, opened: Opened, scanned: Scanned
) -> None:
    path = write("some.parquet", names=["dog", "cat"], label=[1, 0, 2, 1])
    samples, skipped = scanned(opened(path))
    assert len(samples) == 3
    assert skipped == {"some.parquet: row 2": "its label, 2, is none of the 2 classes"}


def test_a_column_of_plain_bytes_will_do(
    tmp_path: Path, opened: Opened, scanned: Scanned, jpegs: list[bytes]
) -> None:
    pq.write_table(pa.table({"id": [1, 2], "img": jpegs[:2]}), tmp_path / "a.parquet")
    source = opened(tmp_path / "a.parquet")
    samples, _ = scanned(source)
    assert [source.files.read(sample).image for sample in samples.values()] == jpegs[:2]
    assert list(samples) == ["a/00000000", "a/00000001"]


def test_files_with_different_columns_are_refused(
    tmp_path: Path, write: Write, opened: Opened
) -> None:
    write("a.parquet", label=[1, 2, 3, 4])
    write("b.parquet")
    with pytest.raises(UnusableInput, match=r"b\.parquet has other columns than .*a\.parquet"):
        opened(tmp_path / "hf")


def test_a_column_without_images_is_refused(tmp_path: Path, write: Write, opened: Opened) -> None:
    write("a.parquet", label=[1, 2, 3, 4])
    with pytest.raises(UnusableInput, match=r"no column of images.*: it has image, label"):
        opened(tmp_path / "hf", image_column="label")
    pq.write_table(pa.table({"x": [1]}), tmp_path / "hf" / "a.parquet")
    with pytest.raises(UnusableInput, match="no column of images"):
        opened(tmp_path / "hf")


def test_a_changed_file_stops_packing(write: Write, opened: Opened, scanned: Scanned) -> None:
    path = write("a.parquet")
    source = opened(path)
    samples, _ = scanned(source)
    os.utime(path, ns=(0, 0))
    with pytest.raises(PackingFailed, match=r"a\.parquet changed"):
        source.files.read(next(iter(samples.values())))


def test_without_pyarrow_a_sentence_names_what_to_install(
    write: Write, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write("a.parquet")
    monkeypatch.setitem(__import__("sys").modules, "packer.sources.tables.parquet", None)
    with pytest.raises(UnusableInput, match=r"pip install 'shardfeed\[parquet\]'"):
        opened(path)


def test_a_label_of_more_digits_than_a_number_has_is_none_of_the_classes(
    write: Write, opened: Opened, scanned: Scanned
) -> None:
    path = write("a.parquet", names=["dog", "cat"], label=["1", "9" * 5000, "0", "-1"])
    samples, skipped = scanned(opened(path))
    assert [sample.label for sample in samples.values()] == [1, 0, -1]
    assert "none of the 2 classes" in skipped["a.parquet: row 1"]


def test_the_beans_of_the_readme_keep_their_labels(
    write: Write, opened: Opened, scanned: Scanned
) -> None:
    paths = [f"/home/me/{number}.jpg" for number in range(4)]
    names = ["angular_leaf_spot", "bean_rust", "healthy"]
    write(
        *("train-00000-of-00001.parquet",),
        declared={"labels": names},
        image_file_path=paths,
        labels=[2, 0, 1, 2],
    )
    source = opened(
        write(
            "test.parquet", declared={"labels": names}, image_file_path=paths, labels=[1, 1, 0, 2]
        ).parent
    )
    assert source.classes == ("angular_leaf_spot", "bean_rust", "healthy")
    found = [(sample.split, sample.label) for sample in scanned(source)[0].values()]
    assert found == [("test", 1), ("test", 1), ("test", 0), ("test", 2)] + [
        ("train", label) for label in (2, 0, 1, 2)
    ]


def test_a_column_declared_to_hold_labels_needs_no_usual_name(
    write: Write, opened: Opened, scanned: Scanned, json_of: Callable[..., Any]
) -> None:
    path = write("a.parquet", declared={"kind": ["zebra", "ant"]}, kind=[0, 1, -1, 1], cls=[1] * 4)
    source = opened(path)
    samples, _ = scanned(source)
    assert source.classes == ("zebra", "ant")
    assert [sample.label for sample in samples.values()] == [0, 1, -1, 1]
    assert json_of(source, samples["a/00000000-n0.JPEG"]) == {"cls": 1}


def test_of_fine_and_coarse_labels_one_has_to_be_chosen(
    write: Write, opened: Opened, scanned: Scanned
) -> None:
    declared = {"fine_label": ["apple", "bear"], "coarse_label": ["plant", "animal"]}
    path = write("a.parquet", declared=declared, fine_label=[1, 0, 1, 0], coarse_label=[1, 0, 1, 0])
    with pytest.raises(UnusableInput, match=r"'fine_label', 'coarse_label'.*--label-column"):
        opened(path)
    assert opened(path, label_column="coarse_label").classes == ("plant", "animal")


def test_a_column_called_label_is_the_label_among_further_ones(
    write: Write, opened: Opened
) -> None:
    declared = {"domain": ["photo", "sketch"], "label": ["cat", "dog"]}
    path = write("a.parquet", declared=declared, domain=[0, 0, 1, 1], label=[0, 1, 0, 1])
    assert opened(path).classes == ("cat", "dog")


def test_lists_in_a_column_named_as_labels_are_stay_in_the_json(
    write: Write, opened: Opened, scanned: Scanned, json_of: Callable[..., Any]
) -> None:
    source = opened(write("a.parquet", labels=[[1, 2], [], [0], [3]]))
    samples, skipped = scanned(source)
    assert not skipped
    assert json_of(source, samples["a/00000000-n0.JPEG"]) == {"labels": [1, 2]}


def test_files_that_declare_other_classes_are_refused(
    tmp_path: Path, write: Write, opened: Opened
) -> None:
    write("train.parquet", names=["dog", "cat"], label=[1, 0, 0, 1])
    write("test.parquet", names=["cat", "dog"], label=[1, 0, 0, 1])
    with pytest.raises(UnusableInput, match=r"train\.parquet has other classes.*test\.parquet"):
        opened(tmp_path / "hf")


def test_a_table_of_paths_may_declare_its_classes_too(
    images: Path, opened: Opened, scanned: Scanned
) -> None:
    table = pa.table({"path": ["0.jpg", "1.jpg"], "cls": [1, 0]})
    features = {"cls": {"names": ["dog", "cat"], "_type": "ClassLabel"}}
    metadata = {"huggingface": json.dumps({"info": {"features": features}})}
    pq.write_table(table.replace_schema_metadata(metadata), images / "list.parquet")
    source = opened(images / "list.parquet")
    assert source.classes == ("dog", "cat")
    assert [sample.label for sample in scanned(source)[0].values()] == [1, 0]


def test_a_further_column_of_images_is_a_member(
    write: Write, opened: Opened, scanned: Scanned, jpegs: list[bytes]
) -> None:
    kind = pa.struct({"bytes": pa.binary(), "path": pa.string()})
    masks = [{"bytes": data, "path": None} for data in jpegs[4:6]] + [None, {"path": "x.png"}]
    path = write("train.parquet", Mask=pa.array(masks, kind), text=list("abcd"))
    source = opened(path)
    samples, skipped = scanned(source)
    members = [sample.members for sample in samples.values()]
    assert members == [("mask.jpg", "json"), ("mask.jpg", "json"), ("json",)]
    first = source.files.read(next(iter(samples.values())))
    assert first.members == {"mask.jpg": jpegs[4], "json": b'{"text":"a"}'}
    assert list(skipped.values()) == ["its column 'Mask' holds no image, only a path"]


@pytest.mark.parametrize("is_list", [False, True])
def test_how_boxes_within_a_column_are_read_is_said(
    write: Write, opened: Opened, is_list: bool
) -> None:
    objects: list[Any] = [{"bbox": [[1, 2, 3, 4]], "category": [1]}] * 4
    if is_list:
        objects = [[{"bbox": [1, 2, 3, 4], "category": 1}]] * 4
    path = write("train.parquet", objects=objects)
    (remark,) = opened(path).facts.remarks
    star = "*." if is_list else ""
    assert f'path="objects.{star}bbox", labels="objects.{star}category"' in remark
