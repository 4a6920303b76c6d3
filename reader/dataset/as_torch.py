"""Make a map-style dataset torch's, without importing torch.

isinstance() also reads an object's ``__class__`` (PEP 3119): once torch is imported, this is a
subclass of torch's Dataset, regardless of which package was imported first.
"""

import sys
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch.utils.data import ConcatDataset


class LikeTorchDataset:
    def _class_seen(self) -> Any:
        kind: Any = type(self)
        base = getattr(sys.modules.get("torch.utils.data"), "Dataset", None)
        return kind if base is None else _both(kind, base)

    __class__ = property(_class_seen)

    def __reduce__(self) -> tuple[Any, ...]:
        # pickle's default, if `__class__` is the type.
        return object.__new__, (type(self),), self.__getstate__()  # type: ignore[attr-defined]

    def __add__(self, other: Any) -> "ConcatDataset[Any]":
        from torch.utils.data import ConcatDataset

        return ConcatDataset([self, other])  # type: ignore[list-item]


@cache
def _both(kind: type, base: type) -> type:
    if issubclass(kind, base):
        return kind
    return type(kind.__name__, (kind, base), {"__module__": kind.__module__})
