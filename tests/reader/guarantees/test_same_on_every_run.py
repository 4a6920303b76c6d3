"""Order and pixels depend on the seed and the epoch, and on nothing else."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
from delivered import AUGMENT, CROP, EVERYTHING, digest

from reader import Geometry, Loader
from reader.rng import SampleRandom

Script = Callable[..., "subprocess.CompletedProcess[str]"]
pytestmark = pytest.mark.usefixtures("no_leftovers")


def two_epochs(packed: Path, count: int, **options: Any) -> list[str]:
    given: dict[str, Any] = {"batch_size": 7, "shuffle": True, "seed": 3, **options}
    with Loader(packed, workers=count, **given) as loader:
        return [digest(loader), digest(loader)]


def test_order_and_augmentation_change_with_seed_and_epoch_and_nothing_else_does(
    packed: Path,
) -> None:
    order: dict[str, Any] = {"fields": ["index"], "transforms": [CROP]}
    augmented: dict[str, Any] = {"fields": ["image"], "shuffle": False, "transforms": AUGMENT}
    for options in (order, augmented):
        digests = [*two_epochs(packed, 0, **options), *two_epochs(packed, 0, **options, seed=4)]
        assert len(set(digests)) == 4
    first, second = two_epochs(packed, 0, transforms=[CROP], shuffle=False, fields=EVERYTHING)
    assert first == second


def test_a_script_without_main_guard_and_close_but_with_its_own_transform_delivers_the_same(
    packed: Path, run_script: Script, tmp_path: Path
) -> None:
    for name in ("reader", "pickle", "numpy"):  # in the working directory, and not imported
        (tmp_path / f"{name}.py").write_text("raise SystemExit('the wrong module')")

    class Mine:
        def apply(self, geometry: Geometry, rng: SampleRandom) -> None:
            geometry.crop(rng.integer(9), rng.integer(9), 40, 50)

    done = run_script(
        """
        import hashlib
        import sys

        import psutil
        import reader

        class Mine:
            def apply(self, geometry, rng):
                geometry.crop(rng.integer(EDGE), rng.integer(EDGE), 40, 50)

        EDGE = 9
        loader = reader.Loader(
            sys.argv[1], batch_size=7, workers=2, transforms=[Mine()], shuffle=True, seed=3
        )
        for _ in range(2):
            found = hashlib.sha256()
            for batch in loader:
                for field in batch:
                    found.update(field.numpy().tobytes())
            print(found.hexdigest())
        print(*[child.pid for child in psutil.Process().children(recursive=True)])
        """,
        packed,
        cwd=tmp_path,
    )
    assert (done.returncode, done.stderr) == (0, "")
    *digests, pids = done.stdout.splitlines()
    assert digests == two_epochs(packed, 1, transforms=[Mine()], fields=["image", "label"])
    assert len(pids.split()) == 1 + 2
    assert not any(psutil.pid_exists(int(pid)) for pid in pids.split())
