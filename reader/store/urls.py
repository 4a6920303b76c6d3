"""Check URLs of datasets in a store."""

import re
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urlsplit

from reader.errors import ArgumentError, StoreError
from reader.store.transport import BACKENDS

LIBRARY = "obstore"  # the network library
_HUGGING_FACE = re.compile(r"datasets/[^/]+/[^/]+")
_URL = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)


def is_url(given: object) -> bool:
    return isinstance(given, str) and _URL.match(given) is not None


def checked(url: str) -> str:
    scheme, _, rest = url.partition("://")
    if scheme.lower() not in BACKENDS:
        raise ArgumentError(
            f"{scheme}:// is not supported. Use one of "
            f"{', '.join(f'{known}://' for known in BACKENDS)}, or the path of a folder."
        )
    parts = urlsplit(url)
    if parts.query or parts.fragment or "@" in parts.netloc:
        raise ArgumentError(
            f"The URL has credentials or a query; write only {scheme}://HOST/FOLDER. Give "
            "credentials in storage_options=, or in the environment."
        )
    if not rest.strip("/"):
        raise ArgumentError(f"{url} has no bucket or host: a URL is {scheme}://HOST/FOLDER.")
    if scheme.lower() == "file" and parts.netloc:
        raise ArgumentError(f"{url}: a file URL has three slashes, as in file:///{rest}.")
    if scheme == "hf" and not _HUGGING_FACE.match(rest):
        raise ArgumentError(
            f"{url} is not a dataset's URL on Hugging Face: write hf://datasets/OWNER/NAME/FOLDER."
        )
    return url.rstrip("/")


def folder_of(url: str) -> Path:
    return Path(unquote(urlsplit(url).path))


def need(module: str, url: str) -> None:
    if find_spec(module) is None:
        raise StoreError(
            f"{url}: reading from a store needs {module}. Run `pip install 'shardfeed[remote]'`."
        )
