"""A bound on memory, so that a bomb is an error instead of a full machine."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def limited_memory(more: int) -> Iterator[None]:
    """Let this process map at most `more` bytes beyond what it has: Linux counts at the mapping.

    What asks for memory by a header's word is refused at once, also if it never touched it.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + more, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
