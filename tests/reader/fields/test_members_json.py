"""Values of a sample's JSON as fields of a batch."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from delivered import Write
from made_images import png

from packer import Writer
from reader import ArgumentError, Loader, SampleError

COUNT = 8
PIXELS = np.zeros((8, 8, 3), np.uint8)


@pytest.fixture
def pack_json(tmp_path: Path) -> Write:
    """`pack_json([{"a": 1}, ...])`: a dataset of samples with this JSON."""

    def pack(contents: Sequence[Any], ext: str = "json") -> Path:
        with Writer(tmp_path / "shards", shard_samples=3, progress=False) as writer:
            for content in contents:
                writer.write({"image": PIXELS, ext: content})
        return tmp_path / "shards"

    return pack


def only(dataset: Path, *fields: Any, **options: Any) -> Any:
    with Loader(dataset, batch_size=COUNT, workers=0, fields=fields, **options) as loader:
        (batch,) = loader
    return batch


def test_numbers_of_json_are_tensors_and_anything_else_a_list(pack_json: Write) -> None:
    contents = [
        {
            "caption": f"a dog {n}",
            "count": n,
            "score": n / 2,
            "good": n > 2,
            "size": {"point": [n, 1.5]},
            "boxes": [[0, 0, 1, 1]] * (n % 3),
            "captions": [f"first {n}", "second"],
            "a.b": n,
        }
        for n in range(COUNT)
    ]
    dataset = pack_json(contents)
    names = ("caption", "count", "score", "good", "size.point", "boxes", "captions.0", "a.b")
    found = dict(zip(names, only(dataset, *(f"json.{name}" for name in names)), strict=True))
    numbers = {name: value for name, value in found.items() if isinstance(value, torch.Tensor)}
    assert {name: (value.dtype, value.tolist()) for name, value in numbers.items()} == {
        "count": (torch.int64, list(range(COUNT))),
        "score": (torch.float64, [n / 2 for n in range(COUNT)]),
        "good": (torch.bool, [n > 2 for n in range(COUNT)]),
        "size.point": (torch.float64, [[n, 1.5] for n in range(COUNT)]),
        "a.b": (torch.int64, list(range(COUNT))),
    }
    assert found["caption"] == [content["caption"] for content in contents]
    assert found["captions.0"] == [f"first {n}" for n in range(COUNT)]
    assert found["boxes"] == [content["boxes"] for content in contents]


def test_integers_among_floats_are_floats(pack_json: Write) -> None:
    (scores,) = only(
        pack_json([{"score": n if n < 7 else 7.5} for n in range(COUNT)]), "json.score"
    )
    assert (scores.dtype, scores.tolist()) == (torch.float64, [0, 1, 2, 3, 4, 5, 6, 7.5])


def test_a_number_of_another_kind_than_the_first_is_named_with_the_way_to_a_list(
    pack_json: Write,
) -> None:
    dataset = pack_json([*({"n": 1} for _ in range(70)), {"n": 1.5}])
    with pytest.raises(SampleError, match=r"'00000070' .* its json.n is 1.5, .*\"json.n\?\"") as e:
        list(Loader(dataset, batch_size=71, workers=0, fields=("json.n",)))
    assert "shard-000023.tar" in str(e.value)
    with Loader(dataset, batch_size=71, workers=0, fields=("json.n?",)) as loader:
        assert next(iter(loader)) == ([*[1] * 70, 1.5],)


def test_a_sample_without_the_value_or_its_json_is_named_and_may_be_allowed(
    write_samples: Write,
) -> None:
    members = [{"json": b'{"n": 1, "text": "x"}'}, {"json": b'{"n": 2}'}, {}]
    samples = {f"s{n}": {"png": png(PIXELS)} | found for n, found in enumerate(members)}
    dataset = write_samples(samples, shard_samples=1)
    reason = "its .json: it has nothing at 'text'; it has n; to get None for it, write"
    with pytest.raises(SampleError, match=rf"000001.tar: sample 's1' .*{reason} \"json.text\?\""):
        only(dataset, "json.text")
    with pytest.raises(SampleError, match=r"no member \.json; .* write \"json\.n\?\" in fields="):
        only(dataset, "json.n")
    assert only(dataset, "json.n?", "json.text?") == ([1, 2, None], ["x", None, None])


@pytest.mark.parametrize("field", ["jsn.text", "json.text.more", "txt.a"])
def test_what_is_not_in_the_json_of_any_sample_is_refused(pack_json: Write, field: str) -> None:
    with pytest.raises((ArgumentError, SampleError), match=r"no field|nothing at 'more'"):
        only(pack_json([{"text": "x"}] * COUNT), field)


def test_map_sample_gets_python_values_and_workers_deliver_the_same(pack_json: Write) -> None:
    dataset = pack_json([{"n": n, "list": [n]} for n in range(COUNT)])
    seen = {}

    def doubled(sample: dict[str, Any]) -> dict[str, Any]:
        seen.update({name: type(value) for name, value in sample.items()})
        return {name: value * 2 for name, value in sample.items()}

    numbers, lists = only(dataset, "json.n", "json.list", map_sample=doubled)
    assert seen == {"json.n": int, "json.list": list}
    assert (numbers.tolist(), lists[3]) == ([2 * n for n in range(COUNT)], [3, 3])
    with Loader(dataset, batch_size=COUNT, workers=2, fields=("json.n",)) as loader:
        assert next(iter(loader))[0].tolist() == list(range(COUNT))


def test_a_further_json_member_has_fields_too(pack_json: Write) -> None:
    dataset = pack_json([json.dumps({"n": n}).encode() for n in range(COUNT)], "meta.json")
    assert only(dataset, "meta.json.n")[0].tolist() == list(range(COUNT))


def test_the_preview_shows_captions_of_json(pack_json: Write) -> None:
    dataset = pack_json([{"caption": f"a dog {n}"} for n in range(COUNT)])
    sheets = []
    for fields in (("image",), ("image", "json"), ("image", "json.caption")):
        with Loader(dataset, batch_size=4, workers=0, fields=fields) as loader:
            sheets.append(loader.preview().image.tobytes())
    plain, whole, caption = sheets
    assert plain != whole == caption


def test_one_value_of_a_batch_of_one_is_a_tensor_too(pack_json: Write) -> None:
    dataset = pack_json([{"n": n} for n in range(COUNT)])
    with Loader(dataset, workers=0, fields=("json.n",)) as loader:
        assert [batch[0].tolist() for batch in loader] == [[n] for n in range(COUNT)]
