"""Read objects of a store through the network library.

Guarantees: a transient failure is retried until `retry_timeout`; then it is an error. All bytes of
an object are of one version: the first answer has its ETag, and later requests require it
(If-Match). If a store ignores this condition, the ETags of its answers are compared.
"""

import asyncio
import os
import random
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import obstore
from obstore.store import HTTPStore, from_url

from reader.errors import StoreError
from reader.store import errors
from reader.store.credentials import received
from reader.store.limits import Body, Gate, Pace, Requests
from reader.store.urls import folder_of

_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 5.0  # seconds between two tries
_FIRST_ANSWER_SECONDS = 8.0  # limit for a store that has never answered
_TRIES = 3  # after wrong answers
_MOST_BYTES = 1 << 30  # of an object that is read whole
_RETRY_TIMEOUT = 60.0
CONNECT = {"connect_timeout": "5s"}
TIMES = {"read_timeout": "15s", "timeout": "180s"}
_ENDPOINTS = "AWS_ENDPOINT_URL", "AWS_ENDPOINT", "AZURE_STORAGE_ENDPOINT"  # in the environment
_HUGGING_FACE = "https://huggingface.co"

T = TypeVar("T")


@dataclass
class Version:
    tag: str | None
    size: int


class Store:
    pace = Pace()

    def __init__(self, url: str, options: dict[str, Any], provider: bytes | None) -> None:
        self.url = url
        self.gate = Gate()
        self._counted = Requests()._asdict()
        self._patience = float(options.get("retry_timeout", _RETRY_TIMEOUT))
        self._has_answered = False
        self._versions: dict[str, Version] = {}
        self._is_redirected = url.startswith("hf://")  # answers come from several servers
        self._options, self._provider = options, provider
        self._is_accepted = False  # whether a request with these credentials succeeded
        self._store = self._opened()

    @property
    def counts(self) -> Requests:
        return Requests(**self._counted)

    def _opened(self, times: Mapping[str, str] = TIMES) -> Any:
        try:
            return self._open(dict(self._options), times)
        except StoreError:
            raise
        except Exception as error:  # the library may raise anything, and quote credentials
            names = ", ".join(sorted(map(str, self._options))) or "none"
            raise StoreError(
                f"{self.url} cannot be opened as a store ({type(error).__name__}). Check the "
                f"names in storage_options= ({names}), and the credentials in the environment."
            ) from None

    def _open(self, options: dict[str, Any], times: Mapping[str, str]) -> Any:
        url, provider = self.url, self._provider
        options.pop("retry_timeout", None)
        client = {**CONNECT, **times, **options.pop("client_options", {})}
        places = url, options.get("endpoint"), *map(os.environ.get, _ENDPOINTS)
        if any(str(place).startswith("http://") for place in places):
            client["allow_http"] = True
        retry = {"max_retries": 0}  # the library's retries would hide throttling
        if url.startswith("hf://"):
            token = options.pop("token", None) or os.environ.get("HF_TOKEN")
            if token:
                headers = client.get("default_headers", {})
                client["default_headers"] = {**headers, "authorization": f"Bearer {token}"}
            base = options.pop("endpoint", None) or os.environ.get("HF_ENDPOINT") or _HUGGING_FACE
            client["allow_http"] = base.startswith("http://")
            _check_none(options)
            return HTTPStore(f"{base}/{_resolved(url)}", client_options=client, retry_config=retry)
        if url.startswith("file://"):
            _check_none(options)
            self._find(folder_of(url))
            return from_url(url)
        if url.startswith("http"):
            return from_url(url, client_options=client, retry_config=retry, **options)
        if provider is not None:
            options["credential_provider"] = received(provider)
        return from_url(url, client_options=client, retry_config=retry, **options)

    def _find(self, folder: Path) -> None:
        if not folder.exists():
            raise StoreError(f"{self.url}: the folder {folder} does not exist.")

    async def whole(self, name: str, most: int = _MOST_BYTES) -> bytes:
        return bytes(await self._persisting(name, lambda: self._get(name, {}, most)))

    async def part(self, name: str, start: int, stop: int, size: int) -> memoryview:
        return await self._persisting(name, lambda: self._part(name, start, stop, size))

    async def _part(self, name: str, start: int, stop: int, size: int) -> memoryview:
        options: dict[str, Any] = {"range": (start, stop)}
        tag = self._versions[name].tag if name in self._versions else None
        is_weak = tag is None or tag.startswith("W/")  # which never match
        if not (is_weak or self._is_redirected):
            options["if_match"] = tag
        try:
            content = await self._get(name, options, stop - start, size)
        except errors.NotPartial as failure:
            with self._asking(name) as store:
                found = await obstore.head_async(store, name)
            if int(found["size"]) != size:  # it is smaller than dataset.json records
                raise self._replaced(name) from None
            reason = f"the server does not support range requests: {failure} {errors.NO_PARTS}"
            raise self._error(name, reason) from None
        if len(content) != stop - start:
            what = f"the server sent {len(content)} of {stop - start} bytes"
            raise errors.Passing(what, is_answer=True)
        return content

    async def _get(
        self, name: str, options: dict[str, Any], most: int, size: int | None = None
    ) -> memoryview:
        began = time.monotonic()
        with self._asking(name) as store:
            meta, content = await self._got(store, name, options, most)
            if size is not None:
                self._check_version(name, Version(meta["e_tag"], meta["size"]), size)
        self._add(fetched_bytes=len(content))
        self._note_latency(time.monotonic() - began)
        self.gate.passed()
        return content

    @contextmanager
    def _asking(self, name: str) -> Iterator[Any]:
        """Count a request to the library's store, and translate its errors."""
        began, store = time.monotonic(), self._store
        self._add(requests=1, in_flight=1)
        try:
            yield store
        except StoreError:
            raise
        except errors.Failure as failure:
            raise self._meaning(name, self._store, failure) from None
        except Exception as error:  # the library's, or a credential provider's
            raise self._meaning(name, store, errors.meaning(error)) from None
        finally:
            self._add(in_flight=-1, asking=time.monotonic() - began)
        self._has_answered = True
        self._is_accepted |= store is self._store

    async def _got(
        self, store: Any, name: str, options: dict[str, Any], most: int
    ) -> tuple[Any, memoryview]:
        found = await obstore.get_async(store, name, options=options)
        body = self._body(found, options, most)
        async for chunk in found.stream(min_chunk_size=body.chunk):
            if body.add(chunk):
                break
        return found.meta, body.content

    def _body(self, found: Any, options: dict[str, Any], most: int) -> Body:
        start, stop = found.range
        return Body(stop - start, most, None if "range" in options else self.pace)

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

    def _meaning(self, name: str, store: Any, failure: errors.Failure) -> Exception:
        """Return the exception for a failed request; open the store again if it was refused."""
        if isinstance(failure, errors.Missing | errors.NotPartial | errors.Passing):
            return failure
        if isinstance(failure, errors.NoBucket):
            return self._no_bucket()
        if isinstance(failure, errors.Replaced):
            return self._replaced(name)
        if isinstance(failure, errors.Refused) and self._provider is not None:
            if store is self._store and self._is_accepted:  # credentials may have expired
                self._store, self._is_accepted = self._opened(), False
            if store is not self._store:
                return errors.Passing(str(failure), is_answer=True)
        return self._error(name, str(failure))

    async def _persisting(self, name: str, call: Callable[[], Awaitable[T]], least: int = 1) -> T:
        """Return the result of `call`; retry transient failures, with at least `least` tries."""
        began, pause, tries, wrong = time.monotonic(), _FIRST_PAUSE, 0, 0
        while True:
            try:
                return await call()
            except errors.NotPartial as failed:
                raise self._error(name, str(failed)) from None
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

    def _note_latency(self, seconds: float) -> None:
        before = self._counted["latency"] or seconds
        self._counted["latency"] = before + (seconds - before) / 32

    def _add(self, **amounts: float) -> None:
        for name, more in amounts.items():
            self._counted[name] += more


def _check_none(options: dict[str, Any]) -> None:
    if options:
        raise ValueError("unknown options")


def _resolved(url: str) -> str:
    kind, owner, name, *folder = url.removeprefix("hf://").split("/")
    name, _, revision = name.partition("@")
    return "/".join([kind, owner, name, "resolve", revision or "main", *folder])
