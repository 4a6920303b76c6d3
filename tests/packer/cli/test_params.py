"""The options of packing on the command line."""

import inspect
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import packer
from packer.cli.pack import pack
from packer.options.declared import OPTIONS

RunPacker = Callable[..., "subprocess.CompletedProcess[str]"]
_ONLY_PYTHON = {
    *("src", "self", "dst", "progress", "storage_options", "credential_provider"),
    *("source_storage_options", "source_credential_provider"),
}
_ONLY_COMMAND = {"src", "dst", "part", "dry_run", "explain", "page", "as_json", "quiet"}


@pytest.mark.parametrize("call", [packer.pack, packer.Writer.__init__], ids=["pack", "Writer"])
def test_every_argument_of_a_call_is_a_declared_option_with_its_default(
    call: Callable[..., object],
) -> None:
    for name, parameter in inspect.signature(call).parameters.items():
        if name in _ONLY_PYTHON:
            continue
        assert parameter.default == OPTIONS[name].default


def test_the_command_and_the_call_have_the_same_options() -> None:
    command = {str(parameter.name) for parameter in pack.params}
    call = inspect.signature(packer.pack).parameters.keys()
    assert command - _ONLY_COMMAND == call - _ONLY_PYTHON


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--shard-size", "10"],
            "'--shard-size': '10' is 10 bytes, which is too small. For megabytes, pass 10",
        ),
        (["--quality", "101"], "'--quality': '101' is not an integer from 1 to 100."),
        (["--as", "guess"], "'--as': 'guess' is not one of 'folder', 'flat'"),
        (["--pair", "a=.", "--pair", "a?=."], "'--pair': each NAME has one folder."),
        (["--max-bytes", "1TB"], "--max-bytes 1000000000000 is too large"),
    ],
)
def test_a_wrong_value_is_refused_with_its_option_before_anything_is_written(
    tmp_path: Path, source: Path, run_packer: RunPacker, options: list[str], message: str
) -> None:
    done = run_packer("pack", source, tmp_path / "dst", *options)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())
    assert not (tmp_path / "dst").exists()
