"""From a path, an XML string or a xacro file to plain URDF text, with the line of every element."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path

from lxml import etree

from ..errors import ModelError
from .packages import find_package, read_packages
from .xacro_file import expand_xacro, is_xacro_path

_LARGEST_FILE = 64 * 1024 * 1024  # bytes; the largest robots known have less than one


@dataclass(frozen=True)
class Source:
    """A robot's XML, parsed, with what is needed to speak about it.

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
    """

    root: etree._Element
    label: str
    path: Path | None = None
    packages: dict[str, Path] = field(default_factory=dict)

    def at(self, element) -> str:
        """'file.urdf, line 12, <joint name="left">': where an element stands."""
        return f"{self.label}, line {element.sourceline}, {element_name(element)}"

    def error(self, element, message: str) -> ModelError:
        """The error to raise about an element."""
        return ModelError(f"{self.at(element)}: {message}")

    @property
    def text(self) -> str:
        """The URDF as it stands now, repairs included."""
        return etree.tostring(self.root, encoding="unicode")


def element_name(element) -> str:
    """'<joint name="left">', or '<mass> of <link name="base">' for an element without a name of its
    own."""
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


def read_source(source, packages=None, arguments: Mapping[str, str] | None = None) -> Source:
    """Read a robot from a path to a URDF or xacro file, or from XML as str or bytes.

    Parameters
    ----------
    arguments
        Of a xacro file, by name.

    Raises
    ------
    ModelError
        For a file that is not there or cannot be read, XML that is not well formed, a DOCTYPE or
        entities (refused: they can reach other files and grow without bound), a root that is not
        `<robot>`, a xacro file that does not expand.
    """
    folders = read_packages(packages)
    if isinstance(source, (bytes, str)) and source.lstrip()[:1] in ("<", b"<"):
        _refuse_arguments(arguments)
    if isinstance(source, bytes):
        return _parse(source, "<string>", None, folders)
    if isinstance(source, str) and source.lstrip("\ufeff \t\r\n").startswith("<"):
        return _parse(_encode(source), "<string>", None, folders)
    if not isinstance(source, (str, os.PathLike)):
        raise ModelError(f"a robot is a path or a string of XML, not {type(source).__name__}")
    if isinstance(source, str) and (not source.strip() or "\n" in source or "\0" in source):
        raise ModelError(f"{source[:60]!r} is neither a path nor XML that starts with '<'")
    path = Path(os.path.expanduser(source))
    content = _content(path)
    if is_xacro_path(path):
        _parse_tree(content, path.name)  # entities are refused before xacro's own parser sees them
        content = _encode(expand_xacro(path, folders, arguments))
        return _parse(content, f"{path.name} (expanded)", path.resolve(), folders)
    _refuse_arguments(arguments)
    return _parse(content, path.name, path.resolve(), folders)


def _refuse_arguments(arguments) -> None:
    if arguments:
        raise ModelError(f"arguments {', '.join(arguments)}: only a xacro file takes arguments, "
                         "and this is none by its name (.xacro)")


def _content(path: Path) -> bytes:
    try:
        if path.is_dir():
            raise ModelError(f"{path} is a folder; name the .urdf or .xacro file in it")
        if path.exists() and path.stat().st_size > _LARGEST_FILE:
            raise ModelError(f"{path} has {path.stat().st_size} bytes; a robot description has at "
                             f"most {_LARGEST_FILE}")
        return path.read_bytes()
    except FileNotFoundError:
        beside = sorted(p.name for p in path.parent.glob("*.urdf")) if path.parent.is_dir() else []
        hint = f"; in {path.parent} there are: {', '.join(beside[:12])}" if beside else ""
        raise ModelError(f"{path} does not exist{hint}") from None
    except (OSError, ValueError) as error:
        raise ModelError(f"{path} cannot be read: {error}") from None


def _encode(text: str) -> bytes:
    """UTF-8 without a declaration, which may name another encoding than the one a str has; its
    lines are kept."""
    text = text.lstrip("\ufeff")
    text = re.sub(r"^\s*<\?xml[^>]*\?>", lambda m: "\n" * m.group().count("\n"), text, count=1)
    return text.encode("utf-8", errors="replace")


def _parse_tree(content: bytes, label: str):
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False,
                             dtd_validation=False, huge_tree=False)
    try:
        root = etree.fromstring(content, parser)
    except etree.XMLSyntaxError as error:
        line = error.lineno if error.lineno else 1
        raise ModelError(
            f"{label}, line {line}: not well-formed XML: {error.msg or error}"
        ) from None
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
        named = root.tag.endswith("}robot")
        remedy = (
            "; delete its xmlns= attribute" if named else "; a URDF starts with <robot name=...>"
        )
        raise ModelError(f"{label}, line {root.sourceline}: the root element is "
                         f"<{root.tag}>{remedy}")
    found = dict(folders)
    for mesh in root.iter("mesh"):
        match = re.match(r"package://([^/]+)/", mesh.get("filename", ""))
        if match and match[1] not in found:
            folder = find_package(match[1], folders, path.parent if path else None)
            if folder is not None:
                found[match[1]] = folder
    return Source(root, label, path, found)


_REQUIRED = object()
# SI units; a larger length, mass or inertia is a typing error, and products of such numbers
# overflow
_LARGEST = 1e12
_UNBOUNDED = ("lower", "upper", "effort", "velocity")  # often given as 1e16 to mean "none"


def number(source: Source, element, attribute: str, default=_REQUIRED) -> float:
    """One finite number.

    Raises
    ------
    ModelError
        Where the attribute is missing without a default, is no number, NaN or infinite.
    """
    text = element.get(attribute)
    if text is None:
        if default is _REQUIRED:
            raise source.error(element, f"attribute {attribute}= is missing; give it a number")
        return default
    values = _floats(source, element, attribute, text)
    if len(values) != 1:
        raise source.error(element, f"{attribute}={text!r} must be one number")
    return values[0]


def vector(source: Source, element, attribute: str, length: int,
           default=_REQUIRED) -> tuple[float, ...]:
    """`length` finite numbers separated by spaces. Raises `ModelError` as `number` does."""
    text = element.get(attribute)
    if text is None:
        if default is _REQUIRED:
            raise source.error(element, f"attribute {attribute}= is missing; "
                                        f"give it {length} numbers separated by spaces")
        return default
    values = _floats(source, element, attribute, text)
    if len(values) != length:
        raise source.error(element, f"{attribute}={text!r} has {len(values)} numbers; "
                                    f"it needs {length}, separated by spaces")
    return tuple(values)


def _floats(source: Source, element, attribute: str, text: str) -> list[float]:
    values = []
    for word in text.split():
        if "_" in word or not word.isascii():
            raise source.error(element, f"{attribute}={text!r}: {word!r} is not a number")
        try:
            values.append(float(word))
        except ValueError:
            comma = (
                "; write decimals with a point and separate numbers by spaces"
                if "," in word
                else ""
            )
            raise source.error(element,
                               f"{attribute}={text!r}: {word!r} is not a number{comma}") from None
        if not isfinite(values[-1]):
            raise source.error(element,
                               f"{attribute}={text!r} is not finite; replace it by the true value")
        if abs(values[-1]) > _LARGEST and attribute not in _UNBOUNDED:
            raise source.error(element,
                               f"{attribute}={text!r} is larger than {_LARGEST:g}, which no robot "
                               "needs; "
                                        "replace it by the true value")
    return values
