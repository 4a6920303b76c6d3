"""The audit alone: what is packed where nothing but plain folders is recognised."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from unittest import mock

from packer.sources.readings import detect


@contextmanager
def only_folders() -> Iterator[None]:
    """Switch off all recognisers, and the formats of other libraries."""
    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(detect, "recognisers", return_value=()))
        for name in ("webdataset", "_of_arrays"):
            stack.enter_context(mock.patch.object(detect, name, return_value=None))
        yield
