"""Send a credential provider from the user's process to the one that reads a store."""

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
            f"credential_provider= is for {', '.join(f'{known}://' for known in _SIGNED)} only. "
            f"For {url}, use storage_options=."
        )
    import cloudpickle  # rarely used

    return pickle.dumps((sys.path, cloudpickle.dumps(provider)))


def received(content: bytes) -> Callable[..., Any]:
    """Unpickle the provider, with the sender's `sys.path` for its imports."""
    sys.path[:], provider = pickle.loads(content)
    return pickle.loads(provider)
