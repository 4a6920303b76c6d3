"""Pictures are opened as what is packed alone, whatever limit Pillow has, which stays as it was."""

import io
from importlib import import_module

import pytest
from PIL import Image, UnidentifiedImageError

from reader.format.pictures import opened


def encoded(kind: str) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (80, 60)).save(file, kind)
    return file.getvalue()


@pytest.mark.parametrize("kind", ["PNG", "TIFF", "WEBP", "JPEG"])
def test_pillows_own_limit_is_neither_in_the_way_nor_changed(
    monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 100)
    with opened(encoded(kind)) as first, opened(encoded(kind)) as second:
        first.load()
        second.load()
    assert Image.MAX_IMAGE_PIXELS == 100


def test_a_picture_within_pillows_limit_leaves_it_alone() -> None:
    before = Image.MAX_IMAGE_PIXELS
    with opened(encoded("PNG")):
        assert before == Image.MAX_IMAGE_PIXELS is not None


@pytest.mark.parametrize(("kind", "named"), [("ICO", ()), ("BMP", ("PNG",))])
def test_only_formats_that_are_packed_or_named_are_opened(kind: str, named: tuple[str]) -> None:
    with pytest.raises(UnidentifiedImageError), opened(encoded(kind), *named):
        pass


def test_importing_what_packs_changes_no_limit_of_pillow() -> None:
    for name in ("packer.cli.main", "packer.run.pack"):
        import_module(name)
    assert Image.MAX_IMAGE_PIXELS == 1024**3 // 4 // 3  # as Pillow has it
