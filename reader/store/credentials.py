"""A provider of credentials, on its way from the user's process to those that ask a store."""

import pickle
import sys
from collections.abc import Callable
from typing import Any

from reader.errors import ArgumentError

_SIGNED = ("s3", "gs", "az")


def sent(provider: Callable[..., Any] | None, url: str) -> bytes | None:
    if provider is None:
        return None
    if url.partition("://")[0] not in _SIGNED:
        raise ArgumentError(
            f"credential_provider= is for {', '.join(f'{known}://' for known in _SIGNED)}; {url} "
            "takes what storage_options= says."
        )
    import cloudpickle  # few need it

    return pickle.dumps((sys.path, cloudpickle.dumps(provider)))


def received(content: bytes) -> Callable[..., Any]:
    """That provider; what it imports is found where its sender finds it, from now on."""
    sys.path[:], provider = pickle.loads(content)
    return pickle.loads(provider)
