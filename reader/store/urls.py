"""Which URLs name a dataset in a store."""

import re
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urlsplit

from reader.errors import ArgumentError, StoreError

LIBRARY = "obstore"  # that asks stores
_SCHEMES = ("s3", "gs", "az", "https", "http", "hf", "file")
_HUGGING_FACE = re.compile(r"datasets/[^/]+/[^/]+")
_URL = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)


def is_url(given: object) -> bool:
    return isinstance(given, str) and _URL.match(given) is not None


def checked(url: str) -> str:
    scheme, _, rest = url.partition("://")
    if scheme.lower() not in _SCHEMES:
        raise ArgumentError(
            f"{scheme}:// names no store that is known here: there are "
            f"{', '.join(f'{known}://' for known in _SCHEMES)}, and folders by their path."
        )
    parts = urlsplit(url)
    if parts.query or parts.fragment or "@" in parts.netloc:
        raise ArgumentError(
            f"A URL is {scheme}://PLACE/FOLDER alone here: credentials go into "
            "storage_options=, or into the environment, where they are not shown."
        )
    if not rest.strip("/"):
        raise ArgumentError(f"{url} names no place: a URL is {scheme}://PLACE/FOLDER.")
    if scheme.lower() == "file" and parts.netloc:
        raise ArgumentError(f"{url}: a file URL has three slashes, as in file:///{rest}.")
    if scheme == "hf" and not _HUGGING_FACE.match(rest):
        raise ArgumentError(f"{url}: of Hugging Face, hf://datasets/OWNER/NAME/FOLDER is read.")
    return url.rstrip("/")


def folder_of(url: str) -> Path:
    return Path(unquote(urlsplit(url).path))


def need(module: str, url: str) -> None:
    if find_spec(module) is None:
        raise StoreError(
            f"{url}: reading from a store needs {module}: pip install 'shardfeed[remote]'."
        )
