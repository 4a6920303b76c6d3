"""Every kind of sample: members beside the image, and geometry that moves all of them alike."""

import dataclasses
import json
import random
from functools import partial
from pathlib import Path
from typing import Any

import delivered
import numpy as np
import pytest
import torch
from delivered import Write
from made_images import npy, png, turned
from numpy.typing import NDArray

import reader
from reader import (
    ArgumentError,
    Boxes,
    CenterCrop,
    Loader,
    Mask,
    Member,
    ReaderError,
    SampleError,
    WorkerError,
)

COUNT = 6


def grey(seed: int, height: int = 20, width: int = 30) -> NDArray[np.uint8]:
    return np.random.default_rng(seed).integers(0, 255, (height, width), np.uint8)


def rgb(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    return np.repeat(pixels[..., None], 3, axis=2)


@pytest.fixture
def captions(write_samples: Write) -> Path:
    """Images with a caption, an embedding and a remark; the last sample has no caption."""
    samples = {
        f"s{number}": {
            "png": png(rgb(grey(number))),
            "txt": f"Bild {number} - ä".encode(),
            "npy": npy(np.full((2, 3), number, np.float32)),
            "json": json.dumps({"number": number}).encode(),
            "bin": bytes([number]),
        }
        for number in range(COUNT)
    }
    del samples[f"s{COUNT - 1}"]["txt"]
    return write_samples(samples, shard_samples=4, labels=range(COUNT))


only = partial(delivered.only, batch_size=COUNT)


def test_members_are_decoded_by_their_extension(captions: Path) -> None:
    embedding, content, raw, key = only(captions, fields=("npy", "json", "bin", "key"))
    assert (embedding.dtype, embedding.shape) == (torch.float32, (COUNT, 2, 3))
    assert embedding[:, 0, 0].tolist() == list(range(COUNT))
    assert content == [{"number": number} for number in range(COUNT)]
    assert raw == [bytes([number]) for number in range(COUNT)]
    assert key == [f"s{number}" for number in range(COUNT)]


def test_a_member_that_is_missing_is_named_or_none_if_it_may_be(captions: Path) -> None:
    reason = r"shard-000001.tar: sample 's5' .* no member .txt.*\"txt\?\""
    with pytest.raises(SampleError, match=reason):
        only(captions, fields=("txt",))
    text, embedding = only(captions, fields=("txt?", "npy?"))
    assert text == [*(f"Bild {number} - ä" for number in range(COUNT - 1)), None]
    assert [entry.tolist() for entry in embedding] == [[[n] * 3] * 2 for n in range(COUNT)]


@pytest.mark.parametrize("map_sample", [None, dict])
@pytest.mark.parametrize(
    ("field", "name"),
    [(Boxes("jsno?"), "jsno"), (Member("mp3?", decode=len), "mp3"), (Mask("png2?"), "png2")],
)
def test_a_member_that_no_sample_has_is_refused_though_it_may_be_missing(
    captions: Path, field: Any, name: str, map_sample: Any
) -> None:
    reason = f"no field '{name}': no sample of the dataset has such a member, there are image, .*"
    with pytest.raises(ArgumentError, match=f"{reason}bin, json, npy, png, txt"):
        only(captions, fields=("label", field), map_sample=map_sample)


def test_only_map_sample_may_add_a_field_that_no_sample_has(captions: Path) -> None:
    with pytest.raises(ArgumentError, match="no field 'mine': no sample of the dataset has"):
        only(captions, fields=("label", "mine?"))
    given = only(captions, fields=("mine?",), map_sample=lambda sample: {"mine": "a"})
    assert given == (["a"] * COUNT,)


def test_a_member_that_may_be_missing_may_be_so_in_all_that_is_read(
    captions: Path, make_dataset: Write
) -> None:
    last = reader.Dataset(captions, subset=[COUNT - 1])
    assert only(last, fields=("key", "txt?")) == ([f"s{COUNT - 1}"], [None])
    images = {"train/1.png": png(grey(0)), "val/2.png": png(grey(1)), "train/1.txt": b"Bild 1"}
    divided = make_dataset(images)
    found = {split: only(divided, split=split, fields=("txt?",)) for split in ("train", "val")}
    assert found == {"train": (["Bild 1"],), "val": ([None],)}


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        (("image", "score"), 'For a value of the JSON, write "json.score"'),
        (("txt", "txt?"), "Two fields are named 'txt'"),
        ((Boxes("npy"),), "Boxes reads JSON .*, not 'npy'. Pack boxes as lists"),
        (("txt", Member("txt")), "Two fields are named 'txt'"),
    ],
)
def test_a_wrong_field_is_told_at_once(captions: Path, fields: Any, reason: str) -> None:
    with pytest.raises(ReaderError, match=reason):
        Loader(captions, fields=fields)


