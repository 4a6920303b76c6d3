"""decode="gpu" tried out on a CPU: what the workers send is decoded to what they would decode."""

import contextlib
import re
import shutil
import struct
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
import simplejpeg
import torch
from delivered import Write, damage
from made_images import encode, make_image, turned

from reader import (
    ArgumentError,
    Boxes,
    CenterCrop,
    CUDAPrefetcher,
    Dataset,
    Letterbox,
    Loader,
    Points,
    Polygons,
    RandomCrop,
    RandomHorizontalFlip,
    RandomResizedCrop,
    RandomVerticalFlip,
    Resize,
    SampleError,
    Transform,
)
from reader.cuda.device import default_device
from reader.gpu_decode.decoders import choose
from reader.gpu_decode.parcels import Parcel, parts_for_nvjpeg

needs_jpegtran = pytest.mark.skipif(shutil.which("jpegtran") is None, reason="no jpegtran")


CROP = CenterCrop((48, 64))
FLIPS: list[Transform] = [RandomHorizontalFlip(), RandomVerticalFlip()]


def batches(dataset: Path, decode: str, transforms: Sequence[Transform], **options: Any) -> Any:
    options = {"batch_size": 16, "workers": 0, "shuffle": True, "seed": 3, **options}
    with Loader(dataset, transforms=transforms, decode=decode, **options) as loader:
        for images, *others in loader:
            yield images.decode() if decode == "gpu" else images, *others


def differences(dataset: Path, transforms: Sequence[Transform], **options: Any) -> torch.Tensor:
    """By how much each value differs from what the workers decode, over an epoch."""
    found = []
    both = (batches(dataset, decode, transforms, **options) for decode in ("gpu", "cpu"))
    for (mine, *others), (expected, *same) in zip(*both, strict=True):
        assert mine.dtype == torch.uint8
        assert mine.shape == expected.shape
        assert mine.is_contiguous(memory_format=torch.channels_last)
        assert all(torch.equal(one, other) for one, other in zip(others, same, strict=True))
        found.append((mine.int() - expected.int()).abs().flatten())
    return torch.cat(found)


@pytest.fixture(scope="module")
def mixed(make_dataset: Write) -> Path:
    """JPEGs of every sort, upright and not, tiled if jpegtran is there, and other formats."""
    files = {}
    for seed, sampling in enumerate(["4:4:4", "4:2:2", "4:2:0"]):
        for orientation in (1, 2, 3, 4, 5, 6, 7, 8):
            # 101 pixels are 13 MCUs of 8, a prime number: tiles of 4:4:4 run on from row to row.
            image = make_image(8 * seed + orientation, 93, 101)
            data = encode(image, "JPEG", subsampling=sampling, quality=92, exif=turned(orientation))
            files[f"a/{seed}{orientation}.jpg"] = data
    files["b/progressive.jpg"] = encode(make_image(50), "JPEG", progressive=True)
    files["b/grey.jpg"] = encode(make_image(51, 70, 104, "L"), "JPEG", quality=95)
    files["b/cmyk.jpg"] = encode(make_image(52, mode="CMYK"), "JPEG")
    files["b/rgb.jpg"] = encode(make_image(53), "JPEG", keep_rgb=True)
    files["b/some.png"] = encode(make_image(54), "PNG")
    files["b/some.webp"] = encode(make_image(55), "WEBP")
    return make_dataset(files, shard_samples=20)


@pytest.mark.parametrize(
    "transforms",
    [
        [RandomResizedCrop(56, scale=(0.1, 1.0)), *FLIPS],
        [RandomResizedCrop(112), *FLIPS],
        [CenterCrop(48)],
        [CenterCrop(150)],  # black around them
        [RandomCrop(64, padding=60, fill=30), *FLIPS],
        [Letterbox((80, 120))],
        [Resize((70, 90))],
    ],
    ids=str,
)
def test_what_is_decoded_later_is_what_workers_decode(
    mixed: Path, transforms: list[Transform]
) -> None:
    fields = ("image", "label", "index", "valid")
    assert differences(mixed, transforms, fields=fields).max() <= 1


