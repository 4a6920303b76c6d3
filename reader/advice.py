"""What to write in place of names of other libraries, and of misspelled ones.

A name of `_ADVICE` may be a pattern. Texts may contain ``{name}`` and the ``{value}`` that was
given.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, ParamSpec

from reader.errors import ArgumentError

P = ParamSpec("P")

_TO_DATASET = 'write reader.Loader(reader.Dataset("shards", {name}={value}))'
_TO_URL = f"{_TO_DATASET} with the URL of the dataset"
_TO_LOADER = 'write reader.Loader("shards", {name}={value})'
_TO_FOLDER = 'write reader.Dataset("shards"), with the folder or the URL of the dataset'
_FLOATS = (
    "leave it out: images arrive as uint8 tensors, and reader.CUDAPrefetcher(loader) makes floats "
    "from 0 to 1 of them"
)
_PIXELS = (
    "it changes pixels, so it belongs in map_sample: `change = torchvision.transforms.v2.{name}("
    '...)`, and `map_sample=lambda sample: sample | {{"image": change(torch.from_numpy('
    'sample["image"]).permute(2, 0, 1))}}`'
)
_MIXES = (
    "it mixes a batch: leave it out of transforms=, and write map_batch=reader.{name}(), with its "
    "arguments"
)

_ADVICE: dict[str, dict[str, str]] = {  # by the class, or "transforms", and the name
    "Loader": {
        "prefetch_factor": (
            "write batches_ahead={value}, the batches that all workers together decode ahead"
        ),
        "in_order": "leave it out, batches always come in order",
        "pin_memory_device": (
            "leave it out, and give pin_memory=True or use a reader.CUDAPrefetcher"
        ),
        "multiprocessing_context": "leave it out, the Loader chooses how its workers start",
        "num_samples": "write epoch_size={value}, the samples of an epoch",
        "generator": "write seed=0, which determines order and augmentation",
        "worker_init_fn": "leave it out, seed= determines what map_sample draws",
        "transform": (
            "write transforms=[reader.Resize(256), ...], or map_sample=function, called with the "
            "dict of each sample"
        ),
        "weights": "write sampler=reader.Weighted(weights) or sampler=reader.ClassBalanced()",
        "decoders": 'write fields=("image", reader.Member("exr", decode=function))',
        "target_transform": "write map_sample=function, called with the dict of each sample",
        **dict.fromkeys(
            ("subset", "upright", "limits", "channels", "target", "cache_limit"), _TO_DATASET
        ),
        **dict.fromkeys(("cache_dir", "storage_options", "credential_provider"), _TO_URL),
    },
    "Dataset": {
        **dict.fromkeys(("local", "remote", "root", "path", "data_dir"), _TO_FOLDER),
        **dict.fromkeys(("batch_size", "shuffle", "seed", "drop_last"), _TO_LOADER),
        **dict.fromkeys(("num_workers", "transforms", "fields"), _TO_LOADER),
    },
    "Mix": {
        "weights": "write reader.Mix([(first, 0.7), (second, 0.3)]), a number for each dataset"
    },
    "transforms": {
        "Compose": "write a list: transforms=[reader.RandomResizedCrop(224), ...]",
        "Normalize": (
            "write reader.CUDAPrefetcher(loader, mean=reader.IMAGENET_MEAN, "
            "std=reader.IMAGENET_STD), which normalises on the GPU"
        ),
        **dict.fromkeys(("ToTensor", "PILToTensor", "ToImage", "ToPureTensor"), _FLOATS),
        **dict.fromkeys(("ToDtype", "ConvertImageDtype", "ToPILImage"), _FLOATS),
        **dict.fromkeys(("MixUp", "CutMix"), _MIXES),
        **dict.fromkeys(("Elastic*", "Pad", "RGB", "Random*"), _PIXELS),
    },
}


def instead_of(what: str, name: str, value: object = None) -> str | None:
    """Return what to write in place of a name that `what` lacks; None if it is unknown."""
    from fnmatch import fnmatchcase  # rarely used

    texts = (text for known, text in _ADVICE[what].items() if fnmatchcase(name, known))
    return next((text.format(name=name, value=f"{value!r:.200}") for text in texts), None)


def unchangeable(what: str, name: str, value: object) -> ArgumentError:
    """Return the error for an argument that is set on an object that was already made."""
    advice = instead_of(what, name, value) if what in _ADVICE else None
    return ArgumentError(
        f"{name} cannot be set after the {what} is made: it would change nothing. Make a new "
        f"reader.{what}{f': {advice}' if advice else f' with {name}={value!r:.200}'}."
    )


def explained(*further: str) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """Make an ``__init__`` raise ArgumentError for arguments that do not fit.

    `further` are the names that it accepts in its ``**`` parameter.
    """

    def decorate(init: Callable[P, None]) -> Callable[P, None]:
        signature, what = inspect.signature(init), init.__qualname__.partition(".")[0]
        _, *parameters = signature.parameters.values()
        known = [one.name for one in parameters if one.kind is not one.VAR_KEYWORD]

        @wraps(init)
        def call(*args: P.args, **kwargs: P.kwargs) -> None:
            names = [*known, *further]
            _refuse(what, {name: kwargs[name] for name in kwargs if name not in names}, names)
            try:
                signature.bind(*args, **kwargs)
            except TypeError as error:
                text = f"reader.{what}: {error}. Its arguments are {', '.join(known)}."
                raise ArgumentError(text) from None
            init(*args, **kwargs)

        return call

    return decorate


def _refuse(what: str, unknown: Mapping[str, Any], known: Sequence[str]) -> None:
    """Raise an error that names all `unknown` keywords, if there is advice for any of them."""
    from difflib import get_close_matches  # rarely used

    texts = []
    for name, value in unknown.items():
        close = get_close_matches(name, [*known, *_ADVICE[what]], 1)
        if instead := instead_of(what, name, value):
            texts.append(f": {instead}.")
        else:
            texts.append(f". Did you mean {close[0]}={value!r:.200}?" if close else ".")
    if set(texts) - {"."}:
        pairs = zip(unknown, texts, strict=True)
        raise ArgumentError(" ".join(f"A {what} has no {name}={text}" for name, text in pairs))
