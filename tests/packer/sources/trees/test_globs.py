"""Globs that hide files and folders of a source."""

import pytest

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


def test_globs_are_kept_only_where_they_are_given() -> None:
    assert "ignore" not in PackOptions().dump()["source"]
    options = PackOptions(source=SourceOptions(ignore=("a/**",)))
    assert PackOptions.load(options.dump()).source.ignore == ("a/**",)
