import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from packer.errors import PackingFailed, UnusableInput, WrongOption

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

Opened = Callable[..., Any]
Scanned = Callable[..., Any]


@pytest.fixture
def table(tmp_path: Path, jpegs: list[bytes]) -> Path:
    """Four images with labels and texts, in groups of three rows, as datasets writes them."""
    images = [{"bytes": data, "path": f"n{row}.JPEG"} for row, data in enumerate(jpegs[:4])]
    columns = {"image": images, "label": [1, 0, -1, 1], "text": list("abcd")}
    features = {"label": {"names": ["dog", "cat"], "_type": "ClassLabel"}}
    told = {"huggingface": json.dumps({"info": {"features": features}})}
    found = pa.table(columns).replace_schema_metadata(told)
    pq.write_table(found, tmp_path / "some.parquet", row_group_size=3)
    return tmp_path / "some.parquet"


def test_images_labels_and_names_come_from_the_file(
    table: Path, opened: Opened, scanned: Scanned, json_of: Callable[..., Any], jpegs: list[bytes]
) -> None:
    source = opened(table)
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


@pytest.mark.parametrize(
    ("classes", "is_right"),
    [
        (["dog", "cat"], True),
        (["dog", "cat", "cow"], True),
        (["Hund", "Katze"], True),
        (["cat", "dog"], False),
        (["cow", "dog", "cat"], False),
    ],
)
def test_classes_in_another_order_than_the_numbers_of_objects_are_refused(
    tmp_path: Path, opened: Opened, jpegs: list[bytes], classes: list[str], is_right: bool
) -> None:
    names = {"names": ["dog", "cat"], "_type": "ClassLabel"}
    features = {"objects": {"bbox": {}, "category": {"feature": names, "_type": "Sequence"}}}
    told = {"huggingface": json.dumps({"info": {"features": features}})}
    objects = {"bbox": [[1.0, 2.0, 3.0, 4.0]], "category": [1]}
    found = pa.table({"image": [{"bytes": jpegs[0], "path": "a.jpg"}], "objects": [objects]})
    pq.write_table(found.replace_schema_metadata(told), tmp_path / "a.parquet")
    if is_right:
        assert opened(tmp_path / "a.parquet", classes=classes).classes == tuple(classes)
    else:
        with pytest.raises(WrongOption, match="hold the numbers of the classes dog, cat"):
            opened(tmp_path / "a.parquet", classes=classes)


def test_a_column_of_plain_bytes_will_do(
    tmp_path: Path, opened: Opened, scanned: Scanned, jpegs: list[bytes]
) -> None:
    pq.write_table(pa.table({"id": [1, 2], "img": jpegs[:2]}), tmp_path / "a.parquet")
    source = opened(tmp_path / "a.parquet")
    samples, _ = scanned(source)
    assert [source.files.read(sample).image for sample in samples.values()] == jpegs[:2]
    assert list(samples) == ["a/00000000", "a/00000001"]


def test_a_changed_file_stops_packing(table: Path, opened: Opened, scanned: Scanned) -> None:
    source = opened(table)
    samples, _ = scanned(source)
    os.utime(table, ns=(0, 0))
    with pytest.raises(PackingFailed, match=r"some\.parquet changed"):
        source.files.read(next(iter(samples.values())))


def test_without_pyarrow_a_sentence_names_what_to_install(
    table: Path, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "packer.sources.tables.parquet", None)
    with pytest.raises(UnusableInput, match=r"pip install 'shardfeed\[parquet\]'"):
        opened(table)
