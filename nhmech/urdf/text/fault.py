"""Faults of a robot's file with their places and repairs, and the one error that lists them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from lxml import etree

from ...errors import FEW, ModelError, Remedy, listed
from ..notice import Notice, NoticeKind
from ..remedy import option, suggest
from .slips import Slip

Element: TypeAlias = etree._Element      # lxml has no public name for it

_MOST = 10      # faults that one error shows
_SHOWN = 3      # repairs of one kind of which a notice shows before and after
_LOOKS = ("visual", "collision", "material")


@dataclass(frozen=True)
class Mend:
    """The repair of a fault."""

    what: str  # the fault in words that fit all of its kind
    edit: Callable[[], object]  # does it, in the tree of elements
    # whether what was meant is known. A guess is good enough for a part that motion does not need,
    # and for no other.
    certain: bool = True


class ElementError(ModelError):
    """An element of a robot's file that cannot be used as it is; `mend` is its repair, if there is
    one."""

    def __init__(self, label: str, element: Element, text: str,
                 remedy: Remedy | None = None, mend: Mend | None = None) -> None:
        line, name = element.sourceline or 1, element_name(element)
        super().__init__(f"{label}, line {line}, {name}: {text}", remedy)
        self.label, self.element, self.mend = label, element, mend
        self.fault = Fault(line, name, text, remedy, joint_of(element), _is_looks(element))

    def __reduce__(self) -> tuple:
        return ModelError, (self.text, self.remedy)      # an element cannot be pickled


@dataclass(frozen=True)
class Fault:
    """One thing in a file that is wrong."""

    line: int  # where
    name: str  # of its element, as messages have it: '<limit> of <joint name="arm">'
    text: str  # what is wrong, with the value, and what would be right
    remedy: Remedy | None = None  # the same as an option of `load`
    joint: str = ""  # name of the joint that it is part of; "" where it is part of none
    looks: bool = False  # it is part of a shape or a colour, of which no motion depends
    what: str = ""  # the fault in words that fit all of its kind; empty where nothing mends it
    # before, after: the element, or the piece of text, as it was and as it was mended
    before: str = ""
    after: str = ""
    certain: bool = True  # whether what was meant is known

    @property
    def is_mended(self) -> bool:
        return bool(self.what)

    def is_harmless(self, moving: Collection[str]) -> bool:
        """Whether a robot with these moving joints does not depend on the fault."""
        return self.is_mended and (self.looks or bool(self.joint) and self.joint not in moving)


class FaultyFile(ModelError):
    """All `faults` of a robot's file, in its order."""

    def __init__(self, text: str = "", remedy: Remedy | None = None,
                 faults: Sequence[Fault] = ()) -> None:
        super().__init__(text, remedy)
        self.faults = tuple(faults)


def from_slip(slip: Slip) -> Fault:
    """A slip of the text as a repaired fault."""
    return Fault(slip.line, "", f"{slip.what}: {slip.before}", what=slip.what, before=slip.before,
                 after=slip.after or "nothing", looks=slip.harmless)


def deletion(element: Element) -> Callable[[], None]:
    """For a `Mend`: removes the element."""
    def delete() -> None:
        parent = element.getparent()
        if parent is not None:
            parent.remove(element)
    return delete


def setting(element: Element, attribute: str, value: str) -> Callable[[], None]:
    """For a `Mend`: sets an attribute."""
    return lambda: element.set(attribute, value)


def collect_errors(check: Callable[..., Iterable[ElementError] | None], *arguments: object
                   ) -> Iterator[ElementError]:
    """The errors that a check yields, and the one that it raises."""
    try:
        yield from check(*arguments) or ()
    except ElementError as error:
        yield error


def mend(error: ElementError) -> Fault:
    """Mends an element; returns a description of the change."""
    fault, how, element = error.fault, error.mend, error.element
    assert how is not None
    root, before = element.getroottree().getroot(), _start_tag(element)
    how.edit()
    is_there = any(one is root for one in (element, *element.iterancestors()))
    after = _start_tag(element) if is_there else "nothing"
    if after == before:          # what was edited lies inside
        after = " ".join(_start_tag(child) for child in element.iterchildren("*"))
    return Fault(fault.line, fault.name, fault.text, fault.remedy, fault.joint, fault.looks,
                 how.what, before, after, how.certain)


