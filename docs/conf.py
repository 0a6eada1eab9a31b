"""Sphinx: `make docs` builds these pages into out/docs."""

import importlib.util
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from docstrings import shown_as_reference, write_output, write_reference  # noqa: E402

from nhmech.version import __version__  # noqa: E402

project, author, release = "nhmech", "nhmech developers", __version__
copyright = "nhmech developers"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.mathjax"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
myst_enable_extensions = ["amsmath", "dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["output"]
html_theme = "furo"
html_title = f"nhmech {release}"
# Formulas are drawn by this one file, so the pages need no network; of the package's MathJax
# nothing else is taken.
mathjax = importlib.util.find_spec("sphinx-mathjax-offline")
if mathjax is None:
    sys.exit("the formulas need the package sphinx-mathjax-offline: pip install '.[docs]'")
MATHJAX = Path(mathjax.origin).parent / "static" / "mathjax" / "tex-svg.js"
mathjax_path = MATHJAX.name
html_static_path = ["static", str(MATHJAX)]
html_css_files = ["wide.css"]
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_inherit_docstrings = False
autodoc_preserve_defaults = True
python_maximum_signature_line_length = 100
nitpicky = False


def setup(app):
    app.connect("builder-inited",
                lambda app: (write_reference(HERE / "api"), write_output(HERE / "output")))
    app.connect("autodoc-process-docstring", shown_as_reference)
