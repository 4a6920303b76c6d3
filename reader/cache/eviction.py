"""Which samples go from a full cache: those that are needed last, not those used longest ago."""

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
        plans: Mapping[Any, Schedule],
        busy: Counter[tuple[int, int]],
    ) -> None:
        self._quota = quota
        self._mirror = mirror
        self._plans = plans
        self._busy = busy
        self._victims: list[tuple[int, int]] = []  # the one that is needed last at the end

    def make_room(self, need: int, *, is_urgent: bool) -> int:
        """Evict what is needed last, of this dataset; what is read soon only if urgent."""
        given, share, is_all = 0, need, False
        while given < need:
            if not self._victims:
                if is_all:
                    return given + self._evict_others(need - given, is_urgent=is_urgent)
                self._victims, is_all = self._choose(share, is_urgent)
                share *= 4  # of small samples several lie in a block, which goes with the last one
                continue
            number, row = self._victims.pop()
            if not self._busy[number, row]:
                shard = self._mirror.shard(number)
                given += shard.evict(row, self._quota, lambda at: bool(self._busy[number, at]))  # noqa: B023
        return given

    def _evict_others(self, need: int, *, is_urgent: bool) -> int:
        """Evict what others fetch again: of larger datasets, other splits, or any if urgent."""
        need = max(need, self._quota.limit // EVICTED)
        given = 0
        for folder in self._quota.larger(None if is_urgent else self._mirror.folder):
            own = self._mirror.shards if folder == self._mirror.folder else ()
            for shard in shards_of(folder, own):
                rows = np.random.default_rng().permutation(np.flatnonzero(shard.rows.present()))
                for row in rows.tolist():
                    given += shard.evict(row, self._quota, lambda _: False)
                    if given >= need:
                        return given
        return given

    def _choose(self, need: int, is_urgent: bool) -> tuple[list[tuple[int, int]], bool]:
        """Shard and row of what is there and needed last, the very last at the end; whether all."""
        sizes = [shard.samples for shard in self._mirror.shards]
        here = [self._mirror.shard(number).rows.present() for number in range(len(sizes))]
        places = np.flatnonzero(np.concatenate([*here, np.zeros(0, bool)]))
        if not len(places):
            return [], True
        plans = list(self._plans.values())
        if plans:
            uses = np.min([plan.next_use()[places] for plan in plans], axis=0)
            horizon = -1 if is_urgent else max(plan.ahead.position(plan.reach) for plan in plans)
            places, uses = places[uses > horizon], uses[uses > horizon]
            places = places[np.argsort(uses, kind="stable")]
        else:  # nobody knows the order: any are as good as others
            places = np.random.default_rng().permutation(places)
        mean = sum(shard.bytes for shard in self._mirror.shards) // max(sum(sizes), 1) or 1
        most = max(need, self._quota.limit // EVICTED) // mean + 2
        chosen = places[-most:]
        ends = np.cumsum(sizes)
        shards = np.searchsorted(ends, chosen, side="right")
        rows = chosen - (ends - sizes)[shards]
        return list(zip(shards.tolist(), rows.tolist(), strict=True)), len(chosen) == len(places)
