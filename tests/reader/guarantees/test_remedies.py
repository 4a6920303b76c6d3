"""Each line of Python and each command that a message of `reader` prints is pasted, and works."""

import re
import shlex
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from called_packer import call_packer
from remedies import forgotten
from row_files import rows_of

import packer
import reader
from reader.errors import ShardfeedError

USUAL = 'dataset="shards", batch_size=2, workers=0'


@pytest.fixture
def shards(packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder "shards" of a dataset, from where lines are pasted."""
    monkeypatch.chdir(tmp_path)
    return Path(shutil.copytree(packed, tmp_path / "shards"))


@pytest.fixture
def names(shards: Path) -> Iterator[dict[str, Any]]:
    """The names that lines have, with values for their placeholders."""
    del shards
    with reader.Loader("shards", batch_size=2, workers=0, transforms=[reader.Resize(9)]) as loader:
        count = len(reader.Dataset("shards"))
        yield {
            "reader": reader,
            "Limits": reader.Limits,
            "loader": loader,
            "weights": np.ones(count),
            "numbers": [0, 1],
            "function": lambda sample: sample,
        }


LOADER = f"reader.Loader({USUAL}, {{}})"
WRONG = rows_of(__file__, "written_wrongly.rows")


@pytest.mark.parametrize("row", WRONG, ids=" | ".join)
def test_what_is_written_wrongly_is_written_as_it_is_advised(
    names: dict[str, Any], row: list[str]
) -> None:
    wrong, code, *rest = row
    line = rest[0].replace("LOADER", LOADER) if rest else ""
    with pytest.raises((ShardfeedError, AttributeError)) as caught:
        eval(wrong if wrong.startswith("reader.") else LOADER.format(wrong), names)
    assert code in str(caught.value)
    if not line:  # the whole call stands in the message
        text = str(caught.value)[str(caught.value).index(code) :]
        end = next(
            at for at in range(len(text)) if text[:at].count("(") == text[:at].count(")") > 0
        )
        code, line = text[:end], "{}"
    more = "" if "transforms=" in code or line != LOADER else ", transforms=[reader.Resize(9)]"
    dataset = names["loader"].dataset
    with suppress(ShardfeedError):  # without a GPU
        written = line.format(code.replace(", ...", "") + more)  # for further ones
        made = eval(written, {**names, "first": dataset, "second": dataset})
        if isinstance(made, reader.Loader):
            assert line != LOADER or next(iter(made))
            made.close()


def test_several_datasets_and_chosen_samples_are_read_as_it_is_advised(
    names: dict[str, Any], packed: Path, tmp_path: Path
) -> None:
    dataset, datasets = names["loader"].dataset, []
    for name in ("cat", "dog"):
        image = np.zeros((8, 8, 3), np.uint8)
        packer.pack([{"image": image, "label": 0}] * 2, tmp_path / name, jobs=1, classes=[name])
        datasets.append(reader.Dataset(tmp_path / name))
    folders = [packed, shutil.copytree(packed, tmp_path / "other")]
    own = {**names, "first": folders[0], "second": folders[1], "datasets": datasets}
    line = r"reader\.Loader\((?:[^()]|\([^()]*\)(?:\.subset\(numbers\))?)*\)"
    for given, code, count in (
        (folders, r"reader\.Mix\(\[.*\]\)", 1),
        (torch.utils.data.ConcatDataset(datasets), r"reader\.Mix\(datasets\)", 1),
        ([dataset, dataset], line, 2),
    ):
        with pytest.raises(ShardfeedError) as caught:
            reader.Loader(given)  # type: ignore[arg-type]
        found = re.findall(code, str(caught.value))
        assert len(found) == count, caught.value
        for made in (eval(one, own) for one in found):
            loader = made if isinstance(made, reader.Loader) else reader.Loader(made, workers=0)
            loader.close()


def test_members_are_joined_as_it_is_advised(
    shards: Path, packed: Path, source: Path, tmp_path: Path
) -> None:
    text = tmp_path / "texts" / f"{reader.Dataset(shards).keys[0]}.txt"
    text.parent.mkdir(parents=True)
    text.write_text("x")
    values = {"SOURCE": tmp_path / "texts", "EXTRA": tmp_path / "extra"}

    def paste(places: Any) -> None:
        with pytest.raises(ShardfeedError) as caught:
            reader.Dataset(shards, join=places)
        found = re.search(r"packer (pack SOURCE .*)", str(caught.value))
        assert found, caught.value
        words = [values.get(word, word) for word in shlex.split(found[1])]
        assert call_packer(*words, "--jobs", 1).returncode == 0
        reader.Dataset(shards, join=tmp_path / "extra")

    paste(packed)
    packer.pack(source, shards, overwrite=True, shard_samples=15, jobs=1, progress=False)
    paste(tmp_path / "extra")
    line = r'reader\.Dataset\("DATASET", join=".*"\)'
    for wrong, code in (
        (lambda: reader.Dataset(tmp_path / "extra"), line),
        (lambda: reader.Dataset(shards, join=["extra", "extra"]), r"join=\{.*?\}"),
    ):
        with pytest.raises(ShardfeedError) as caught:
            wrong()
        found = re.search(code, str(caught.value))
        assert found, caught.value
        if "DATASET" in found[0]:
            assert eval(found[0].replace("DATASET", "shards")).read(0, "txt") is not None
        else:
            named = eval(f"reader.Dataset('shards', {found[0]})")
            assert named.extensions[-1] == "extra.txt"


@pytest.mark.parametrize("suffix", [".tar", ".safetensors"])
def test_a_damaged_shard_is_rebuilt_as_it_is_advised(
    shards: Path, source: Path, suffix: str
) -> None:
    damaged = shards / f"shard-000001{suffix}"

    def paste() -> None:
        with pytest.raises(ShardfeedError, match=re.escape(damaged.name)) as caught:
            reader.Dataset("shards")[10]
        codes = []
        for command in re.findall(r"`packer ([^`]+)`", str(caught.value)):
            words = [str(source) if word == "SRC" else word for word in shlex.split(command)]
            codes.append(call_packer(*words).returncode)
        assert codes == [1, 0]  # `verify` finds it
        assert reader.Dataset("shards")[10][0].any()

    damaged.unlink()
    paste()
    damaged.write_bytes(damaged.read_bytes()[:700])
    paste()


def test_limits_are_raised_as_it_is_advised(shards: Path) -> None:
    for limit in ("pixels", "bytes"):
        small = reader.Dataset(shards, limits=reader.Limits(**{limit: 1}))
        with pytest.raises(ShardfeedError, match=rf"limits=reader\.Limits\({limit}=\.\.\.\)"):
            small[0]
        assert reader.Dataset(shards, limits=reader.Limits(**{limit: 10**8}))[0]


def test_a_folder_that_is_no_dataset_becomes_one_as_it_is_advised(
    shards: Path, source: Path, tmp_path: Path
) -> None:
    tars = tmp_path / "tars of others"
    tars.mkdir()
    shutil.copy(next(shards.glob("*.tar")), tars)
    for folder, made in ((tars, tars), (source, tmp_path / "SHARDS")):
        with pytest.raises(ShardfeedError) as caught:
            reader.Dataset(folder)
        (command,) = re.findall(r"`(packer [^`]+)`", str(caught.value))
        done = call_packer(*shlex.split(command)[1:], "--jobs", "1")
        assert done.returncode == 0, done.stderr
        assert len(reader.Dataset(made))


def test_a_run_that_rejected_files_is_finished_as_it_is_advised(
    source: Path, tmp_path: Path
) -> None:
    own = Path(shutil.copytree(source, tmp_path / "own"))
    (own / "class0" / "x.jpg").touch()
    command = "pack", own, tmp_path / "dst", "--jobs", "1", "--jpeg", "verbatim"
    assert call_packer(*command).returncode == 2
    with pytest.raises(
        ShardfeedError, match=r"rejected files\. To finish it, run the same command"
    ):
        reader.Dataset(tmp_path / "dst")
    (own / "class0" / "x.jpg").unlink()
    assert call_packer(*command).returncode == 0


def test_no_remedy_is_forgotten() -> None:
    known = [part for part, *_ in rows_of(__file__, "remedies.rows")]
    assert not forgotten(Path(reader.__file__).parent, [], known)
