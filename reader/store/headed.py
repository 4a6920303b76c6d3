"""Read from an HTTP server with headers of the user's own, such as ``x-api-key``.

The network library sends every header wherever the server redirects to, but for the few names that
HTTP itself has for credentials. So these requests are made here.

Guarantee: the headers reach no other server than the one of the URL.
"""

import asyncio
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from http.client import HTTPException, HTTPMessage, HTTPResponse
from typing import Any
from urllib.parse import quote, urlsplit

from reader.store import errors
from reader.store.library import Library, served
from reader.store.limits import GRACE, RATE, check_size
from reader.store.transport import Access, Answer, Listed, Transport

_STRIPPED = {"authorization", "cookie", "proxy-authorization"}  # by the library itself
_AS_IS = "/%:@!$&'()*+,;=~"  # in a path of a URL
_AGENT = {"User-agent": "shardfeed"}  # spelt as `urllib` does, so that the user's replaces it
_SECONDS = 15.0  # without a byte
_CHUNK = 1 << 20


def opened(access: Access) -> Transport:
    names = {name.lower() for name in served(access)[1]}
    return Library(access) if names <= _STRIPPED else Headed(access)


class Headed(Library):
    """The transport of a library, except for what reads objects."""

    def __init__(self, access: Access) -> None:
        super().__init__(access)
        self._base, self._headers = served(access)
        self._opener = urllib.request.build_opener(_Redirects(self._headers))

    async def head(self, name: str) -> Listed:
        headers, _ = await asyncio.to_thread(self._answer, "HEAD", name, {}, 0)
        written = parsedate_to_datetime(headers["Last-Modified"]).timestamp()
        return Listed(int(headers["Content-Length"]), headers["ETag"], round(written) * 10**9)

    async def _get(self, name: str, options: Any, most: int) -> Answer:
        wanted = {}
        if "range" in options:
            start, stop = options["range"]
            wanted["Range"] = f"bytes={start}-{stop - 1}"
        if "if_match" in options:
            wanted["If-Match"] = options["if_match"]
        headers, content = await asyncio.to_thread(self._answer, "GET", name, wanted, most)
        whole = str(headers["Content-Range"] or "").rpartition("/")[2]
        return Answer(headers["ETag"], int(whole or len(content)), memoryview(content))

    def _answer(
        self, method: str, name: str, wanted: Mapping[str, str], most: int
    ) -> tuple[HTTPMessage, bytes]:
        url = f"{quote(self._base, safe=_AS_IS)}/{quote(name)}"
        request = urllib.request.Request(
            url, method=method, headers={**_AGENT, **self._headers, **wanted}
        )
        try:
            with self._opener.open(request, timeout=_SECONDS) as answer:
                if "Range" in wanted and answer.status != 206:
                    what = "the server sends the whole file for a part"
                    raise errors.Passing(what, errors.NO_PARTS, is_answer=True)
                content = _content(answer, most) if method == "GET" else b""
                return answer.headers, content
        except urllib.error.HTTPError as error:
            with error:
                code = errors.code_in(error.read(4096).decode("latin-1"))
            raise errors.of_status(error.code, code) from None
        except (OSError, HTTPException, ValueError) as error:  # they may quote the URL
            raise _meaning(error) from None


class _Redirects(urllib.request.HTTPRedirectHandler):
    def __init__(self, headers: Mapping[str, str]) -> None:
        self._names = {name.lower() for name in headers}

    def redirect_request(
        self, req: urllib.request.Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        request = super().redirect_request(req, fp, code, msg, headers, newurl)
        if request is None:
            return None
        request.method = req.method
        if _server(newurl) != _server(req.full_url):
            kept = {n: v for n, v in request.headers.items() if n.lower() not in self._names}
            request.headers = kept
        return request


def _content(answer: HTTPResponse, most: int) -> bytes:
    size, content = int(answer.headers["Content-Length"] or 0), bytearray()
    check_size(size, most)
    last = time.monotonic() + GRACE + size / RATE
    while piece := answer.read1(_CHUNK):
        content += piece
        check_size(len(content), most)
        if time.monotonic() > last:
            raise errors.Passing("the server sends too slowly", is_answer=True)
    if len(content) < size:
        raise errors.Passing("the connection was interrupted")
    return bytes(content)


def _server(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port


def _meaning(error: Exception) -> errors.Failure:
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(reason, ssl.SSLCertVerificationError):
        return errors.Failure(
            "its certificate is not accepted. For your own certificate authority, set "
            "SSL_CERT_FILE in the environment to a file with the authority's certificate."
        )
    if isinstance(reason, TimeoutError):
        return errors.Passing("the server does not answer in time")
    if reason is not error:
        return errors.Passing("no connection to the server is possible")
    return errors.Passing("the connection was interrupted")
