"""Imported by every Python process of a run under test: breaks the call that is asked for.

Counts what a process asks of the operating system about the files below the watched folders, and
lets one of these calls fail, do half of its work, or do its work after something else has happened.
"""

import _posixsubprocess
import atexit
import builtins
import errno
import fcntl
import io
import json
import mmap
import os
import re
import signal
import time

_SPACE = {"write", "mkdir", "create", "replace", "link", "fsync"}  # what a full disk refuses
_PROGRAMS = ("/jpegtran", "/python")
_real = {
    name: getattr(os, name)
    for name in (
        *("open", "read", "pread", "write", "fsync", "stat", "lstat", "scandir", "listdir"),
        *("mkdir", "rename", "replace", "link", "unlink", "remove", "rmdir", "kill"),
    )
}


class _Injector:
    """What is watched, what was counted, and what is to break."""

    def __init__(self, plan):
        self.roots = sorted(plan["roots"].items(), key=lambda item: -len(item[1]))
        self.log = _real["open"](plan["log"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        self.marker = plan["marker"]
        self.fault = plan["fault"]
        if self.fault is not None and self.fault["effect"] == "interrupt":
            self.fault = None
            signal.signal(signal.SIGALRM, lambda number, frame: None)
            signal.setitimer(signal.ITIMER_REAL, 0.002, 0.002)
            atexit.register(signal.setitimer, signal.ITIMER_REAL, 0)
        self.counts = {}

    def reach(self, operation, path):
        """Book a call; the effect if it is to break."""
        name = self.name(path)
        if name is None:
            return None
        number = self.counts[operation, name] = self.counts.get((operation, name), 0) + 1
        site = [operation, name, number]
        _real["write"](self.log, (json.dumps(site) + "\n").encode())
        if self.fault is None:
            return None
        effect = self.fault["effect"]
        if self.fault["site"] is None:  # every call
            return effect
        if site == self.fault["site"] and self._first():
            return effect
        full = self.fault["lasting"] and operation in _SPACE and name.startswith("dst")
        return effect if full and os.access(self.marker, os.F_OK) else None

    def is_halved(self, operation, path):
        """Book a call; whether it is to do half of its work, if nothing else happens."""
        effect = self.reach(operation, path)
        if effect is not None and effect != "short":
            self.happen(effect, path)
        return effect == "short"

    def _first(self):
        """Whether it has not happened in any process of the run."""
        try:
            os.close(_real["open"](self.marker, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return False
        return True

    def name(self, path):
        """The path below its watched folder, without what differs from run to run."""
        if isinstance(path, int):
            try:
                path = os.readlink(f"/proc/self/fd/{path}")
            except OSError:
                return None
        path = os.path.abspath(os.fsdecode(path))
        if path in _PROGRAMS:
            return path[1:]
        for root, folder in self.roots:
            if path == folder or path.startswith(folder + "/"):
                inside = root + path[len(folder) :]
                inside = re.sub(r"\.tmp-[\w-]+", ".tmp", inside).removesuffix(" (deleted)")
                inside = re.sub(r"/#\d+|/tmp\w{8}", "/#", inside)
                return re.sub(r"(\.(?:repair|export|nv-meta)-)\w{8}", r"\1", inside)
        return None

    def happen(self, effect, path):
        """What an effect does beside, or instead of, the call."""
        if effect in errno.__dict__:
            number = getattr(errno, effect)
            told = [] if isinstance(path, int) or path in _PROGRAMS else [path]
            raise OSError(number, os.strerror(number), *told)
        if effect == "memory":
            raise MemoryError
        if effect == "kill":
            _real["kill"](os.getpid(), signal.SIGKILL)
        elif effect == "orphan":
            if os.getpid() == os.getsid(0):  # it is the parent itself
                _real["kill"](os.getpid(), signal.SIGKILL)
            _real["kill"](os.getppid(), signal.SIGKILL)
            time.sleep(20)
        elif effect.startswith("vanish"):
            folder = dict(self.roots)[effect.partition(" ")[2]]
            _real["rename"](folder, folder + ".gone")
        elif effect in ("truncate", "rewrite", "remove"):
            harm(effect, os.readlink(f"/proc/self/fd/{path}") if isinstance(path, int) else path)


def harm(effect, path):
    """Damage a file."""
    if effect == "remove":
        _real["unlink"](path)
        return
    size = _real["stat"](path).st_size
    file = _real["open"](path, os.O_WRONLY)
    os.ftruncate(file, size // 2)
    if effect == "rewrite":
        os.ftruncate(file, size)
    os.close(file)


def _install(injector):
    def of_path(name, operation, which=0):
        real = _real[name]

        def call(*args, **options):
            path = args[which] if len(args) > which else "."
            folder = options.get("dst_dir_fd" if which else "dir_fd")
            if folder is not None and not isinstance(path, int):
                place = os.path.join(os.readlink(f"/proc/self/fd/{folder}"), os.fsdecode(path))
            else:
                place = path
            kind = operation
            if name == "open" and args[1] & os.O_CREAT:
                kind = "create"
            injector.is_halved(kind, place)
            return real(*args, **options)

        setattr(os, name, call)

    for name in ("open", "mkdir", "unlink", "rmdir", "scandir", "listdir", "stat", "lstat"):
        of_path(name, name)
    of_path("remove", "unlink")
    for name in ("rename", "replace", "link"):
        of_path(name, "link" if name == "link" else "replace", which=1)

    def left(descriptor, offset=None):
        size = os.fstat(descriptor).st_size
        return size - (os.lseek(descriptor, 0, os.SEEK_CUR) if offset is None else offset)

    def read(descriptor, count):
        if injector.is_halved("read", descriptor):
            count = max(1, min(count, left(descriptor)) // 2)
        return _real["read"](descriptor, count)

    def pread(descriptor, count, offset):
        if injector.is_halved("read", descriptor):
            count = max(1, min(count, left(descriptor, offset)) // 2)
        return _real["pread"](descriptor, count, offset)

    def write(descriptor, data):
        if injector.is_halved("write", descriptor):
            data = bytes(data)[: max(1, len(data) // 2)]
        return _real["write"](descriptor, data)

    def fsync(descriptor):
        injector.is_halved("fsync", descriptor)
        return _real["fsync"](descriptor)

    os.read, os.pread, os.write, os.fsync = read, pread, write, fsync

    class File(io.FileIO):
        """A file as `open` makes it, whose calls are counted, too."""

        def readinto(self, buffer):
            view = memoryview(buffer).cast("B")
            if injector.is_halved("read", self.fileno()):
                view = view[: max(1, min(len(view), left(self.fileno())) // 2)]
            return super().readinto(view)

        def readall(self):
            parts = []
            while part := self.read(1 << 16):
                parts.append(part)
            return b"".join(parts)

        def read(self, size=-1):
            if size < 0:
                return self.readall()
            data = bytearray(size)
            return bytes(data[: self.readinto(data)])

        def write(self, data):
            view = memoryview(data).cast("B")
            if injector.is_halved("write", self.fileno()):
                view = view[: max(1, len(view) // 2)]
            return super().write(view)

    real_open = io.open

    def opened(
        file, mode="r", buffering=-1, encoding=None, errors=None, newline=None, closefd=True,
        opener=None,
    ):  # fmt: skip
        if injector.name(file) is None and opener is None:
            return real_open(file, mode, buffering, encoding, errors, newline, closefd, opener)
        if not isinstance(file, int) and opener is None:
            injector.is_halved("open" if mode[0] == "r" else "create", file)
        raw = File(file, mode.replace("b", "").replace("t", ""), closefd, opener)
        if buffering == 0:
            return raw
        size = buffering if buffering > 1 else io.DEFAULT_BUFFER_SIZE
        if raw.readable() and raw.writable():
            buffered = io.BufferedRandom(raw, size)
        else:
            buffered = (io.BufferedReader if raw.readable() else io.BufferedWriter)(raw, size)
        if "b" in mode:
            return buffered
        text = io.TextIOWrapper(buffered, encoding, errors, newline)
        text.mode = mode
        return text

    builtins.open = io.open = opened
    real_flock, real_mmap, real_fork = fcntl.flock, mmap.mmap, _posixsubprocess.fork_exec

    def flock(file, how):
        injector.is_halved("flock", file if isinstance(file, int) else file.fileno())
        return real_flock(file, how)

    def mapped(descriptor, *args, **options):
        injector.is_halved("mmap", descriptor)
        return real_mmap(descriptor, *args, **options)

    def fork(*args):
        program = "/jpegtran" if os.fsdecode(args[0][0]).endswith("jpegtran") else "/python"
        injector.is_halved("fork", program)
        return real_fork(*args)

    fcntl.flock, _posixsubprocess.fork_exec = flock, fork
    mmap.mmap = mapped


if _plan := os.environ.get("FAULTS_OF_THIS_TEST"):
    _install(_Injector(json.loads(_plan)))
