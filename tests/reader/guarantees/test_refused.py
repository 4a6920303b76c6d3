"""What is written wrongly is refused at once: the sentence of each refusal, in one table.

A row of `refused.rows` is a line of Python and the sentence, or its parts in their order; a third
part says that the error is no ArgumentError. What is refused only when a sample is read, the tests
of its module have.
"""

import math
import re
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from delivered import load
from row_files import rows_of
from torch.utils.data import BatchSampler, Subset, TensorDataset

import reader
from reader import ArgumentError, Dataset, Loader, Mix, ReaderError

CASES = [
    pytest.param(code, sentence, ReaderError if kind else ArgumentError, id=code)
    for code, sentence, *kind in rows_of(__file__, "refused.rows")
]


@pytest.fixture(scope="module")
def names(packed: Path) -> Iterator[dict[str, Any]]:
    """What the rows name; loaders that are made are closed in the end."""
    whole = Dataset(packed)
    with ExitStack() as opened:

        def loaded(*dataset: Any, **options: Any) -> Loader:
            return opened.enter_context(load(*dataset, **options))

        yield {
            **{name: getattr(reader, name) for name in reader.__all__},
            "np": np,
            "torch": torch,
            "nan": math.nan,
            "inf": math.inf,
            "BatchSampler": BatchSampler,
            "Subset": Subset,
            "TensorDataset": TensorDataset,
            "packed": packed,
            "whole": whole,
            "few": whole.subset([3, 4]),
            "numbered": Mix([(whole, 24), (whole.subset([3, 4]), 8)], by="choose"),
            "load": loaded,
            "gpu": partial(loaded, fields=("image",), decode="gpu"),
        }


def begin(made: object) -> None:
    if isinstance(made, Loader):  # which reads what its sampler gives
        iter(made)


@pytest.mark.parametrize(("code", "sentence", "kind"), CASES)
def test_it_is_refused_with_its_sentence(
    names: dict[str, Any], code: str, sentence: str, kind: type[ReaderError]
) -> None:
    with pytest.raises(kind) as caught:
        begin(eval(code, {**names}))
    parts = map(re.escape, sentence.split(" ... "))
    assert re.search("(?s)" + ".*".join(parts), str(caught.value)), caught.value
