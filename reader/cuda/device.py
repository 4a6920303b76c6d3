"""Choose the device for batches, and the cores and host memory near it."""

import contextlib
import os
from collections.abc import Set
from typing import Any

import torch

from reader.errors import ArgumentError
from reader.system import cores_near

_PORTABLE = 1  # cudaHostRegisterPortable: page-locked for all devices, not only the current one


def chosen_device(device: torch.device | str | int | None) -> torch.device:
    if device is None:
        return default_device()
    if isinstance(device, bool):
        raise ArgumentError(f"device is a device or its number, not {device}.")
    try:
        chosen = torch.device("cuda", device) if isinstance(device, int) else torch.device(device)
        if chosen.type != "cuda":
            torch.empty(0, device=chosen)
    except (RuntimeError, TypeError, AssertionError) as error:
        raise ArgumentError(f"torch has no device {device!r} here: {error}") from error
    if chosen.type == "cuda" and not torch.cuda.is_available():
        raise ArgumentError(
            f"There is no device {str(chosen)!r}: torch finds no CUDA. Leave device= out to use "
            "the CPU."
        )
    if chosen.type == "cuda" and (chosen.index or 0) >= torch.cuda.device_count():
        count = torch.cuda.device_count()
        raise ArgumentError(f"There is no device {str(chosen)!r}: the last is 'cuda:{count - 1}'.")
    return default_device() if chosen == torch.device("cuda") else chosen


def default_device() -> torch.device:
    """Return the current GPU, that of LOCAL_RANK if none was chosen, or the CPU."""
    if not torch.cuda.is_available():
        return torch.device("cpu")
    current = torch.cuda.current_device()
    rank = os.environ.get("LOCAL_RANK", "")
    if current == 0 and rank.isdigit() and int(rank) < torch.cuda.device_count():
        current = int(rank)
    return torch.device("cuda", current)


def cores_of(device: torch.device) -> Set[int]:
    """Return the usable cores of the GPU's NUMA node; empty if it is unknown."""
    properties: Any = torch.cuda.get_device_properties(device)
    if not hasattr(properties, "pci_bus_id"):  # before torch 2.6
        return frozenset()
    pci = (
        f"{properties.pci_domain_id:04x}:{properties.pci_bus_id:02x}"
        f":{properties.pci_device_id:02x}.0"
    )
    return cores_near(pci) & os.sched_getaffinity(0)


class CUDAHostMemory:
    def __init__(self, device: torch.device) -> None:
        self._device = device

    def register(self, address: int, size: int) -> str:
        runtime: Any = torch.cuda.cudart()
        with torch.cuda.device(self._device):
            code = runtime.cudaHostRegister(address, size, _PORTABLE)
            if not int(code):
                return ""
            # CUDA reports the failure again at the next kernel launch, so launch one here.
            with contextlib.suppress(RuntimeError):
                torch.zeros(1, device=self._device)
            return str(runtime.cudaGetErrorString(code))

    def unregister(self, address: int) -> None:
        runtime: Any = torch.cuda.cudart()
        with torch.cuda.device(self._device):
            runtime.cudaHostUnregister(address)
