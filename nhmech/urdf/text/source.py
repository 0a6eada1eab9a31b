"""A robot's XML: read from a path, a string or a xacro file, and its attributes as numbers."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any, TypeVar, overload

from lxml import etree

from ...errors import InputError, ModelError, Remedy, listed
from ...paths import require_file, urdf_names
from ..mesh_files import MeshFiles
from ..packages import find_package, read_packages
from .fault import Element, ElementError, Fault, Mend, element_name, from_slip
from .slips import Slip, decode, drop_declaration, mend_slips
from .xacro_file import Macro, expand_xacro, find_uncalled, is_xacro_path, uses_xacro

Triple = tuple[float, float, float]
Default = TypeVar("Default")

_LARGEST_FILE = 1 << 26  # bytes; the largest robots known have less than 1 << 20
# SI units; a larger length, mass or inertia is a typing error, and products of such numbers
# overflow
_LARGEST = 1e12
_SMALLEST = 1e-100     # a smaller number stands for 0, and its inverse would overflow
_REQUIRED = object()       # the default of an attribute that must be there
_UNBOUNDED = ("lower", "upper", "effort", "velocity")  # often given as 1e16 to mean "none"
# what files of other formats begin with
_FORMATS = {
    "sdf": "SDF, the format of Gazebo", "model": "SDF, the format of Gazebo",
    "world": "SDF, the format of Gazebo", "mujoco": "MJCF, the format of MuJoCo",
    "mujocoinclude": "MJCF, the format of MuJoCo", "COLLADA": "a mesh",
    "launch": "a ROS launch file", "package": "the manifest of a ROS package",
    "html": "a web page; download the file itself (on GitHub: Raw)",
}
_GROUPED = re.compile(r",\d{3}(?!\d)")      # 1,000 is one thousand to some and one to others


@dataclass(frozen=True)
class Source:
    """A robot's XML, its attributes as numbers, and where in the file they stand."""

    root: Element  # the `<robot>` element; edited in place by `nhmech.urdf.repair` and `straighten`
    label: str  # how messages call it: the file's name, or "<string>"
    path: Path | None = None  # the file; None for a string
    # ROS package name -> folder, for every package:// in the text that could be found
    packages: dict[str, Path] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()  # what was wrong with the text, and is mended
    macros: tuple[Macro, ...] = ()  # of its xacro, those that nothing calls
    # those that were opened
    meshes: MeshFiles = field(default_factory=MeshFiles, repr=False)

    @property
    def text(self) -> str:
        """The URDF as it stands now, repairs included."""
        return etree.tostring(self.root, encoding="unicode")

    def at(self, element: Element) -> str:
        """'file.urdf, line 12, <joint name="left">': where an element stands."""
        return f"{self.label}, line {element.sourceline}, {element_name(element)}"

    def error(self, element: Element, message: str, remedy: Remedy | None = None,
              mend: Mend | None = None) -> ElementError:
        """The error to raise about an element."""
        return ElementError(self.label, element, message, remedy, mend)

    def child(self, element: Element, tag: str) -> Element:
        """The first child element of that tag. Raises `ModelError` if there is none."""
        found = element.find(tag)
        if found is None:
            raise self.error(element, f"<{tag}> is missing; add it")
        return found

    def number(self, element: Element, attribute: str, default: float | None = None) -> float:
        """One finite number; `default` where the attribute is missing."""
        text = element.get(attribute)
        if text is None:
            if default is None:
                raise self.error(element, f"attribute {attribute}= is missing; give it a number")
            return default
        return self._read(element, attribute, text, 1)[0]

    def numbers(self, element: Element, attribute: str, length: int) -> tuple[float, ...]:
        """`length` finite numbers separated by spaces. Raises `ModelError` as `number` does."""
        text = element.get(attribute)
        if text is None:
            raise self.error(element, f"attribute {attribute}= is missing; "
                                      f"give it {length} numbers separated by spaces")
        return self._read(element, attribute, text, length)

    @overload
    def triple(self, element: Element, attribute: str) -> Triple: ...

    @overload
    def triple(self, element: Element, attribute: str, default: Default) -> Triple | Default: ...

    def triple(self, element: Element, attribute: str, default: Any = _REQUIRED) -> Any:
        """Three finite numbers; `default` where the attribute is missing."""
        if default is not _REQUIRED and element.get(attribute) is None:
            return default
        return self.numbers(element, attribute, 3)

    def _read(self, element: Element, attribute: str, text: str, length: int) -> tuple[float, ...]:
        values = _read_words(text)
        given = f"{attribute}={text!r}"
        if values is None:
            # each word may be a number, and the spaces between them no spaces to a parser
            odd = next((word for word in text.split() if _read_words(word) is None), text)
            comma = "; write decimals with a point and separate numbers by spaces"
            raise self.error(element, f"{given}: {odd!r} is not a number"
                                      f"{comma if ',' in text else ''}",
                             mend=_mend_numbers(element, attribute, text, length))
        if len(values) != length:
            raise self.error(element, f"{given} must be one number" if length == 1 else
                             f"{given} has {len(values)} numbers; it needs {length}, separated by "
                             "spaces")
        if not all(map(isfinite, values)):
            raise self.error(element, f"{given} is not finite; replace it by the true value")
        if max(map(abs, values)) > _LARGEST and attribute not in _UNBOUNDED:
            raise self.error(element, f"{given} is larger than {_LARGEST:g}, which no robot needs; "
                                      "replace it by the true value")
        return tuple(0.0 if abs(value) < _SMALLEST else value for value in values)


