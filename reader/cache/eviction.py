"""Choose the samples to evict from a full cache: those that are needed last."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from reader.cache.mirror import Mirror, shards_of
from reader.cache.quota import DiskQuota
from reader.cache.ranges import EVICTED
from reader.cache.schedule import Schedule


class Eviction:
    def __init__(
        self,
        quota: DiskQuota,
        mirror: Mirror,
        schedules: Mapping[Any, Schedule],
        busy: Counter[tuple[int, int]],
    ) -> None:
        self._quota = quota
        self._mirror = mirror
        self._schedules = schedules
        self._busy = busy
        self._victims: list[tuple[int, int]] = []  # the last one is needed last

    def make_room(self, need: int, *, is_urgent: bool) -> int:
        """Evict samples of this dataset that are needed last; those read soon only if urgent."""
        given, share, is_all = 0, need, False
        while given < need:
            if not self._victims:
                if is_all:
                    return given + self._evict_others(need - given, is_urgent=is_urgent)
                self._victims, is_all = self._choose(share, is_urgent)
                share *= 4  # small samples share a block, which is freed with the last of them
                continue
            number, row = self._victims.pop()
            if not self._busy[number, row]:
                shard = self._mirror.shard(number)
                given += shard.evict(row, self._quota, lambda at: bool(self._busy[number, at]))  # noqa: B023
        return given

    def _evict_others(self, need: int, *, is_urgent: bool) -> int:
        """Evict samples of larger datasets and other splits, or of any if urgent."""
        need = max(need, self._quota.limit // EVICTED)
        given = 0
        for folder in self._quota.larger(None if is_urgent else self._mirror.folder):
            own = set(self._mirror.shards if folder == self._mirror.folder else ())
            for shard in shards_of(folder, own):
                rows = np.random.default_rng().permutation(np.flatnonzero(shard.rows.present()))
                for row in rows.tolist():
                    given += shard.evict(row, self._quota, lambda _: False)
                    if given >= need:
                        return given
        return given

    def _choose(self, need: int, is_urgent: bool) -> tuple[list[tuple[int, int]], bool]:
        """Return shard and row of present samples, by next use, and whether these are all."""
        sizes = [shard.samples for shard in self._mirror.shards]
        places = np.flatnonzero(np.concatenate([*self._mirror.present(), np.zeros(0, bool)]))
        if not len(places):
            return [], True
        schedules = list(self._schedules.values())
        if schedules:
            uses = np.min([schedule.next_use()[places] for schedule in schedules], axis=0)
            horizon = -1 if is_urgent else max(s.ahead.position(s.reach) for s in schedules)
            places, uses = places[uses > horizon], uses[uses > horizon]
            places = places[np.argsort(uses, kind="stable")]
        else:  # the order is unknown
            places = np.random.default_rng().permutation(places)
        mean = sum(shard.bytes for shard in self._mirror.shards) // max(sum(sizes), 1) or 1
        most = max(need, self._quota.limit // EVICTED) // mean + 2
        chosen = places[-most:]
        ends = np.cumsum(sizes)
        shards = np.searchsorted(ends, chosen, side="right")
        rows = chosen - (ends - sizes)[shards]
        return list(zip(shards.tolist(), rows.tolist(), strict=True)), len(chosen) == len(places)
