"""The tests mirror the source: who looks for a module's tests finds them under its own path.

`ROOM/test_MODULE.py`, or `ROOM/test_MODULE_SUBJECT.py` for a part of them, is about a module of
that room. A small module may be tested through those that use it. What many modules keep together
lies in `guarantees/`, and what other libraries are to find in `peers/`.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("packer", "reader")
ROOMS = sorted(
    file.parent.relative_to(ROOT)
    for package in PACKAGES
    for file in (ROOT / package).rglob("__init__.py")
    if file.parent.name != "published"  # whose tests are the rows in `tests/layouts`
)


@pytest.mark.parametrize("room", ROOMS, ids=str)
def test_a_room_has_tests_and_each_file_of_them_is_about_a_module(room: Path) -> None:
    modules = {path.stem for path in (ROOT / room).glob("*.py")}
    tests = ROOT / "tests" / room
    subjects = [path.stem.removeprefix("test_") for path in tests.glob("test_*.py")]
    assert list(tests.rglob("test_*.py")), "nothing tests it"
    assert [
        subject
        for subject in subjects
        if subject not in modules and not any(subject.startswith(f"{name}_") for name in modules)
    ] == []


def test_every_folder_of_tests_is_that_of_a_room_or_of_a_subject_of_many() -> None:
    files = [path for package in PACKAGES for path in (ROOT / "tests" / package).rglob("test_*.py")]
    folders = {path.parent.relative_to(ROOT / "tests") for path in files}
    assert {folder.name for folder in folders.difference(ROOMS)} == {"guarantees", "peers"}


def test_the_page_on_tests_names_what_is_there() -> None:
    named = re.findall(r"`(\w[\w*/.]+)`", (ROOT / "tests" / "README.md").read_text())
    paths = [name.rstrip("/") for name in named if "/" in name or name.endswith(".py")]
    assert [path for path in paths if not any(ROOT.glob(f"tests/**/{path}"))] == []
