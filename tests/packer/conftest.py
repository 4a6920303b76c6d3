"""What the tests of packer share: the command line as a process, and views of a packed folder."""

import os
import shutil
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import packing
import pytest
import xxhash
from called_packer import call_packer
from forked_packer import ForkedPacker
from made_images import encode, make_image, write_files
from s3_server import S3Server, bucket

import packer
from packer.images.probe import ImageInfo, probe
from packer.keys import escape
from packer.progress import Advance, Progress
from packer.shards.shard_writer import entry_of, index_of
from reader.format import FORMATS, Index, Manifest, ShardEntry, index, safetensors, tar
from reader.format.columns import ImageRow, MemberRow, Rows

ROOT = Path(packer.__file__).parent.parent


class _Cutting(Progress):
    """Leaves of `path` no more than its first bytes whenever an item is done."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @contextmanager
    def phase(self, *_: object) -> Iterator[Advance]:
        yield lambda count: os.truncate(self._path, 8)


@pytest.fixture(scope="session")
def cut_meanwhile() -> Callable[[Path], Progress]:
    """`verify(..., progress=cut_meanwhile(path))`: the file is cut short after the first item."""
    return _Cutting


def environment() -> dict[str, str]:
    """That of the command line."""
    # The output is strict UTF-8, as on most users' machines, and not as forgiving as under C.
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return os.environ | {"PYTHONPATH": path, "PYTHONIOENCODING": "utf-8"}


@pytest.fixture(scope="session")
def start_packer() -> Callable[..., "subprocess.Popen[str]"]:
    """`start_packer("pack", src, dst)`: the command line in a session of its own."""

    def start(*args: object, ulimit: str = "unlimited") -> "subprocess.Popen[str]":
        limited = ["bash", "-c", 'ulimit -f "$0" && exec "$@"', ulimit]
        env = environment()
        if ulimit != "unlimited":
            env.pop("COVERAGE_PROCESS_CONFIG", None)  # which could not write its file either
        return subprocess.Popen(
            [*limited, sys.executable, "-m", "packer", *map(str, args)],
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            start_new_session=True,
        )

    return start


@pytest.fixture(scope="session")
def forked_packer() -> Iterator[ForkedPacker]:
    """The process that `run_packer` forks."""
    forked = ForkedPacker(environment())
    yield forked
    forked.close()


@pytest.fixture(scope="session")
def run_packer(
    start_packer: Callable[..., "subprocess.Popen[str]"], forked_packer: ForkedPacker
) -> Callable[..., "subprocess.CompletedProcess[str]"]:
    """`run_packer("pack", src, dst)`: run the command line to its end."""

    def run(*args: object, **options: Any) -> "subprocess.CompletedProcess[str]":
        if not options and forked_packer.can_have(environment()):
            return forked_packer.run([*map(str, args)], environment())
        with start_packer(*args, **options) as process:
            stdout, stderr = process.communicate()
        return subprocess.CompletedProcess(process.args, process.returncode, stdout, stderr)

    return run


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch, forked_packer: ForkedPacker) -> None:
    """Have `run_packer` call the command line in this process, for who looks at no process."""
    monkeypatch.setattr(forked_packer, "run", lambda arguments, _: call_packer(*arguments))


@pytest.fixture(scope="session")
def files_of() -> Callable[[Path], dict[str, bytes]]:
    """`packing.files_of`."""
    return packing.files_of


@pytest.fixture(scope="session")
def samples_of() -> Callable[[Path], list[packing.Packed]]:
    """`packing.samples_of`."""
    return packing.samples_of


@pytest.fixture
def store(tmp_path: Path) -> Iterator[S3Server]:
    """An empty bucket of this test's."""
    pytest.importorskip("obstore", reason="what is about stores needs shardfeed[remote]")
    with bucket(tmp_path / "bucket") as server:
        yield server


@pytest.fixture
def dst(tmp_path: Path) -> Path:
    """Where to pack to; nothing is there."""
    return tmp_path / "dst"


@pytest.fixture
def own_source(tmp_path: Path, source: Path) -> Path:
    """A copy of `source` that may be changed, with the same times of writing."""
    return shutil.copytree(source, tmp_path / "own_source")


