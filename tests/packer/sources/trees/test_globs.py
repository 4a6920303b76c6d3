"""Globs that hide files and folders of a source."""

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from packer.errors import UnusableInput
from packer.options.declared import PackOptions, SourceOptions
from packer.sources.trees.globs import Globs

PATHS = ["a.bak", "x/a.bak", "imdb/1", "imdb/y/2", "imdb2/1", "c[1].txt", "x/y/z.txt", "é/ü.txt"]


@pytest.mark.parametrize(
    ("glob", "hidden"),
    [
        ("*.bak", {"a.bak"}),
        ("**/*.bak", {"a.bak", "x/a.bak"}),
        ("imdb/**", {"imdb/1", "imdb/y/2"}),
        ("imdb", {"imdb/1", "imdb/y/2"}),
        ("imdb/", {"imdb/1", "imdb/y/2"}),
        ("imdb?/*", {"imdb2/1"}),
        ("imdb*/1", {"imdb/1", "imdb2/1"}),
        ("c[[]1].txt", {"c[1].txt"}),
        ("[xé]/**", {"x/a.bak", "x/y/z.txt", "é/ü.txt"}),
        ("[!x]/*", {"é/ü.txt"}),
        ("x/**/z.txt", {"x/y/z.txt"}),
        ("**", set(PATHS)),
    ],
)
def test_what_a_glob_hides(glob: str, hidden: set[str]) -> None:
    assert set(filter(Globs((glob,)).hide, PATHS)) == hidden


@pytest.fixture
def source(tmp_path: Path, jpegs: list[bytes], write_files: Callable[..., Path]) -> Path:
    """Two classes, a folder of lists that name images, and a copy."""
    lists = {"imdb/list.txt": b"1.jpg cat\n2.jpg dog\n", "cat/1.bak": b"x"}
    files = {"cat/1.jpg": jpegs[0], "dog/2.jpg": jpegs[1], "dog/old/3.jpg": jpegs[2], **lists}
    return write_files(tmp_path / "src", files)


@pytest.mark.parametrize("form", ["folder", "zip"])
def test_no_layout_sees_what_is_ignored(
    form: str, source: Path, tmp_path: Path, scan: Callable[..., Any]
) -> None:
    path = source
    if form == "zip":
        path = tmp_path / "a.zip"
        with zipfile.ZipFile(path, "w") as archive:
            for file in sorted(filter(Path.is_file, source.rglob("*"))):
                archive.write(file, file.relative_to(source))
    options = SourceOptions(ignore=("imdb/**", "**/*.bak", "*/old"))
    found = scan(path, options=options)
    assert set(found.labels) == {"cat/1", "dog/2"}
    of_folders = {name.split("/")[0]: reason for name, reason in found.reasons.items()}
    assert set(of_folders) == {"imdb", "cat", "dog"}
    assert set(of_folders.values()) == {
        "--ignore 'imdb/**'",
        "--ignore '**/*.bak'",
        "--ignore '*/old'",
    }


def test_a_glob_that_matches_nothing_is_an_error(source: Path, scan: Callable[..., Any]) -> None:
    with pytest.raises(UnusableInput, match=r"--ignore '\*\.csv' matches nothing"):
        scan(source, options=SourceOptions(ignore=("imdb/**", "*.csv")))


def test_globs_are_kept_only_where_they_are_given() -> None:
    assert "ignore" not in PackOptions().dump()["source"]
    options = PackOptions(source=SourceOptions(ignore=("a/**",)))
    assert PackOptions.load(options.dump()).source.ignore == ("a/**",)
