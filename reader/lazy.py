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
    places: Mapping[str, str],
    present: Sequence[str] = (),
    instead_of: Callable[[str], str | None] = lambda name: None,
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The ``__getattr__`` and ``__dir__`` of a package.

    Args:
        package: its name.
        places: public name -> the module that defines it.
        present: public names that the package itself defines.
        instead_of: gives what to write in place of a name that the package has not, or None.
    """

    def get(name: str) -> Any:
        if name not in places:
            advice = instead_of(name) if name[:1].isupper() else None  # others may be submodules
            because = f": {advice}" if advice else ""
            raise AttributeError(f"module {package!r} has no attribute {name!r}{because}")
        return getattr(import_module(places[name]), name)

    return get, lambda: sorted([*places, *present])
