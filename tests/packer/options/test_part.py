import pytest

from packer.errors import UnusableInput
from packer.options.part import Part


def array(task: int, first: int, last: int, count: int, step: int = 1) -> dict[str, str]:
    values = {"ID": task, "MIN": first, "MAX": last, "COUNT": count, "STEP": step}
    return {f"SLURM_ARRAY_TASK_{name}": str(value) for name, value in values.items()}


@pytest.mark.parametrize(("count", "total"), [(1, 7), (3, 7), (9, 7), (4, 0)])
def test_each_shard_is_in_one_part(count: int, total: int) -> None:
    parts = [Part.of(f"{number}/{count}", {}) for number in range(1, count + 1)]
    shards = [shard for part in parts for shard in part.shards(total)]
    assert sorted(shards) == list(range(total))


@pytest.mark.parametrize("text", ["0/4", "5/4", "4", "1/0", "-1/4", "a/b", "1/4/7", "Slurm", ""])
def test_what_is_not_a_part_is_refused(text: str) -> None:
    with pytest.raises(UnusableInput, match=r"--part .* is not a part such as 3/64"):
        Part.of(text, {})


@pytest.mark.parametrize(
    ("environment", "part"),
    [
        (array(0, 0, 63, 64), "1/64"),
        (array(63, 0, 63, 64), "64/64"),
        (array(1, 1, 5, 5), "1/5"),
        (array(8, 4, 12, 3, 4), "2/3"),
        (array(7, 7, 7, 1), "1/1"),
    ],
)
def test_the_task_of_a_job_array_is_a_part(environment: dict[str, str], part: str) -> None:
    assert str(Part.of("slurm", environment)) == part


def test_an_array_with_gaps_is_refused_by_each_of_its_tasks() -> None:
    for task in (1, 3, 7):
        with pytest.raises(UnusableInput, match=r"without gaps.* 3 tasks between 1 and 7"):
            Part.of("slurm", array(task, 1, 7, 3))


@pytest.mark.parametrize("environment", [{}, {"SLURM_ARRAY_TASK_ID": "3"}])
def test_outside_of_a_job_array_there_is_no_part(environment: dict[str, str]) -> None:
    with pytest.raises(UnusableInput, match=r"SLURM_ARRAY_TASK_ID.*sbatch --array"):
        Part.of("slurm", environment)
