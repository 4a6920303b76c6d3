"""`packer.pack` of what lies at a path: the command's options, report and bytes."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from called_packer import call_packer
from packing import files_of
from PIL import Image

import packer


def test_it_gives_the_bytes_and_the_report_of_the_command(tmp_path: Path, source: Path) -> None:
    options = ["--shard-samples", "5", "--split", "train=0.5,val=0.5", "--seed", "3", "--json"]
    told = json.loads(call_packer("pack", source, tmp_path / "a", *options).stdout)
    given: Any = {"shard_samples": 5, "split": {"train": 0.5, "val": 0.5}, "seed": 3}
    report = packer.pack(str(source), tmp_path / "b", **given, jobs=1, progress=False)
    assert files_of(tmp_path / "a") == files_of(tmp_path / "b")
    for name in ("samples", "classes", "splits", "shards", "bytes", "reading", "rejected"):
        assert getattr(report, name) == told[name]
    unset = dict.fromkeys(("on_error", "append", "overwrite", "jobs", "shuffle", "check"))
    again = packer.pack(source, tmp_path / "b", **given, **unset, progress=False)
    assert again.shards_written == 0


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"quality": 101}, "quality must be an integer from 1 to 100, not 101."),
        ({"jobs": True}, "jobs must be an integer of at least 1, not True."),
        ({"seed": 0.5}, "seed must be an integer, not 0.5."),
        ({"shard_size": "10"}, "shard_size must be bytes, or a size such as '500MB', not '10'."),
        ({"raw": 32}, "raw must be a height and a width, not 32."),
        ({"split": {"../a": 1}}, "split must be names with shares that add up to 1"),
        ({"classes": "cat"}, "classes must be class names in label order"),
        (
            {"class_depth": 0},
            "class_depth must be a number of levels of at least 1, or 'all', not 0.",
        ),
        ({"pairs": {"mask": "missing"}}, "pairs must be a folder for each name"),
        ({"kind": "voc1"}, "kind must be one of 'folder',"),
        ({"shuffle": 1}, "shuffle must be True or False, not 1."),
        (
            {"check": True, "jpeg": "verbatim", "png": "verbatim"},
            'jpeg="verbatim" and png="verbatim" transcode none.',
        ),
        ({"raw": (8, 8), "quality": 9}, "raw= stores pixels. Remove jpeg=, png="),
        ({"append": True, "overwrite": True}, "append=True and overwrite=True exclude each other"),
    ],
    ids=str,
)
def test_wrong_arguments_are_refused(dst: Path, source: Path, options: Any, told: str) -> None:
    with pytest.raises(packer.UnusableInput) as error:
        packer.pack(source, dst, progress=False, **options)
    assert told in str(error.value)
    assert not (dst).exists()


def test_errors_speak_of_calls_and_of_the_shells_commands(tmp_path: Path, own_source: Path) -> None:
    (own_source / "class0" / "notes.csv").write_text("a,b\n1,2\n")
    (own_source / "class0" / "labels.npz").write_bytes(b"data")
    with pytest.raises(packer.Rejected) as error:
        packer.pack(own_source, tmp_path / "dst", shard_samples=7, progress=False)
    told = str(error.value)
    how = f"packer pack --explain {own_source} prints how it is read, and kind= chooses another"
    assert how in told
    call = re.search(r"type: (packer\.pack\(.*\))$", told, re.MULTILINE)
    assert call is not None
    assert f'("{own_source}", "{tmp_path}/dst", shard_samples=7, progress=False' in call[1]
    assert eval(call[1]).samples == 39


def test_each_call_that_an_error_proposes_works_as_printed(tmp_path: Path, source: Path) -> None:
    src, dst = tmp_path / 'it\'s "here"', tmp_path / "dst"
    shutil.copytree(source / "class0", src / "images")
    first = min((src / "images").glob("*.jpg"))
    (src / "masks").mkdir()
    Image.new("L", (8, 8)).save(src / "masks" / f"{first.stem}.png")
    given: Any = {"shuffle": False, "raw": (8, 8), "split": {"a": 0.5, "b": 0.5}, "jobs": 1}
    with pytest.raises(packer.UnusableInput) as error:
        packer.pack(src, dst, **given, progress=False, on_error="skip")
    calls = dict(re.findall(r"^  (.*): (packer\.pack\(.*\))$", str(error.value), re.MULTILINE))
    assert [*calls] == ["Keep the images without a mask"]
    for call in calls.values():
        shutil.rmtree(dst, ignore_errors=True)
        eval(call)
        options = json.loads((dst / "dataset.json").read_text())["options"]
        assert (options["raw"], options["seed"]) == ([8, 8], None)
        assert options["split"] == given["split"]


def test_a_call_that_is_printed_names_credentials_only(tmp_path: Path, source: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "0.jpg").write_bytes(next(source.rglob("*.jpg")).read_bytes())
    (tmp_path / "src" / "list.csv").write_text("")
    with pytest.raises(packer.UnusableInput) as error:
        packer.pack(tmp_path / "src", tmp_path / "dst", storage_options={"secret": "s3cr3t"})
    assert ', storage_options=storage_options, images=["{key}"])' in str(error.value)
    assert "s3cr3t" not in str(error.value)


def test_a_keyword_that_is_no_option_is_an_error_of_the_program(tmp_path: Path) -> None:
    wrong: Any = {"image": "{key}"}
    with pytest.raises(TypeError, match="Unknown keyword argument 'image'"):
        packer.pack(tmp_path, tmp_path / "dst", **wrong)
    with pytest.raises(TypeError, match="Unknown keyword argument 'kind'"):
        packer.Writer(tmp_path / "dst", kind="flat")  # type: ignore[call-arg]
