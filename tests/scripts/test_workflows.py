"""Workflows run what is there, with actions that cannot change, on every Python promised."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PYTHONS = ["3.10", "3.11", "3.12", "3.13", "3.14"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_every_action_is_pinned_by_commit_and_says_its_version(path: Path) -> None:
    used = re.findall(r"uses: *(.*)", path.read_text())
    assert used
    for action in used:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action), action


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_every_script_that_a_workflow_runs_is_there(path: Path) -> None:
    for script in re.findall(r"\./(scripts/[\w./-]+)", path.read_text()):
        assert (ROOT / script).stat().st_mode & 0o111, script


def test_the_tests_run_on_every_python_that_the_classifiers_name() -> None:
    classifiers = re.findall(
        r'"Programming Language :: Python :: (3\.\d+)"', (ROOT / "pyproject.toml").read_text()
    )
    assert classifiers == PYTHONS
    matrix = re.search(r"python: \[(.*)\]", (ROOT / ".github/workflows/test.yml").read_text())
    assert matrix is not None
    assert re.findall(r'"([\d.]+)"', matrix[1]) == PYTHONS
