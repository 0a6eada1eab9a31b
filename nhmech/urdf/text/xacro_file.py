"""Expanding xacro with the `xacro` package, in a process of its own.

xacro keeps what it works on in globals of its modules, may end the process, writes its warnings to
standard error, and finds ROS packages through ROS's own index alone. A child process is the one
place where all of that disturbs nobody, however many threads load robots.
"""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from lxml import etree

from ...errors import ModelError
from ...paths import require_file
from ..packages import find_package
from ..remedy import option, suggest
from .fault import Element
from .slips import decode, drop_declaration

_PATIENCE = 60      # seconds; the largest robots known take three
_UNDEFINED = re.compile(r"[Uu]ndefined substitution argument '?(\w+)")
_NAMED = re.compile(r"when evaluating expression '(.*)'")
_FIND = re.compile(r"\$\(\s*find\s+([\w.-]+)\s*\)")
_EXPRESSION = re.compile(r"\$\{|\$\((find|arg|eval|env|optenv|dirname|cwd)\b")
_MACRO = re.compile(r"""<(?:xacro:)?macro\s[^>]*?\bname\s*=\s*["']([^"']+)["']""")
# the name of an included file; of what xacro puts into it, no more than $(find NAME) is known here
_INCLUDE = re.compile(r"""<(?:xacro:)?include\s[^>]*?\bfilename\s*=\s*["']"""
                      r"""((?:[^"'$]|\$\(\s*find\s[^)"']*\))+)["']""")
_MOST_INCLUDES = 200
_LOST = "package://"       # how the path of a package begins that is nowhere
_PARAMETER = re.compile(r"""(\*{0,2}[^\s:=]+)"""
                        r"""(\s*:?=\s*\^?\|?(?:\$\{.*?\}|\$\(.*?\)|'[^']*'|"[^"]*"|[^\s'"])*)?""")
# what a URDF may hold: no calls of macros, whatever those are called
_URDF = {"robot", "link", "joint", "inertial", "visual", "collision", "origin", "mass", "inertia",
         "geometry", "box", "cylinder", "sphere", "capsule", "mesh", "material", "color", "texture",
         "axis", "limit", "dynamics", "mimic", "parent", "child", "safety_controller",
         "calibration", "gazebo", "transmission", "sensor", "ros2_control", "nhmech"}
# elements of the xacro of ROS Jade and older, which needed no prefix -> the attribute they had
_PLAIN = {"property": "name", "macro": "name", "include": "filename", "if": "value",
          "unless": "value", "insert_block": "name", "arg": "name"}
_FOREIGN = ("gazebo", "transmission", "plugin", "sensor")   # in which other programs have the word
# the child sees the modules that its parent sees, and none of its current folder
_CHILD = ("import json, sys; job = json.load(sys.stdin); sys.path[:] = job.pop('modules'); "
          "from nhmech.urdf.text.xacro_file import expand; print(json.dumps(expand(**job)))")


class Macro(NamedTuple):
    """A macro that a file defines: its name, its parameters without a default, and how many blocks
    of elements it takes."""

    name: str
    parameters: tuple[str, ...]
    blocks: int


def is_xacro_path(path: Path) -> bool:
    """Whether a file name is that of a xacro file: robot.xacro, robot.urdf.xacro,
    robot.xacro.urdf."""
    return "xacro" in path.name.lower().split(".")[1:]


def uses_xacro(root: Element) -> bool:
    """Whether there is xacro in it: its elements, with or without prefix, or its expressions."""
    return (any(is_xacro(element) or _is_plain_xacro(element) for element in root.iter("*"))
            or any(has_expression(element) for element in root.iter("*")))


def has_expression(element: Element) -> bool:
    """Whether an attribute of an element that nhmech reads holds ${...} or $(...)."""
    return (any(_EXPRESSION.search(str(value)) for value in element.attrib.values())
            and not _is_foreign(element))


def find_uncalled(root: Element) -> tuple[Macro, ...]:
    """Macros of an unexpanded file that nothing in it calls, those with the longest text first."""
    called = {_local(element) for element in root.iter("*")}
    macros = [element for element in root.iter("*") if _local(element) == "macro"
              and (is_xacro(element) or _is_plain_xacro(element)) and element.get("name")]
    macros.sort(key=lambda element: -len(etree.tostring(element)))
    return tuple(_read_macro(element) for element in macros if element.get("name") not in called)


def _read_macro(element: Element) -> Macro:
    found = _PARAMETER.findall(element.get("params") or "")
    blocks = [name for name, _ in found if name.startswith("*")]
    return Macro(element.get("name", ""), tuple(name for name, default in found
                                                if not default and name not in blocks),
                 len(blocks))


