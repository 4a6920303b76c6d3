"""What is installed is pinned by hash; what is known of it is read rightly."""

import json
import re
from pathlib import Path

import audit
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

SUPPLY = Path(audit.__file__).parent
ROOT = SUPPLY.parent.parent
LOCKS = [SUPPLY / name for name in ("requirements.lock", "supply.lock", "torch-cpu.lock")]


def pinned(file: Path) -> dict[str, str]:
    """Version by canonical name, of a lock file or of constraints for Python 3.11."""
    lines = file.read_text().splitlines()
    found = (re.match(r"([\w.-]+)==([^\s;]+)(?!.*python_version <)", line) for line in lines)
    return {canonicalize_name(one[1]): one[2] for one in found if one}


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.stem)
def test_every_package_of_a_lock_has_a_hash(lock: Path) -> None:
    lines = [line for line in lock.read_text().splitlines() if not line.startswith("#")]
    entries = re.split(r"\n(?=\S)", "\n".join(lines))
    assert entries
    for entry in entries:
        assert re.fullmatch(r"[\w.-]+==\S+( \\\n    --hash=sha256:[0-9a-f]{64})+", entry), entry


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.stem)
def test_a_lock_names_no_place_to_fetch_from(lock: Path) -> None:
    assert not re.search(r"://|--(index|extra|find)|@", lock.read_text())


def test_the_locks_and_the_constraints_agree() -> None:
    locked = pinned(SUPPLY / "requirements.lock")
    constraints = pinned(SUPPLY / "constraints.txt")
    both = locked.keys() & constraints.keys()
    assert len(both) > 10
    assert {name: locked[name] for name in both} == {name: constraints[name] for name in both}
    assert pinned(SUPPLY / "torch-cpu.lock") == {"torch": f"{constraints['torch']}+cpu"}


def test_the_lock_has_what_the_project_requires() -> None:
    tomllib = pytest.importorskip("tomllib", reason="Python 3.10 has none")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    locked = pinned(SUPPLY / "requirements.lock")
    required = project["project"]["dependencies"]
    required += project["project"]["optional-dependencies"]["test"]
    required += project["build-system"]["requires"]
    for text in required:
        requirement = Requirement(text)
        version = locked.get(canonicalize_name(requirement.name))
        assert version is not None, text
        assert requirement.specifier.contains(version), text


def answer(tmp_path: Path, *packages: object) -> Path:
    path = tmp_path / "audit.json"
    path.write_text(json.dumps({"dependencies": packages}))
    return path


SOUND = {"name": "click", "version": "8.5.1", "vulns": []}
SKIPPED = {"name": "torch", "skip_reason": "Dependency not found on PyPI"}
KNOWN = {"id": "CVE-2020-1", "fix_versions": ["9.0"]}


def test_a_known_vulnerability_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert audit.main(answer(tmp_path, SOUND | {"vulns": [KNOWN]}, SKIPPED)) == 1
    assert "click 8.5.1: CVE-2020-1, mended in 9.0" in capsys.readouterr().out


def test_without_a_database_nobody_believes_that_all_is_well(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert audit.main(answer(tmp_path, SOUND, SKIPPED)) == 0
    assert "Of 2 packages 1 were looked up: 0" in capsys.readouterr().out
    for unanswered in (answer(tmp_path, SKIPPED), tmp_path / "none.json"):
        assert audit.main(unanswered) == 0
        assert "NOTHING WAS LOOKED UP" in capsys.readouterr().out
