"""Folders of files, of which globs hide some."""

from pathlib import Path

from called_packer import call_packer
from made_images import make_image, write_files


def test_a_file_that_ignore_hides_is_said_to_be_hidden(tmp_path: Path) -> None:
    images = {f"{n}.png": make_image(n) for n in range(3)}
    write_files(tmp_path / "s", {**images, "t.csv": "file,label\n0.png,a\n1.png,b\n2.png,a\n"})
    pack = "pack", tmp_path / "s", tmp_path / "o", "--jobs", 1
    hidden_image = call_packer(*pack, "--ignore", "2.png")
    assert "--ignore hides it" in hidden_image.stderr + hidden_image.stdout
    lists = "--images", "{key}", "--labels", "t.csv: {key:file} {label:label}"
    hidden_list = call_packer(*pack, *lists, "--ignore", "t.csv", code=2)
    assert "t.csv is there, and --ignore hides it" in hidden_list.stderr
