"""`pack --column`: values of the JSON in the index, to choose samples by them."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from called_packer import call_packer
from damage import flip
from finished import info, repair, verify
from packing import files_of, pack, pack_part
from PIL import Image

import packer
from packer.errors import UnusableInput
from packer.options.declared import PackOptions
from reader import Dataset, Loader
from reader.format import Manifest

COUNT = 30
SOURCES = ("web", "photo")
COLUMNS = ("width", "score", "size.side", "source")
ASKED = PackOptions(columns=COLUMNS, shard_samples=7)
Rows = list[dict[str, Any]]


@pytest.fixture
def rows(tmp_path: Path) -> Rows:
    """Rows of `table.jsonl`, and their images; one has no score, and a seventh has no source."""
    (tmp_path / "img").mkdir()
    found = []
    for number in range(COUNT):
        name = f"img/{number:03d}.png"
        Image.new("L", (8, 8 + number)).save(tmp_path / name)
        row = {"image": name, "label": "ab"[number % 2], "width": 100 * number}
        row |= {"score": number / 4, "size": {"side": number}, "source": SOURCES[number % 2]}
        if not number:
            del row["score"]
        if not number % 7:
            del row["source"]
        found.append(row)
    (tmp_path / "table.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in found))
    return found


def test_samples_are_chosen_by_the_values_of_their_json(tmp_path: Path, rows: Rows) -> None:
    source, folder = tmp_path / "table.jsonl", tmp_path / "shards"
    call_packer("pack", source, folder, "--column", ",".join(COLUMNS), "--shard-samples", 7, code=0)
    assert Manifest.load(folder).options["columns"] == [*COLUMNS]
    dataset = Dataset(folder)
    order = [int(Path(name).stem) for name in dataset.names]
    found = dataset.columns("score", "json.width", "size.side", "source", "key")
    expected = {
        "score": np.array([number / 4 if number else np.nan for number in order]),
        "json.width": np.array([100 * number for number in order]),
        "size.side": np.array(order),
        "source": np.array([rows[number].get("source", "") for number in order], object),
        "key": np.array([f"img/{number:03d}" for number in order], object),
    }
    for name, values in expected.items():
        np.testing.assert_array_equal(found[name], values)
        assert found[name].dtype == values.dtype
    chosen = dataset.subset(lambda c: (c["json.width"] > 1000) & (c["source"] == "web"))
    assert sorted(chosen.names) == [
        f"img/{n:03d}.png" for n in range(11, 30) if n % 2 == 0 and n % 7
    ]
    assert len(chosen.subset(lambda c: c["score"] < 5)) == 3  # 12, 16, 18
    assert len(dataset.subset(lambda c: (c["width"] == 8) & (c["json.size"] > 0))) == COUNT
    with Loader(chosen, batch_size=3, workers=0, fields=("image", "json.source")) as loader:
        assert {source for _, sources in loader for source in sources} == {"web"}
    printed = call_packer("info", folder)
    assert "columns of the JSON: 29 score, 30 size.side, 25 source, 30 width" in printed.stdout
    assert info(folder).columns == {"width": 30, "score": 29, "size.side": 30, "source": 25}
    assert not verify(folder, 1).damages


def test_values_of_a_csv_are_numbers_if_all_are(tmp_path: Path, rows: Rows) -> None:
    with (tmp_path / "table.csv").open("w") as file:
        table = csv.DictWriter(file, ["image", "label", "width", "score", "source"])
        table.writeheader()
        table.writerows({k: v for k, v in row.items() if k != "size"} for row in rows)
    options = PackOptions(columns=("width", "score", "source"), shard_samples=7)
    pack(tmp_path / "table.csv", tmp_path / "shards", options)
    found = Dataset(tmp_path / "shards").columns("json.width", "score", "source")
    assert [values.dtype for values in found.values()] == [np.int64, np.float64, object]
    assert sorted(found["json.width"]) == [100 * number for number in range(COUNT)]
    assert int(np.isnan(found["score"]).sum()) == 1


def test_processes_parts_and_repair_write_the_same(tmp_path: Path, rows: Rows) -> None:
    source, whole = tmp_path / "table.jsonl", tmp_path / "whole"
    pack(source, whole, ASKED)
    pack(source, tmp_path / "two", ASKED, 2)
    for part in ("1/2", "2/2"):
        pack_part(source, tmp_path / "parts", ASKED, part)
    pack(source, tmp_path / "parts", ASKED)
    assert files_of(tmp_path / "two") == files_of(tmp_path / "parts") == files_of(whole)
    flip(tmp_path / "two" / "shard-000001.tar", 700)
    (tmp_path / "two" / "shard-000002.safetensors").unlink()
    assert len(repair(tmp_path / "two", source, 1).repaired) == 2
    assert files_of(tmp_path / "two") == files_of(whole)


def test_without_the_option_nothing_of_it_is_written(tmp_path: Path, rows: Rows) -> None:
    pack(tmp_path / "table.jsonl", tmp_path / "plain", PackOptions(shard_samples=7))
    pack(tmp_path / "table.jsonl", tmp_path / "asked", ASKED)
    plain, asked = files_of(tmp_path / "plain"), files_of(tmp_path / "asked")
    assert "columns" not in Manifest.load(tmp_path / "plain").options
    for name, content in plain.items():
        assert (asked[name] == content) == name.endswith(".tar")


def test_what_is_added_has_the_columns_too(tmp_path: Path, rows: Rows) -> None:
    source, folder = tmp_path / "table.jsonl", tmp_path / "shards"
    lines = source.read_text().splitlines(keepends=True)
    source.write_text("".join(lines[:20]))
    pack(source, folder, ASKED)
    source.write_text("".join(lines))
    with pytest.raises(UnusableInput, match=r"packed with other options: columns \(\[\"width\""):
        pack(source, folder, PackOptions(shard_samples=7), append=True)
    assert pack(source, folder, ASKED, append=True).samples == COUNT
    assert sorted(Dataset(folder).columns("size.side")["size.side"]) == [*range(COUNT)]


@pytest.mark.parametrize(
    ("column", "reason"),
    [
        ("scoer", "none of 30 samples has 'scoer' in its JSON; they have score. Nothing was"),
        ("size.sid", r"none .* has 'size.sid' in its JSON; they have size.side"),
        ("weather", "none .* 'weather' in its JSON; they have width, size, size.side, score"),
        ("size", "'size' in its .json is an object, .* Name fields below it, such as size.0"),
    ],
)
def test_a_field_that_no_sample_has_is_refused_before_anything_is_written(
    tmp_path: Path, rows: Rows, column: str, reason: str
) -> None:
    with pytest.raises(UnusableInput, match=rf"--column {column}: {reason}"):
        pack(tmp_path / "table.jsonl", tmp_path / "shards", PackOptions(columns=(column,)))
    assert not list(tmp_path.glob("shards/*.tar"))


def test_a_list_where_others_have_a_number_is_rejected_by_name(tmp_path: Path, rows: Rows) -> None:
    rows[20]["width"] = [1, 2]
    (tmp_path / "table.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    report = pack(tmp_path / "table.jsonl", tmp_path / "shards", ASKED, on_error="skip")
    reason = "'width' in its .json is a list, and a column has numbers or texts"
    assert report.rejected == [("img/020.png", reason)]
    assert (report.samples, len(Dataset(tmp_path / "shards"))) == (29, 29)


def test_a_loop_writes_columns_and_refuses_a_field_that_it_never_wrote(tmp_path: Path) -> None:
    def write(folder: str, **options: Any) -> None:
        with packer.Writer(tmp_path / folder, progress=False, **options) as writer:
            for number in range(5):
                pixels = np.zeros((8, 8, 3), np.uint8)
                writer.write({"image": pixels, "json": {"count": number}})

    write("shards", columns=["json.count"])
    assert Dataset(tmp_path / "shards").columns("count")["count"].tolist() == [0, 1, 2, 3, 4]
    with pytest.raises(UnusableInput, match=r'columns="cuont": none of 5 samples .* have count'):
        write("other", columns=["cuont"])
    assert not (tmp_path / "other").exists()
    with pytest.raises(UnusableInput, match="was packed with other options: columns"):
        write("shards", append=True)


def test_items_of_a_python_dataset_have_columns(tmp_path: Path) -> None:
    pixels = np.zeros((8, 8, 3), np.uint8)
    items = [{"image": pixels, "label": 0, "json": {"count": number}} for number in range(5)]
    packer.pack(items, tmp_path / "shards", columns=["count"], progress=False)
    assert sorted(Dataset(tmp_path / "shards").columns("count")["count"]) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("columns", ["width", [3], ["a", "a"]])
def test_what_names_no_fields_is_refused(tmp_path: Path, columns: Any) -> None:
    with pytest.raises(UnusableInput, match="columns must be a list of fields of the JSON"):
        packer.pack(tmp_path, tmp_path / "shards", columns=columns)
