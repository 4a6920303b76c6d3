"""Import public names on first use (PEP 562).

A worker, a packing process and ``packer --help`` need a few names of the packages, and should not
load a decoder, torch or a network library for the others.

A public class sets ``__module__ = "reader"``: messages and pickles have its public name, and a
pickle survives the move of a file. (`inspect.getsource` of the class fails in return.)
"""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def lazy(
    package: str,
    modules: Mapping[str, str],
    present: Sequence[str] = (),
    advice: str | None = None,
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the ``__getattr__`` and ``__dir__`` of a package from its public names, by module.

    `present` are names that the package defines itself. The function `instead_of` of the module
    `advice` returns a replacement for a transform's name, or None; then a similar name is
    suggested.
    """
    module_of = {name: module for module, names in modules.items() for name in names.split()}

    def get(name: str) -> Any:
        if name not in module_of:
            from difflib import get_close_matches  # rarely used

            because = ""
            is_misspelled = get_close_matches(name, module_of, 1, 0.85)
            if advice and not is_misspelled and name[:1].isupper():  # others may be submodules
                instead = import_module(advice).instead_of("transforms", name)
                because = f": {instead}" if instead else ""
            if not because and not name.startswith("_"):
                close = get_close_matches(name, module_of, 1)
                because = f". Did you mean {package}.{close[0]}?" if close else ""
            raise AttributeError(f"module {package!r} has no attribute {name!r}{because}")
        return getattr(import_module(module_of[name]), name)

    return get, lambda: sorted([*module_of, *present])
