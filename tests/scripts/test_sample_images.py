"""The images that `scripts/sample_images.py` makes are what the pages begin with."""

import re
import shlex
from pathlib import Path

import pytest
import sample_images

from packer.cli.main import main
from reader.format import Manifest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = [page for page in sorted(DOCS.rglob("*.md")) if "sample_images.py" in page.read_text()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_packs_what_it_has_made_into_train_and_val(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = page.read_text()
    made, packed = (
        shlex.split(found[1], comments=True)
        for found in (
            re.search(r"^python scripts/sample_images.py (.+)$", text, re.MULTILINE),
            re.search(r"^packer (pack .+)$", text, re.MULTILINE),
        )
        if found
    )
    monkeypatch.chdir(tmp_path)
    made[1] = "12"  # images
    monkeypatch.setattr("sys.argv", ["sample_images.py", *made])
    sample_images.main()
    main([*packed, "--jobs", "1", "--quiet"], standalone_mode=False)
    splits = set(Manifest.load(tmp_path / packed[2]).splits)
    assert splits >= {"train", "val"}
    assert sum(shard.samples for shard in Manifest.load(tmp_path / packed[2]).shards) == 12


def test_every_task_is_that_of_a_page() -> None:
    tasks = {found for page in PAGES for found in re.findall(r"--for (\w+)", page.read_text())}
    assert tasks == set(sample_images.TASKS)
