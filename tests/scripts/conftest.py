"""The scripts, imported as they import each other, and run as users do."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"
sys.path[:0] = [str(SCRIPTS), str(SCRIPTS / "supply")]


@pytest.fixture
def run_script(tmp_path: Path) -> "Callable[..., subprocess.CompletedProcess[str]]":
    """`run_script("prepare_mnist", "--from", folder, dst, code=2)`: one that ends with this code.

    Other keywords are programs that it finds, which may write to the file `notes`.
    """

    def run(
        name: str, *args: object, code: int = 0, **programs: str
    ) -> "subprocess.CompletedProcess[str]":
        folder = tmp_path / "bin"
        for program, text in programs.items():
            folder.mkdir(exist_ok=True)
            (folder / program).write_text(text)
            (folder / program).chmod(0o755)
        path = os.pathsep.join([str(folder), str(Path(sys.executable).parent), os.environ["PATH"]])
        more = {"PATH": path, "NOTES": str(tmp_path / "notes"), "PYTHONPATH": str(SCRIPTS.parent)}
        done = subprocess.run(
            ["bash", SCRIPTS / f"{name}.sh", *map(str, args)],
            env=os.environ | more,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done

    return run
