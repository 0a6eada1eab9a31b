"""The reference of the documentation: a page for each package, made of docstrings: plain text with
indented tables."""

from __future__ import annotations

import importlib
import pkgutil
import re
from pathlib import Path

import nhmech

TITLES = {
    "nhmech": "Top level", "mechanics": "Mechanics", "systems": "Textbook systems",
    "vehicle": "Vehicles",
    "compile": "Compilation", "simulation": "Simulation", "analysis": "Analysis",
    "control": "Controllers",
    "view": "Pictures", "logs": "Run files to other formats",
}
TABLE = re.compile(r"^\s|\S {2,}\S", re.M)      # an indented line, or columns


def prose(text: str) -> str:
    """Plain sentences as reStructuredText: names in backticks are code, everything else stands for
    itself."""
    parts = re.split(r"(`[^`\n]+`)", text)
    for i, part in enumerate(parts):
        if i % 2:
            before, after = parts[i - 1][-1:], parts[i + 1][:1]
            parts[i] = (
                ("\\ " if before.isalnum() else "")
                + f"`{part}`"
                + ("\\ " if after.isalnum() else "")
            )
        else:
            parts[i] = re.sub(r"([\\*|_`])", r"\\\1", part)
    return "".join(parts)


def shown_as_reference(app, what, name, obj, options, lines: list[str]) -> None:
    """Paragraphs stay paragraphs; tables, equations and whatever else is laid out by spaces stays
    as it was typed."""
    blocks = re.split(r"\n\s*\n", "\n".join(lines).strip("\n"))
    found: list[str] = []
    for i, block in enumerate(blocks):
        if not block.strip():
            continue
        if TABLE.search(block) and (i or len(blocks) == 1 or block.startswith(" ")):
            found += [".. code-block:: none", "", *("   " + line for line in block.splitlines()),
                      ""]
        else:
            found += [*prose(block).splitlines(), ""]
    lines[:] = found


def modules() -> dict[str, list[str]]:
    """Package -> its modules that can be imported here; single modules stand under the top
    level."""
    found: dict[str, list[str]] = {"nhmech": []}
    for info in pkgutil.walk_packages(nhmech.__path__, "nhmech."):
        package = info.name.split(".")[1]
        if info.name.rpartition(".")[2].startswith("_") or package == "cli":
            continue
        try:
            importlib.import_module(info.name)
        except ImportError:
            continue                                    # of an extra that is not installed
        found.setdefault(package if info.ispkg or info.name.count(".") > 1 else "nhmech",
                         []).append(info.name)
    return found


def write_reference(folder: Path) -> None:
    """A page for each package, and their index; files that would not change are left alone."""
    folder.mkdir(exist_ok=True)
    pages = {package: names for package, names in modules().items() if names}
    for package, names in pages.items():
        title = TITLES.get(package, package.capitalize())
        parts = [title, "=" * len(title), ""]
        for name in names:
            if (importlib.import_module(name).__doc__ or "").strip() or len(names) == 1:
                parts += [name, "-" * len(name), "", f".. automodule:: {name}", "   :members:", ""]
        _write(folder / f"{package}.rst", "\n".join(parts))
    public = [f"* :py:obj:`~{home(name)}`"
              for name in nhmech.__all__ if name not in ("__version__", "errors")]
    _write(folder / "index.rst", "\n".join([
        "Reference", "=========", "",
        "Every public name with its equation, shapes, units and errors, as in the code. "
        "What ``import nhmech`` offers:", "",
        *public, "", ".. toctree::", "   :maxdepth: 1", "", *(f"   {package}" for package in pages),
        ""]))


def write_output(folder: Path) -> None:
    """What commands print, as it is at the time of the build."""
    from click.testing import CliRunner

    from nhmech.cli import main
    from nhmech.control.registry import controller_class, controller_names, one_line

    def printed(*words: str) -> str:
        done = CliRunner().invoke(main, words, catch_exceptions=False)
        if done.exit_code:
            raise RuntimeError(f"nhmech {' '.join(words)}: {done.output}")
        return done.output

    folder.mkdir(exist_ok=True)
    _write(folder / "inspect.txt", printed("inspect", "differential_drive"))
    names = controller_names()
    lines = {name: one_line(controller_class(name)).replace("|", "\\|") for name in names}
    table = ["| name | what it does |", "|---|---|",
             *(f"| `{name}` | {line} |" for name, line in lines.items())]
    _write(folder / "controllers.md", "\n".join([*table, ""]))
    parts = [(f"### {name}", "", "```text", printed("controllers", name).rstrip(), "```",
              "") for name in names]
    _write(folder / "controllers_in_full.md", "\n".join(line for part in parts for line in part))


def home(name: str) -> str:
    value = getattr(nhmech, name)
    return f"{value.__module__}.{name}"


def _write(file: Path, text: str) -> None:
    if not file.is_file() or file.read_text() != text:
        file.write_text(text)