def test_a_field_without_its_kind_is_told_which_may_be_meant(write_samples: Write) -> None:
    image = {"png": png(rgb(grey(0))), "depth.npy": npy(np.zeros(2)), "deep.txt": b""}
    folder = write_samples({"s": image}, labels=[0])
    with pytest.raises(ReaderError, match=r"no field 'depth'; write 'depth\.npy': there"):
        Loader(folder, fields=("image", "depth"))


@pytest.mark.parametrize("options", [{}, {"workers": 0, "map_sample": dict}, {"collate_fn": list}])
def test_an_images_name_and_size_come_from_the_index(
    make_dataset: Write, options: dict[str, Any]
) -> None:
    names = ["a/Bild 1.png", "b/zwei.ü.png"]
    data = [png(rgb(grey(number, 20 + number, 30)), exif=turned(6)) for number in range(2)]
    folder = make_dataset(dict(zip(names, data, strict=True)))
    for upright, sizes in ((True, [[30, 20], [30, 21]]), (False, [[20, 30], [21, 30]])):
        given = {"batch_size": 2, "workers": 0, "fields": ("name", "size"), **options}
        with Loader(reader.Dataset(folder, upright=upright), **given) as loader:
            (batch,) = loader
        name, size = zip(*batch, strict=True) if "collate_fn" in options else batch
        assert list(name) == names
        assert [one.tolist() for one in size] == sizes
        assert all(one.dtype == torch.int64 for one in size)


def test_users_decode_members_their_own_way(captions: Path) -> None:
    pairs = Member("bin", decode=lambda data: np.array([data[0], 7]))
    numbers, lengths = only(captions, fields=(pairs, Member("txt?", decode=len)))
    assert numbers.tolist() == [[number, 7] for number in range(COUNT)]
    assert lengths == [*(len(f"Bild {number} - ä".encode()) for number in range(5)), None]


def test_a_decoder_of_a_picture_keeps_it_from_following_the_image(captions: Path) -> None:
    crop = [CenterCrop(10)]
    (pixels,) = only(captions, transforms=crop, fields=("png",))
    assert pixels.shape == (COUNT, 3, 10, 10)
    (begin,) = only(captions, transforms=crop, fields=(Member("png", lambda data: data[:4]),))
    assert begin == [b"\x89PNG"] * COUNT


def test_arrays_over_a_members_bytes_come_as_tensors_that_may_be_written_to(captions: Path) -> None:
    field = Member("bin?", decode=lambda data: np.frombuffer(data, np.uint8))
    ((first, *_),) = only(captions, fields=(field,))
    first += 1
    assert first.tolist() == [1]


def test_a_member_that_memory_does_not_hold_is_not_masked_as_damaged(captions: Path) -> None:
    def take_it(data: bytes) -> int:
        if data[0] == 3:
            raise MemoryError
        return data[0]

    with pytest.raises(WorkerError, match="Memory ran out"):
        only(captions, workers=1, fields=(Member("bin", decode=take_it),), on_error="mask")


def test_a_pickle_in_an_npy_is_refused(write_samples: Write) -> None:
    evil = npy(np.array([{}], object), allow_pickle=True)
    dataset = write_samples({"a": {"png": png(grey(0)), "npy": evil}})
    with pytest.raises(SampleError, match=r"'a' .* its .npy cannot be decoded \(Object arrays"):
        only(dataset, fields=("npy",))


@pytest.mark.parametrize("other", [np.zeros(4, np.float32), np.zeros(3, np.float64)])
def test_an_array_unlike_the_first_is_named_with_the_remedy(
    write_samples: Write, other: NDArray[Any]
) -> None:
    arrays = [np.zeros(3, np.float32)] * 3 + [other]
    dataset = write_samples(
        {f"s{n}": {"png": png(grey(n)), "npy": npy(array)} for n, array in enumerate(arrays)}
    )
    with pytest.raises(SampleError, match=r"'s3' .* its npy is of .*collate_fn="):
        only(dataset, fields=("npy",))
    (given,) = only(dataset, fields=("npy?",))
    assert [entry.shape for entry in given] == [array.shape for array in arrays]
    (padded,) = only(dataset, fields=("npy",), collate_fn=lambda samples: [len(samples)])
    assert padded == 4


@pytest.mark.parametrize("field", ["npy", "npy?"])
def test_arrays_come_in_this_machines_byte_order_and_what_is_no_tensor_as_it_is(
    write_samples: Write, field: str
) -> None:
    swapped, words = np.arange(3, dtype=">f4"), np.array(["a", "bc"])
    for array, is_tensor in ((swapped, True), (words, False)):
        dataset = write_samples({"a": {"png": png(grey(0)), "npy": npy(array)}})
        ((entry,),) = only(dataset, fields=(field,))
        assert isinstance(entry, torch.Tensor) == is_tensor
        assert entry.tolist() == array.tolist()


