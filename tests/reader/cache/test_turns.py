"""Readers that share a cache: one process fetches for all of them, and another takes over."""

import os
import pickle
import signal
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import torch
from delivered import CROP
from store_server import StoreServer

import reader
from reader import Dataset, Loader
from reader.cache import client, turns
from reader.cache.messages import (
    Counts,
    GetCounts,
    MakeRoom,
    Present,
    Unavailable,
    receive,
    send,
)
from reader.cache.quota import BLOCK, DiskQuota
from reader.cache.turns import Turn

pytestmark = pytest.mark.usefixtures("needs_store", "own_server")

Opened = Callable[..., Dataset]
COUNT = 39
OPTIONS = {"batch_size": 4, "workers": 1, "transforms": [CROP], "fields": ("image", "index")}


def test_readers_of_a_dataset_fetch_by_one_process(server: StoreServer, opened: Opened) -> None:
    first, second = opened(), opened()
    with (
        Loader(first, seed=1, shuffle=True, **OPTIONS) as one,
        Loader(second, seed=2, shuffle=True, **OPTIONS) as other,
    ):
        for _ in zip(one, other, strict=True):
            pass
        found = one.statistics()
        assert other.statistics().fetched <= COUNT
    assert (found.fetched, found.requests) == (COUNT, len(server.tars))


@pytest.mark.parametrize(("how", "order"), [("closed", reader.BlockShuffle(1)), ("killed", True)])
def test_another_takes_over_from_a_process_that_ends_in_mid_epoch(
    packed: Path, server: StoreServer, opened: Opened, how: str, order: object
) -> None:
    first, second = opened(), opened()
    first[0]
    server.latency = 0.05
    with Loader(packed, shuffle=order, **OPTIONS) as local:
        expected = list(local)
    with Loader(second, shuffle=order, **OPTIONS) as loader:
        batches = iter(loader)
        found = [next(batches)]
        if how == "closed":
            first.fetching.close()
        else:
            os.kill(first.fetching.pid, signal.SIGKILL)
        found += batches
    for batch, other in zip(found, expected, strict=True):
        assert all(map(torch.equal, batch, other))
    asked = len(server.tars)
    second.fetching.close()
    third = opened()
    for number in range(COUNT):
        third[number]
    assert len(server.tars) == asked


def test_a_process_that_is_stopped_is_told_of(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = opened(), opened()
    first[0]
    monkeypatch.setattr(client, "_PATIENT_SECONDS", 0.2)
    monkeypatch.setattr(client, "_ANSWER_SECONDS", 0.2)
    os.kill(first.fetching.pid, signal.SIGSTOP)
    with pytest.raises(reader.StoreError, match=r"has not answered for .*that it is not stopped"):
        second[COUNT - 1]
    os.kill(first.fetching.pid, signal.SIGCONT)
    monkeypatch.undo()
    second[COUNT - 1]


def test_the_smallest_limit_of_all_readers_holds_while_they_read(
    packed: Path, opened: Opened, tmp_path: Path
) -> None:
    tars = sum(path.stat().st_size for path in packed.glob("*.tar"))
    small = 150_000 + tars // 2
    first, second = opened(cache_limit=10**9), opened(cache_limit=small)
    for number in range(COUNT):
        first[number]
    for number in range(COUNT):
        second[number]
    second.fetching.close()
    blocks = [path.lstat().st_blocks * 512 for path in (tmp_path / "cache").rglob("*")]
    assert sum(blocks) <= small


@pytest.mark.parametrize("answer", [Present(), Unavailable("", False)])
def test_room_is_waited_for_as_long_as_the_process_that_makes_it_is_not_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: Present | Unavailable
) -> None:
    monkeypatch.setattr(turns, "_SECONDS", 0.01)
    quota = DiskQuota(tmp_path, 10 * BLOCK)
    folder, _ = quota.lease("0" * 32)
    quota.count()
    asked: list[Any] = []

    def make_room(listener: socket.socket) -> None:
        """Answer after having shown twice that it is not stopped."""
        with listener.accept()[0] as waiting:
            asked.append(receive(waiting))
            for _ in range(2):
                with listener.accept()[0] as another:
                    asked.append(receive(another))
                    send(another, Counts())
            send(waiting, answer)

    with Turn(folder).take() as listener, ThreadPoolExecutor(1) as other:
        ended = other.submit(make_room, listener)
        listener.settimeout(30)
        has_room = turns.ask_for_room(quota, tmp_path / ("1" * 32), 9 * BLOCK)
        ended.result()
    assert has_room == isinstance(answer, Present)
    assert asked == [MakeRoom(BLOCK), GetCounts(), GetCounts()]


def test_a_message_loads_no_other_classes() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        for harm in (os.system, eval, Dataset, socket.socket):
            ours.send(pickle.dumps(harm))
            with pytest.raises(pickle.UnpicklingError, match="not part of a message"):
                receive(theirs)
