"""Shards from strangers: what their index and their members claim, and what reading them takes."""

import os
import pickle
import resource
import struct
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from delivered import Write
from made_images import encode, make_image
from other_process import done_by_a_fork
from png_chunks import SIGNATURE, chunk
from row_files import rows_of

from packer.shards.shard_writer import entry_of, index_of
from reader import (
    CenterCrop,
    ClassBalanced,
    Dataset,
    FormatError,
    Limits,
    Loader,
    RandomCrop,
    ReaderError,
    SampleError,
    WorkerError,
)
from reader.format import Index, Manifest, index, safetensors

HUGE = 65_500


def rewrite(folder: Path, row: int, **values: int) -> None:
    """Let the index of the dataset's only shard claim other values for a row."""
    path = index_of(folder / "shard-000000.tar")
    opened = Index(path)
    columns = {name: np.array(column) for name, column in opened.columns.items()}
    for name, value in values.items():
        columns[name][row] = value
    path.write_bytes(safetensors.serialize(columns, opened.metadata))


def claim(folder: Path, row: int, **values: int) -> None:
    """And dataset.json with it."""
    rewrite(folder, row, **values)
    content = Manifest.load(folder)
    entries = (entry_of(Index(index_of(folder / "shard-000000.tar"))),)
    changed = Manifest("0", {}, "", content.classes, content.fields, entries)
    (folder / "dataset.json").write_text(changed.dump())


def png_of(height: int, width: int) -> bytes:
    """A PNG's header of that size, and a little of what should follow."""
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    rows = zlib.compress(bytes(1 << 22))
    return SIGNATURE + header + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def npy_of(shape: str) -> bytes:
    """The header of an array of this shape, and 16 bytes."""
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() + bytes(16)


@pytest.fixture
def jpeg() -> bytes:
    return encode(make_image(1, 60, 80), "JPEG")


@pytest.fixture
def huge(jpeg: bytes) -> Any:
    """By extension, files that claim 65,500 x 65,500 pixels in their own header."""
    frame = jpeg.index(b"\xff\xc0") + 5
    bmp, tiff = (
        encode(make_image(1, 60, 80), "BMP"),
        bytearray(encode(make_image(1, 60, 80), "TIFF")),
    )
    (at,) = struct.unpack_from("<I", tiff, 4)
    for entry in range(at + 2, at + 26, 12):  # ImageWidth and ImageLength come first
        struct.pack_into("<HII", tiff, entry + 2, 4, 1, HUGE)
    return {
        "jpg": jpeg[:frame] + struct.pack(">HH", HUGE, HUGE) + jpeg[frame + 4 :],
        "png": png_of(HUGE, HUGE),
        "bmp": bmp[:18] + struct.pack("<ii", HUGE, HUGE) + bmp[26:],
        "tiff": bytes(tiff),
        "ppm": b"P6 65500 65500 255\n" + bytes(100),
    }


def swap(folder: Path, old: bytes, new: bytes) -> None:
    """Put a member's bytes in place of others of the same length in the shard."""
    path = folder / "shard-000000.tar"
    content = path.read_bytes()
    assert content.count(old) == 1
    path.write_bytes(content.replace(old, new))


def test_an_index_that_claims_more_pixels_than_the_limit_is_refused(
    write_samples: Write, jpeg: bytes
) -> None:
    folder = write_samples({"a": {"jpg": jpeg}, "b": {"jpg": jpeg}})
    claim(folder, 0, height=HUGE, width=HUGE)
    with pytest.raises(SampleError, match=r"'a' .*65500 x 65500 .*limits=reader.Limits\(pixels"):
        Dataset(folder)[0]
    with Loader(folder, batch_size=2, on_error="mask", max_bad=0.5, workers=0) as loader:
        ((images, _),) = loader
    assert [tuple(image.shape) for image in images] == [(3, 60, 80), (3, 60, 80)]
    assert list(loader.bad_samples) == [0]


def test_an_index_that_claims_an_area_beyond_64_bits_moves_no_other_image_in_memory(
    write_samples: Write, jpeg: bytes
) -> None:
    folder = write_samples({name: {"jpg": jpeg} for name in "abc"})
    claim(folder, 0, height=2**31 - 1, width=2**31 - 1)
    options = {"on_error": "mask", "max_bad": 0.5, "fields": ("image",), "workers": 0}
    seen = []
    for cache in (None, "decoded"):
        crop = [RandomCrop(16)]
        with Loader(folder, batch_size=3, cache=cache, transforms=crop, **options) as loader:
            seen.append([images for _ in range(2) for (images,) in loader])
    for plain, cached in zip(*seen, strict=True):
        assert (plain == cached).all()


