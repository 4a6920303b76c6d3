from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from packer.errors import UnusableInput

ROWS = "0.jpg,cat\n1.jpg,dog\n"


@pytest.mark.parametrize(
    "text",
    [
        f"# made by a script\nimage,label\n{ROWS}",
        f"Annotations of spring 2021,\n\nimage,label\n{ROWS}",
        f"sep=;\nimage,label\n{ROWS}".replace(",", ";"),
        f"#image,label\n{ROWS}",
        f"image| label\n{ROWS}".replace(",", "| "),
        f"image,label\n{ROWS}".replace("\n", "\r"),
    ],
)
def test_names_of_columns_are_found_below_what_lies_above_them(
    images: Path,
    opened: Callable[..., Any],
    scanned: Callable[..., Any],
    text: str,
) -> None:
    (images / "list.csv").write_bytes(text.encode())
    source = opened(images / "list.csv")
    samples, skipped = scanned(source)
    assert not skipped
    assert source.classes == ("cat", "dog")
    assert {name: sample.label for name, sample in samples.items()} == {"0.jpg": 0, "1.jpg": 1}


@pytest.mark.parametrize("encoding", ["utf-16", "cp1252"])
def test_other_encodings_are_read_and_latin_1_is_named(
    images: Path, opened: Callable[..., Any], scanned: Callable[..., Any], encoding: str
) -> None:
    (images / "list.csv").write_bytes("image,label\n0.jpg,café\n".encode(encoding))
    source = opened(images / "list.csv")
    assert source.classes == ("café",)
    assert bool(source.facts.remarks) == (encoding == "cp1252")
    assert list(scanned(source)[0]) == ["0.jpg"]


def test_quotes_are_signs_where_tabs_divide_and_quotes_do_not_fit(
    images: Path, opened: Callable[..., Any]
) -> None:
    (images / "list.tsv").write_text('image\tlabel\t"x" y\n0.jpg\tcat\t"a" b\n')
    assert opened(images / "list.tsv").classes == ("cat",)


def test_a_name_of_two_columns_is_named(images: Path, opened: Callable[..., Any]) -> None:
    (images / "list.csv").write_text("image,label,label\n0.jpg,cat,dog\n")
    with pytest.raises(UnusableInput, match="two columns have the name 'label'"):
        opened(images / "list.csv")
