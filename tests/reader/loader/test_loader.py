"""What a loader is given and gives: arguments, fields, errors, its end."""

import pickle
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from delivered import COUNT, CROP
from live_workers import workers

from reader import Dataset, FormatError, Loader, ReaderError
from reader.format import Manifest

pytestmark = pytest.mark.usefixtures("no_leftovers")


def test_a_batch_is_image_and_label_unless_other_fields_are_asked_for(packed: Path) -> None:
    options: dict[str, Any] = {"batch_size": 39, "workers": 0, "transforms": [CROP]}
    with Loader(packed, **options) as loader, Loader(packed, **options, fields=["key"]) as keys:
        ((image, label),) = loader
        ((key,),) = keys
        assert image.shape[0] == len(label) == len(key) == COUNT
        assert loader.dataset.labels.tolist() == label.tolist()
        assert list(keys.dataset.keys) == key


def test_a_loader_prints_what_it_does(packed: Path) -> None:
    options: dict[str, Any] = {"batch_size": 8, "workers": 0, "transforms": [CROP], "seed": 5}
    whole = repr(Dataset(packed))
    with Loader(packed, shuffle=True, **options) as loader:
        steps = f"<Loader of {whole}: 5 steps of 8 samples"
        assert repr(loader) == f"{steps}, shuffle=True, seed=5, workers=0, in epoch 0>"
        list(loader)
        assert repr(loader).endswith("in epoch 1>")
    with Loader(packed, epochs=None, rank=1, world_size=2, sampler=[3, 4], **options) as loader:
        steps = f"<Loader of {whole}: steps without end of 8 samples on rank 1 of 2"
        assert repr(loader) == f"{steps}, sampler=list of 2 numbers, seed=5, workers=0, in epoch 0>"


def test_a_folder_without_data_or_without_samples_is_refused(
    packed_copy: Path, tmp_path: Path
) -> None:
    with pytest.raises(FormatError, match=re.escape(str(tmp_path))):
        Loader(tmp_path)
    empty = replace(Manifest.load(packed_copy), shards=())
    (packed_copy / "dataset.json").write_text(empty.dump())
    with pytest.raises(ReaderError, match="no samples"):
        Loader(packed_copy)


def test_a_closed_loader_says_so_and_may_be_closed_again(packed: Path) -> None:
    loader = Loader(packed, batch_size=4, workers=2, transforms=[CROP])
    iterator = iter(loader)
    next(iterator)
    assert len(workers()) == 2
    loader.close()
    assert workers() == []
    loader.close()
    for use in (
        lambda: next(iterator),
        lambda: iter(loader),
        lambda: loader.set_epoch(3),
        lambda: loader.load_state_dict(loader.state_dict()),
        lambda: loader.preview(),
        lambda: pickle.dumps(loader),
    ):
        with pytest.raises(ReaderError, match="closed"):
            use()
    assert loader.statistics().batches == 1
