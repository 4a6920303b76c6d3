"""A worker process: `main` of this module, with its inherited descriptors as arguments.

Guarantees: the result of a task is a pure function of its message and the set-up, so another worker
may repeat it after this one died. The process ends when the other end of its control connection is
closed; on Linux also in the middle of a task, and while it is stopped. It never imports torch. It
is the only writer to the rows of its task.

States: STARTING (reads `Setup` from its file, sends READY) -> IDLE (waits for GO, then for tasks,
answers `Sync` with itself, ends at RETIRE) -> BUSY (one task; sends `Done` or `Failed`)
-> IDLE.
"""

import contextlib
import os
import pickle
import select
import socket
import time
import traceback
from collections.abc import Sequence
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from reader.batch.ring import RingMemory
from reader.errors import (
    SampleError,
    StoreError,
    UserCodeError,
    WorkerError,
    lacks_memory,
    own_lines,
)
from reader.fields.pixels import Planned
from reader.fields.raw import RawBatchReader
from reader.fields.row_writer import RowWriter
from reader.fields.sample import Filtered, SampleReader
from reader.format import ShardfeedError
from reader.monitoring.counters import Spent, minus
from reader.processes.child import end_with_parent
from reader.workers import setup_file
from reader.workers.messages import (
    MAX_TASK_BYTES,
    Done,
    Failed,
    Setup,
    Signal,
    Sync,
    Task,
    parse,
    receive,
)
from reader.workers.progress import ProgressBoard, WorkerSlot

_MEMORY_ADVICE = (
    "Memory ran out. To use less, give reader.Loader fewer workers= or a smaller batch_size=, or "
    "pack smaller images with `packer pack --max-side`."
)


class Worker:
    def __init__(self, setup: Setup, memory: RingMemory, slot: WorkerSlot) -> None:
        self._setup = setup
        self._slot = slot
        self._memory = memory
        self._reader = SampleReader(setup.dataset, setup.recipe, setup.decoded)
        self._writer = RowWriter(setup.schema)
        self._raw: RawBatchReader | None = None

    def run(self, task: Task) -> Done | Failed:
        self._slot.begin(task.number, int(task.samples[0]))
        try:
            return self._done(task)
        except ShardfeedError as error:
            kind = StoreError if isinstance(error, StoreError) else SampleError
            return Failed(task.number, str(error), kind)
        except Exception as error:
            sample = self._setup.dataset.describe(self._slot.read().sample)
            if isinstance(error, UserCodeError) and not lacks_memory(error.error):
                text = f"{sample}: {error.what} raised\n{own_lines(error.error)}"
                return Failed(task.number, text, WorkerError, error.at(sample))
            return Failed(task.number, f"At {sample}:\n{_traceback(error)}", WorkerError)
        finally:
            self._slot.end()

    def _done(self, task: Task) -> Done:
        before = self._clocks()
        slot = self._memory.slot(task.slot)
        self._writer.begin(slot, task.row, len(task.samples), task.drawn)
        bad: list[tuple[int, str]] = []
        loose: list[tuple[Any, ...]] = []
        if not self._setup.schema.is_gathered or not self._is_gathered(task):
            self._decode(task, bad, loose)
        return Done(task.number, minus(self._clocks(), before), tuple(bad), tuple(loose))

    def _is_gathered(self, task: Task) -> bool:
        """Fill the task's rows at once; False if bad samples must be handled one by one."""
        try:
            if self._raw is None:
                setup = self._setup
                self._raw = RawBatchReader(setup.dataset, setup.recipe, self._slot.turn_to)
            samples, positions = task.samples, task.positions
            self._writer.gather(self._raw, samples, task.epoch, positions, task.valid)
        except ShardfeedError as error:
            if self._setup.on_error == "raise" or isinstance(error, StoreError):
                raise
            return False
        return True

    def _decode(self, task: Task, bad: list[tuple[int, str]], loose: list[tuple[Any, ...]]) -> None:
        # Plan the whole chunk first: the system reads ahead while samples are decoded.
        planned = [
            self._plan_or_error(sample, task.epoch, position)
            for sample, position in zip(task.samples.tolist(), task.positions.tolist(), strict=True)
        ]
        for step, found in enumerate(planned):
            sample = int(task.samples[step])
            self._slot.turn_to(sample)
            try:
                loose.append(self._written(found, task, step))
            except SampleError as error:
                if self._setup.on_error == "raise":
                    raise
                bad.append((sample, "" if isinstance(error, Filtered) else str(error)))
                loose.append(self._replaced(sample, task, step))

    def _clocks(self) -> Spent:
        """Return the counts and times since the worker began; `busy` is the current time."""
        buffer = self._setup.dataset.buffer
        return Spent(
            time.perf_counter(),
            time.process_time(),
            buffer.nanoseconds / 1e9,
            (self._reader.transforming + self._reader.tools.changing) / 1e9,
            buffer.bytes,
            self._reader.source.cached,
            self._reader.tools.dropped_boxes,
            buffer.waited / 1e9,
            self._reader.tools.drawn,
            self._reader.tools.drawing / 1e9,
        )

    def _plan_or_error(self, sample: int, epoch: int, position: int) -> Planned | SampleError:
        self._slot.turn_to(sample)
        try:
            return self._reader.plan(sample, epoch, position)
        except SampleError as error:
            return error
        except ShardfeedError as error:  # the shard cannot be opened
            return SampleError(str(error))

    def _written(self, planned: Planned | SampleError, task: Task, step: int) -> tuple[Any, ...]:
        if isinstance(planned, SampleError):
            raise planned
        row, is_valid = task.row + step, step < task.valid
        return self._writer.write(row, self._reader, planned, is_valid=is_valid)

    def _replaced(self, bad: int, task: Task, step: int) -> tuple[Any, ...]:
        """Read the next readable sample in place of a bad one, or mask it."""
        if self._setup.on_error == "substitute":
            following = np.concatenate([task.samples[step + 1 :], task.spare])[: len(task.spare)]
            for sample in following.tolist():
                planned = self._plan_or_error(sample, task.epoch, int(task.positions[step]))
                with contextlib.suppress(SampleError):
                    return self._written(planned, task, step)
        return self._writer.mask(task.row + step, bad)


