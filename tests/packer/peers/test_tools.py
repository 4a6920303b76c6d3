"""Other tools read what `packer pack` and `packer export` write, byte for byte.

Each tool is skipped where it is not installed; `scripts/test_peers.sh` installs them.
"""

import contextlib
import json
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from finished import export
from made_images import make_image, write_files
from packing import run_pack
from PIL import Image

from packer.inspect.export import export as export_of
from packer.keys import escape
from packer.progress import Progress
from packer.storage.dataset import Finished
from reader.format import Manifest

pytestmark = [  # these tools leave their files to be closed
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

Members = dict[str, bytes]  # extension -> content
Samples = Iterable[tuple[str, Members]]
Exported = tuple[Path, dict[str, Members]]

EXTENSIONS = ("jpg", "cls", "json", "txt", "mask.png")
# The longest has 99 bytes with its folder and extension: wids knows 100.
NAMES = ["photo{:04}", "dotted.name.{:04}", "with space {:04}", "größe-猫-{:04}"]
NAMES.append("long" * 19 + "{:04}")


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Exported:
    """A dataset with the index files of every tool, and what each has to find in it."""
    root = tmp_path_factory.mktemp("exported")
    source, shards = root / "source", root / "shards"
    expected: dict[str, Members] = {}
    for number in range(20):
        label = number % 3
        stem = source / f"class {label}" / NAMES[number % len(NAMES)].format(number)
        stem.parent.mkdir(parents=True, exist_ok=True)
        make_image(number, 24, 32).save(f"{stem}.jpg")
        Path(f"{stem}.json").write_text(json.dumps({"number": number}))
        Path(f"{stem}.txt").write_text(f"Number {number}, größer", "utf-8")
        Image.new("L", (32, 24), number).save(f"{stem}.mask.png")
        members = {ext: Path(f"{stem}.{ext}").read_bytes() for ext in EXTENSIONS if ext != "cls"}
        key = escape(str(stem.relative_to(source)))
        expected[key] = {"cls": str(label).encode(), **members}
    run_pack(source, shards, split={"train": 0.7, "val": 0.3}, jpeg="verbatim", shard_samples=8)
    for tool in ("dali", "wids", "energon"):
        export(shards, tool, False, Progress(quiet=True))
    return shards, expected


def tars(folder: Path) -> list[str]:
    """The shards of all splits."""
    return sorted(map(str, folder.glob("*/shard-*.tar")))


def with_tar(folder: Path, scratch: Path) -> Samples:
    """The program `tar`: unpack, and look at the files."""
    for path in tars(folder):
        subprocess.run(["tar", "-xf", path, "-C", scratch], check=True)
    found: dict[str, Members] = {}
    for path in scratch.rglob("*"):
        if path.is_file():
            stem, _, ext = path.name.partition(".")
            key = (path.parent.relative_to(scratch) / stem).as_posix()
            found.setdefault(key, {})[ext] = path.read_bytes()
    return found.items()


def with_webdataset(folder: Path, scratch: Path) -> Samples:
    """The webdataset library, without its decoders."""
    webdataset = pytest.importorskip("webdataset")
    for sample in webdataset.WebDataset(tars(folder), shardshuffle=False):
        yield sample["__key__"], {ext: sample[ext] for ext in EXTENSIONS}


def with_datasets(folder: Path, scratch: Path) -> Samples:
    """Hugging Face datasets: it decodes what it knows, so that only images come as bytes."""
    datasets = pytest.importorskip("datasets")
    loaded = datasets.load_dataset(
        "webdataset", data_files=tars(folder), split="train", cache_dir=str(scratch)
    )
    for name in ("jpg", "mask.png"):
        loaded = loaded.cast_column(name, datasets.Image(decode=False))
    for row in loaded:
        members = {name: row[name]["bytes"] for name in ("jpg", "mask.png")}
        members["cls"] = str(row["cls"]).encode()
        members["txt"] = row["txt"].encode()
        members["json"] = json.dumps(row["json"]).encode()
        yield row["__key__"], members


def with_wids(folder: Path, scratch: Path) -> Samples:
    """The wids package, by the description beside each split's shards."""
    wids = pytest.importorskip("wids")
    for description in sorted(folder.glob("*/wids.json")):
        loaded = wids.ShardListDataset(
            str(description), localname=lambda url: url, transformations=[], lru_size=100
        )
        for number in range(len(loaded)):
            sample = loaded[number]
            yield sample["__key__"], {ext: sample[f".{ext}"].read() for ext in EXTENSIONS}


def with_dali(folder: Path, scratch: Path) -> Samples:
    """DALI: its reader has no keys, so these are those of its index, whose order it keeps."""
    dali = pytest.importorskip("nvidia.dali")
    for path in tars(folder):
        index = path.removesuffix(".tar") + ".idx"

        @dali.pipeline_def(batch_size=1, num_threads=1, device_id=None)
        def read(path: str = path, index: str = index) -> Any:
            return tuple(
                dali.fn.readers.webdataset(paths=[path], index_paths=[index], ext=list(EXTENSIONS))
            )

        pipeline = read()
        pipeline.build()
        for line in Path(index).read_text("utf-8").splitlines()[1:]:
            outputs = [np.array(output[0]).tobytes() for output in pipeline.run()]
            folder_of, _, name = line.split(" ")[3].rpartition("/")
            key = f"{folder_of}/{name.partition('.')[0]}"
            yield key, dict(zip(EXTENSIONS, outputs, strict=True))


def with_energon(folder: Path, scratch: Path) -> Samples:
    """Energon, which reads by key."""
    pytest.importorskip("megatron.energon")
    from megatron.energon.epathlib import EPath
    from megatron.energon.flavors.webdataset.itar_reader import SqliteITarEntryReader

    reader = SqliteITarEntryReader(EPath(str(folder)))
    for _, key, *_ in rows(folder, "samples"):
        yield key, {ext: reader[key][ext] for ext in EXTENSIONS}


def rows(folder: Path, table: str) -> list[tuple[Any, ...]]:
    """Rows of Energon's database, by the names of the shards."""
    shards = list(json.loads((folder / ".nv-meta" / ".info.json").read_text())["shard_counts"])
    with contextlib.closing(sqlite3.connect(folder / ".nv-meta" / "index.sqlite")) as database:
        found = database.execute(f"SELECT * FROM {table}").fetchall()
    return sorted((shards[number], *rest) for number, *rest in found)


TOOLS = [with_tar, with_webdataset, with_datasets, with_wids, with_dali, with_energon]


@pytest.mark.parametrize("read", TOOLS, ids=lambda tool: tool.__name__)
def test_a_tool_finds_every_sample_as_it_was(
    exported: Exported,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    read: Callable[[Path, Path], Samples],
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    folder, expected = exported
    found = list(read(folder, tmp_path))
    assert len(found) == len(expected)
    assert dict(found) == expected


def test_what_export_says_of_hugging_face_is_so(
    exported: Exported, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    datasets = pytest.importorskip("datasets")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    folder, expected = exported
    load = partial(datasets.load_dataset, cache_dir=str(tmp_path))
    with pytest.raises(datasets.exceptions.DatasetGenerationError):
        load(str(folder))
    written = export_of(Finished(folder, folder), "energon", False, Progress(quiet=True))
    _, [remark] = written
    loaded = eval(remark.partition("Name the tars: ")[2], {"load_dataset": load})
    assert {split: len(rows) for split, rows in loaded.items()} == {
        split: sum(shard.samples for shard in Manifest.load(folder).shards if shard.split == split)
        for split in ("train", "val")
    }
    assert {row["__key__"] for rows in loaded.values() for row in rows} == expected.keys()


def test_energon_s_files_are_those_of_energon_prepare(exported: Exported, tmp_path: Path) -> None:
    pytest.importorskip("megatron.energon")
    folder, _ = exported
    for path in tars(folder):
        copy = tmp_path / Path(path).relative_to(folder)
        copy.parent.mkdir(exist_ok=True)
        shutil.copy(path, copy)
    program = [str(Path(sys.executable).with_name("energon")), "prepare", str(tmp_path)]
    choices = ["--non-interactive", "--split-ratio", "1,0,0"]
    subprocess.run([*program, *choices], stdout=subprocess.DEVNULL, check=True)
    for table in ("samples", "sample_parts"):
        assert rows(folder, table) == rows(tmp_path, table)
    for path in tars(folder):
        ours = Path(path + ".idx")
        assert ours.read_bytes() == (tmp_path / ours.relative_to(folder)).read_bytes()


def test_hugging_face_reads_several_image_formats_with_the_features_that_the_page_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("datasets")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    for number in range(12):
        name = f"{'ab'[number % 2]}/{number}.{('jpg', 'png')[number % 3 == 0]}"
        write_files(tmp_path / "images", {name: make_image(number, 24, 32)})
    run_pack(tmp_path / "images", tmp_path / "shards")
    page = Path(__file__).parents[3] / "docs" / "packing" / "other-tools.md"
    code = page.read_text().partition("```python\n")[2].partition("```")[0]
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(code, names)
    rows = list(names["loaded"])
    assert len(rows) == 12
    assert all((row["jpg"] is None) != (row["png"] is None) for row in rows)
    assert {row["cls"] for row in rows} == {0, 1}
