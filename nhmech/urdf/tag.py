"""The `<nhmech>` element inside `<robot>`: what a plain URDF cannot say. Pinocchio ignores it. ::

    <nhmech>
      <wheel joint="left_wheel_joint" kind="disc" radius="0.1"/>
      <wheel link="caster_link" kind="caster_ball" radius="0.02"/>
      <drive joint="left_wheel_joint"/>
      <lock joint="arm_joint" position="0.3"/>
      <free joint="pendulum_joint"/>
      <speeds>forward_speed yaw_rate</speeds>
      <skid model="mid-axle"/>
    </nhmech>

A `<wheel>` also takes crown, roller_angle, axis, mu, driven, link, point, stiffness, law and tyre;
a contact that is fixed to a link has no joint. Only joints with a `<drive>` take effort, if there
is one. A `<skid>` has model="mid-axle" or "coulomb", track_factor="1.5" or free="wheel_a wheel_b".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape

from ..errors import InputError, listed
from .description import SKID_MODELS, Description, MidAxle, Released, Scrubbing, Skid
from .text.source import Element, Source
from .wheel import Wheel

# element -> its attributes
_ATTRIBUTES = {
    "wheel": ("joint", "kind", "radius", "crown", "roller_angle", "axis", "mu", "driven", "link",
              "point", "stiffness", "law", "tyre"),
    "drive": ("joint",),
    "lock": ("joint", "position"),
    "free": ("joint",),
    "speeds": (),
    "skid": ("model", "track_factor", "free"),
}
_ONE = ("speeds", "skid")      # elements of which there is one at most


@dataclass(frozen=True)
class Tag:
    """What an `<nhmech>` element says; None where it says nothing about a thing, empty without such
    an element."""

    wheels: tuple[Wheel, ...] | None = None
    drive: tuple[str, ...] | None = None
    lock: dict[str, float] = field(default_factory=dict)
    free: tuple[str, ...] = ()
    speeds: tuple[str, ...] | None = None
    skid: Skid | None = None


def parse_tag(source: Source) -> Tag:
    """Read the `<nhmech>` element of a robot."""
    tags = source.root.findall("nhmech")
    if not tags:
        return Tag()
    if len(tags) > 1:
        raise source.error(tags[1],
                           f"there is another <nhmech> on line {tags[0].sourceline}; merge them")
    found = _collect(source, tags[0])
    return Tag(wheels=tuple(_read_wheel(source, e) for e in found["wheel"]) or None,
               drive=tuple(_read_joint(source, e) for e in found["drive"]) or None,
               lock={_read_joint(source, e): source.number(e, "position", 0.0)
                     for e in found["lock"]},
               free=tuple(_read_joint(source, e) for e in found["free"]),
               speeds=next((_read_speeds(source, e) for e in found["speeds"]), None),
               skid=next((_read_skid(source, e) for e in found["skid"]), None))


def _collect(source: Source, tag: Element) -> dict[str, list[Element]]:
    """The elements inside an `<nhmech>` by their names, after a check of names and attributes."""
    for attribute in tag.attrib:
        raise source.error(tag, f"attribute {attribute!r} does not exist; <nhmech> has elements "
                                f"only: {listed(_ATTRIBUTES)}")
    found: dict[str, list[Element]] = {name: [] for name in _ATTRIBUTES}
    for element in tag.iterchildren("*"):
        if element.tag not in _ATTRIBUTES:
            raise source.error(element, f"<{element.tag}> does not exist in <nhmech>; it may hold "
                                        f"{listed(_ATTRIBUTES)}")
        for attribute in element.attrib:
            if attribute not in _ATTRIBUTES[element.tag]:
                raise source.error(element, f"attribute {attribute!r} does not exist here; "
                                            f"allowed: {listed(_ATTRIBUTES[element.tag])}")
        found[element.tag].append(element)
    for name in _ONE:
        if len(found[name]) > 1:
            raise source.error(found[name][1], f"<{name}> is there already on line "
                                               f"{found[name][0].sourceline}; keep one")
    return found


def _read_joint(source: Source, element: Element) -> str:
    name = element.get("joint")
    if not name:
        raise source.error(element, "attribute joint= is missing; name the joint")
    return name


def _read_speeds(source: Source, element: Element) -> tuple[str, ...]:
    names = tuple((element.text or "").split())
    if not names:
        raise source.error(element, "is empty; write the names of the independent speeds between "
                                    "the tags")
    return names


def _read_wheel(source: Source, element: Element) -> Wheel:
    driven = element.get("driven")
    if driven not in (None, "true", "false"):
        raise source.error(element, f"driven={driven!r} must be true or false")
    angle, mu, stiffness = (
        source.number(element, name) if element.get(name) is not None else None
        for name in ("roller_angle", "mu", "stiffness"))
    radius, crown = (source.number(element, name, 0.0) for name in ("radius", "crown"))
    axis, point = (source.triple(element, name, None) for name in ("axis", "point"))
    try:
        return Wheel(element.get("joint"), element.get("kind", "disc"), radius, crown=crown,
                     roller_angle=angle, axis=axis, mu=mu, link=element.get("link"), point=point,
                     driven=None if driven is None else driven == "true", stiffness=stiffness,
                     law=element.get("law", "rolling"), tyre=element.get("tyre"))
    except InputError as error:
        raise source.error(element, error.text, error.remedy) from None


def _read_skid(source: Source, element: Element) -> Skid:
    if len(element.attrib) != 1:
        raise source.error(element, 'needs exactly one of model="mid-axle", track_factor= and '
                                    "free=")
    model, names = element.get("model"), (element.get("free") or "").split()
    if model is not None:
        if model not in SKID_MODELS:
            raise source.error(element, f"model={model!r} does not exist; there are mid-axle and "
                                        "coulomb")
        return SKID_MODELS[model]
    if element.get("track_factor") is not None:
        track = source.number(element, "track_factor")
        if track <= 0:
            raise source.error(element, f"track_factor={track:g} must be positive; 1 is the true "
                                        "track")
        return MidAxle(track)
    if not names:
        raise source.error(element, "free= is empty; name the wheels that may slip sideways")
    return Released(tuple(names))


def format_tag(description: Description) -> str:
    """The `<nhmech>` element that states what a `Description` holds, to paste into its URDF."""
    lines = []
    for wheel in description.wheels:
        fixed = wheel.joint is None
        lines.append(_write("wheel", {
            "joint": wheel.joint, "link": wheel.link if fixed else None, "kind": wheel.kind,
            "radius": wheel.radius or None, "crown": wheel.crown or None,
            "roller_angle": wheel.roller_angle, "mu": wheel.mu,
            "axis": wheel.axis if fixed else None, "point": wheel.point,
            "driven": None if fixed or description.driven else "false",
            "stiffness": wheel.stiffness,
            "law": None if wheel.law == "rolling" else wheel.law, "tyre": wheel.tyre,
        }))
    lines += [_write("drive", {"joint": name}) for name in description.driven]
    lines += [_write("lock", {"joint": name, "position": q})
              for name, q in description.locked.items() if q != 0.0]
    lines += [_write("free", {"joint": name}) for name in description.free]
    if description.speeds:
        lines.append(f"<speeds>{' '.join(description.speeds)}</speeds>")
    match description.skid:
        case MidAxle(track=1.0):
            lines.append(_write("skid", {"model": "mid-axle"}))
        case MidAxle(track=track):
            lines.append(_write("skid", {"track_factor": track}))
        case Scrubbing():
            lines.append(_write("skid", {"model": "coulomb"}))
        case Released(wheels=names):
            lines.append(_write("skid", {"free": " ".join(names)}))
    return "\n".join(["<nhmech>", *(f"  {line}" for line in lines), "</nhmech>"])


def _write(name: str, attributes: dict[str, object]) -> str:
    words = [f'{key}="{escape(_text(value))}"' for key, value in attributes.items()
             if value is not None]
    return f"<{name} {' '.join(words)}/>"


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return " ".join(map(_text, value))
    return repr(float(value) + 0.0) if isinstance(value, (int, float)) else str(value)
