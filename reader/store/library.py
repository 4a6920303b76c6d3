"""Object stores, HTTP servers and folders through obstore."""

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import obstore
from obstore.store import HTTPStore, from_url

from reader.errors import StoreError
from reader.store import errors
from reader.store.credentials import received
from reader.store.limits import check_size, within_time
from reader.store.transport import Access, Answer, Content, Listed
from reader.store.urls import folder_of

CLIENT = {"connect_timeout": "5s", "read_timeout": "15s", "timeout": "180s"}
_ENDPOINTS = "AWS_ENDPOINT_URL", "AWS_ENDPOINT", "AZURE_STORAGE_ENDPOINT"  # in the environment
_HUGGING_FACE = "https://huggingface.co"
_LISTED = 1000  # names at a time


class Library:
    def __init__(self, access: Access) -> None:
        self._access = access
        self._store = self._opened()
        self._patient: dict[int, Any] = {}  # by the seconds of a request

    async def get_range(self, name: str, start: int, stop: int, tag: str | None) -> Answer:
        # A weak tag never matches.
        options = {"if_match": tag} if tag is not None and not tag.startswith("W/") else {}
        return await self._get(name, {"range": (start, stop), **options}, stop - start)

    async def get(self, name: str, most: int) -> Answer:
        return await self._get(name, {}, most)

    async def _get(self, name: str, options: Any, most: int) -> Answer:
        with _explained():
            found = await obstore.get_async(self._store, name, options=options)
            size = found.range[1] - found.range[0]
            check_size(size, most)
            coming = found.bytes_async()  # many ranges share a slow network
            content = await (coming if "range" in options else within_time(coming, size))
            return Answer(found.meta["e_tag"], found.meta["size"], memoryview(content))

    async def head(self, name: str) -> Listed:
        with _explained():
            return _listed(await obstore.head_async(self._store, name))

    async def list(self) -> dict[str, Listed]:
        found: dict[str, Listed] = {}
        with _explained():
            chunks: AsyncIterator[Any] = obstore.list(self._store, chunk_size=_LISTED)
            async for chunk in chunks:
                found |= {meta["path"]: _listed(meta) for meta in chunk}
        return found

    async def put(self, name: str, content: Content, over: str | None, seconds: int) -> None:
        if seconds not in self._patient:
            self._patient[seconds] = self._opened(timeout=f"{seconds}s", read_timeout=f"{seconds}s")
        mode: Any = "create" if over is None else {"e_tag": over} if over else "overwrite"
        store = self._patient[seconds]
        with _explained():
            await obstore.put_async(store, name, content, mode=mode, use_multipart=False)

    async def delete(self, name: str) -> None:
        with _explained():
            await obstore.delete_async(self._store, name)

    async def sign(self, name: str, valid: timedelta) -> str:
        return await obstore.sign_async(self._store, "GET", name, valid)

    def _opened(self, **times: str) -> Any:
        try:
            return self._open(times)
        except StoreError:
            raise
        except Exception as error:  # the library may raise anything, and quote credentials
            names = ", ".join(sorted(map(str, self._access.options))) or "none"
            raise StoreError(
                f"{self._access.url} cannot be opened as a store ({type(error).__name__}). Check "
                f"the names in storage_options= ({names}), and the credentials in the environment."
            ) from None

    def _open(self, times: dict[str, str]) -> Any:
        url, options = self._access.url, dict(self._access.options)
        client = {**CLIENT, **times, **options.pop("client_options", {})}
        places = url, options.get("endpoint"), *map(os.environ.get, _ENDPOINTS)
        if any(str(place).startswith("http://") for place in places):
            client["allow_http"] = True
        retry = {"max_retries": 0}  # the library's retries would hide throttling
        if url.startswith("hf://"):
            base, headers = served(self._access)
            client |= {"default_headers": headers, "allow_http": base.startswith("http://")}
            _check_none({name: options[name] for name in options.keys() - {"token", "endpoint"}})
            return HTTPStore(base, client_options=client, retry_config=retry)
        if url.startswith("file://"):
            _check_none(options)
            self._find_folder()
            return from_url(url)
        if self._access.provider is not None:
            options["credential_provider"] = received(self._access.provider)
        return from_url(url, client_options=client, retry_config=retry, **options)

    def _find_folder(self) -> None:
        url, folder = self._access.url, folder_of(self._access.url)
        if self._access.is_created:
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                reason = f"the folder cannot be created: {error.strerror}."
                raise StoreError(f"{url}: {reason}") from error
        elif not folder.exists():
            raise StoreError(f"{url}: the folder {folder} does not exist.")


opened = Library


def served(access: Access) -> tuple[str, dict[str, str]]:
    """Return the URL at which HTTP serves the folder, and the user's headers of each request."""
    url, options = access.url, access.options
    headers = dict(options.get("client_options", {}).get("default_headers", {}))
    if not url.startswith("hf://"):
        return url, headers
    if token := options.get("token") or os.environ.get("HF_TOKEN"):
        headers["authorization"] = f"Bearer {token}"
    base = options.get("endpoint") or os.environ.get("HF_ENDPOINT") or _HUGGING_FACE
    return f"{base}/{_resolved(url)}", headers


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except (errors.Failure, StoreError):
        raise
    except Exception as error:  # the library's, or a credential provider's
        raise errors.meaning(error) from None


def _listed(meta: Any) -> Listed:
    written, tag = meta["last_modified"].timestamp(), meta["e_tag"]
    if tag and not tag.endswith('"'):  # Azure lists them without quotes
        tag = f'"{tag}"'
    return Listed(meta["size"], tag, round(written * 1_000_000) * 1000)


def _check_none(options: dict[str, Any]) -> None:
    if options:
        raise ValueError("unknown options")


def _resolved(url: str) -> str:
    kind, owner, name, *folder = url.removeprefix("hf://").split("/")
    name, _, revision = name.partition("@")
    return "/".join([kind, owner, name, "resolve", revision or "main", *folder])
