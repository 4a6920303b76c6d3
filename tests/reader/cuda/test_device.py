"""Which GPU a process takes."""

import pytest
import torch

from reader.cuda.device import default_device


@pytest.mark.parametrize(
    ("current", "devices", "rank", "expected"),
    [
        (0, 8, None, 0),
        (0, 8, "3", 3),
        (5, 8, "3", 5),  # chosen with torch.cuda.set_device
        (0, 1, "3", 0),  # CUDA_VISIBLE_DEVICES shows each rank its own
        (0, 8, "", 0),
        (0, 8, "many", 0),
    ],
)
def test_a_rank_takes_the_gpu_it_chose_or_that_of_its_local_rank(
    monkeypatch: pytest.MonkeyPatch, current: int, devices: int, rank: str | None, expected: int
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: current)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: devices)
    monkeypatch.delenv("LOCAL_RANK", raising=False)
    if rank is not None:
        monkeypatch.setenv("LOCAL_RANK", rank)
    assert default_device() == torch.device("cuda", expected)


def test_without_a_gpu_the_device_is_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setenv("LOCAL_RANK", "1")
    assert default_device() == torch.device("cpu")