@pytest.fixture(scope="session")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of 2 classes with 80 small JPEGs each: enough work to be interrupted at."""
    root = tmp_path_factory.mktemp("many") / "images"
    images = [encode(make_image(seed, 16, 16), "JPEG") for seed in range(8)]
    for name in ("cat", "dog"):
        write_files(root / name, {f"{n:03d}.jpg": images[n % 8] for n in range(80)})
    return root


class Item(NamedTuple):
    """A sample to be written as it is.

    `members` are the sidecars by extension; with `raw`, the image's bytes are pixels of this
    height, width and number of channels. `info` is what the index says if not what the image is.
    """

    name: str
    key: str
    label: int
    image: bytes
    members: Mapping[str, bytes]
    raw: tuple[int, int, int] | None = None
    info: ImageInfo | None = None


@pytest.fixture(scope="session")
def write_dataset() -> Callable[..., Path]:
    """`write_dataset(folder, {"train/shard-000000.tar": items})`: by the format alone."""

    def write(folder: Path, shards: Mapping[str, Sequence[Item]], classes: int = 0) -> Path:
        entries = [_write_shard(folder, file, items) for file, items in shards.items()]
        names = tuple(f"class{number}" for number in range(classes))
        content = Manifest("1", {"seed": 0}, "", names, (), tuple(entries))
        (folder / "dataset.json").write_text(content.dump(), "utf-8")
        return folder

    return write


def _write_shard(folder: Path, file: str, items: Sequence[Item]) -> ShardEntry:
    path = folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    content, rows = bytearray(), Rows()
    for item in items:
        info = ImageInfo("raw", *item.raw, 1) if item.raw else item.info or probe(item.image)
        label = {"cls": b"%d" % item.label} if item.label >= 0 else {}
        spans = {}
        for ext, data in {info.format: item.image, **label, **item.members}.items():
            content += tar.header(f"{item.key}.{ext}", len(data))
            spans[ext] = MemberRow(len(content), len(data), zlib.crc32(data))
            content += data + tar.padding(len(data))
        offset, size, crc32 = spans.pop(info.format)
        kind = FORMATS.index(info.format)
        seen = (info.height, info.width, kind, info.channels, info.orientation, crc32)
        row = ImageRow(offset, size, item.label, *seen)
        rows.add(item.key.encode(), os.fsencode(item.name), row, spans)
    content += tar.END
    path.write_bytes(content)
    metadata = index.metadata_of(len(content), f"xxh3-128:{xxhash.xxh3_128_hexdigest(content)}", [])
    index_of(path).write_bytes(safetensors.serialize(rows.columns(), metadata))
    split = str(path.parent.relative_to(folder)).removeprefix(".")
    return entry_of(Index(index_of(path)), split)


@pytest.fixture(scope="session")
def items() -> list[Item]:
    """Samples with sidecars, and names that are dotted, spaced, long, and not ASCII."""
    long = "x" * 120 + "/" + "y" * 90 + ".gif"
    names = ["cat/a.0001.jpg", "cat/with space.jpg", "dog/猫.png", long]
    found = []
    for number, name in enumerate(names):
        image = make_image(number, 20 + number, 30)
        kind = {"jpg": "JPEG", "png": "PNG", "gif": "GIF"}[name[-3:]]
        members = {"json": b'{"number": %d}' % number, "seg.png": encode(image, "PNG")}
        if number == 2:
            del members["json"]
        key = escape(os.path.splitext(name)[0])
        found.append(Item(name, key, number % 2, encode(image, kind), members))
    return found


@pytest.fixture
def with_sidecars(tmp_path: Path, items: list[Item], write_dataset: Callable[..., Path]) -> Path:
    """A dataset of `items` in two splits."""
    shards = {"train/shard-000000.tar": items[:3], "val/shard-000000.tar": items[3:]}
    return write_dataset(tmp_path / "with_sidecars", shards, classes=2)


_FAULTY = """
import os, signal, sys

if "packer.processes" in " ".join(sys.orig_argv):
    import simplejpeg

    def faulty(decode):
        def call(data, *arguments, **options):
            if b"fatal comment" in bytes(data):
                os.kill(os.getpid(), signal.SIGSEGV)
            return decode(data, *arguments, **options)
        return call

    for name in ("decode_jpeg", "decode_jpeg_header"):
        setattr(simplejpeg, name, faulty(getattr(simplejpeg, name)))
"""


@pytest.fixture
def faulty_decoder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """A JPEG with this comment ends the processes that packer starts, as a hostile one may."""
    (tmp_path / "faulty").mkdir()
    (tmp_path / "faulty" / "sitecustomize.py").write_text(_FAULTY)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "faulty"))
    return b"fatal comment"
