"""The generator of perturbed layouts keeps files and truth together."""

import pytest

from layouts.packed import all_layouts
from layouts.perturbed import made

LAYOUTS = list(all_layouts().values())
ARCHIVES = (".tar", ".tgz", ".gz", ".xz", ".bz2", ".zip", ".parquet")
ARRAYS = (".npz", ".npy", ".mat", ".bin")


def test_the_same_seed_makes_the_same_layouts():
    first = list(made(20, 5, 3, LAYOUTS))
    assert first == list(made(20, 5, 3, LAYOUTS))
    assert first != list(made(20, 5, 4, LAYOUTS))


@pytest.mark.parametrize("seed", [0, 1])
def test_each_image_of_the_truth_is_a_file(seed):
    for layout, steps in made(150, 50, seed, LAYOUTS):
        if any(
            isinstance(content, bytes) and b"PK" in content[:2] for content in layout.files.values()
        ):
            continue
        if any(path.lower().endswith((*ARCHIVES, *ARRAYS)) for path in layout.files):
            continue
        below = f"{layout.src}/" if layout.src else ""
        missing = {
            path
            for path in layout.truth
            if below + path not in layout.files and path not in layout.files
        }
        assert not missing, (layout.name, steps)


def test_all_changes_are_made():
    steps = {step for one in made(400, 60, 0, LAYOUTS) for step in one.steps}
    assert len(steps) == 15
