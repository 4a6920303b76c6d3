"""A GPU that is none: torch's calls for one, run on the CPU, with CUDA's rules of order checked.

Kernels and copies run at once, but the order that streams, events and waits establish between them
is kept as vector clocks. `PretendedGPU.faults` tells what a GPU might do otherwise than it was done
here: work that is in no order with other work on the same memory; memory of the caching allocator
that is free while another stream still uses it, unless `record_stream` said so; host memory let go
before the copy from it ended; and a decoder that, as torchvision's, writes at once to memory that
queued work may still use.
"""

import contextlib
import gc
import types
import weakref
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

import numpy as np
import pytest
import simplejpeg
import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves, tree_map

from reader.cuda import transfer

Clock = dict[int, int]
DEVICE = torch.device("cuda", 0)
WAITING = {"item", "__bool__", "__float__", "__int__", "tolist", "numpy", "cpu"}
HOST = -1


def later(clock: Clock, other: Clock) -> None:
    """Let whoever has `clock` come after all that `other` knows of."""
    for stream, count in other.items():
        clock[stream] = max(clock.get(stream, 0), count)


class Block:
    """Memory on the GPU, or page-locked: who read and wrote it, and when."""

    def __init__(self, owner: int) -> None:
        self.owner = owner
        self.reads: list[tuple[int, int]] = []
        self.writes: list[tuple[int, int]] = []
        self.recorded: set[int] = set()


class OnGPU(torch.Tensor):
    """A tensor that says that it is there."""

    device = property(lambda self: DEVICE)  # type: ignore[assignment]
    is_cuda = property(lambda self: True)  # type: ignore[assignment]
    gpu: "PretendedGPU"

    def record_stream(self, stream: "Stream") -> None:
        self.gpu.blocks[PretendedGPU.address(self)].recorded.add(stream.number)


