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

import packer
import reader
from reader.errors import ShardfeedError

USUAL = 'dataset="shards", batch_size=2, workers=0'
PIECES = (  # of messages whose remedies are pasted below
    "transforms=[reader.Resize(256)",
    "sampler=reader.Weighted(weights)",
    "map_sample=function",
    'fields=("image", reader.Member("exr", decode=function))',
    'reader.Loader(reader.Dataset("shards", ',
    "seed=0",
    "pin_memory=True",
    "batches_ahead=",
    "transforms=[reader.RandomResizedCrop(224)",
    "reader.CUDAPrefetcher(loader)",
    "reader.CUDAPrefetcher(loader, mean=",
    'reader.Dataset("shards", channels=1)',
    'packer.pack(dataset, "shards")',
    "To mix them, give it reader.Mix(",
    "give the Loader reader.Mix(datasets)",
    ".subset(numbers)) reads chosen samples",
    "`packer index",
    "that made the dataset again, with --overwrite",
    "SHARDS`",
    "`packer pack` is still running",
    "limits=reader.Limits(pixels=...)",
    "limits=reader.Limits(bytes=...)",
    "in views=, and no transforms=",
    "Pack the members again: packer pack SOURCE",
    "Pack its members: packer pack SOURCE EXTRA",
    "Several of the joined datasets have members",
    'reader.Dataset("DATASET", join=',
    "To list all damage, run `packer verify",
    'write reader.Dataset("shards")',
    'write reader.Loader("shards", ',
    "write reader.Mix([(first, 0.7), (second, 0.3)])",
)
UNPASTED = {  # what a message has -> why no test pastes it
    "pip install": "installs packages",
    "resize; use interpolation=": "tests/reader/fields/test_kinds.py",
    "ignore= is for masks coded by colour": "colours of the user's",
    "has other colours of classes in masks": "colours of the user's",
    "which is none of the": "tests/reader/decode/test_colours.py",
    "A Mix is of datasets": "datasets of the user's",
    "of the Mix has no sample": "tests/reader/dataset/test_mix.py",
    "is for a Mix without numbers": "tests/reader/guarantees/refused.rows",
    "write epoch_size=": "tests/reader/guarantees/refused.rows",
    "give epoch_size=": "tests/reader/guarantees/refused.rows",
    "map_sample returned None": "tests/reader/monitoring/test_bad_samples.py",
    "cache_dir=": "a disk of the user's",
    "cache_limit=": "tests/reader/cache",
    "collate_fn= to batch values that differ": "a function of the user's",
    "decode=f": "a function of the user's",
    "normalized=": "tests/reader/fields/test_boxes.py",
    "packer verify --decode": "tests/packer/inspect",
    "`packer pack --max-side`": "a hint on the next run",
    "torchrun": "a program of the user's",
    "storage_options=": "a store of the user's",
    "loader.load_state_dict(state)": "tests/reader/loader/test_as_torch.py",
    "does not apply the dataset's": "transforms of the user's",
    "Give both mean= and std=": "numbers of the user's",
    "use batch_sampler=": "a sampler of the user's",
    "is not a dataset, but a split of": "tests/reader/dataset",
    "docker run": "a container of the user's",
    'or use decode="cpu"': "a GPU",
    "give both transforms the same fill=": "tests/reader/test_transforms.py",
    "Write reader.Loader(reader.Dataset(": "a split of the user's",
    "Give a larger timeout=": "a number of the user's",
    "give a larger max_bad=": "a number of the user's",
    "shuffle=reader.BlockShuffle(16)": "a hint on slow storage",
    "or reader.AspectBuckets(batch_size=...)": "tests/reader/order/test_samplers.py",
    "dataset.subset(dataset.labels >= 0)": "tests/reader/order/test_samplers.py",
    '?" in fields=': "tests/reader/fields/test_sample.py",
    '?" to fields=': "tests/reader/fields/test_sample.py",
    "give it pad_if_needed=True": "tests/reader/test_transforms.py",
    "`packer verify FOLDER`": "tests/packer/inspect",
}


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
WRONG = [  # what is written, a part of the message, and the line that it is pasted into
    *(("transform=len", code, LOADER) for code in ("transforms=[reader.Resize(256), ...]",)),
    ("transform=len", "map_sample=function", LOADER),
    ("weights=[1.0]", "sampler=reader.Weighted(weights)", LOADER),
    ("weights=[1.0]", "sampler=reader.ClassBalanced()", LOADER),
    ("prefetch_factor=2", "batches_ahead=2", LOADER),
    ("generator=1", "seed=0", LOADER),
    ("pin_memory_device='cuda'", "pin_memory=True", LOADER),
    *((wrong, "reader.Loader(reader.Dataset(", "") for wrong in ("upright=False", "channels=1")),
    *((wrong, "reader.Loader(reader.Dataset(", "") for wrong in ("limits=reader.Limits()",)),
    ("subset=[1]", "reader.Loader(reader.Dataset(", ""),
    ("cache='ram'", 'cache="ram"', 'reader.Dataset("shards", {})'),
    ("reader.ToImage", "reader.CUDAPrefetcher(loader)", ""),
    ("reader.Grayscale", 'reader.Loader(reader.Dataset("shards", channels=1))', ""),
    ("reader.Normalize", "reader.CUDAPrefetcher(loader, mean=reader.IMAGENET_MEAN, std=", ""),
    ("reader.Compose", "transforms=[reader.RandomResizedCrop(224), ...]", LOADER),
    ("reader.Dataset(local='shards')", 'reader.Dataset("shards")', ""),
    ("reader.Dataset('shards', seed=8)", 'reader.Loader("shards", seed=8)', ""),
    ("reader.Mix(weights=weights)", "reader.Mix([(first, 0.7), (second, 0.3)])", ""),
]