def _read_words(text: str) -> tuple[float, ...] | None:
    """The numbers as a URDF parser reads them; None if a word is not a number."""
    if not text.isascii() or "_" in text:
        return None       # Python reads 1_000 and the digits of other scripts, parsers do not
    try:
        return tuple(map(float, text.split()))
    except ValueError:
        return None


def _mend_numbers(element: Element, attribute: str, text: str, length: int) -> Mend | None:
    """Commas taken for spaces or for decimal points, whichever gives the right count of numbers,
    and spaces of any kind for spaces; None where neither does, or both do and differ."""
    spaces, points = (" ".join(text.replace(",", other).split()) for other in (" ", "."))
    sound = {values: reading for reading in (points, spaces)
             if (values := _read_words(reading)) is not None and len(values) == length}
    if len(sound) != 1 or (spaces not in sound.values() and _GROUPED.search(text)):
        return None
    [mended] = sound.values()
    return Mend("numbers with commas or odd spaces", lambda: element.set(attribute, mended))


def name_of(element: Element) -> str:
    """The name of a validated element."""
    return element.get("name", "")


def link_at(joint: Element, end: str) -> str:
    """The link at the "parent" or "child" end of a validated joint."""
    found = joint.find(end)
    return "" if found is None else found.get("link", "")


def read_source(source: str | bytes | os.PathLike, packages: Mapping | None = None,
                arguments: Mapping[str, str] | None = None, path: Path | None = None) -> Source:
    """Reads a robot from a path to a URDF or xacro file, or from XML as str or bytes, which is then
    taken to be the file `path`. Packages and arguments are those of `load`."""
    folders = read_packages(packages)
    found_at, content = _read_content(source)
    path = found_at or path
    label = "<string>" if path is None else path.name
    given, slips = (content, []) if isinstance(content, str) else decode(content)
    # the first line of a string in a program is often empty
    text, more = drop_declaration(given, indented=isinstance(content, str))
    root, text, rest = _parse(text, label)
    faults = tuple(map(from_slip, (*slips, *more, *rest)))
    macros: tuple[Macro, ...] = ()
    if uses_xacro(root) or path is not None and is_xacro_path(path):
        macros = find_uncalled(root)
        text = expand_xacro(text, path, folders, arguments)
        label += " (expanded)"
        root, _, _ = _parse(drop_declaration(text)[0], label)
    elif arguments:
        raise InputError(f"arguments {', '.join(arguments)}: only a xacro file takes arguments, "
                         "and this file has no xacro")
    if root.tag.endswith("}robot"):
        faults = (*faults, _drop_namespace(root))
    _check_root(root, label)
    found = dict(folders)
    for mesh in root.iter("mesh"):
        match = re.match(r"package://([^/]+)/", mesh.get("filename", ""))
        if match and match[1] not in found:
            folder = find_package(match[1], folders, path.parent if path else None)
            if folder is not None:
                found[match[1]] = folder
    return Source(root, label, None if path is None else path.resolve(), found, faults,
                  macros)