class PretendedGPU(TorchFunctionMode):
    """Stands in for `torch.cuda`, and for kernels on its tensors."""

    def __init__(self, lag: int) -> None:
        super().__init__()
        self.lag = lag  # launches from an event to its end, as `query` sees it
        self.launches = self.waits = 0
        self.faults: list[str] = []
        self.host: Clock = {}
        self.blocks: dict[int, Block] = defaultdict(lambda: Block(HOST))
        self.freed: dict[int, list[tuple[int, int]]] = defaultdict(list)
        self.streams: list[Stream] = []
        self.current = self.default = self.Stream()
        self.registered: dict[int, int] = {}
        self.refusal = 0
        self.pinned: set[int] = set()
        self.ordinary = 0  # copies that are not waited for, from memory that is not torch's pinned

    # torch.cuda's names

    def Stream(self, device: Any = None, priority: int = 0) -> "Stream":
        self.streams.append(Stream(self, len(self.streams)))
        return self.streams[-1]

    def Event(self, enable_timing: bool = False) -> "Event":
        return Event(self)

    def synchronize(self, device: Any = None) -> None:
        for stream in self.streams:
            stream.synchronize()

    def current_stream(self, device: Any = None) -> "Stream":
        return self.current

    @contextlib.contextmanager
    def stream(self, stream: "Stream") -> Iterator[None]:
        before, self.current = self.current, stream
        try:
            yield
        finally:
            self.current = before

    def cudart(self) -> Any:
        def register(address: int, size: int, flags: int) -> int:
            assert flags == 1
            assert address % 4096 == size % 4096 == 0
            if not self.refusal:
                self.registered[address] = size
            return self.refusal

        return types.SimpleNamespace(
            cudaHostRegister=register,
            cudaHostUnregister=lambda address: self.registered.pop(address, None),
            cudaGetErrorString=lambda code: f"error {code}",
        )

    # torchvision's

    def decode_jpeg(self, jpegs: list[torch.Tensor], mode: Any, device: Any) -> list[torch.Tensor]:
        assert device == DEVICE
        if any(self.host.get(stream, 0) < at for stream, at in self.freed[self.current.number]):
            self.faults.append("the decoder may write to memory that queued work uses")
        images = []
        for jpeg in jpegs:
            assert type(jpeg) is torch.Tensor
            pixels = simplejpeg.decode_jpeg(jpeg.numpy(), "RGB", strict=False)
            images.append(self.fresh(torch.from_numpy(pixels).permute(2, 0, 1).contiguous()))
        return images

    # kernels

    def __torch_function__(self, func: Any, kinds: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        there = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, OnGPU)]
        goal = self.goal(func, args, kwargs)
        name = func.__name__
        if name == "pin_memory":
            with torch._C.DisableTorchFunction():
                copy = args[0].clone()
            self.pinned.add(self.address(copy))
            return copy
        if not there and (goal is None or goal.type != "cuda"):
            return func(*args, **kwargs)
        if name == "__iter__":
            with self:
                return iter(args[0].unbind(0))
        with torch._C.DisableTorchFunction():
            result = func(*tree_map(self.plain, args), **tree_map(self.plain, kwargs))
            inputs = {self.address(leaf) for leaf in there}
            if name in WAITING or (there and goal is not None and goal.type == "cpu"):
                self.read(inputs)
                return result.clone() if isinstance(result, torch.Tensor) else result
            reads = inputs | {self.address(leaf) for leaf in args if type(leaf) is torch.Tensor}
            written = self.written(name, args, kwargs)
            outputs = [leaf for leaf in tree_leaves(result) if isinstance(leaf, torch.Tensor)]
            if not outputs and not written:
                return result  # a shape and the like
            new = [leaf for leaf in outputs if self.address(leaf) not in inputs]
            if not new and not written:
                return tree_map(self.there, result)  # a view
            moved = {id(leaf): self.fresh(leaf) for leaf in new}
            writes = written | {self.address(leaf) for leaf in moved.values()}
            self.launch(name, reads - writes, writes)
            if name == "to" and not there:
                if not kwargs.get("non_blocking"):
                    self.current.synchronize()  # as a copy from the host does by default
                elif self.address(args[0]) not in self.pinned:
                    self.ordinary += 1
            return tree_map(lambda leaf: moved.get(id(leaf), self.there(leaf)), result)

    @staticmethod
    def goal(func: Any, args: Any, kwargs: Any) -> torch.device | None:
        """The device where a call's result is to be."""
        given = [kwargs.get("device"), *(args[1:2] if func.__name__ == "to" else ())]
        names = [one for one in given if isinstance(one, (torch.device, str))]
        return torch.device(names[0]) if names else None

    @staticmethod
    def written(name: str, args: Any, kwargs: Any) -> set[int]:
        """Addresses of tensors that a call changes."""
        changed = [kwargs["out"]] if "out" in kwargs else []
        if name == "__setitem__" or (name.endswith("_") and not name.endswith("__")):
            changed.append(args[0])
        return {PretendedGPU.address(tensor) for tensor in changed}

    @staticmethod
    def plain(leaf: Any) -> Any:
        if isinstance(leaf, OnGPU):
            return leaf.as_subclass(torch.Tensor)
        is_gpu = isinstance(leaf, torch.device) and leaf.type == "cuda"
        return torch.device("cpu") if is_gpu else leaf

    @staticmethod
    def there(leaf: Any) -> Any:
        return leaf.as_subclass(OnGPU) if type(leaf) is torch.Tensor else leaf

    @staticmethod
    def address(tensor: torch.Tensor) -> int:
        with torch._C.DisableTorchFunction():
            return tensor.untyped_storage().data_ptr()

    def fresh(self, tensor: torch.Tensor) -> torch.Tensor:
        """The same in memory that the allocator gives out on the current stream."""
        with torch._C.DisableTorchFunction():
            memory = np.empty(max(tensor.untyped_storage().nbytes(), 1), np.uint8)
            copy = torch.from_numpy(memory)[: memory.size // tensor.itemsize * tensor.itemsize]
            copy = copy.view(tensor.dtype).as_strided(tensor.shape, tensor.stride())
            copy.copy_(tensor)
            address = copy.untyped_storage().data_ptr()
            self.blocks[address] = Block(self.current.number)
            weakref.finalize(memory, self.release, address).atexit = False
            return copy.as_subclass(OnGPU)

    def release(self, address: int) -> None:
        """The allocator gets memory back."""
        block = self.blocks.pop(address)
        known = self.streams[block.owner].clock
        # What `record_stream` told of has ended before the memory is given out again.
        for stream, at in block.reads + block.writes:
            if stream == block.owner:
                self.freed[block.owner].append((stream, at))
            elif stream not in block.recorded and known.get(stream, 0) < at:
                self.faults.append("memory was freed while another stream used it")

    def launch(self, name: str, reads: set[int], writes: set[int]) -> None:
        """A kernel or copy, queued on the current stream."""
        stream = self.current
        self.launches += 1
        later(stream.clock, self.host)
        for address in reads | writes:
            block = self.blocks[address]
            before = block.writes if address in reads else block.reads + block.writes
            if any(stream.clock.get(other, 0) < at for other, at in before):
                self.faults.append(f"{name} is in no order with other work on its memory")
        stream.clock[stream.number] = stream.clock.get(stream.number, 0) + 1
        access = stream.number, stream.clock[stream.number]
        for address in writes:
            self.blocks[address].writes.append(access)
        for address in reads:
            self.blocks[address].reads.append(access)

    def read(self, addresses: set[int]) -> None:
        """The host waits for the current stream, and reads."""
        self.waits += 1
        later(self.host, self.current.clock)
        for address in addresses:
            if any(self.host.get(stream, 0) < at for stream, at in self.blocks[address].writes):
                self.faults.append("the host reads what is not there yet")

    def watch(self, host: torch.Tensor) -> torch.Tensor:
        """Have it checked that the copies from `host` ended before it is let go."""
        block = Block(HOST)
        self.blocks[self.address(host)] = block

        def check() -> None:
            if any(self.host.get(stream, 0) < at for stream, at in block.reads):
                self.faults.append("host memory was let go before its copy ended")

        weakref.finalize(host, check).atexit = False
        return host


class Stream:
    """What was queued, and what it comes after."""

    def __init__(self, gpu: PretendedGPU, number: int) -> None:
        self.gpu, self.number, self.clock = gpu, number, Clock()

    def wait_event(self, event: "Event") -> None:
        later(self.clock, event.clock)

    def wait_stream(self, other: "Stream") -> None:
        later(self.clock, other.clock)

    def query(self) -> bool:
        return all(self.gpu.host.get(stream, 0) >= at for stream, at in self.clock.items())

    def synchronize(self) -> None:
        self.gpu.waits += 1
        later(self.gpu.host, self.clock)


class Event:
    """A place in a stream."""

    def __init__(self, gpu: PretendedGPU) -> None:
        self.gpu, self.clock, self.at = gpu, Clock(), 0

    def record(self, stream: Stream) -> None:
        self.clock, self.at = dict(stream.clock), self.gpu.launches

    def query(self) -> bool:
        is_over = self.at + self.gpu.lag <= self.gpu.launches
        if is_over:
            later(self.gpu.host, self.clock)
        return is_over

    def synchronize(self) -> None:
        self.gpu.waits += 1
        later(self.gpu.host, self.clock)

    def elapsed_time(self, end: "Event") -> float:
        """As if each launch took a millisecond."""
        return float(end.at - self.at)


class AtOnce:
    """In place of a thread, which would not have the pretended GPU: does its work at once."""

    def __init__(self, threads: int, name: str) -> None:
        assert threads == 1

    def submit(self, work: Callable[..., Any], *arguments: Any) -> Future[Any]:
        done: Future[Any] = Future()
        self.run(done, work, *arguments)
        return done

    @staticmethod
    def run(done: Future[Any], work: Callable[..., Any], *arguments: Any) -> None:
        try:
            done.set_result(work(*arguments))
        except Exception as error:
            done.set_exception(error)


class Late(AtOnce):
    """Does its work when somebody waits for it, after all work before it."""

    def __init__(self, threads: int, name: str) -> None:
        super().__init__(threads, name)
        self.waiting: list[tuple[Any, ...]] = []

    def submit(self, work: Callable[..., Any], *arguments: Any) -> Future[Any]:
        executor, done = self, LateFuture()
        done.catch_up = lambda: executor.catch_up(done)
        self.waiting.append((done, work, *arguments))
        return done

    def catch_up(self, until: Future[Any]) -> None:
        while not until.done():
            self.run(*self.waiting.pop(0))


class LateFuture(Future[Any]):
    catch_up: Callable[[], None]

    def result(self, timeout: float | None = None) -> Any:
        self.catch_up()
        return super().result(timeout)

    def exception(self, timeout: float | None = None) -> BaseException | None:
        self.catch_up()
        return super().exception(timeout)


@contextlib.contextmanager
def pretended_gpu(monkeypatch: pytest.MonkeyPatch, lag: int = 20) -> Iterator[PretendedGPU]:
    """Have this process find a GPU."""
    gpu = OnGPU.gpu = PretendedGPU(lag)
    for name in ("Stream", "Event", "current_stream", "stream", "cudart", "synchronize"):
        monkeypatch.setattr(torch.cuda, name, getattr(gpu, name))
    monkeypatch.setattr(transfer, "ThreadPoolExecutor", AtOnce)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    monkeypatch.setattr(torch.cuda, "device", lambda device: contextlib.nullcontext())
    place = types.SimpleNamespace(pci_domain_id=99, pci_bus_id=7, pci_device_id=0)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: place)
    with gpu:
        yield gpu
        gc.collect()  # what is still registered is unregistered here, not where there is no GPU
