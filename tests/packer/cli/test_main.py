"""Mistakes on the command line, and its help."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from called_packer import call_packer

import packer


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("pack", "Missing argument"),
        ("pack missing dst", "does not exist"),
        ("pack file dst", "not a folder, an archive or"),
        ("pack src file", "is a file"),
        ("pack src file/dst", "file"),
        ("pack src loop/dst", "loop"),
        ("pack src /proc/dst", "/proc/dst"),
        ("pack void dst", "Pass the folder or archive that holds the images"),
        ("pack classes dst", "one/: it is a class folder without images"),
        ("pack src dst --jobs 0", "is not an integer of at least 1"),
        ("pack src dst --on-error maybe", "is not one of"),
        ("pack src dst --as guess", "'--as': 'guess' is not one of 'folder', 'flat'"),
        (f"pack src dst --split {256 * 'a'}=1", "names of at most 255"),
        (
            "pack src dst --pair mask=void",
            "class0/: it is a class folder whose images are all rejected",
        ),
        ("pack src dst --as coco", "reads: COCO's annotations (.json)"),
        ("pack src dst --pair mask??=src", "is not of the form mask=DIR or mask?=DIR"),
        ("pack src dst --pair mask=src --pair mask?=src", "each NAME has one folder"),
        ("pack src dst --classes file", "not in the list of classes"),
        ("pack src dst --append", "dst has no dataset to add to. Remove --append"),
        ("pack src dst --root void", "require a list of images"),
        (
            "pack src dst --check --jpeg verbatim --png verbatim",
            "--jpeg verbatim and --png verbatim transcode none",
        ),
        ("pack src dst --raw 8x8 --quality 9", "--raw stores pixels"),
        ("pack src dst --append --overwrite", "exclude each other"),
        ("pack src dst --max-bytes 9GB", "--max-bytes 9000000000 is too large: "),
        ("pack src dst --fast", "No such option"),
        ("unpack", "No such command"),
    ],
)
def test_a_mistake_is_told_in_a_sentence_and_exits_2(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, source: Path, arguments: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("src").symlink_to(source)
    Path("file").touch()
    Path("loop").symlink_to("loop")
    for name in ("void", "classes/one", "classes/two"):
        Path(name).mkdir(parents=True)
    done = call_packer(*arguments.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert message in " ".join(done.stderr.split())
    assert not Path("dst").exists()


def test_the_list_of_commands_has_whole_sentences() -> None:
    listed = call_packer("--help").stdout.partition("Commands:\n")[2]
    sentences = re.sub(r"\s+", " ", listed)
    assert "..." not in sentences
    assert "repair Rewrite the damaged shards of DATASET from their source, byte for" in sentences


@pytest.mark.parametrize("option", ["-V", "--version"])
def test_the_version_is_told(option: str) -> None:
    assert call_packer(option).stdout == f"packer, version {packer.__version__}\n"


def test_the_help_of_pack_has_headings_with_the_options_under_them() -> None:
    shown = call_packer("pack", "--help").stdout
    _, *parts = re.split(r"^(\S.*):$", shown, flags=re.MULTILINE)
    under = dict(zip(parts[::2], parts[1::2], strict=True))
    assert "--label-column" in under["Source"]
    assert "--split " in under["Splits, shards and order"]
    assert "-j, --jobs" in under["This run"]
    assert "--help" in under["This run"]


def test_the_module_can_be_imported_without_running_it() -> None:
    code = "import packer.cli.main, packer.__main__"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(("arguments", "code"), [("--version", 0), ("nobody", 2)])
def test_a_command_that_used_a_store_ends_without_waiting_for_the_librarys_threads(
    arguments: str, code: int
) -> None:
    script = """
import atexit, sys, types
from packer.cli.main import main
class Kept:
    def __del__(self): print("Python was shut down")
kept, sys.modules["obstore"] = Kept(), types.ModuleType("obstore")
atexit.register(print, "left in order")
main()
"""
    command = [sys.executable, "-c", script, arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == code
    assert done.stdout.endswith("left in order\n")