def _read_content(source: object) -> tuple[Path | None, bytes | str]:
    """The path, if any, and the contents; else the XML itself."""
    if isinstance(source, bytes):
        return None, source
    if isinstance(source, str) and source.lstrip("\ufeff \t\r\n").startswith("<"):
        return None, source
    if not isinstance(source, (str, os.PathLike)):
        raise InputError(f"a robot is a path or a string of XML, not {type(source).__name__}")
    if isinstance(source, str) and (not source.strip() or "\n" in source or "\0" in source):
        raise InputError(f"{source[:60]!r} is neither a path nor XML that starts with '<'")
    path = Path(os.path.expanduser(source))
    return path, _read_file(path)


def _read_file(path: Path) -> bytes:
    try:
        if path.is_dir():
            raise ModelError(f"{path} is a folder; give the .urdf or .xacro file in it")
        if path.exists() and path.stat().st_size > _LARGEST_FILE:
            raise ModelError(f"{path} has {path.stat().st_size} bytes; a robot description has at "
                             f"most {_LARGEST_FILE}")
        require_file(path)
        return path.read_bytes()
    except FileNotFoundError:
        beside = sorted(p.name for p in path.parent.glob("*.urdf")) if path.parent.is_dir() else []
        hint = (f'; one that comes with nhmech is nhmech.urdf_path("{path}")'
                if str(path) in urdf_names() else
                f"; in {path.parent} there are: {listed(beside)}" if beside else "")
        raise ModelError(f"{path} does not exist{hint}") from None
    except (OSError, ValueError) as error:
        raise ModelError(f"{path} cannot be read: {error}") from None


def _parse(text: str, label: str) -> tuple[Element, str, list[Slip]]:
    """The root of a text, its slips mended; the text as it is then, and the slips."""
    mended, slips = text, list[Slip]()
    try:
        root = _parse_strictly(text)
    except etree.XMLSyntaxError as error:
        mended, slips = mend_slips(text, _find_failure)
        try:
            root = _parse_strictly(mended)
        except etree.XMLSyntaxError:
            raise ModelError(f"{label}, line {error.lineno}: not well-formed XML: "
                             f"{_explain(text, error)}") from None
    if root.getroottree().docinfo.doctype:
        raise ModelError(f"{label}: has a DOCTYPE, which a robot never needs and which can include "
                         "other files; delete it")
    return root, mended, slips


def _parse_strictly(text: str) -> Element:
    # nothing else is read: no file, no network, which is what the other options begin with
    parser = etree.XMLParser(resolve_entities=False)
    return etree.fromstring(text.encode("utf-8", errors="replace"), parser)


def _find_failure(text: str) -> tuple[int, int] | None:
    try:
        _parse_strictly(text)
    except etree.XMLSyntaxError as error:
        return error.position
    return None


def _explain(text: str, error: etree.XMLSyntaxError) -> str:
    """The reason why a text is not XML, with its fault."""
    if not text.strip():
        return "the file is empty"
    if text.startswith("version https://git-lfs"):
        return "this is a Git LFS pointer, not the file; run: git lfs pull"
    robots = len(re.findall(r"<robot[\s>]", text))
    if robots > 1 and "Extra content" in str(error):
        return f"there are {robots} <robot> elements in it; a file holds one, so split it"
    if re.search("[\0-\b\x0e-\x1a]", text[:1000]):
        return "this is a binary file"
    if "<" not in text:
        return "there is no <robot> in it"
    message = str(error.msg)
    return f"{message}; the file is cut off" if "Premature end" in message else message


def _drop_namespace(root: Element) -> Fault:
    """Removes the namespace of `<robot>` and all elements below it; URDF has none."""
    space = root.tag.rpartition("}")[0] + "}"
    for element in root.iter("*"):
        element.tag = element.tag.removeprefix(space)
    return from_slip(Slip(root.sourceline, "a <robot> in a namespace",
                          f'xmlns="{space[1:-1]}"', "no namespace", harmless=True))


def _check_root(root: Element, label: str) -> None:
    """Refuse a root that is not `<robot>`."""
    if root.tag == "robot":
        return
    what = _FORMATS.get(etree.QName(root).localname)
    robots = len(root.findall(".//robot"))
    what_to_do = (
        f"this is {what}; give the robot's URDF or xacro file" if what else
        f"there are {robots} <robot> elements in it; give each a file of its own" if robots else
        "a URDF starts with <robot name=...>")
    raise ModelError(f"{label}, line {root.sourceline}: the root element is <{root.tag}>; "
                     f"{what_to_do}")
