"""Public names that are imported when they are first used (PEP 562).

A worker, a packing process and ``packer --help`` import the packages for a few of their names; none
of them should load a decoder, torch or a network library for the others.

A public class says ``__module__ = "reader"``: what is printed, raised or pickled names it as people
do, and a pickle outlives the move of a file. (`inspect.getsource` of the class fails, in return.)
"""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def lazy(
    package: str,
    places: Mapping[str, Sequence[str]],
    present: Sequence[str] = (),
    advice: str | None = None,
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the ``__getattr__`` and ``__dir__`` of a package with public names, by module.

    `present` are names that the package defines. The module `advice` has an `instead_of`, which
    gives what to write for other names, or None.
    """
    module_of = {name: module for module, names in places.items() for name in names}

    def get(name: str) -> Any:
        if name not in module_of:
            because = ""
            if advice and name[:1].isupper():  # others may be submodules
                told = import_module(advice).instead_of(name)
                because = f": {told}" if told else ""
            raise AttributeError(f"module {package!r} has no attribute {name!r}{because}")
        return getattr(import_module(module_of[name]), name)

    return get, lambda: sorted([*module_of, *present])
