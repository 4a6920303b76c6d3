"""Each command that a message about a dataset prints is pasted, and works."""

import re
import shlex
import shutil
from pathlib import Path

import pytest
from called_packer import call_packer
from damage import flip

OPTIONS = ("--jpeg", "verbatim", "--png", "verbatim", "--jobs", "1", "--shard-samples", "20")


@pytest.fixture
def dataset(source: Path, tmp_path: Path) -> Path:
    """A dataset of `source` with two shards."""
    call_packer("pack", source, tmp_path / "dst", *OPTIONS, code=0)
    return tmp_path / "dst"


def paste(printed: str, pattern: str, **values: object) -> str:
    """Run the command in `printed`, with values for its placeholders; return what it prints."""
    found = re.search(pattern, printed)
    assert found, printed
    words = [str(values.get(word, word)) for word in shlex.split(found[0])]
    done = call_packer(*words[1:], code=0)
    return done.stdout + done.stderr


def test_what_verify_finds_is_repaired_as_it_is_advised(dataset: Path, source: Path) -> None:
    flip(dataset / "shard-000000.tar", 700)
    found = call_packer("verify", dataset, "--jobs", 1, code=1)
    paste(found.stdout, r"packer repair \S+ --from SRC", SRC=source)
    assert "nothing is damaged" in call_packer("verify", dataset, "--jobs", 1).stdout


def test_an_index_of_others_tars_is_made_again_as_advised(dataset: Path, tmp_path: Path) -> None:
    others = tmp_path / "others"
    others.mkdir()
    for tar in dataset.glob("*.tar"):
        shutil.copy(tar, others)
    call_packer("index", others, "--jobs", 1, code=0)
    index = sorted(others.glob("*.safetensors"))[0]
    index.write_bytes(index.read_bytes()[:-1])
    found = call_packer("verify", others, "--jobs", 1)
    assert "indexes are damaged, remove these" in found.stdout
    index.unlink()
    paste(found.stdout, r"(?<=`)packer index [^`]+")
    assert "nothing is damaged" in call_packer("verify", others, "--jobs", 1).stdout


def test_a_dataset_without_manifest_is_packed_again_as_advised(dataset: Path, source: Path) -> None:
    before = {path.name: path.read_bytes() for path in dataset.iterdir()}
    (dataset / "dataset.json").unlink()
    for command in ("info", "index"):
        found = call_packer(command, dataset, code=2)
        assert "--overwrite" in found.stderr
    call_packer("pack", source, dataset, "--overwrite", *OPTIONS, code=0)
    assert {path.name: path.read_bytes() for path in dataset.iterdir()} == before


def test_what_extract_lacks_is_repaired(dataset: Path, source: Path, tmp_path: Path) -> None:
    flip(dataset / "shard-000000.tar", 700)
    found = call_packer("extract", dataset, tmp_path / "out", "--jobs", 1, code=1)
    assert f"`packer verify {dataset}` lists all damages" in found.stderr
    sorted(dataset.glob("*.tar"))[1].unlink()
    found = call_packer("extract", dataset, tmp_path / "out", "--jobs", 1)
    paste(found.stderr, r"(?<=`)packer repair [^`]+", SRC=source)
    call_packer("extract", dataset, tmp_path / "out", "--jobs", 1, code=0)


def test_another_export_is_replaced_as_it_is_advised(dataset: Path) -> None:
    command = "export", dataset, "--to", "wids"
    call_packer(*command, code=0)
    for path in dataset.glob("*.json"):
        if path.name != "dataset.json":
            path.write_text("{}")
    assert "or pass --overwrite" in call_packer(*command).stderr
    call_packer(*command, "--overwrite", code=0)


def test_an_unfinished_run_is_discarded_as_it_is_advised(source: Path, dst: Path) -> None:
    command = "pack", source, dst, *OPTIONS
    call_packer(*command, "--part", "1/2", code=0)
    other = *command, "--quality", "50"
    assert "pass --overwrite" in call_packer(*other).stderr
    call_packer(*other, "--overwrite", code=0)


def test_a_changed_source_is_appended_or_packed_as_advised(own_source: Path, dst: Path) -> None:
    command = "pack", own_source, dst, *OPTIONS
    call_packer(*command, code=0)
    first, second = sorted((own_source / "class0").iterdir())[:2]
    shutil.copy(first, own_source / "class0" / "new.jpg")
    second.unlink()
    assert "pass --append to add new samples" in call_packer(*command).stderr
    done = call_packer(*command, "--append", code=0)
    assert "pack again with --overwrite" in done.stdout
    call_packer(*command, "--overwrite", code=0)


def test_members_are_packed_as_it_is_advised(dataset: Path, tmp_path: Path) -> None:
    table, extra = tmp_path / "table.csv", tmp_path / "extra"
    command = "pack", table, extra, "--keys-of", dataset
    for header in ("a,b", "id,b"):
        table.write_text(f"{header}\nx,class0/image000\n")
        refused = call_packer(*command).stderr
        assert "--image-column COLUMN" in refused
        call_packer(*command, "--image-column", "b", "--overwrite", code=0)
    done = call_packer(*command, "--image-column", "b", "--seed", 1)
    assert "Remove --seed." in done.stderr
    flip(min(extra.glob("*.tar")), 700)
    found = call_packer("verify", extra, "--jobs", 1)
    again = r"packer pack SRC \S+ --keys-of DATASET --overwrite"
    words = re.search(again, found.stdout)
    assert words, found.stdout
    values = {"SRC": table, "DATASET": dataset}
    pasted = [values.get(word, word) for word in shlex.split(words[0])[1:]]
    call_packer(*pasted, "--image-column", "b", code=0)
    assert "nothing is damaged" in call_packer("verify", extra, "--jobs", 1).stdout
    assert "Choose another destination" in call_packer(*command[:2], dataset, *command[3:]).stderr
    (tmp_path / "x.bin").write_bytes(b"x")
    done = call_packer("pack", tmp_path / "x.bin", *command[2:])
    assert "which --keys-of requires" in done.stderr
