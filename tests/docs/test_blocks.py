"""Every block of code in README.md, its neighbours and docs runs, or has the reason why not.

The blocks of a page run in their order, in a folder that has `images` and `shards`: Python in one
namespace, with `reader`, `torch` and a `train` step that does nothing; bash in one shell a block,
which must succeed. A comment above a block changes that:

- ``<!-- not run: reason -->``: the block does not run.
- ``<!-- file: name -->``: the block is written to that file.

A block of ``text`` is a drawing, or the output of a command. tests/reader/peers/test_coming_from.py
runs the Python of docs/coming-from.
"""

import gc
import os
import re
import runpy
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from called_packer import call_packer
from markdown_it import MarkdownIt

import reader

ROOT = Path(__file__).parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
SLOW = [ROOT / "docs" / name for name in ("tasks", "packing", "reading/slow.md")]
SCRIPTS = sorted((ROOT / "docs" / "tasks").glob("*.py"))
PEERS = ROOT / "docs" / "coming-from"


@dataclass(frozen=True)
class Block:
    """A fenced block: its page and line, its language, and the comment above it."""

    page: Path
    line: int
    language: str
    code: str
    comment: str

    @property
    def where(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def file(self) -> str | None:
        found = re.fullmatch(r"<!-- file: (\S+) -->", self.comment)
        return found and found[1]

    @property
    def is_run(self) -> bool:
        """Whether this test runs it."""
        if re.fullmatch(r"<!-- not run: \S.+ -->", self.comment):
            return False
        if self.language == "python" and self.page.parent == PEERS:
            return False
        return self.file is None and self.language != "text" and not self.is_directive

    @property
    def is_directive(self) -> bool:
        """Whether it is a directive of Sphinx, not code."""
        return self.language.startswith("{")


def blocks_of(page: Path) -> Iterator[Block]:
    comment = ""
    for token in MarkdownIt().parse(page.read_text()):
        if token.type in ("fence", "code_block"):
            assert token.map is not None
            language = token.info.strip().split(" ")[0]
            yield Block(page, token.map[0] + 1, language, token.content, comment)
        comment = token.content.strip() if token.type == "html_block" else ""


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.slow] * any(map(page.is_relative_to, SLOW)))
        for page in PAGES
    ],
    ids=[str(page.relative_to(ROOT)) for page in PAGES],
)
def test_every_block_runs_or_has_a_reason_not_to(page: Path, folder: Path) -> None:
    names = {"__name__": page.stem, "reader": reader, "torch": torch, "train": lambda *batch: None}
    for block in blocks_of(page):
        if block.file is not None:
            (folder / block.file).parent.mkdir(parents=True, exist_ok=True)
            (folder / block.file).write_text(block.code)
        elif block.is_run and block.language == "python":
            exec(compile("\n" * block.line + block.code, page, "exec"), names)
        elif block.is_run and block.language == "bash":
            ran = run_bash(block.code)
            assert ran.returncode == 0, f"{block.where}: {ran.stdout}{ran.stderr}"
        else:
            assert not block.is_run, f"{block.where}: no way to run {block.language or 'this'}"
    names.clear()
    gc.collect()  # so that the loaders that a page leaves open end with it


def run_bash(code: str) -> "subprocess.CompletedProcess[str]":
    """Run a block: in this process where it has only plain commands of ours, which is quicker."""
    lines = code.replace("\\\n", "").splitlines()
    commands = [words for line in lines if (words := shlex.split(line, comments=True))]
    is_ours = all(words[0] == "packer" or words == ["python", "items.py"] for words in commands)
    if not is_ours or re.search(r"[|&;<>$`*]", " ".join(map(" ".join, commands))):
        return run_shell(code)
    for program, *arguments in commands:
        if program == "python":
            runpy.run_path(*arguments, run_name="__main__")
        elif (ran := call_packer(*arguments)).returncode:
            break
    return ran


def run_shell(code: str) -> "subprocess.CompletedProcess[str]":
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    torchrun = 'torchrun() { python -m torch.distributed.run "$@"; }\n'  # of this very environment
    short = re.sub(r"--seconds \d+", "--seconds 0.2", code)  # of a measurement
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", torchrun + short],
        env={**os.environ, "PATH": path, "PYTHONPATH": f"{ROOT}:{os.environ['PYTHONPATH']}"},
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.mark.parametrize("script", ["detection.py", "training.py"])
def test_a_script_reports_a_missing_dataset_in_a_sentence(
    script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", [script, str(tmp_path / "none")])
    with pytest.raises(SystemExit, match=str(tmp_path / "none")) as ended:
        runpy.run_path(str(ROOT / "docs" / "tasks" / script), run_name="__main__")
    assert "\n" not in str(ended.value.code)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("classification.py coco-shards", "14 samples of coco-shards have no label"),
        ("detection.py coco-shards --boxes yolo", "no field 'txt': no sample of the dataset has"),
    ],
)
def test_a_script_reports_the_dataset_of_another_task_in_a_sentence(
    folder: Path, script: str, reason: str
) -> None:
    ran = run_shell(f"packer pack coco coco-shards --quiet; python docs/tasks/{script}")
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (1, "", 1)
    assert reason in ran.stderr


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_every_script_is_shown_and_run_on_the_page_of_its_name(script: Path) -> None:
    blocks = list(blocks_of(script.with_suffix(".md")))
    shown = [block for block in blocks if block.language == "{literalinclude}"]
    run = [block for block in blocks if block.is_run and block.language == "bash"]
    assert any(f"docs/tasks/{script.name}" in block.code for block in run)
    assert shown
