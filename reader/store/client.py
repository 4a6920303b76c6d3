"""Read objects of a store through its transport.

Guarantees: a transient failure is retried until `retry_timeout`; then it is an error. All bytes of
an object are of one version: the first answer has its ETag, and later requests require it
(If-Match). If a store ignores this condition, the ETags of its answers are compared.
"""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from reader.errors import StoreError
from reader.store import errors, transport
from reader.store.limits import Gate, Requests
from reader.store.transport import Access, Transport

_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 5.0  # seconds between two tries
_FIRST_ANSWER_SECONDS = 8.0  # limit for a store that has never answered
_TRIES = 3  # after wrong answers
_MOST_BYTES = 1 << 30  # of an object that is read whole
_RETRY_TIMEOUT = 60.0
# Failures that are not errors of every request.
_HANDLED = (
    *(errors.Missing, errors.NotPartial, errors.Passing),
    *(errors.Replaced, errors.Exists, errors.Unconditional),
)

T = TypeVar("T")


@dataclass
class Version:
    tag: str | None
    size: int


class Store:
    _is_created = False  # whether a missing folder is created

    def __init__(
        self,
        url: str,
        options: Mapping[str, Any],
        provider: bytes | None,
        opened: Callable[[Access], Transport] = transport.opened,
    ) -> None:
        self.url = url
        self.gate = Gate()
        self._counted = Requests()._asdict()
        others = dict(options)
        self._patience = float(others.pop("retry_timeout", _RETRY_TIMEOUT))
        self._has_answered = False
        self._versions: dict[str, Version] = {}
        self._is_redirected = url.startswith("hf://")  # answers come from several servers
        self._is_accepted = False  # whether a request with these credentials succeeded
        self._access, self._opened = Access(url, others, provider, self._is_created), opened
        self._transport = opened(self._access)

    @property
    def counts(self) -> Requests:
        return Requests(**self._counted)

    async def whole(self, name: str, most: int = _MOST_BYTES) -> bytes:
        return bytes(await self._persisting(name, lambda: self._whole(name, most)))

    async def part(self, name: str, start: int, stop: int, size: int) -> memoryview:
        return await self._persisting(name, lambda: self._part(name, start, stop, size))

    async def _whole(self, name: str, most: int) -> memoryview:
        with self._asking(name) as store:
            content = (await store.get(name, most)).content
        self._add(fetched_bytes=len(content))
        return content

    async def _part(self, name: str, start: int, stop: int, size: int) -> memoryview:
        known = None if self._is_redirected else self._versions.get(name)
        try:
            with self._asking(name) as store:
                answer = await store.get_range(name, start, stop, known.tag if known else None)
                self._check_version(name, Version(answer.tag, answer.size), size)
        except errors.NotPartial as failure:
            with self._asking(name) as store:
                found = await store.head(name)
            if found.size != size:  # it is smaller than dataset.json records
                raise self._replaced(name) from None
            reason = f"the server does not support range requests: {failure} {errors.NO_PARTS}"
            raise self._error(name, reason) from None
        content = answer.content
        self._add(fetched_bytes=len(content))
        if len(content) != stop - start:
            what = f"the server sent {len(content)} of {stop - start} bytes"
            raise errors.Passing(what, is_answer=True)
        return content

    @contextmanager
    def _asking(self, name: str) -> Iterator[Transport]:
        """Count a request, and turn its failure into an error if it is permanent."""
        began, store = time.monotonic(), self._transport
        self._add(requests=1, in_flight=1)
        try:
            yield store
        except errors.Failure as failure:
            raise self._meaning(name, store, failure) from None
        finally:
            seconds = time.monotonic() - began
            self._add(in_flight=-1, asking=seconds)
        before = self._counted["latency"] or seconds
        self._counted["latency"] = before + (seconds - before) / 32
        self.gate.passed()
        self._has_answered = True
        self._is_accepted |= store is self._transport

    def _check_version(self, name: str, found: Version, size: int) -> None:
        known = self._versions.setdefault(name, found)
        is_same = known.tag == found.tag or self._is_redirected
        if found.size != size or not is_same:
            raise self._replaced(name)

    def _replaced(self, name: str) -> StoreError:
        return self._error(
            name,
            "it was replaced since the dataset was opened, or is not the file that dataset.json "
            "describes. Open the dataset again.",
        )

    def _meaning(self, name: str, store: Transport, failure: errors.Failure) -> Exception:
        """Return the exception for a failed request; open the store again if it was refused."""
        if isinstance(failure, errors.NoBucket):
            return self._no_bucket()
        if isinstance(failure, errors.Refused) and self._access.provider is not None:
            if store is self._transport and self._is_accepted:  # credentials may have expired
                self._transport, self._is_accepted = self._opened(self._access), False
            if store is not self._transport:
                return errors.Passing(str(failure), is_answer=True)
        return failure if isinstance(failure, _HANDLED) else self._error(name, str(failure))

    async def _persisting(self, name: str, call: Callable[[], Awaitable[T]], least: int = 1) -> T:
        """Return the result of `call`; retry transient failures, with at least `least` tries."""
        began, pause, tries, wrong = time.monotonic(), _FIRST_PAUSE, 0, 0
        while True:
            try:
                return await call()
            except errors.NotPartial as failed:
                raise self._error(name, str(failed)) from None
            except errors.Replaced:
                raise self._replaced(name) from None
            except errors.Passing as failed:
                if failed.is_throttle:
                    self.gate.throttled()
                patience = self._patience
                if not self._has_answered:
                    patience = min(patience, _FIRST_ANSWER_SECONDS)
                waited = time.monotonic() - began
                tries += 1
                wrong += failed.is_answer
                if (waited + pause > patience and tries >= least) or wrong >= _TRIES:
                    reason = f"{failed}, also after {waited:.0f} seconds. {failed.advice}"
                    raise self._error(name, reason) from None
                self._add(retries=1)
            await asyncio.sleep(pause * random.uniform(0.5, 1.5))
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _no_bucket(self) -> StoreError:
        return self._error("", "the bucket or container does not exist.")

    def _error(self, name: str, reason: str) -> StoreError:
        place = f"{self.url}/{name}" if name else self.url
        return StoreError(f"{place}: {reason}")

    def _add(self, **amounts: float) -> None:
        for name, more in amounts.items():
            self._counted[name] += more
