"""Ordinary folders, and sound ones beside the texts of programs, are packed without a question."""

import sysconfig
from pathlib import Path

import pytest
from sampled import sampled

from layouts.making import images, of
from layouts.ordinary import ordinary
from layouts.outcome import RIGHT, outcome_of
from layouts.row import Layout

_INSTALLED = Path(sysconfig.get_path("purelib"))
_PACKAGES = sorted(path.name for path in _INSTALLED.iterdir() if path.is_dir())
_TEXTS = (".py", ".txt", ".md", ".rst", ".json", ".toml", ".cfg", ".csv", ".html", ".yaml", "")
_MOST = 100  # texts of a package
_LARGEST = 1 << 18  # bytes of one
_SOUND = [
    {f"{kind}/{kind}_{n:03}.jpg": of(kind) for kind in ("bird", "cat", "dog") for n in range(12)},
    {f"{kind}/{n}.png": of(kind) for kind in "0123456789" for n in range(4)},
    {f"IMG_{n:04}.JPG": of() for n in range(100, 130)},
]


@pytest.mark.parametrize("layout", sampled(ordinary(), every=15), ids=lambda one: one.name)
def test_an_ordinary_folder_is_packed_without_a_question(layout: Layout, tmp_path: Path) -> None:
    outcome = outcome_of(layout, tmp_path, steps=0)
    assert outcome.verdict == RIGHT, outcome.message


@pytest.mark.parametrize("package", sampled(_PACKAGES, every=60))
def test_texts_of_a_package_beside_images_are_ignored(package: str, tmp_path: Path) -> None:
    truth = _SOUND[_PACKAGES.index(package) % len(_SOUND)]
    files = images(truth)
    for path in sorted((_INSTALLED / package).rglob("*")):
        name = str(path.relative_to(_INSTALLED))
        if path.suffix not in _TEXTS or not path.is_file() or "/." in name:
            continue
        if len(files) < len(truth) + _MOST:
            files[f"venv/{name}"] = path.read_bytes()[:_LARGEST]
    outcome = outcome_of(Layout(package, "PyPI", files, truth), tmp_path, steps=0)
    assert outcome.verdict == RIGHT, outcome.message