def test_a_box_that_shrinks_much_is_averaged_as_well_as_workers_do_it(mixed: Path) -> None:
    # They scale while they decode, here squares are averaged: two ways to come near to an average.
    transforms = [Resize((21, 24)), RandomHorizontalFlip(1)]
    dataset = Dataset(mixed)
    away = {}
    for decode in ("gpu", "cpu"):
        found = batches(mixed, decode, transforms, fields=("image", "index"))
        size, area = (24, 21), cv2.INTER_AREA
        away[decode] = np.mean(
            [
                np.abs(image.permute(1, 2, 0).numpy() - cv2.resize(own, size, interpolation=area))
                for images, numbers in found
                for image, number in zip(images, numbers.tolist(), strict=True)
                for own in [dataset[number][0][:, ::-1].astype(np.float32)]
            ]
        )
    assert away["gpu"] < min(away["cpu"], 3)


def sent(dataset: Path, transforms: Sequence[Transform], **options: Any) -> dict[str, Any]:
    """What travels of each sample, by its key."""
    options = {"batch_size": 64, "workers": 0, "fields": ("image", "key"), **options}
    with Loader(dataset, transforms=transforms, decode="gpu", **options) as loader:
        return {
            key: Parcel(*row)
            for images, keys in loader
            for key, row in zip(keys, images.table.tolist(), strict=True)
        }


@contextlib.contextmanager
def opened(dataset: Path, batch_size: int = 16) -> Iterator[Any]:
    """The loader, and the images of its first batch."""
    options: dict[str, Any] = {"batch_size": batch_size, "workers": 0, "transforms": [CROP]}
    with Loader(dataset, decode="gpu", **options) as loader:
        yield loader, next(iter(loader))[0]


def spoil(dataset: Path) -> str:
    """Make the pixels of sample 5 something that only a decoder refuses; return its key."""
    shard, row = Dataset(dataset).locate(5)
    scan = shard.read(row, "jpg").index(b"\xff\xda") + 14
    with shard.path.open("r+b") as file:
        file.seek(int(shard.index.columns["offset"][row]) + scan)
        file.write(b"\xff\x00" * 8)  # ones, which no Huffman code is
    return shard.index.key(row)


def test_workers_decode_only_what_nvjpeg_does_not(mixed: Path) -> None:
    found = sent(mixed, [CenterCrop(48)])
    pixels = {key for key, parcel in found.items() if not parcel.is_jpeg}
    assert pixels == {"b/cmyk", "b/rgb", "b/some%2Epng", "b/some%2Ewebp"}
    assert all(found[key].length == 48 * 48 * 3 for key in pixels)


@needs_jpegtran
def test_a_small_crop_needs_a_small_part_of_a_tiled_jpeg(make_dataset: Write) -> None:
    data = encode(make_image(0, 512, 1024), "JPEG", quality=95, subsampling="4:4:4")
    parcel = sent(make_dataset({"a.jpg": data}), [CenterCrop(64)])["a"]
    assert parcel.length < len(data) / 20
    assert (parcel.height, parcel.width) < (96, 160)


def test_images_without_room_in_their_slot_travel_beside_it(make_dataset: Write) -> None:
    files = {f"{n}.jpg": encode(make_image(n, 24, 24), "JPEG") for n in range(40)}
    files["large.jpg"] = encode(make_image(40, 400, 300), "JPEG", quality=95)
    files["wide.png"] = encode(make_image(41, 90, 300), "PNG")
    dataset = make_dataset(files)
    found = sent(dataset, [Resize((24, 24))], batch_size=4, workers=1)
    assert found["large"].offset == -1
    assert sum(parcel.offset >= 0 for parcel in found.values()) > 30
    assert differences(dataset, [Resize((200, 200))], batch_size=4, workers=2).max() <= 1