def _traceback(error: Exception) -> str:
    """Return the current traceback, with advice if memory ran out, also in the user's code."""
    text = traceback.format_exc()
    return text + _MEMORY_ADVICE if lacks_memory(error.__cause__ or error) else text


def serve(control: Connection, tasks: socket.socket, worker: Worker) -> None:
    news = select.poll()  # made once: `multiprocessing`'s `wait` makes one in each call
    news.register(control.fileno(), select.POLLIN)
    while True:
        ready = [descriptor for descriptor, _ in news.poll()]
        if control.fileno() in ready:
            message = receive(control, (Signal, Sync))
            if message is Signal.GO:
                news.register(tasks.fileno(), select.POLLIN)
            elif isinstance(message, Sync):
                control.send(message)
            else:
                control.send(Signal.RETIRED)
                return
        else:
            try:
                content = tasks.recv(MAX_TASK_BYTES, socket.MSG_DONTWAIT)
            except BlockingIOError:
                continue  # another worker was faster
            task = parse(content, (Task,))
            try:
                done = worker.run(task)
            except BaseException as error:  # the user's function may call sys.exit()
                done = Failed(task.number, own_lines(error), WorkerError)
            control.send_bytes(_answer(done))


def _answer(message: Done | Failed) -> bytes:
    """Pickle a message with any values of the user's.

    Plain pickling sends a tensor's values; `Connection.send` would share its memory, which ends
    with this process. Classes of the user's script are pickled by value.
    """
    try:
        return pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    except Exception:
        import cloudpickle  # rarely used, and workers should start fast

        try:
            return cloudpickle.dumps(message)
        except Exception as error:
            reason = (
                f"A value that map_sample= or decode= returned cannot be pickled: {error}. Return "
                "arrays, tensors, numbers, strings or plain objects."
            )
            return pickle.dumps(Failed(message.number, reason, WorkerError))


def main(arguments: Sequence[str | int]) -> None:
    control_fd, setup_fd, tasks_fd, memory_fd, board_fd, life_fd, number = map(int, arguments)
    end_with_parent(life_fd)
    control = Connection(control_fd)
    # A child that outlives this process must not keep the connection open.
    os.set_inheritable(control_fd, False)
    os.register_at_fork(after_in_child=control.close)
    try:
        try:
            setup = setup_file.read(setup_fd)
            import cv2

            cv2.setNumThreads(1)  # the processes are the parallelism
            memory = RingMemory(memory_fd, setup.slots, setup.schema.layout)
            setup.dataset.keep_open()  # not where it is the user's process, see `serial`
            worker = Worker(setup, memory, ProgressBoard(board_fd).slot(number))
        except (EOFError, ConnectionError):
            raise
        except Exception as error:
            control.send(Failed(-1, _traceback(error), WorkerError))
            return
        control.send(Signal.READY)
        try:
            serve(control, socket.socket(fileno=tasks_fd), worker)
        except WorkerError as error:
            control.send(Failed(-1, str(error), WorkerError))
    except (EOFError, ConnectionError):
        return  # the parent is gone
