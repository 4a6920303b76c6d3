"""The images that `scripts/sample_images.py` makes are what the pages begin with."""

import re
import shlex
from pathlib import Path

import pytest
import sample_images
from called_packer import call_packer

from reader.format import Manifest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = [page for page in sorted(DOCS.rglob("*.md")) if "sample_images.py" in page.read_text()]


def in_text(page: Path, command: str) -> list[str]:
    """Return the words of the first such command of a page, from `command`'s last word on."""
    found = re.search(rf"^{command}( .+)$", page.read_text(), re.MULTILINE)
    assert found is not None
    return [command.split()[-1], *shlex.split(found[1], comments=True)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_packs_what_it_has_made_into_train_and_val(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    is_shown = page.stem == "quick-start"  # what its commands print, but for numbers
    count = 100 if is_shown else 12
    script, folder, _, *options = in_text(page, "python scripts/sample_images.py")
    monkeypatch.setattr("sys.argv", [script, folder, f"{count}", *options])
    sample_images.main()
    packed = in_text(page, "packer pack")
    report = call_packer(*packed).stdout
    manifest = Manifest.load(tmp_path / packed[2])
    assert set(manifest.splits) >= {"train", "val"}
    assert sum(shard.samples for shard in manifest.shards) == count
    if is_shown:
        shown = re.findall(r"```text\n(.*?)```", page.read_text(), re.DOTALL)
        found = [report, call_packer(*in_text(page, "packer verify")).stdout]
        found = [text.replace(str(tmp_path), "/home/me") for text in found]
        assert [*map(without_numbers, shown)] == [*map(without_numbers, found)]


def without_numbers(text: str) -> str:
    return re.sub(r"[\d.]*\d", "N", text.strip())


def test_every_task_is_that_of_a_page() -> None:
    tasks = {found for page in PAGES for found in re.findall(r"--for (\w+)", page.read_text())}
    assert tasks == set(sample_images.TASKS)
