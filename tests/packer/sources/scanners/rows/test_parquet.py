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


def test_a_column_of_plain_bytes_will_do(
    tmp_path: Path, opened: Opened, scanned: Scanned, jpegs: list[bytes]
) -> None:
    pq.write_table(pa.table({"id": [1, 2], "img": jpegs[:2]}), tmp_path / "a.parquet")
    source = opened(tmp_path / "a.parquet")
    samples, _ = scanned(source)
    assert [source.files.read(sample).image for sample in samples.values()] == jpegs[:2]
    assert list(samples) == ["a/00000000", "a/00000001"]


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
