"""The tables of the crossing have every option, field and keyword that there is.

A new one fails here until a row has it, or until `ELSEWHERE` names it.
"""

import ast
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from inspect import getsource, isclass, signature
from typing import Any

import pytest

pytest.importorskip("pyarrow", reason="its sources are of shardfeed[parquet], too")

import packer
import reader
from crossing import fields as own_fields
from crossing import loading, options, reading, sources, transforms, trying, world
from packer.cli.main import main
from packer.options.declared import KINDS, OPTIONS
from reader.fields.built_in import BUILT_IN
from reader.loader.arguments import TorchNames

# What changes no sample, or is tried where its name says; by who has it.
ELSEWHERE = {
    "--as": "pairs cifar idx records",  # tests/layouts
    "index": "max_pixels max_bytes as_json quiet",
    "verify": "max_pixels max_bytes as_json",
    "repair": "scratch as_json quiet",
    "info": "quiet",
    "extract": "split overwrite as_json quiet",
    "export": "overwrite as_json quiet",
    "plan": "batch_size nodes ranks split epochs size drop_last shuffle seed cache_limit latency "
    "bandwidth gpu_rate vram quiet",
    "Dataset": "credential_provider",  # tests/reader/store
    "Loader": "persistent_workers torch_names",  # tests/reader/loader
    "CUDAPrefetcher": "decoder",  # tests/reader/gpu_decode
    "Writer": "storage_options credential_provider",  # tests/packer/storage
    "Weighted": "num_samples",
    "AspectBuckets": "window",
    "BlockShuffle": "streams",
    "Mask": "colors ignore",  # tests/reader/decode/test_colours.py
    "Points": "centers",
    "RandomResizedCrop": "ratio",
}
COMMANDS = "bench report"  # which read a dataset, and write none


def _words(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names of keywords and things, and the texts, in code."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.keyword) and node.arg:
            found.add(node.arg)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)
        elif isinstance(node, (ast.Name, ast.Attribute)):
            found.add(node.id if isinstance(node, ast.Name) else node.attr)
    return found


def _nodes(*modules: Any) -> list[ast.AST]:
    return [node for module in modules for node in ast.walk(ast.parse(getsource(module)))]


def _calls(nodes: Iterable[ast.AST], name: str) -> dict[str, set[str]]:
    """Return the words in the calls of a function, by its first argument or by the function."""
    found: dict[str, set[str]] = defaultdict(set)
    for node in nodes:
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == name:
            first = node.args[0] if node.args else None
            key = first.value if isinstance(first, ast.Constant) else name
            found[str(key)] |= _words(ast.walk(node))
            if first is not None and name != "run_packer":
                found[name].add("")  # which stands for what is given by its place
    return found


PACKING, READING = (
    _nodes(options, sources, world),
    _nodes(loading, reading, own_fields, transforms, trying),
)
OF_PACKING, OF_READING = _words(PACKING), _words(READING)


def _missing(names: Iterable[str], used: set[str]) -> list[str]:
    return sorted(name for name in names if name not in used)


def _elsewhere(owner: str) -> list[str]:
    return sorted(ELSEWHERE.get(owner, "").split())


def test_every_option_of_packing_is_in_a_row_of_options_or_sources() -> None:
    params = [one for one in main.commands["pack"].params if one.opts[0].startswith("-")]
    flags = {one.name or "" for one in params if not {*one.opts, *one.secondary_opts} & OF_PACKING}
    assert _missing(flags | {*OPTIONS} - {one.name for one in params}, OF_PACKING) == _elsewhere(
        "pack"
    )


def test_every_layout_that_can_be_said_is_that_of_a_source() -> None:
    kinds = {source.kind for source in sources.SOURCES.values()}
    assert sorted(set(KINDS) - kinds) == _elsewhere("--as")


@pytest.mark.parametrize("name", sorted({*main.commands} - {"pack"} - {*COMMANDS.split()}))
def test_every_option_of_another_command_is_in_a_row_of_options(name: str) -> None:
    used = _calls(PACKING, "run_packer")[name]
    params = [one for one in main.commands[name].params if one.opts[0].startswith("-")]
    assert used, "no row runs it"
    assert sorted(
        one.name or "" for one in params if not {*one.opts, *one.secondary_opts} & used
    ) == _elsewhere(name)


@pytest.mark.parametrize("name", ["Loader", "Dataset", "Mix", "CUDAPrefetcher", "Weighted"])
def test_every_keyword_of_reading_is_in_a_row(name: str) -> None:
    parameters = [*signature(getattr(reader, name)).parameters]
    if name == "Loader":
        parameters += TorchNames.__annotations__
    by_place = {"loader", "dataset", "datasets", "weights", "folder"}
    assert _missing(set(parameters) - by_place, OF_READING) == _elsewhere(name)


def test_a_writer_has_only_the_options_of_packing() -> None:
    parameters = {*signature(packer.Writer).parameters} - {"dst"}
    assert sorted(parameters - {*OPTIONS}) == _elsewhere("Writer")


def test_every_field_that_all_samples_have_is_in_a_row() -> None:
    assert _missing(BUILT_IN, OF_READING) == []


# After these, colours tell no sample; tests/reader/transforms/pixels has them.
OF_COLOURS = (
    *("AugMix", "AutoAugment", "Grayscale", "RandAugment", "RandomAutocontrast"),
    *("RandomChannelPermutation", "RandomEqualize", "RandomErasing", "RandomGrayscale"),
    *("RandomPhotometricDistort", "RandomSolarize", "TrivialAugmentWide"),
)
KINDS_OF_READING = [
    name
    for name in reader.__all__
    if isclass(made := getattr(reader, name))
    and is_dataclass(made)
    and name not in ("Geometry", "Statistics", "Limits", "Sheet", *OF_COLOURS)
]


@pytest.mark.parametrize("name", KINDS_OF_READING)
def test_every_kind_of_field_order_and_transform_is_in_a_row_with_its_arguments(name: str) -> None:
    first, *others = [one.name for one in fields(getattr(reader, name)) if one.init] or [""]
    assert name in OF_READING
    assert _missing([first] if first == "" else others, OF_READING | {""}) == _elsewhere(name)
