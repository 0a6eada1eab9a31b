"""Sphinx: `make docs` builds these pages into out/docs."""

import gc
import importlib.util
import inspect
import re
import sys
from pathlib import Path

from docutils.nodes import Text, math_block
from sphinx.util.docutils import SphinxDirective
from sphinx.util.inspect import stringify_signature

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from contents import add_contents  # noqa: E402
from driven_pages import link, write_pages  # noqa: E402

import nhmech  # noqa: E402
from nhmech.lazy import LazyPackage  # noqa: E402

# Pages live to the end of the build: to look for garbage in them takes a third of its time.
gc.set_threshold(100_000, 10, 1000)

project, author, release = "nhmech", "nhmech developers", nhmech.__version__
copyright = "nhmech developers"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.mathjax",
              "sphinx.ext.napoleon"]
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
html_js_files = ["fit.js"]

default_role = "py:obj"
highlight_language = "none"      # equations; Python says so
add_module_names = False
toc_object_entries_show_parents = "hide"
python_maximum_signature_line_length = 80
python_use_unqualified_type_names = True
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_inherit_docstrings = False
autodoc_preserve_defaults = True
autodoc_default_options = {"members": True, "special-members": "__call__"}
autodoc_mock_imports = [name for name in ("gymnasium",) if importlib.util.find_spec(name) is None]
autosummary_generate = False
napoleon_google_docstring = False
napoleon_attr_annotations = False
napoleon_use_param = False      # `q, v` stays one entry
napoleon_custom_sections = [("Attributes", "params_style")]

PACKAGES = [nhmech, *(value for value in map(nhmech.__getattr__, nhmech.homes)
                      if isinstance(value, LazyPackage))]
# what a name in backticks stands for; the first package that has it wins
FULL_NAMES = {name: f"{package.__name__}.{name}"
              for package in reversed(PACKAGES) for name in package.__all__
              if name != "Path"}        # mostly pathlib's


class Entries(SphinxDirective):
    """Public names of the current module: a table of their first lines, then each in full."""

    has_content = True

    def run(self) -> list:
        names = " ".join(self.content).split()
        module = importlib.import_module(self.env.ref_context["py:module"])
        lines = [".. autosummary::", "   :nosignatures:", "", *(f"   {name}" for name in names), ""]
        for name in names:
            value = getattr(module, name)
            kind = "autoclass" if inspect.isclass(value) else "autofunction"
            lines += [f".. {kind}:: {name}"]
            # what a base that has no entry of its own gives it
            if any(base.__module__.startswith("nhmech") and base.__name__ not in FULL_NAMES
                   for base in getattr(value, "__bases__", ())):
                lines += ["   :inherited-members: Exception, Env, VectorEnv"]
            lines += [""]
        return self.parse_text_to_nodes("\n".join(lines))


def prepare(app, what, name, value, options, lines: list[str]) -> None:
    """Docstrings as napoleon should have them."""
    literal = None      # indentation of the paragraph whose "::" begins a literal block
    for i, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        if literal is not None and line and indent <= literal:
            literal = None
        if literal is None and not line.lstrip().startswith(">>>"):
            lines[i] = TOKEN.sub(_escape, line)
        if line.endswith("::"):
            literal = indent
    # what stands before a colon in the first line of a property is not its type
    if what == "property":
        lines.insert(0, "")


TOKEN = re.compile(r"``[^`]+``|`[^`]+`|\|")


def _escape(found: re.Match) -> str:
    """|x| is an absolute value, and `.npz` no name: a reference would lose its dot."""
    token = found.group()
    if token.startswith("`."):
        return f"`{token}`"
    return "\\|" if token == "|" else token


def write_types(app, what, name, value, options, signature, returned):
    """Types as the code writes them: `ArrayLike`, not what it stands for."""
    if not signature or what not in ("class", "function", "method"):
        return None
    written = inspect.signature(value)
    names = list(written.parameters.values())
    if names and names[0].name in ("self", "cls"):
        written = written.replace(parameters=names[1:])
    if what == "class":
        written = written.replace(return_annotation=inspect.Signature.empty)
    shown = stringify_signature(written).replace("<factory>", "...")
    text, arrow, returned = shown.rpartition(" -> ")
    return (text, returned) if arrow else (returned, "")


def find_public_name(app, env, node, content):
    """A link for `Simulator` or `Simulator.reset`, from wherever it is written."""
    if node.get("reftype") not in ("obj", "class", "exc"):
        return None
    name, dot, rest = node["reftarget"].removeprefix("nhmech.").partition(".")
    target = FULL_NAMES.get(name, "") + dot + rest
    domain = env.get_domain("py")
    if target not in domain.objects:
        return None
    return domain.resolve_xref(env, node["refdoc"], app.builder, "obj", target, node, content)


def complete(app, docname: str, source: list[str]) -> None:
    """What a page has on the site beside what it has on a Git host."""
    source[0] = add_contents(docname, source[0])
    if app.builder.format == "html":
        source[0] = link(docname, source[0])


def number_displays(app, tree) -> None:
    """Formulas with a number as MathJax reads them: `split`, which Sphinx would add, takes none."""
    for node in tree.findall(math_block):
        if r"\tag" in node.astext():
            node[:] = [Text(rf"\begin{{equation}}{node.astext()}\end{{equation}}")]
            node["no-wrap"] = node["nowrap"] = True


def finish(app, error: Exception | None) -> None:
    if error is None and app.builder.format == "html":
        write_pages(Path(app.outdir))


# pages that stand in the repository's folder; here they only link to them
LINKED = {"notation": "NOTATION.md", "references": "REFERENCES.md", "changes": "CHANGELOG.md"}


def read_linked(app, name: str, source: list[str]) -> None:
    """The page itself in the place of a link to it."""
    if name in LINKED:
        source[0] = (HERE.parent / LINKED[name]).read_text()


def setup(app):
    app.add_directive("entries", Entries)
    app.connect("autodoc-process-docstring", prepare, priority=400)     # napoleon has 500
    app.connect("autodoc-process-signature", write_types)
    app.connect("missing-reference", find_public_name)
    app.connect("source-read", complete)
    app.connect("build-finished", finish)
    app.connect("doctree-read", number_displays)
    app.connect("source-read", read_linked)
