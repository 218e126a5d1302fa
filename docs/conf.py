"""Settings of the documentation; `./scripts/docs` builds it."""

import sys
from importlib.metadata import version as installed
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "Meshwright"
author = "The Meshwright authors"
copyright = "The Meshwright authors; Apache 2.0"
version = release = installed("meshwright")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "command_line", "public_face"]
exclude_patterns = ["_build"]

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4

default_role = "code"  # docstrings write `name` as Markdown does
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
autodoc_type_aliases = {
    name: name.rpartition(".")[2]
    for name in ("npt.ArrayLike", "NameSource", "PublicationSource", "Ids", "Offsets", "Floats", "Flags")
}
python_maximum_signature_line_length = 90
napoleon_numpy_docstring = False
nitpick_ignore_regex = [
    # Types of other packages and private ones; links to other sites would need a network.
    ("py:(class|obj|data|func|meth|exc|attr)", r"(?!meshwright\.).*"),
    ("py:class", r"meshwright\.\w+(\.\w+)+"),
]

html_theme = "furo"
html_title = f"Meshwright {version}"
html_static_path = ["_static"]
html_css_files = ["meshwright.css"]
html_copy_source = False
html_show_sourcelink = False
pygments_style = "friendly"
pygments_dark_style = "github-dark"
