"""Sphinx's configuration for these pages; scripts/docs.sh runs it with warnings as errors."""

import ast
import re
from pathlib import Path

from packer import __version__

project = "shardfeed"
copyright = "the shardfeed authors"  # Sphinx's name for it
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_click",
]
exclude_patterns = ["_build"]
default_role = "py:obj"  # `Loader` in a docstring is a link where there is such an object
nitpicky = False

autodoc_default_options = {"members": True}
autoclass_content = "both"  # a class's docstring, then that of its __init__
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 80
napoleon_numpy_docstring = False
napoleon_use_ivar = True

myst_enable_extensions = ["attrs_block", "colon_fence", "deflist"]
myst_heading_anchors = 3

html_theme = "pydata_sphinx_theme"
html_title = "shardfeed"
html_static_path = ["_static"]
html_css_files = ["shardfeed.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button"],
    "header_links_before_dropdown": 7,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}
html_sidebars = {"index": [], "quick-start": []}

LAYOUTS = Path(__file__).parent.parent / "packer" / "sources" / "readings" / "published"


def add_layouts(app: object, page: str, source: list[str]) -> None:
    """Fill the list of layouts from the docstrings of the functions that recognise them."""
    if page == "packing/layouts":
        nodes = [node for path in LAYOUTS.glob("*.py") for node in ast.parse(path.read_text()).body]
        functions = [node for node in nodes if isinstance(node, ast.FunctionDef)]
        docstrings = [ast.get_docstring(f) or "" for f in functions if not f.name.startswith("_")]
        texts = [re.sub(r"(https?://[^\s,]*[^\s,.;:])", r"<\1>", text) for text in docstrings]
        heads = (text.partition("\n\n") for text in sorted(texts, key=str.lower))
        items = [f"{head.rstrip('.')}\n: {' '.join(rest.split())}" for head, _, rest in heads]
        source[0] = source[0].replace("<!-- layouts -->", "\n\n".join(items))


def setup(app: object) -> None:
    """Register `add_layouts`."""
    app.connect("source-read", add_layouts)  # type: ignore[attr-defined]
