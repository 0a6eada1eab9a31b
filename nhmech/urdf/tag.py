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

A `<wheel>` also takes crown, roller_angle, axis, mu, driven, link and point; a contact that is
fixed to a link has no joint. Only joints with a `<drive>` take effort, if there is one. A `<skid>`
has model="mid-axle", track_factor="1.5" or free="wheel_a wheel_b".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from xml.sax.saxutils import quoteattr

from ..errors import InputError
from .source import Source, number, vector
from .wheel import Wheel

_ATTRIBUTES = {
    "wheel": (
        "joint",
        "kind",
        "radius",
        "crown",
        "roller_angle",
        "axis",
        "mu",
        "driven",
        "link",
        "point",
    ),
    "drive": ("joint",),
    "lock": ("joint", "position"),
    "free": ("joint",),
    "speeds": (),
    "skid": ("model", "track_factor", "free"),
}


@dataclass(frozen=True)
class Tag:
    """What an `<nhmech>` element says; None where it says nothing about a thing, empty without such
    an element."""

    wheels: tuple[Wheel, ...] | None = None
    drive: tuple[str, ...] | None = None
    lock: dict[str, float] = field(default_factory=dict)
    free: tuple[str, ...] = ()
    speeds: tuple[str, ...] | None = None
    skid: object = None


def parse_tag(source: Source) -> Tag:
    """Read the `<nhmech>` element of a robot.

    Raises
    ------
    ModelError
        With the line for two such elements, an element or attribute that does not exist in it, a
        wheel that cannot be, a number that is none.
    """
    tags = source.root.findall("nhmech")
    if not tags:
        return Tag()
    if len(tags) > 1:
        raise source.error(tags[1],
                           f"there is another <nhmech> on line {tags[0].sourceline}; merge them")
    if tags[0].attrib:
        unknown, known = next(iter(tags[0].attrib)), ", ".join(_ATTRIBUTES)
        raise source.error(tags[0],
                           f"attribute {unknown!r} does not exist; <nhmech> has elements only: "
                           f"{known}")
    found: dict[str, list] = {name: [] for name in _ATTRIBUTES}
    for element in tags[0]:
        if not isinstance(element.tag, str):
            continue
        if element.tag not in _ATTRIBUTES:
            raise source.error(element, f"<{element.tag}> does not exist in <nhmech>; it may hold "
                                        f"{', '.join(_ATTRIBUTES)}")
        for attribute in element.attrib:
            if attribute not in _ATTRIBUTES[element.tag]:
                allowed = ", ".join(_ATTRIBUTES[element.tag]) or "none"
                raise source.error(element,
                                   f"attribute {attribute!r} does not exist here; allowed: "
                                   f"{allowed}")
        found[element.tag].append(element)
    for one in ("speeds", "skid"):
        if len(found[one]) > 1:
            raise source.error(found[one][1],
                               f"<{one}> is there already on line {found[one][0].sourceline}; keep "
                               "one")
    names = tuple((found["speeds"][0].text or "").split()) if found["speeds"] else None
    if names == ():
        raise source.error(found["speeds"][0],
                           "is empty; write the names of the independent speeds between the tags")
    return Tag(
        wheels=tuple(_wheel(source, e) for e in found["wheel"]) or None,
        drive=tuple(_joint(source, e) for e in found["drive"]) or None,
        lock={_joint(source, e): number(source, e, "position", 0.0) for e in found["lock"]},
        free=tuple(_joint(source, e) for e in found["free"]),
        speeds=names,
        skid=_skid(source, found["skid"][0]) if found["skid"] else None,
    )


def _joint(source: Source, element) -> str:
    name = element.get("joint")
    if not name:
        raise source.error(element, "attribute joint= is missing; name the joint")
    return name


def _wheel(source: Source, element) -> Wheel:
    driven = element.get("driven")
    if driven is not None and driven not in ("true", "false"):
        raise source.error(element, f"driven={driven!r} must be true or false")
    optional = {name: number(source, element,
                             name) for name in ("roller_angle",
                                                "mu") if element.get(name) is not None}
    try:
        return Wheel(
            element.get("joint"),
            element.get("kind", "disc"),
            number(source, element, "radius", 0.0),
            crown=number(source, element, "crown", 0.0),
            axis=vector(source, element, "axis", 3, None),
            driven=None if driven is None else driven == "true",
            link=element.get("link"),
            point=vector(source, element, "point", 3, None),
            **optional,
        )
    except InputError as error:
        raise source.error(element, str(error)) from None


def _skid(source: Source, element) -> object:
    if len(element.attrib) != 1:
        raise source.error(element, 'has exactly one of model="mid-axle", track_factor= and free=')
    if element.get("model") is not None:
        return element.get("model")
    if element.get("track_factor") is not None:
        return number(source, element, "track_factor")
    return tuple(element.get("free").split())


def format_tag(description) -> str:
    """The `<nhmech>` element that states what a `Description` holds, to paste into its URDF."""
    lines = ["<nhmech>"]
    for wheel in description.wheels:
        said = {"joint": wheel.joint, "link": wheel.link if wheel.joint is None else None,
                "kind": wheel.kind}
        said |= {"radius": wheel.radius or None, "crown": wheel.crown or None,
                 "roller_angle": wheel.roller_angle, "mu": wheel.mu}
        said |= {"axis": wheel.axis if wheel.joint is None else None, "point": wheel.point}
        said |= {"driven": "false" if wheel.joint is not None and not description.driven else None}
        lines.append("  " + _element("wheel", said))
    lines += ["  " + _element("drive", {"joint": name}) for name in description.driven]
    lines += ["  " + _element("lock", {"joint": name, "position": q}) for name,
              q in description.locked.items()
              if q != 0.0]
    lines += ["  " + _element("free", {"joint": name}) for name in description.free]
    if description.speeds:
        lines.append(f"  <speeds>{' '.join(description.speeds)}</speeds>")
    skid = description.skid
    if isinstance(skid, str):
        lines.append("  " + _element("skid", {"model": skid}))
    elif isinstance(skid, (int, float)):
        lines.append("  " + _element("skid", {"track_factor": float(skid)}))
    elif skid:
        lines.append("  " + _element("skid", {"free": " ".join(skid)}))
    return "\n".join([*lines, "</nhmech>"])


def _element(name: str, attributes: dict) -> str:
    return f"<{name} " + " ".join(f"{k}={quoteattr(_text(v))}" for k,
                                  v in attributes.items() if v is not None) + "/>"


def _text(value) -> str:
    if isinstance(value, tuple):
        return " ".join(_text(v) for v in value)
    return repr(float(value) + 0.0) if isinstance(value, (int, float)) else str(value)
