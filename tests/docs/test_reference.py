"""The references and the drawing of the rooms are complete, and the named files exist."""

import inspect
import re
from functools import cached_property
from pathlib import Path
from types import ModuleType

import pytest

import packer
import reader

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]


def test_every_public_name_is_in_a_reference() -> None:
    pages = {name: (DOCS / "reference" / f"{name}.md").read_text() for name in ("packer", "reader")}
    named = {name: "reader" if hasattr(reader, name) else "packer" for name in packer.__all__}
    named |= dict.fromkeys(reader.__all__, "reader")
    lacking = [name for name, page in named.items() if f":: {page}.{name}\n" not in pages[page]]
    assert lacking == []


@pytest.mark.parametrize("package", [packer, reader], ids=["packer", "reader"])
def test_every_public_class_function_and_method_has_a_docstring(package: ModuleType) -> None:
    lacking = []
    for name in package.__all__:
        public = getattr(package, name)
        found = {name: public} if callable(public) else {}
        for base in inspect.getmro(public) if isinstance(public, type) else ():
            if base.__module__.startswith(package.__name__):
                members = {k: v for k, v in vars(base).items() if not k.startswith("_")}
                found |= {f"{name}.{member}": value for member, value in members.items()}
        kinds = (property, cached_property)
        documented = {n: v.__doc__ for n, v in found.items() if callable(v) or isinstance(v, kinds)}
        lacking += [member for member, text in documented.items() if not text]
    assert lacking == []


@pytest.mark.parametrize("package", [packer, reader], ids=["packer", "reader"])
def test_every_room_is_described_and_drawn(package: object) -> None:
    folder = Path(package.__file__).parent
    page = (DOCS / "architecture.md").read_text()
    drawing = (DOCS / "drawings" / "rooms.svg").read_text()
    for room in sorted(path.parent.name for path in folder.glob("*/__init__.py")):
        described = "(format.md)" if room == "format" else f":: {folder.name}.{room}\n"
        assert described in page, room
        assert f">{room}<" in drawing, room


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_file_that_is_named_exists(page: Path) -> None:
    text = page.read_text()
    named = set(re.findall(r"\b(?:scripts|tests|docs)/[\w/.-]*\w(?![\w*])", text))
    named |= set(re.findall(r"`((?:packer|reader)/[\w./-]+)[` ]", text))
    assert not [name for name in named if not (ROOT / name).exists()]


BUILT = re.compile(r"\{eval-rst\}|<!-- layouts|\{literal|\{csv")


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if BUILT.search(page.read_text())],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_a_page_that_is_built_from_files_names_them_for_readers_of_a_checkout(page: Path) -> None:
    script = re.search(r"\{literalinclude\} (\S+)", page.read_text())
    assert (f"({script[1]}):" if script else "scripts/docs.sh --serve") in page.read_text()
