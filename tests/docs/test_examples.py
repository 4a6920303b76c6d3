"""Every public name has its own name in errors, and an example that runs."""

import doctest
import inspect
import pydoc
import re
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import packer
import reader
import reader.errors
from packer.cli.main import main

PUBLIC = {name: getattr(reader, name) for name in reader.__all__ if not name.startswith("_")}
NAMED = [name for name, found in PUBLIC.items() if inspect.isclass(found) or callable(found)]
PACKED = {
    "segmentation": ["photos", "--pair", "mask=masks"],
    "detection": ["coco"],
    "captions": ["captioned"],
}


@pytest.fixture(scope="module")
def further(prepared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the datasets `PACKED`."""
    root = tmp_path_factory.mktemp("examples")
    for name, (source, *options) in PACKED.items():
        pairs = [option.replace("=", f"={prepared}/") for option in options]
        arguments = ["pack", str(prepared / source), str(root / name), *pairs, "--quiet"]
        main([*arguments, "--jobs", "1"], standalone_mode=False)
    return root


@pytest.mark.parametrize("found", [*map(PUBLIC.__getitem__, NAMED), packer.pack, packer.Writer])
def test_a_public_name_has_an_example_that_runs(found: Any, folder: Path, further: Path) -> None:
    for packed in PACKED:
        (folder / packed).symlink_to(further / packed)
    text, name = inspect.getdoc(found) or "", found.__qualname__
    names = {"packer": packer, "reader": reader, "torch": torch, "np": np}
    test = doctest.DocTestParser().get_doctest(text, names, name, None, 0)
    assert test.examples
    output: list[str] = []
    flags = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
    result = doctest.DocTestRunner(optionflags=flags).run(test, out=output.append)
    assert not result.failed, "".join(output)


def test_the_public_names_are_shown_as_people_write_them() -> None:
    for name in NAMED:
        found = PUBLIC[name]
        assert (found.__module__, found.__qualname__) == ("reader", name)
        if inspect.isclass(found):
            assert f"class {name}" in pydoc.render_doc(f"reader.{name}", renderer=pydoc.plaintext)
    for name in packer.__all__:
        if inspect.isclass(found := getattr(packer, name)):
            assert repr(found) in (f"<class 'packer.{name}'>", f"<class 'reader.{name}'>")


@pytest.mark.parametrize("module", [reader.errors, packer.errors], ids=lambda m: m.__name__)
def test_the_drawing_of_the_exceptions_is_correct(module: types.ModuleType) -> None:
    known = {**{n: v for n, v in PUBLIC.items() if inspect.isclass(v)}, **vars(module)}
    drawn, above = {}, []
    for line in (module.__doc__ or "").splitlines():
        found = re.match(r"^    ([│├└─ ]*)([A-Z]\w+)", line)
        if found is None:
            continue
        depth = len(found[1]) // 4
        above[depth:] = [found[2]]
        drawn[found[2]] = above[depth - 1] if depth else None
    kinds: dict[str, Any] = {name: known[name] for name in drawn}
    for name, parent in drawn.items():
        assert parent is None or known[parent] in kinds[name].__bases__, name
    own = {n for n, v in vars(module).items() if inspect.isclass(v) and v.__mro__.count(Exception)}
    root = reader.ShardfeedError
    assert {name for name in own if issubclass(known[name], root)} <= set(drawn)


def test_the_page_on_errors_draws_every_exception_of_the_reader() -> None:
    page = Path(__file__).parents[2] / "docs" / "reading" / "errors.md"
    drawing = r"^ *([│├└─ ]*\w+Error)\b"
    drawn = re.findall(drawing, page.read_text(), re.MULTILINE)
    assert drawn == re.findall(drawing, reader.errors.__doc__ or "", re.MULTILINE)
    assert any("StoreError" in line for line in drawn)
