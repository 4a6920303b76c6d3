"""The forms that are known; a file is of the first one that it fits."""

from packer.layouts.exports.benchmarks import BENCHMARKS
from packer.layouts.exports.form import Form
from packer.layouts.exports.services import SERVICES
from packer.layouts.exports.tools import TOOLS
from packer.trees.tree import Tree

FORMS = (*TOOLS, *SERVICES, *BENCHMARKS)
_BEGINNING = 1 << 16  # bytes that are looked at


def form_of(tree: Tree, path: str) -> Form | None:
    """Return the form of a file, by its beginning."""
    name, beginning = path.rpartition("/")[2], tree.begin(path, _BEGINNING)
    return next((form for form in FORMS if form.fits(name, beginning)), None)
