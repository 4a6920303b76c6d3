"""Makes the reader's calls to the operating system fail where a test wants them to.

Python imports this by itself in every process that has this folder on its PYTHONPATH: so it gets
into the workers. What is to fail is told in a file of numbers that test and workers map, so that a
running worker can be told anew.
"""

import builtins
import errno
import mmap
import os
import shutil
import signal
from pathlib import Path

CALLS, FIRST, COUNT, EFFECT, DONE = range(5)  # the words of the file
ERRORS = ["EIO", "ESTALE", "ETIMEDOUT", "EACCES", "ENOENT", "EMFILE", "ENOMEM"]
SHORT = ["nothing", "one byte", "half", "all but a byte"]
SIGNALS = ["SIGKILL", "SIGBUS", "SIGSEGV", "SIGSTOP"]
HARMS = ["truncate", "empty", "remove", "replace", "exchange", "rewrite", "vanish"]
EFFECTS = [*ERRORS, *SHORT, *SIGNALS, "MemoryError"]
EFFECTS += [f"{harm} {which}" for harm in HARMS for which in ("tar", "index")]


class Plan:
    """The numbers of the file."""

    def __init__(self, path):
        with open(path, "r+b") as file:
            self._mapping = mmap.mmap(file.fileno(), 4096)
        self.words = memoryview(self._mapping).cast("q")

    def close(self):
        """Let go of the file."""
        self.words.release()
        self._mapping.close()

    def effect(self):
        """Count a call; what is to become of it."""
        words = self.words
        words[CALLS] += 1
        if not words[FIRST] <= words[CALLS] < words[FIRST] + words[COUNT]:
            return ""
        words[DONE] += 1
        return EFFECTS[words[EFFECT]]


def strike(effect, path):
    """Have a call to the shard at `path` fail, or harm what it reads."""
    if effect in ERRORS:
        code = getattr(errno, effect)
        raise OSError(code, os.strerror(code), str(path))
    if effect in SIGNALS:
        os.kill(os.getpid(), getattr(signal, effect))
    elif effect == "MemoryError":
        raise MemoryError
    elif " " in effect and effect.split()[0] in HARMS:
        harm, which = effect.split()
        do_harm(harm, Path(path).with_suffix({"tar": ".tar", "index": ".safetensors"}[which]))


def do_harm(harm, path):
    """What may happen to a file while it is being read."""
    size = path.stat().st_size
    if harm in ("truncate", "empty"):
        os.truncate(path, size // 2 if harm == "truncate" else 0)
    elif harm == "remove":
        path.unlink()
    elif harm in ("replace", "exchange"):
        other = path.with_suffix(".other")
        other.write_bytes(bytes(size - (512 if harm == "replace" else 0)))
        other.replace(path)
    elif harm == "rewrite":
        with REAL["open"](path, "r+b") as file:
            file.write(bytes(size))
    else:
        shutil.move(path.parent, path.parent.with_suffix(".away"))


REAL = {"open": builtins.open, "os.open": os.open, "preadv": os.preadv, "mmap": mmap.mmap}


def install(plan):
    """Come between the reader and the system."""

    def preadv(descriptor, buffers, offset, flags=0):
        effect = plan.effect()
        if effect in SHORT:
            (memory,) = buffers
            whole = len(memory)
            size = {"nothing": 0, "one byte": 1, "half": whole // 2}.get(effect, whole - 1)
            return REAL["preadv"](descriptor, [memory[:size]], offset, flags) if size else 0
        if effect:
            strike(effect, os.readlink(f"/proc/self/fd/{descriptor}"))
        return REAL["preadv"](descriptor, buffers, offset, flags)

    def os_open(path, *arguments, **options):
        if str(path).endswith((".tar", ".safetensors")):
            strike(plan.effect(), path)
        return REAL["os.open"](path, *arguments, **options)

    def python_open(path, *arguments, **options):
        file = REAL["open"](path, *arguments, **options)
        name = os.readlink(f"/proc/self/fd/{path}") if isinstance(path, int) else ""
        if name.endswith(".safetensors"):
            read = file.read

            class Reading:
                def __enter__(self):
                    return self

                def __exit__(self, *error):
                    file.close()

                def fileno(self):
                    return file.fileno()

                def read(self, size=-1):
                    strike(plan.effect(), name)
                    return read(size)

            return Reading()
        return file

    class Mapping(mmap.mmap):
        def __new__(cls, descriptor, *arguments, **options):
            path = os.readlink(f"/proc/self/fd/{descriptor}") if descriptor >= 0 else ""
            if path.endswith((".tar", ".safetensors")):
                strike(plan.effect(), path)
            return super().__new__(cls, descriptor, *arguments, **options)

    os.preadv, os.open, builtins.open, mmap.mmap = preadv, os_open, python_open, Mapping


def remove():
    """Let the reader speak to the system again."""
    os.preadv, os.open = REAL["preadv"], REAL["os.open"]
    builtins.open, mmap.mmap = REAL["open"], REAL["mmap"]


if "FAULTS_IN_READING" in os.environ:
    install(Plan(os.environ["FAULTS_IN_READING"]))