@pytest.mark.parametrize(("wrong", "code", "line"), WRONG)
def test_what_is_written_wrongly_is_written_as_it_is_advised(
    names: dict[str, Any], wrong: str, code: str, line: str
) -> None:
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


def test_several_datasets_are_read_as_it_is_advised(
    names: dict[str, Any], packed: Path, tmp_path: Path
) -> None:
    folders = [packed, shutil.copytree(packed, tmp_path / "other")]
    with pytest.raises(ShardfeedError) as caught:
        reader.Loader(folders)  # type: ignore[arg-type]
    found = re.search(r"reader\.Mix\(\[.*\]\)", str(caught.value))
    assert found, caught.value
    mix = eval(found[0], {**names, "first": folders[0], "second": folders[1]})
    reader.Loader(mix, workers=0).close()


def test_datasets_of_different_classes_are_read_as_it_is_advised(
    names: dict[str, Any], tmp_path: Path
) -> None:
    datasets = []
    for name in ("cat", "dog"):
        image = np.zeros((8, 8, 3), np.uint8)
        packer.pack([{"image": image, "label": 0}] * 2, tmp_path / name, jobs=1, classes=[name])
        datasets.append(reader.Dataset(tmp_path / name))
    with pytest.raises(ShardfeedError) as caught:
        reader.Loader(torch.utils.data.ConcatDataset(datasets))  # type: ignore[arg-type]
    assert "reader.Mix(datasets)" in str(caught.value)
    mix = eval("reader.Mix(datasets)", {**names, "datasets": datasets})
    assert mix.classes == ["cat", "dog"]
    reader.Loader(mix, workers=0).close()


def test_chosen_samples_are_read_as_it_is_advised(names: dict[str, Any]) -> None:
    dataset = names["loader"].dataset
    with pytest.raises(ShardfeedError) as caught:
        reader.Loader([dataset, dataset])  # type: ignore[arg-type]
    text = str(caught.value)
    found = re.findall(r"reader\.Loader\((?:[^()]|\([^()]*\)(?:\.subset\(numbers\))?)*\)", text)
    assert len(found) == 2, text
    for line in found:
        eval(line, names).close()


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
    assert not forgotten(Path(reader.__file__).parent, [], [*PIECES, *UNPASTED])