def test_a_member_beyond_the_limit_is_not_read_by_workers_and_copies_either(
    write_samples: Write, jpeg: bytes
) -> None:
    folder = write_samples({"a": {"jpg": jpeg, "txt": b"x" * 10_000}})
    dataset = Dataset(folder, limits=Limits(bytes=9_999))
    assert dataset[0][0].shape == (60, 80, 3)
    reason = r"its \.txt has 10000 bytes, but 9999 .*Limits\(bytes"
    for one in (dataset, pickle.loads(pickle.dumps(dataset))):
        with pytest.raises(SampleError, match=reason):
            one.read(0, "txt")
    with (
        Loader(dataset, fields=("image", "txt"), workers=1) as loader,
        pytest.raises(SampleError, match=reason),
    ):
        next(iter(loader))
    with pytest.raises(SampleError, match=r"its image has \d+ bytes, but 99 are allowed"):
        Dataset(folder, limits=Limits(bytes=99))[0]


def test_a_member_that_claims_another_size_than_its_index_takes_no_memory(
    write_samples: Write, jpeg: bytes, huge: Mapping[str, bytes]
) -> None:
    # Written first as JPEGs that can be probed, then each claims to be the other format.
    bodies = {ext: data.ljust(20_000, b"\0") for ext, data in huge.items()}
    sound = {ext: {"jpg": jpeg + bytes([n]) * (20_000 - len(jpeg))} for n, ext in enumerate(huge)}
    folder = write_samples(sound)
    for row, (ext, data) in enumerate(bodies.items()):
        swap(folder, sound[ext]["jpg"], data)
        claim(folder, row, format=index.FORMATS.index(ext))
    dataset = Dataset(folder)

    def read() -> None:
        leave_memory(1 << 30)
        for number in range(len(dataset)):
            with pytest.raises(SampleError, match="65500 x 65500"):
                dataset[number]

    assert list(dataset.keys) == list(huge)
    assert done_by_a_fork(read)


def leave_memory(more: int) -> None:
    """Allow this process so many bytes of address space more."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + more
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


@pytest.mark.parametrize(("ext", "data"), rows_of(__file__, "hostile_members.rows"))
def test_a_hostile_member_is_an_error_of_its_sample(
    write_samples: Write, jpeg: bytes, ext: str, data: str
) -> None:
    folder = write_samples({"a": {"jpg": jpeg, ext: eval(data)}})
    reason = rf"sample 'a' .*its \.{ext}"
    with (
        pytest.raises(SampleError, match=reason),
        Loader(folder, fields=("image", ext), workers=0) as loader,
    ):
        list(loader)


def test_raw_pixels_of_another_number_than_the_index_says_are_refused(write_samples: Write) -> None:
    folder = write_samples({"a": {"raw": bytes(300)}}, raw=(10_000, 10_000, 3))
    with pytest.raises(SampleError, match="300 bytes"):
        Dataset(folder)[0]


@pytest.mark.parametrize("label", [-2, 2, 10**6])
def test_a_label_that_has_no_class_is_refused_before_anything_counts_labels(
    write_samples: Write, jpeg: bytes, label: int
) -> None:
    folder = write_samples({"a": {"jpg": jpeg}}, labels=[1])
    rewrite(folder, 0, label=label)
    for look in (
        lambda: Dataset(folder).targets,
        lambda: Dataset(folder)[0],
        lambda: Dataset(folder)._repr_html_(),
        lambda: Loader(folder, sampler=ClassBalanced()),
    ):
        with pytest.raises(FormatError, match=f"row 0 has the label {label}, but -1 to 1 are all"):
            look()


@pytest.mark.parametrize("name", ["dataset.json", "shard-000000.tar", "shard-000000.safetensors"])
def test_a_pipe_under_a_name_of_the_dataset_is_refused_at_once(
    packed_copy: Path, name: str
) -> None:
    (packed_copy / name).unlink()
    os.mkfifo(packed_copy / name)
    with pytest.raises((ReaderError, FormatError), match="not a regular file"):
        Dataset(packed_copy)[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "options", "more"),
    [
        pytest.param("JPEG", {}, 4, id="memory for a JPEG"),
        pytest.param("JPEG", {"progressive": True}, 24, id="memory within libjpeg"),
        pytest.param("PNG", {}, 4, id="memory within OpenCV"),
        pytest.param("WEBP", {}, 4, id="memory within Pillow"),
    ],
)
def test_a_worker_without_address_space_says_so_and_masks_no_sample(
    write_samples: Write, jpeg: bytes, kind: str, options: dict[str, Any], more: int
) -> None:
    large = encode(make_image(1, 2000, 3000), kind, **options)
    extension = {"JPEG": "jpg"}.get(kind, kind.lower())
    folder = write_samples({"a": {"jpg": jpeg}, "b": {extension: large}})
    here = os.getpid()

    def leave_little(sample: dict[str, Any]) -> dict[str, Any]:
        if os.getpid() != here:
            leave_memory(more << 20)
        return sample

    loader = Loader(
        folder,
        transforms=[CenterCrop(32)],
        batch_size=1,
        workers=1,
        map_sample=leave_little,
        on_error="mask",
        max_bad=1.0,
    )
    with loader, pytest.raises(WorkerError, match=r"Memory ran out\. .* fewer workers="):
        list(loader)
    assert not loader.bad_samples
