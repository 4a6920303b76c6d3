"""Mix the batches of a loader, whose fields tell which entries are images and labels."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from reader.dataset.dataset import Dataset
from reader.errors import ArgumentError
from reader.fields.field import Recipe
from reader.fields.seeding import OwnFunction
from reader.rng import SampleRandom
from reader.transforms.batches.mixing import drawn, is_mixing, mixings
from reader.transforms.batches.mixtures import as_shares, mixture
from reader.transforms.transform import Transform

_NEEDED = ("image", "label")


@dataclass(frozen=True)
class Mixer(OwnFunction):
    """Mixes batches by a step, or a choice of steps."""

    step: Transform
    names: tuple[str, ...]  # of the fields
    classes: int

    def __call__(self, batch: Any, rng: SampleRandom) -> Any:
        """Return a batch, a tuple or list in the order of the fields, with mixed images and labels.

        Raises:
            ArgumentError: the batch has another form, or images of several sizes.
        """
        first = mixings(self.step)[0]
        images, labels = self._parts(batch, type(first).__name__)
        shares = as_shares(labels, self.classes, first.label_smoothing)
        size = images.shape[-2], images.shape[-1]
        mixes = drawn(self.step, first.mode, len(images), size, rng)
        mixed = mixture(images, shares, mixes, is_rolled=first.mode == "batch")
        new = dict(zip(_NEEDED, mixed, strict=True))
        made = [new.get(name, value) for name, value in zip(self.names, batch, strict=True)]
        return made if isinstance(batch, list) else tuple(made)

    def _parts(self, batch: Any, name: str) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the images and labels of a batch."""
        if not isinstance(batch, (tuple, list)) or len(batch) != len(self.names):
            raise ArgumentError(
                f"{name} needs batches with the fields {', '.join(self.names)}, not "
                f"{type(batch).__name__}: collate_fn or a function of map_batch returns another "
                "form. Mix before it, or leave it out."
            )
        images, labels = (batch[self.names.index(one)] for one in _NEEDED)
        if not isinstance(images, torch.Tensor) or images.dim() != 4:
            raise ArgumentError(
                f"{name} needs images of one size, a tensor (B, C, H, W). Give transforms with one "
                "size, such as reader.RandomResizedCrop(224), or collate_fn=reader.pad_collate."
            )
        is_index = isinstance(labels, torch.Tensor) and labels.dim() == 1
        if not is_index and not (isinstance(labels, torch.Tensor) and labels.dim() == 2):
            raise ArgumentError(f"{name} needs labels (B,), or shares of classes (B, num_classes).")
        if not is_index and labels.shape[1] != self.classes:
            raise ArgumentError(
                f"{name}: map_sample returns labels of {labels.shape[1]} classes, and num_classes "
                f"is {self.classes}. Give num_classes={labels.shape[1]}."
            )
        if is_index and labels.device.type == "cpu":  # on a GPU, looking would wait for it
            _check_range(labels.min().item(), labels.max().item(), self.classes, name)
        return images, labels


def with_mixer(
    given: Any, recipe: Recipe, dataset: Dataset
) -> Callable[[Any], Any] | Callable[[Any, SampleRandom], Any]:
    """Return a function of `map_batch`, or the mixer of a step that is given there.

    Raises:
        ArgumentError: the step does not fit to the loader's fields, views or labels.
    """
    if not is_mixing(given):
        function: Callable[[Any], Any] = given
        return function
    first, *_ = mixings(given)
    name = type(first).__name__
    if missing := [one for one in _NEEDED if one not in recipe.names]:
        raise ArgumentError(
            f"{name} mixes images and labels. Add {missing[0]!r} to fields=, or leave {name} out."
        )
    if recipe.further:
        raise ArgumentError(
            f"{name} does not mix several views of an image. Leave out views=, or mix them in a "
            "function given as map_batch=."
        )
    classes = first.num_classes or len(dataset.classes)
    if not classes:
        raise ArgumentError(
            f"{name}: {dataset.source} has no names of classes, which tell their number. Write "
            f"reader.{name}(num_classes=1000)."
        )
    if recipe.map_sample is None:
        labels = dataset.labels
        if len(unlabelled := (labels < 0).nonzero()[0]):
            raise ArgumentError(
                f"{name}: {len(unlabelled):,} of {len(labels):,} samples have no label (-1), the "
                f"first is {dataset.describe(int(unlabelled[0]))}. Read the others: "
                "reader.Loader(dataset.subset(dataset.labels >= 0), ...)."
            )
        _check_range(int(labels.min()), int(labels.max()), classes, name)
    return Mixer(given, recipe.names, int(classes))


def _check_range(least: float, most: float, classes: int, name: str) -> None:
    if most >= classes or least < -1:
        raise ArgumentError(
            f"{name}: there is a label {most if most >= classes else least:g}, but num_classes is "
            f"{classes}, for labels from 0 to {classes - 1}."
        )
