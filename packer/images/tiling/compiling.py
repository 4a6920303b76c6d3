"""Compiles the package's inner loops by numba, and keeps them in a folder of the user's.

Guarantee: of processes that begin at a time, one compiles, and the others wait for what it makes.
"""

import fcntl
import functools
import hashlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar, cast

from numpy.typing import NDArray

Array = NDArray[Any]
_Function = TypeVar("_Function", bound=Callable[..., Any])
_COMPLETE = "complete"  # the file that says so
_LOCK = "lock"  # the file that a process which compiles has locked
# No index leaves its array, and other threads go on meanwhile. What is not called from outside has
# no entry for that: compiling one takes a third of the time of a small function.
_HOW: Any = {"nogil": True, "boundscheck": True, "no_cfunc_wrapper": True}
_WITHIN: Any = {**_HOW, "no_cpython_wrapper": True}


def kernel(signature: str) -> Callable[[_Function], _Function]:
    """Compile a function for arguments of these types, or load what was compiled before."""
    import numba

    def compiled(function: _Function) -> _Function:
        with kept() as is_kept:
            how: Any = numba.njit(signature, cache=is_kept, **_HOW)
            return cast(_Function, how(function))

    return compiled


def helper(function: _Function) -> _Function:
    """Compile a function within those that call it: loading them loads it."""
    import numba

    return cast(_Function, numba.njit(function, **_WITHIN))


@functools.cache
def folders() -> tuple[Path, ...]:
    """Return where it may be kept, the best first; for this very code, Python and numba."""
    from importlib.metadata import version  # 15 ms, which no other way of packing needs

    package = Path(__file__).parent
    digest = hashlib.sha256(f"{package} {version('numba')} {sys.version}".encode())
    for path in sorted(package.glob("*.py")):
        digest.update(path.read_bytes())
    name = f"tiling-{digest.hexdigest()[:16]}"
    found = []
    with suppress(RuntimeError):  # nobody knows where this user's home is
        usual = "~/Library/Caches" if sys.platform == "darwin" else "~/.cache"
        home = os.environ.get("XDG_CACHE_HOME") or Path(usual).expanduser()
        found.append(Path(home) / "shardfeed" / name)
    found.append(Path(tempfile.gettempdir()) / f"shardfeed-{os.geteuid()}" / name)
    return tuple(found)


def is_complete() -> bool:
    return any((folder / _COMPLETE).exists() for folder in folders())


def complete() -> None:
    """Note that all of it is compiled."""
    if (folder := _usable()) is not None:
        with suppress(OSError):
            (folder / _COMPLETE).touch()


def is_under_way() -> bool:
    """Return whether a process of this machine compiles, or waits for another one to."""
    for folder in folders():
        with suppress(FileNotFoundError, PermissionError), (folder / _LOCK).open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
    return False


@contextmanager
def kept() -> Iterator[bool]:
    """Compile in here: numba keeps it, or finds what was kept; False where there is no place."""
    import numba

    if (folder := _usable()) is None:
        yield False
        return
    config: Any = numba.config
    with (folder / _LOCK).open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        before, config.CACHE_DIR = config.CACHE_DIR, str(folder)
        try:
            yield True
        finally:
            config.CACHE_DIR = before


@functools.cache
def _usable() -> Path | None:
    """Return the first folder that only this user can write: its content is executed."""
    for folder in folders():
        with suppress(OSError):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
            places = [folder.stat(), folder.parent.stat()]
            if all(at.st_uid == os.geteuid() and not at.st_mode & 0o022 for at in places):
                return folder
    return None
