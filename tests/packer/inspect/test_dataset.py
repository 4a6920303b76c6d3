"""Commands over a dataset in a store."""

import json
import shutil
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner
from store_server import serving

from packer.cli.main import main

pytest.importorskip("obstore", reason="reading from a store needs shardfeed[remote]")


def run(*arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(main, [*map(str, arguments)])
    return done.exit_code, done.output


@pytest.mark.parametrize("command", ["info", "bench", "verify --jobs 1", "repair --from ."])
def test_a_folder_that_is_no_dataset_is_refused(command: str, tmp_path: Path) -> None:
    code, said = run(*command.split(), tmp_path)
    assert (code, "is not a dataset" in said) == (2, True)


def test_info_tells_the_same_of_a_url_and_loads_no_tar(packed: Path) -> None:
    with serving(packed) as server:
        code, said = run("info", server.url, "--json")
        assert (code, server.tars) == (0, [])
    _, local = run("info", packed, "--json")
    assert json.loads(said) == json.loads(local) | {"dataset": server.url}


def test_a_process_that_has_asked_a_store_keeps_no_threads_of_it(packed: Path) -> None:
    with serving(packed) as server:
        before = set(threading.enumerate())
        assert run("verify", server.url, "--quiet", "-j1") == (0, "")
        server.hang_up()
    assert set(threading.enumerate()) <= before


def test_verify_names_what_is_damaged_in_a_store(packed: Path) -> None:
    with serving(packed) as server:
        assert run("verify", server.url, "--decode", "--quiet", "-j1") == (0, "")
        server.fault = lambda handler: 404 if handler.path.endswith("1.tar") else None
        code, said = run("verify", server.url, "--quiet", "-j1")
        assert code == 1
        assert "shard-000001.tar" in said
        server.fault = lambda _: 403
        code, said = run("verify", server.url, "--quiet")
        assert code == 2
        assert "the store denies access" in said


def test_extract_gives_the_files_back(packed: Path, tmp_path: Path) -> None:
    with serving(packed) as server:
        assert run("extract", server.url, tmp_path / "remote", "--quiet")[0] == 0
    assert run("extract", packed, tmp_path / "local", "--quiet")[0] == 0
    found = {path.relative_to(tmp_path / "remote") for path in (tmp_path / "remote").rglob("*.jpg")}
    assert len(found) == 39
    for name in found:
        there, here = tmp_path / "remote" / name, tmp_path / "local" / name
        assert there.read_bytes() == here.read_bytes()


@pytest.mark.parametrize("tool", ["dali", "wids", "energon"])
def test_export_of_a_url_writes_what_belongs_there(packed: Path, tmp_path: Path, tool: str) -> None:
    shards, out = tmp_path / "shards", tmp_path / "out"
    shutil.copytree(packed, shards)
    with serving(packed) as server:
        assert run("export", server.url, "--to", tool, "--out", out, "--quiet") == (0, "")
        assert server.tars == []
        code, said = run("export", server.url, "--to", tool)
        assert (code, "Pass --out FOLDER, and upload" in said) == (2, True)
    assert run("export", shards, "--to", tool, "--quiet")[0] == 0
    written = {path.relative_to(out) for path in out.rglob("*") if path.is_file()}
    before = {path.relative_to(packed) for path in packed.rglob("*")}
    beside = {path.relative_to(shards) for path in shards.rglob("*") if path.is_file()}
    assert written == beside - before
    for name in written:
        if not name.name.endswith(".sqlite"):
            assert (out / name).read_bytes() == (shards / name).read_bytes()


def test_export_of_tars_from_elsewhere_needs_the_tars(packed: Path, tmp_path: Path) -> None:
    folder = tmp_path / "external"
    folder.mkdir()
    for path in packed.glob("*.tar"):
        shutil.copy(path, folder)
    assert run("index", folder, "--quiet")[0] == 0
    with serving(folder) as server:
        code, said = run("export", server.url, "--to", "dali", "--out", tmp_path / "out")
    assert (code, "Copy it to a folder, and export the copy" in said) == (2, True)


def test_repair_of_a_url_says_what_to_do_in_its_stead(source: Path) -> None:
    code, said = run("repair", "s3://bucket/shards", "--from", source)
    assert (code, "Copy it to a folder, repair the copy" in said) == (2, True)


def test_a_url_that_names_no_place_is_a_mistake_in_a_sentence() -> None:
    assert run("verify", "ftp://example.org/x") == (
        2,
        "packer: ftp:// is not supported. Use one of s3://, gs://, az://, https://, http://, "
        "hf://, file://, or the path of a folder.\n",
    )
