"""The options of packing on the command line."""

import inspect
from collections.abc import Callable

import pytest

import packer
from packer.cli.pack import pack
from packer.options.declared import OPTIONS

_ONLY_PYTHON = {
    *("src", "self", "dst", "progress", "storage_options", "credential_provider"),
    *("source_storage_options", "source_credential_provider"),
}
_ONLY_COMMAND = {"src", "dst", "part", "dry_run", "explain", "page", "as_json", "quiet"}


@pytest.mark.parametrize("call", [packer.pack, packer.Writer.__init__], ids=["pack", "Writer"])
def test_every_argument_is_a_declared_option_with_its_default(call: Callable[..., object]) -> None:
    for name, parameter in inspect.signature(call).parameters.items():
        if name in _ONLY_PYTHON:
            continue
        assert parameter.default == OPTIONS[name].default


def test_the_command_and_the_call_have_the_same_options() -> None:
    command = {str(parameter.name) for parameter in pack.params}
    call = inspect.signature(packer.pack).parameters.keys()
    assert command - _ONLY_COMMAND == call - _ONLY_PYTHON
