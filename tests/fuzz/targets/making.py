"""Files that the targets make for themselves, in a folder that goes with the process."""

import atexit
import io
import shutil
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
from PIL import Image

from packer.errors import BadImage
from packer.options.declared import PackOptions, RunOptions, SourceOptions
from packer.run.destination import Destination
from packer.run.pack import run as pack
from packer.run.scopes import scope_of
from packer.samples.records import Sample, Source
from packer.sources.readings.detect import read
from packer.storage.source import LocalSource
from reader.format import Limits

LIMITS = Limits(pixels=1 << 22, bytes=1 << 24)  # low, so that what ignores them stands out


@cache
def scratch() -> Path:
    """A folder for this process's files."""
    folder = tempfile.mkdtemp(prefix="shardfeed-fuzz-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def folder(name: str) -> Path:
    """An empty folder of that name, for this process."""
    path = scratch() / name
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir()
    return path


def picture(seed: int, height: int = 24, width: int = 72, mode: str = "RGB") -> Image.Image:
    """A gradient with noise on it."""
    noise = np.random.default_rng(seed).integers(0, 40, (height, width, 3))
    ramp = np.arange(height)[:, None, None] + np.arange(width)[None, :, None]
    return Image.fromarray((noise + 2 * ramp).clip(0, 255).astype(np.uint8)).convert(mode)


def encoded(kind: str, seed: int = 0, mode: str = "RGB", **options: object) -> bytes:
    """The bytes of an image file."""
    file = io.BytesIO()
    picture(seed, mode=mode).save(file, kind, **options)
    return file.getvalue()


def images(root: Path) -> Path:
    """`root` with two classes of images of several kinds, and sidecars."""
    for label in ("cat", "dog"):
        (root / label).mkdir(parents=True)
        for seed, kind in enumerate(("JPEG", "PNG", "JPEG")):
            path = root / label / f"{seed}.{kind.lower()}"
            path.write_bytes(encoded(kind, seed))
            path.with_suffix(".json").write_text(f'{{"seed": {seed}}}')
    return root


def dataset(name: str, **options: object) -> Path:
    """A dataset of `images` with this process's folder `name`."""
    root = folder(name)
    to = Destination(root / "shards")
    scope = scope_of(to, PackOptions(**options), RunOptions(jobs=1))
    pack(LocalSource.at(images(root / "images")), scope)
    return root / "shards"


def read_through(source: Source) -> None:
    """Scan a source and read every sample: contents are as large as the scan said, or refused."""
    for sample in source.scan():
        if isinstance(sample, Sample):
            assert sample.label >= -1, sample
            assert not sample.key.startswith("/"), sample
            sample.key.encode()  # is stored as UTF-8
            try:
                content = source.files.read(sample)
            except BadImage:
                continue
            image = content.image
            size = len(image) if isinstance(image, bytes) else image.size
            assert tuple(content.members) == sample.members, sample
            assert size + sum(map(len, content.members.values())) == sample.size, sample


def opened(path: Path, **options: str) -> Source:
    """What is there, as `packer pack` understands it."""
    return read(path, SourceOptions(**options)).open(None)