def faulty_file(label: str, faults: Iterable[Fault], further: ModelError | None = None
                ) -> ModelError:
    """The error about all `faults` of a file. It suggests the repair if all of them were mended;
    `further`: the error after that."""
    ordered = sorted(faults, key=lambda fault: fault.line)
    lines = [f"line {fault.line}, {fault.name}".removesuffix(", ") + f": {fault.text}"
             for fault in ordered]
    if further is not None:
        lines.append(further.text.removeprefix(label).lstrip(",: "))
    remedies: list[str | Remedy] = []
    if all(fault.is_mended and fault.certain for fault in ordered):
        what = "the file" if further is not None else "this" if len(ordered) == 1 else "all of it"
        remedies = [f"Have {what} mended by ", option("repair", True)]
    more = [fault.remedy for fault in ordered if fault.remedy is not None and not fault.is_mended]
    if further is not None and further.remedy is not None:
        more.append(further.remedy)
    for each in more:
        remedies += [". ", each] if remedies else [each]
    remedy = suggest(*remedies) if remedies else None
    if len(lines) == 1:
        return FaultyFile(f"{label}, {lines[0]}", remedy, ordered)
    shown = lines[:_MOST] + ([f"and {len(lines) - _MOST} more"] if len(lines) > _MOST else [])
    text = "\n  ".join([f"{label}: {len(lines)} things are wrong", *shown])
    return FaultyFile(text, remedy, ordered)


def pass_faults(label: str, faults: Sequence[Fault], moving: Collection[str],
                repair: bool) -> list[Notice]:
    """Notices about the faults that were mended. Faults of joints that do not move are no reason to
    refuse a robot; those that affect the motion pass only with `repair`."""
    fatal = [fault for fault in faults if not fault.is_harmless(moving)
             and not (repair and fault.certain and fault.after)]
    if fatal:
        raise faulty_file(label, fatal)
    return _describe_all(faults)


def _describe_all(faults: Iterable[Fault]) -> list[Notice]:
    """One notice for each kind, with before and after."""
    kinds: dict[str, list[Fault]] = {}
    for fault in faults:
        kinds.setdefault(fault.what, []).append(fault)
    return [Notice(NoticeKind.REPAIR, _describe_repairs(what, same))
            for what, same in kinds.items()]


def _describe_repairs(what: str, faults: Sequence[Fault]) -> str:
    changes = list(dict.fromkeys(f"{fault.before} -> {fault.after}" for fault in faults))
    shown = "; ".join(changes[:_SHOWN])
    more = f" and {len(changes) - _SHOWN} more" if len(changes) > _SHOWN else ""
    names = list(dict.fromkeys(_owner(fault) for fault in faults))
    return f"{listed(names, FEW)}: {what}; repaired: {shown}{more}"


def _owner(fault: Fault) -> str:
    return fault.joint or fault.name or f"line {fault.line}"


def joint_of(element: Element) -> str:
    """Name of the joint that an element is part of; "" where it is part of none."""
    for one in (element, *element.iterancestors()):
        if one.tag == "joint" and one.getparent() is not None and one.getparent().tag == "robot":
            return one.get("name", "")
    return ""


def _is_looks(element: Element) -> bool:
    return any(one.tag in _LOOKS for one in (element, *element.iterancestors()))


def element_name(element: Element) -> str:
    """The name of an element in messages.

    '<joint name="left">', or '<mass> of <link name="base">' for one without a name of its own.
    """
    name = element.get("name")
    tag = etree.QName(element).localname
    tag = f"{element.prefix}:{tag}" if element.prefix else tag
    own = f'<{tag} name="{name}">' if name is not None else f"<{tag}>"
    parent = element.getparent()
    while name is None and parent is not None and parent.tag not in ("link", "joint", "robot"):
        parent = parent.getparent()
    if name is None and parent is not None and parent.tag in ("link", "joint"):
        return f"{own} of {element_name(parent)}"
    return own


def _start_tag(element: Element) -> str:
    """'<limit lower="2" upper="1">'"""
    words = [element.tag, *(f'{key}="{value}"' for key, value in element.attrib.items())]
    return f"<{' '.join(words)}>"
