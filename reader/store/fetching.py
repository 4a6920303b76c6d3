"""The store of a fetching process, which requests most ranges without the network library.

It uses `http` if the library would send the same request: no proxy, and no other way to sign. If
`http` fails, the library makes the request, so failures are the same; if only `http` fails, it is
not used for a while.
"""

import os
import re
import time
from datetime import timedelta
from typing import Any
from urllib.parse import quote, unquote, urlsplit
from urllib.request import getproxies_environment

import obstore

from reader.store import errors
from reader.store.calls import CallingStore
from reader.store.client import CONNECT, TIMES
from reader.store.http import Answer, HttpRanges, Times, Unsuited

_CLIENT = {"allow_http", "connect_timeout", "default_headers", "read_timeout", "timeout"}
_SIGNING = {"access_key_id", "endpoint", "region", "secret_access_key", "session_token"}
_UNSIGNED = "AWS_SKIP_SIGNATURE"  # in the environment
_VALID = timedelta(hours=1)  # of a signed URL
_USED_SECONDS = 240.0  # the library renews credentials five minutes before they expire
_THROTTLES = 429, 503
_FAILURES = 8  # of `http` only, one after the other
_PAUSE_SECONDS = 60.0
_TIME = re.compile(r"(\d+)(ms|s)")
_AS_IS = "/%:@!$&'()*+,;=~"  # in a path of a URL


class FetchingStore(CallingStore):
    def __init__(self, url: str, options: dict[str, Any], provider: bytes | None) -> None:
        super().__init__(url, options, provider)
        client = {**CONNECT, **TIMES, **options.get("client_options", {})}
        self._http = _http(url, options, client)
        given = client.get("default_headers", {})
        self._headers = {"user-agent": "shardfeed"} | {name.lower(): given[name] for name in given}
        self._signer = self._store
        self._signed: dict[str, tuple[str, float]] = {}  # URL of an object, and when it is too old
        self._failures = 0
        self._resumed = 0.0

    async def _got(
        self, store: Any, name: str, options: dict[str, Any], most: int
    ) -> tuple[Any, memoryview]:
        is_plain = "range" in options and self._http is not None
        if not is_plain or time.monotonic() < self._resumed:
            return await super()._got(store, name, options, most)
        try:
            answer = await self._requested(store, name, options)
        except Unsuited as unsuited:
            self._signed.pop(name, None)
            if unsuited.status in _THROTTLES:
                code = errors.code_in(unsuited.content.decode("latin-1"))
                raise errors.of_status(unsuited.status, code) from None
        else:
            self._failures = 0
            return {"e_tag": answer.tag, "size": answer.size}, answer.content
        self._add(requests=1)
        found = await super()._got(store, name, options, most)
        self._failures += 1
        if self._failures >= _FAILURES:
            self._failures, self._resumed = 0, time.monotonic() + _PAUSE_SECONDS
        return found

    async def _requested(self, store: Any, name: str, options: dict[str, Any]) -> Answer:
        assert self._http is not None
        headers = self._headers
        if tag := options.get("if_match"):
            headers = {**headers, "if-match": tag}
        is_signed = self.url.startswith("s3:")
        url = await self._sign(store, name) if is_signed else f"{_quoted(self.url)}/{quote(name)}"
        return await self._http.get(url, headers, *options["range"])

    async def _sign(self, store: Any, name: str) -> str:
        if store is not self._signer:  # it was opened again, with other credentials
            self._signer, self._signed = store, {}
        url, until = self._signed.get(name, ("", 0.0))
        if time.monotonic() > until:
            until = time.monotonic() + _USED_SECONDS
            try:
                url = await obstore.sign_async(store, "GET", name, _VALID)
            except Exception:  # a credential provider may raise anything
                raise Unsuited from None
            folder = unquote(urlsplit(self.url).path)
            if not unquote(urlsplit(url).path).endswith(f"{folder}/{name}"):  # obstore < 0.10
                raise Unsuited
            self._signed[name] = url, until
        return url


def _http(url: str, options: dict[str, Any], client: dict[str, Any]) -> HttpRanges | None:
    """Return None if the network library does more than `http` can do."""
    seconds = [_seconds(client[name]) for name in ("connect_timeout", "read_timeout", "timeout")]
    headers = client.get("default_headers", {})
    is_text = all(
        isinstance(text, str) and text.isprintable() for pair in headers.items() for text in pair
    )
    proxies = getproxies_environment().keys() - {"no"}
    if proxies or not is_text or not _CLIENT.issuperset(client) or not url.isascii():
        return None
    names = {name.lower().removeprefix("aws_") for name in options}
    if url.startswith("s3:"):
        if not names - {"client_options", "retry_timeout"} <= _SIGNING or _UNSIGNED in os.environ:
            return None
    elif not url.startswith("http") or not names <= {"client_options", "retry_timeout"}:
        return None
    times = [value for value in seconds if value is not None]
    return HttpRanges(Times(*times)) if len(times) == len(seconds) else None


def _seconds(given: object) -> float | None:
    if isinstance(given, timedelta):
        return given.total_seconds()
    found = _TIME.fullmatch(str(given))
    return int(found[1]) / (1000 if found[2] == "ms" else 1) if found else None


def _quoted(url: str) -> str:
    return quote(url, safe=_AS_IS)