def test_collate_fn_gets_the_list_of_samples_as_in_torch(captions: Path) -> None:
    samples = only(
        captions, fields=("image", "label", "npy", "key", "valid"), collate_fn=lambda s: s
    )
    assert len(samples) == COUNT
    for number, (image, label, embedding, key, valid) in enumerate(samples):
        assert torch.equal(image, torch.from_numpy(rgb(grey(number))).permute(2, 0, 1))
        assert (label, key, valid) == (number, f"s{number}", True)
        assert embedding.tolist() == [[number] * 3] * 2


def test_pad_collate_pads_at_the_ends(write_samples: Write) -> None:
    sizes = [(4, 6), (5, 3)]
    dataset = write_samples(
        {
            f"s{n}": {"png": png(rgb(grey(n, *size)) | 1), "npy": npy(np.ones(n + 1))}
            for n, size in enumerate(sizes)
        },
        labels=[1, 0],
    )
    image, label, vector, key = only(
        dataset, fields=("image", "label", "npy", "key"), collate_fn=reader.pad_collate
    )
    assert image.shape == (2, 3, 5, 6)
    for number, (height, width) in enumerate(sizes):
        pixels = torch.from_numpy(rgb(grey(number, height, width)) | 1).permute(2, 0, 1)
        assert torch.equal(image[number, :, :height, :width], pixels)
        assert not image[number, :, height:].any()
        assert not image[number, :, :, width:].any()
    assert (label.dtype, label.tolist()) == (torch.int64, [1, 0])
    assert vector.tolist() == [[1, 0], [1, 1]]
    assert key == ["s0", "s1"]


# Users' functions


def test_map_sample_runs_on_the_dict_of_a_sample_in_the_workers(captions: Path) -> None:
    seen = []

    def change(sample: dict[str, Any]) -> dict[str, Any]:
        seen.append((sample["name"], sample["size"], sample["image"].shape))
        return {**sample, "label": sample["label"] + len(sample["key"])}

    options: dict[str, Any] = {"transforms": [reader.CenterCrop(8)], "map_sample": change}
    fields = ("image", "label", "json", "key", "name", "size")
    _, label, content, *_ = only(captions, fields=fields, workers=1, **options)
    assert seen == [("s0", (20, 30), (8, 8, 3))]  # here, of the sample that the shapes come from
    assert label.tolist() == [number + 2 for number in range(COUNT)]
    assert content == [{"number": number} for number in range(COUNT)]


def test_map_sample_may_give_tensors_and_classes_of_the_users_own(captions: Path) -> None:
    @dataclasses.dataclass
    class Target:
        boxes: torch.Tensor

    def change(sample: dict[str, Any]) -> dict[str, Any]:
        boxes = torch.full((2, 4), sample["json"]["number"])
        half = torch.from_numpy(sample["image"]).bfloat16()
        return {"image": half, "json": {"boxes": boxes}, "txt": Target(boxes)}

    images, contents, targets = only(
        captions, fields=("image", "json", "txt?"), map_sample=change, transforms=[CenterCrop(4)]
    )
    assert {(image.dtype, image.shape) for image in images} == {(torch.bfloat16, (3, 4, 4))}
    for number in range(COUNT):
        assert contents[number]["boxes"].tolist() == [[number] * 4] * 2
        assert isinstance(targets[number], Target)
        assert torch.equal(targets[number].boxes, contents[number]["boxes"])


def test_what_cannot_be_sent_by_a_worker_is_an_error_with_its_reason(captions: Path) -> None:
    with pytest.raises(WorkerError, match="cannot be pickled: cannot pickle 'generator'"):
        only(captions, workers=1, fields=(Member("txt?", lambda data: (byte for byte in data)),))


def test_a_field_that_map_sample_leaves_out_is_named(captions: Path) -> None:
    with pytest.raises(ReaderError, match="returned no 'label' for sample 's0'"):
        only(captions, map_sample=lambda sample: {"image": sample["image"]})


def test_an_albumentations_pipeline_that_is_seeded_draws_the_same_with_any_workers(
    captions: Path,
) -> None:
    albumentations = pytest.importorskip("albumentations")
    noise = albumentations.Compose([albumentations.GaussNoise(p=1.0)])

    def change(sample: dict[str, Any]) -> dict[str, Any]:
        noise.set_random_seed(random.getrandbits(32))
        return {**sample, "image": noise(image=sample["image"])["image"]}

    drawn = []
    for workers in (1, 3):
        with Loader(captions, batch_size=2, workers=workers, map_sample=change) as loader:
            drawn.append([torch.cat([image for image, _ in loader]) for _ in range(2)])
    (first, second), (again, also) = drawn
    assert torch.equal(first, again)
    assert torch.equal(second, also)
    assert not torch.equal(first, second)
