"""A robot's XML: read from a path, a string or a xacro file, and its attributes as numbers."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, overload

from lxml import etree

from ..errors import InputError, ModelError, Remedy, listed
from .mesh_files import MeshFiles
from .packages import find_package, read_packages
from .xacro_file import expand_xacro, is_xacro_path

Element: TypeAlias = etree._Element      # lxml has no public name for it
Triple = tuple[float, float, float]
Default = TypeVar("Default")

_LARGEST_FILE = 64 * 1024 * 1024  # bytes; the largest robots known have less than one
# SI units; a larger length, mass or inertia is a typing error, and products of such numbers
# overflow
_LARGEST = 1e12
_REQUIRED = object()       # the default of an attribute that must be there
_UNBOUNDED = ("lower", "upper", "effort", "velocity")  # often given as 1e16 to mean "none"


@dataclass(frozen=True)
class Source:
    """A robot's XML, its attributes as numbers, and where in the file they stand.

    Attributes
    ----------
    root
        The `<robot>` element; edited in place by the repairs of `nhmech.urdf.repair`.
    label
        How messages call it: the file's name, or "<string>".
    path
        The file; None for a string.
    packages
        ROS package name -> folder, for every package:// in the text that could be found.
    meshes
        Those that were opened.
    """

    root: Element
    label: str
    path: Path | None = None
    packages: dict[str, Path] = field(default_factory=dict)
    meshes: MeshFiles = field(default_factory=MeshFiles, compare=False, repr=False)

    @property
    def text(self) -> str:
        """The URDF as it stands now, repairs included."""
        return etree.tostring(self.root, encoding="unicode")

    def at(self, element: Element) -> str:
        """'file.urdf, line 12, <joint name="left">': where an element stands."""
        return f"{self.label}, line {element.sourceline}, {element_name(element)}"

    def error(self, element: Element, message: str, remedy: Remedy | None = None) -> ModelError:
        """The error to raise about an element."""
        return ModelError(f"{self.at(element)}: {message}", remedy)

    def child(self, element: Element, tag: str, remedy: str = "add it") -> Element:
        """The first child element of that tag. Raises `ModelError` where there is none."""
        found = element.find(tag)
        if found is None:
            raise self.error(element, f"<{tag}> is missing; {remedy}")
        return found

    def number(self, element: Element, attribute: str, default: float | None = None) -> float:
        """One finite number; `default` where the attribute is missing.

        Raises
        ------
        ModelError
            Where the attribute is missing without a default, is no number, NaN or infinite.
        """
        text = element.get(attribute)
        if text is None:
            if default is None:
                raise self.error(element, f"attribute {attribute}= is missing; give it a number")
            return default
        values = self._read(element, attribute, text)
        if len(values) != 1:
            raise self.error(element, f"{attribute}={text!r} must be one number")
        return values[0]

    def numbers(self, element: Element, attribute: str, length: int) -> tuple[float, ...]:
        """`length` finite numbers separated by spaces. Raises `ModelError` as `number` does."""
        text = element.get(attribute)
        if text is None:
            raise self.error(element, f"attribute {attribute}= is missing; "
                                      f"give it {length} numbers separated by spaces")
        values = self._read(element, attribute, text)
        if len(values) != length:
            raise self.error(element, f"{attribute}={text!r} has {len(values)} numbers; "
                                      f"it needs {length}, separated by spaces")
        return values

    @overload
    def triple(self, element: Element, attribute: str) -> Triple: ...

    @overload
    def triple(self, element: Element, attribute: str, default: Default) -> Triple | Default: ...

    def triple(self, element: Element, attribute: str, default: Any = _REQUIRED) -> Any:
        """Three finite numbers; `default` where the attribute is missing."""
        if default is not _REQUIRED and element.get(attribute) is None:
            return default
        return self.numbers(element, attribute, 3)

    def _read(self, element: Element, attribute: str, text: str) -> tuple[float, ...]:
        return tuple(self._read_word(element, attribute, text, word) for word in text.split())

    def _read_word(self, element: Element, attribute: str, text: str, word: str) -> float:
        try:
            # Python reads 1_000 and the digits of other scripts, URDF parsers do not
            value = float(word) if word.isascii() and "_" not in word else None
        except ValueError:
            value = None
        given = f"{attribute}={text!r}"
        if value is None:
            comma = "; write decimals with a point and separate numbers by spaces"
            raise self.error(element,
                             f"{given}: {word!r} is not a number{comma if ',' in word else ''}")
        if not isfinite(value):
            raise self.error(element, f"{given} is not finite; replace it by the true value")
        if abs(value) > _LARGEST and attribute not in _UNBOUNDED:
            raise self.error(element, f"{given} is larger than {_LARGEST:g}, which no robot needs; "
                                      "replace it by the true value")
        return value


def name_of(element: Element) -> str:
    """The name of a validated element."""
    return element.get("name", "")


def link_at(joint: Element, end: str) -> str:
    """The link at the "parent" or "child" end of a validated joint."""
    found = joint.find(end)
    return "" if found is None else found.get("link", "")


def element_name(element: Element) -> str:
    """How messages call an element.

    '<joint name="left">', or '<mass> of <link name="base">' for one without a name of its own.
    """
    name = element.get("name")
    tag = element.tag.rsplit("}", 1)[-1]
    tag = f"{element.prefix}:{tag}" if element.prefix else tag
    own = f'<{tag} name="{name}">' if name is not None else f"<{tag}>"
    parent = element.getparent()
    while name is None and parent is not None and parent.tag not in ("link", "joint", "robot"):
        parent = parent.getparent()
    if name is None and parent is not None and parent.tag in ("link", "joint"):
        return f"{own} of {element_name(parent)}"
    return own


def read_source(source: str | bytes | os.PathLike, packages: Mapping | None = None,
                arguments: Mapping[str, str] | None = None) -> Source:
    """Read a robot from a path to a URDF or xacro file, or from XML as str or bytes.

    Parameters
    ----------
    source
        The path or the XML.
    packages
        ROS package name -> folder.
    arguments
        Of a xacro file, by name.

    Raises
    ------
    InputError
        For what is neither path nor XML, and for arguments of a file that takes none.
    ModelError
        For a file that is not there or cannot be read, XML that is not well formed, a DOCTYPE or
        entities (refused: they can reach other files and grow without bound), a root that is not
        `<robot>`, a xacro file that does not expand.
    """
    folders = read_packages(packages)
    xml = _xml_of(source)
    if xml is not None:
        _refuse_arguments(arguments)
        return _parse(xml, "<string>", None, folders)
    if not isinstance(source, (str, os.PathLike)):
        raise InputError(f"a robot is a path or a string of XML, not {type(source).__name__}")
    if isinstance(source, str) and (not source.strip() or "\n" in source or "\0" in source):
        raise InputError(f"{source[:60]!r} is neither a path nor XML that starts with '<'")
    path = Path(os.path.expanduser(source))
    content = _read_file(path)
    if is_xacro_path(path):
        _parse_tree(content, path.name)  # entities are refused before xacro's own parser sees them
        content = _encode(expand_xacro(path, folders, arguments))
        return _parse(content, f"{path.name} (expanded)", path.resolve(), folders)
    _refuse_arguments(arguments)
    return _parse(content, path.name, path.resolve(), folders)


def _xml_of(source: object) -> bytes | None:
    """XML that was given itself; None where it is something else."""
    if isinstance(source, bytes):
        return source
    if isinstance(source, str) and source.lstrip("\ufeff \t\r\n").startswith("<"):
        return _encode(source)
    return None


def _refuse_arguments(arguments: Mapping[str, str] | None) -> None:
    if arguments:
        raise InputError(f"arguments {', '.join(arguments)}: only a xacro file takes arguments, "
                         "and by its name (.xacro) this is none")


def _read_file(path: Path) -> bytes:
    try:
        if path.is_dir():
            raise ModelError(f"{path} is a folder; name the .urdf or .xacro file in it")
        if path.exists() and path.stat().st_size > _LARGEST_FILE:
            raise ModelError(f"{path} has {path.stat().st_size} bytes; a robot description has at "
                             f"most {_LARGEST_FILE}")
        return path.read_bytes()
    except FileNotFoundError:
        beside = sorted(p.name for p in path.parent.glob("*.urdf")) if path.parent.is_dir() else []
        hint = f"; in {path.parent} there are: {listed(beside, 12)}" if beside else ""
        raise ModelError(f"{path} does not exist{hint}") from None
    except (OSError, ValueError) as error:
        raise ModelError(f"{path} cannot be read: {error}") from None


def _encode(text: str) -> bytes:
    """UTF-8 without a declaration, which may name another encoding than the one a str has.

    The lines of the declaration are kept.
    """
    text = text.lstrip("\ufeff")
    text = re.sub(r"^\s*<\?xml[^>]*\?>", lambda m: "\n" * m.group().count("\n"), text, count=1)
    return text.encode("utf-8", errors="replace")


def _parse_tree(content: bytes, label: str) -> Element:
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False,
                             dtd_validation=False, huge_tree=False)
    try:
        root = etree.fromstring(content, parser)
    except etree.XMLSyntaxError as error:
        raise ModelError(f"{label}, line {error.lineno or 1}: not well-formed XML: "
                         f"{error.msg or error}") from None
    except ValueError as error:
        raise ModelError(f"{label}: not XML: {error}") from None
    info = root.getroottree().docinfo
    if info.internalDTD is not None or info.externalDTD is not None or info.doctype:
        raise ModelError(f"{label}: has a DOCTYPE, which a robot never needs and which can pull in "
                         "other files; delete it")
    for node in root.iter(etree.Entity):
        raise ModelError(f"{label}, line {node.sourceline}: entity {node.text} is refused; write "
                         "its text in full")
    return root


def _parse(content: bytes, label: str, path: Path | None, folders: dict[str, Path]) -> Source:
    root = _parse_tree(content, label)
    if root.tag != "robot":
        what_to_do = ("delete its xmlns= attribute" if root.tag.endswith("}robot")
                      else "a URDF starts with <robot name=...>")
        raise ModelError(f"{label}, line {root.sourceline}: the root element is <{root.tag}>; "
                         f"{what_to_do}")
    found = dict(folders)
    for mesh in root.iter("mesh"):
        match = re.match(r"package://([^/]+)/", mesh.get("filename", ""))
        if match and match[1] not in found:
            folder = find_package(match[1], folders, path.parent if path else None)
            if folder is not None:
                found[match[1]] = folder
    return Source(root, label, path, found)