def test_large_batches_are_decoded_a_part_at_a_time(
    mixed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(mixed, 30) as (_, images):
        whole = images.decode()
        monkeypatch.setattr("reader.gpu_decode.images._GROUP_BYTES", 50_000)
        assert torch.equal(images.decode(), whole)


def test_your_own_function_decodes_the_jpegs(packed: Path) -> None:
    def darker(jpegs: list[torch.Tensor], device: torch.device, stream: Any) -> Any:
        pixels = [simplejpeg.decode_jpeg(jpeg.numpy(), "RGB") for jpeg in jpegs]
        return [torch.from_numpy(image // 2 * 2).permute(2, 0, 1) for image in pixels]

    with opened(packed) as (_, images):
        assert torch.equal(images.decode(decoder=darker), images.decode() // 2 * 2)


def test_a_part_of_a_batch_is_decoded_by_itself(packed: Path) -> None:
    with opened(packed) as (_, images):
        assert (len(images), images.shape, images.size) == (16, (16, 3, 48, 64), (48, 64))
        assert torch.equal(images[5:9].decode(), images.decode()[5:9])


def test_a_batch_outlives_its_loader(packed: Path) -> None:
    with opened(packed) as (loader, images):
        kept = [images, *(images for _ in range(3) for images, _ in loader)]
        first = images.decode()
    assert all(torch.equal(kept[at].decode(), first) for at in (0, -3))


def test_the_prefetcher_decodes_and_normalises(packed: Path) -> None:
    found = {}
    for decode in ("gpu", "cpu"):
        with Loader(packed, batch_size=16, workers=0, transforms=[CROP], decode=decode) as loader:
            on_device = CUDAPrefetcher(loader, device="cpu")
            found[decode] = torch.cat([image for image, _ in on_device])
    assert found["gpu"].is_contiguous(memory_format=torch.channels_last)
    assert torch.equal(*found.values())


def test_a_damaged_sample_is_an_error_that_names_it(packed_copy: Path) -> None:
    damage(packed_copy, 5)
    with pytest.raises(SampleError, match=re.escape(repr(Dataset(packed_copy).keys[5]))):
        list(batches(packed_copy, "gpu", [CROP]))


def test_damage_that_only_a_decoder_sees_is_an_error_that_names_the_sample(
    packed_copy: Path,
) -> None:
    with pytest.raises(SampleError, match=re.escape(repr(spoil(packed_copy))) + ".*--decode"):
        list(batches(packed_copy, "gpu", [Resize((40, 40))]))


@pytest.mark.parametrize("field", ["mask.png", Boxes("json"), Points("json"), Polygons("json")])
def test_what_would_have_to_follow_the_image_is_refused(write_samples: Write, field: Any) -> None:
    members = {"jpg": encode(make_image(0), "JPEG"), "mask.png": encode(make_image(1), "PNG")}
    dataset = write_samples({"a": {**members, "json": b"{}"}})
    reason = r'does not support .*masks.* points, polygons .* use decode="cpu"'
    with pytest.raises(ArgumentError, match=reason):
        Loader(dataset, transforms=[CROP], fields=("image", field), decode="gpu")


def frame(marker: int = 0xC0, precision: int = 8, sampling: bytes = b"\x22\x11\x11") -> bytes:
    """A JPEG of 16 x 24 pixels without pixels."""
    parts = b"".join(bytes([n + 1, factors, 0]) for n, factors in enumerate(sampling))
    body = bytes([precision, 0, 16, 0, 24, len(sampling)]) + parts
    head = b"\xff\xd8\xff" + bytes([marker]) + struct.pack(">H", 2 + len(body)) + body
    return head + b"\xff\xda\x00\x02\xff\xd9"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (frame(), True),
        (frame(0xC2), True),
        (frame(0xC1), False),  # extended
        (frame(0xC9), False),  # arithmetic
        (frame(precision=12), False),
        (frame(sampling=b"\x11"), True),
        (frame(sampling=b"\x41\x11\x11"), True),
        (frame(sampling=b"\x22\x21\x11"), False),
        (frame(sampling=b"\x31\x11\x11"), False),
        (frame(sampling=b"\x11\x11"), False),
        (frame()[:-2], False),
        (frame()[:9], False),
        (b"\xff\xd8\xff\xd9", False),
        (b"", False),
    ],
)
def test_nvjpeg_gets_baseline_and_progressive_jpegs_of_the_usual_kinds(
    data: bytes, expected: bool
) -> None:
    assert bool(parts_for_nvjpeg(data, 16, 24)) is expected
    assert not parts_for_nvjpeg(data, 16, 25)


def test_a_jpeg_is_sent_without_its_exif() -> None:
    exif = b"\xff\xe1\x00\x0aExif\0\0II"
    data = frame()
    parts = parts_for_nvjpeg(data[:2] + exif + data[2:], 16, 24)
    assert b"".join(map(bytes, parts)) == data


def can_decode() -> bool:
    return torch.cuda.is_available() and bool(choose(default_device()).name)


needs_nvjpeg = pytest.mark.skipif(not can_decode(), reason="no CUDA device with a JPEG decoder")


@pytest.mark.gpu
@needs_nvjpeg
@pytest.mark.parametrize(("sampling", "mean", "most"), [("4:4:4", 1, 8), ("4:2:0", 3, 160)])
def test_nvjpeg_gives_nearly_the_pixels_of_the_cpu(
    make_dataset: Write, sampling: str, mean: float, most: int
) -> None:
    files = {
        f"{n}.jpg": encode(make_image(n, 150, 201), "JPEG", quality=92, subsampling=sampling)
        for n in range(20)
    }
    transforms = [RandomResizedCrop(96), *FLIPS]
    options: dict[str, Any] = {"batch_size": 20, "workers": 1, "decode": "gpu"}
    with Loader(make_dataset(files), transforms=transforms, **options) as loader:
        images, _ = next(iter(loader))
        assert Parcel(*images.table.T).is_jpeg.all()
        found = images.decode("cuda")
        assert found.is_contiguous(memory_format=torch.channels_last)
        difference = (found.cpu().float() - images.decode().float()).abs()
    assert difference.mean() < mean
    assert difference.max() <= most


@pytest.mark.gpu
@needs_nvjpeg
def test_a_late_gpu_decodes_no_slot_that_was_filled_anew(packed: Path) -> None:
    options: dict[str, Any] = {"batch_size": 8, "decode": "gpu", "transforms": [CROP]}
    with Loader(packed, workers=1, shuffle=True, **options) as loader:
        expected = [images.decode("cuda").float() for _ in range(10) for images, _ in loader]
    torch.cuda.synchronize()
    with Loader(packed, workers=4, shuffle=True, **options) as loader:
        batches = CUDAPrefetcher(loader, mean=(0, 0, 0), std=(1 / 255,) * 3, depth=1)
        seen = []
        for _ in range(10):
            for images, _ in batches:
                torch.cuda._sleep(5_000_000)  # so that freed memory is still in use
                seen.append(images.clone())
                del images
    for image, other in zip(seen, expected, strict=True):
        torch.testing.assert_close(image, other, atol=0.01, rtol=0)


@pytest.mark.gpu
@needs_nvjpeg
def test_a_jpeg_that_nvjpeg_refuses_is_named_and_the_gpu_goes_on(packed_copy: Path) -> None:
    spoil(packed_copy)
    with Loader(packed_copy, batch_size=8, transforms=[Resize((40, 40))], decode="gpu") as loader:
        with warnings.catch_warnings(), contextlib.suppress(SampleError):
            warnings.simplefilter("ignore")  # nvJPEG may decode it to something
            list(CUDAPrefetcher(loader))
        assert torch.ones(1000, device="cuda").sum().item() == 1000