def expand_xacro(text: str, path: Path | None, packages: Mapping[str, Path],
                 arguments: Mapping[str, str] | None = None) -> str:
    """The plain URDF text of a xacro file; `$(find NAME)` is resolved by `nhmech.urdf.packages`.

    A package that is nowhere is no error where only meshes come from it. Relative includes of a
    text without a path are looked up in the current folder; `<xacro:arg>`s that `arguments` leaves
    out take their defaults.
    """
    label = "<string>" if path is None else path.name
    if importlib.util.find_spec("xacro") is None:
        raise ModelError(f"{label} is xacro and the Python package 'xacro' is not installed: "
                         "pip install xacro")
    job = {"modules": sys.path, "text": text, "file": None if path is None else str(path),
           "packages": {name: str(folder) for name, folder in packages.items()},
           "arguments": {name: str(value) for name, value in (arguments or {}).items()}}
    try:
        child = subprocess.run([sys.executable, "-c", _CHILD], input=json.dumps(job),
                               capture_output=True, encoding="utf-8", errors="replace",
                               timeout=_PATIENCE)
    except subprocess.TimeoutExpired:
        raise ModelError(f"{label}: xacro did not finish within {_PATIENCE} s; look for endless "
                         "recursion in a macro or an expression") from None
    answer = json.loads(child.stdout) if child.returncode == 0 else {}
    if "text" in answer:
        return answer["text"]
    if missing := answer.get("packages"):
        found = ", ".join(f"$(find {name})" for name in missing)
        raise ModelError(f"{label}: {found}: no such ROS package" + "s" * (len(missing) > 1),
                         suggest("Say where it is: " if len(missing) == 1 else
                                 "Say where they are: ",
                                 option("packages", {name: "FOLDER" for name in missing})))
    detail = answer.get("error") or child.stderr.strip() or f"exit code {child.returncode}"
    undefined = _UNDEFINED.search(detail)
    remedy = None if undefined is None else suggest(
        "It is an argument without a default: pass ", option("arguments", {undefined[1]: "VALUE"}))
    raise ModelError(f"{label}{_locate(text, detail)}: xacro could not expand it: {detail}",
                     remedy)


def _locate(text: str, detail: str) -> str:
    """', line 12': where a file has the expression that xacro's message names; else nothing."""
    named = _NAMED.search(detail)
    if named is None or named[1] not in text:
        return ""
    return f", line {text.partition(named[1])[0].count(chr(10)) + 1}"


def expand(text: str, file: str | None, packages: Mapping[str, str],
           arguments: dict[str, str]) -> dict[str, Any]:
    """The child's work: {"text": URDF}, or {"packages": names} of those that are missing, or
    {"error": message}."""
    folder = Path(file).resolve().parent if file else Path.cwd()
    folders = {name: Path(place) for name, place in packages.items()}

    def find(name: str) -> str:
        found = find_package(name, folders, folder)
        return f"package://{name}" if found is None else str(found)      # enough for a mesh

    # xacro asks ROS's package index, of which this is all that it uses
    index = ModuleType("ament_index_python.packages")
    vars(index)["get_package_share_directory"] = find
    sys.modules["ament_index_python"] = ModuleType("ament_index_python")
    sys.modules[index.__name__] = index
    import xacro

    read, texts = xacro.parse, list(_walk_includes(text, folder, find))
    macros = {name for one in texts for name in _MACRO.findall(one)} - _URDF

    def parse(source: Any, filename: str = "") -> Any:
        """Included files are read as the first one is: in any encoding, with prefixes or not."""
        if source is None:
            try:
                source = _read(Path(filename))
            except OSError as error:
                why = error.strerror or error
                raise xacro.XacroException(f"{why}: {filename}", exc=error) from error
        document = read(source)
        _add_prefixes(document.documentElement, macros)
        return document

    xacro.parse = parse
    try:
        xacro.init_stacks(file)
        document = parse(text)
        xacro.process_doc(document, mappings=arguments)
        return {"text": document.toprettyxml(indent="  ")}
    except (Exception, SystemExit) as error:  # xacro has no single root of its errors, and may exit
        if _LOST in str(error):
            names = dict.fromkeys(name for one in texts for name in _FIND.findall(one))
            return {"packages": [name for name in names if find(name).startswith(_LOST)]}
        return {"error": str(error).strip() or type(error).__name__}


def _walk_includes(text: str, folder: Path, find: Callable[[str], str],
                   seen: set[Path] | None = None) -> Iterator[str]:
    """A file's text and those of the files that it includes by name, theirs too."""
    yield text
    seen = set() if seen is None else seen
    for name in _INCLUDE.findall(text):
        path = folder / _FIND.sub(lambda m: find(m[1]), name)
        if path not in seen and len(seen) < _MOST_INCLUDES:
            seen.add(path)
            try:
                included = _read(path)
            except (OSError, ValueError):
                continue
            yield from _walk_includes(included, path.parent, find, seen)


def _read(path: Path) -> str:
    require_file(path)
    return drop_declaration(decode(path.read_bytes())[0])[0]


def _add_prefixes(node: Any, macros: Collection[str]) -> None:
    """Gives elements of xacro, and calls of macros, the prefix that xacro requires today."""
    for child in node.childNodes:
        if child.nodeType != child.ELEMENT_NODE or child.tagName in _FOREIGN:
            continue
        if child.tagName in macros or child.hasAttribute(_PLAIN.get(child.tagName, "")):
            child.tagName = child.nodeName = f"xacro:{child.tagName}"
        _add_prefixes(child, () if child.tagName == "nhmech" else macros)


def _local(element: Element) -> str:
    return etree.QName(element).localname


def is_xacro(element: Element) -> bool:
    """Whether an element is in the namespace of xacro."""
    return "xacro" in (etree.QName(element).namespace or "")


def _is_plain_xacro(element: Element) -> bool:
    return (element.tag in _PLAIN and element.get(_PLAIN[element.tag]) is not None
            and not _is_foreign(element))


def _is_foreign(element: Element) -> bool:
    """Whether an element is inside one of those that other programs read."""
    return any(one.tag in _FOREIGN for one in (element, *element.iterancestors()))
