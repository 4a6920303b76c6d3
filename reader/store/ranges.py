"""Ranges of objects without the network library, for a fetching process.

They come by `http` if the library would send the same request: no proxy, and no other way to sign.
If `http` fails, the library makes the request, so failures are the same; if only `http` fails, it
is not used for a while.
"""

import os
import re
import time
from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import quote, unquote, urlsplit
from urllib.request import getproxies_environment

from reader.store import errors, transport
from reader.store.http import HttpRanges, Times, Unsuited
from reader.store.library import CLIENT, Library
from reader.store.transport import Access, Answer, Transport

_CLIENT = {*CLIENT, "allow_http", "default_headers"}
_SIGNING = {"access_key_id", "endpoint", "region", "secret_access_key", "session_token"}
_UNSIGNED = "AWS_SKIP_SIGNATURE"  # in the environment
_VALID = timedelta(hours=1)  # of a signed URL
_USED_SECONDS = 240.0  # the library renews credentials five minutes before they expire
_THROTTLES = 429, 503
_FAILURES = 8  # of `http` only, one after the other
_PAUSE_SECONDS = 60.0
_TIME = re.compile(r"(\d+)(ms|s)")
_AS_IS = "/%:@!$&'()*+,;=~"  # in a path of a URL


def opened(access: Access) -> Transport:
    found = transport.opened(access)
    if not isinstance(found, Library):
        return found
    client = {**CLIENT, **access.options.get("client_options", {})}
    times = _times(access, client)
    return found if times is None else FastRanges(access, found, client, times)


class FastRanges:
    """The transport of a library, except for ranges."""

    def __init__(
        self, access: Access, library: Library, client: Mapping[str, Any], times: Times
    ) -> None:
        self._library = library
        self.get, self.head, self.list = library.get, library.head, library.list
        self.put, self.delete = library.put, library.delete
        given = client.get("default_headers", {})
        self._headers = {"user-agent": "shardfeed"} | {name.lower(): given[name] for name in given}
        self._url = access.url
        self._http = HttpRanges(times)
        self._signed: dict[str, tuple[str, float]] = {}  # URL of an object, and when it is too old
        self._failures = 0
        self._resumed = 0.0

    async def get_range(self, name: str, start: int, stop: int, tag: str | None) -> Answer:
        if time.monotonic() < self._resumed:
            return await self._library.get_range(name, start, stop, tag)
        is_strong = tag is not None and not tag.startswith("W/")
        headers = {**self._headers, "if-match": tag} if is_strong else self._headers
        try:
            answer = await self._http.get(await self._url_of(name), headers, start, stop)
        except Unsuited as unsuited:
            self._signed.pop(name, None)
            if unsuited.status in _THROTTLES:
                code = errors.code_in(unsuited.content.decode("latin-1"))
                raise errors.of_status(unsuited.status, code) from None
        else:
            self._failures = 0
            return answer
        found = await self._library.get_range(name, start, stop, tag)
        self._failures += 1
        if self._failures >= _FAILURES:
            self._failures, self._resumed = 0, time.monotonic() + _PAUSE_SECONDS
        return found

    async def _url_of(self, name: str) -> str:
        if not self._url.startswith("s3:"):
            return f"{quote(self._url, safe=_AS_IS)}/{quote(name)}"
        url, until = self._signed.get(name, ("", 0.0))
        if time.monotonic() > until:
            until = time.monotonic() + _USED_SECONDS
            try:
                url = await self._library.sign(name, _VALID)
            except Exception:  # a credential provider may raise anything
                raise Unsuited from None
            folder = unquote(urlsplit(self._url).path)
            if not unquote(urlsplit(url).path).endswith(f"{folder}/{name}"):  # obstore < 0.10
                raise Unsuited
            self._signed[name] = url, until
        return url


def _times(access: Access, client: Mapping[str, Any]) -> Times | None:
    """Return the timeouts; None if the network library does more than `http` can do."""
    seconds = [_seconds(client[name]) for name in ("connect_timeout", "read_timeout", "timeout")]
    url, headers = access.url, client.get("default_headers", {})
    is_text = all(
        isinstance(text, str) and text.isprintable() for pair in headers.items() for text in pair
    )
    proxies = getproxies_environment().keys() - {"no"}
    if proxies or not is_text or not _CLIENT.issuperset(client) or not url.isascii():
        return None
    names = {name.lower().removeprefix("aws_") for name in access.options} - {"client_options"}
    if url.startswith("s3:"):
        if not names <= _SIGNING or _UNSIGNED in os.environ:
            return None
    elif names or not url.startswith("http"):
        return None
    times = [value for value in seconds if value is not None]
    return Times(*times) if len(times) == len(seconds) else None


def _seconds(given: object) -> float | None:
    if isinstance(given, timedelta):
        return given.total_seconds()
    found = _TIME.fullmatch(str(given))
    return int(found[1]) / (1000 if found[2] == "ms" else 1) if found else None
