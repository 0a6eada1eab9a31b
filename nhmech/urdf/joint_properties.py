"""Limits, damping, masses and friction of what moves."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isfinite, radians

from ..checks import are_degrees
from ..errors import Remedy, listed
from .description import JointLimits
from .elements import DriveType
from .layout import Layout
from .notice import Notice, NoticeKind
from .wheel import Wheel
from .wheels.roles import Roles


def read_limits(layout: Layout, roles: Roles,
                driven: Sequence[str]) -> tuple[dict[str, JointLimits], list[Notice]]:
    """Limits of the moving joints, and notices; limits on the angle of a wheel, or of a
    swivel that turns all the way round, are ignored."""
    limits, notices = {}, []
    odd: dict[str, list[str]] = {
        "revolute, but rolls; limits on its angle are ignored": [],
        "effort or velocity limit 0 or -1 is taken as no limit": [],
        "<limit> has neither lower nor upper; taken as unlimited": [],
        "is free although its limits are equal; they are ignored": [],
        "swings all the way round; limits on its angle are ignored": [],
    }
    rolling, zero, unlimited, equal, round_ = odd.values()
    for name in roles.moving:
        joint = layout.joints[name]
        element = joint.element.find("limit")
        effort = velocity = inf
        if element is not None:
            effort, velocity = (layout.source.number(element, a, inf) for a in ("effort",
                                                                                "velocity"))
            if name in driven and 0 in (effort, velocity):
                zero.append(name)
        lower, upper = joint.lower, joint.upper
        if name in roles.rolling:
            lower, upper = -inf, inf
            if joint.type == "revolute":
                rolling.append(name)
        elif joint.type != "continuous" and not isfinite(lower):
            unlimited.append(name)
        elif lower == upper:
            equal.append(name)
            lower, upper = -inf, inf
        elif joint.type == "revolute" and joint.is_free and (
                name in roles.steering and name not in driven):
            round_.append(name)
            lower, upper = -inf, inf
        elif are_degrees((lower, upper)) and name in roles.steering:
            notices.append(Notice(
                NoticeKind.DEGREES,
                f"{name}: its limits are {lower:g} and {upper:g} rad, more than a turn; if degrees "
                f'were meant: lower="{radians(lower):.4g}" upper="{radians(upper):.4g}"'))
        limits[name] = JointLimits(lower, upper, velocity or inf, effort or inf)
    notices += [Notice(NoticeKind.IGNORED_LIMITS, f"{', '.join(names)}: {why}")
                for why, names in odd.items() if names]
    return limits, notices


def read_damping(layout: Layout, roles: Roles) -> tuple[dict[str, float], list[Notice]]:
    """Viscous coefficients of the moving joints [N m s/rad, N s/m], and a notice where there is
    Coulomb friction."""
    damping, rubbing = {}, []
    for name in roles.moving:
        element = layout.joints[name].element.find("dynamics")
        if element is None:
            continue
        if (coefficient := layout.source.number(element, "damping", 0.0)) > 0:
            damping[name] = coefficient
        if layout.source.number(element, "friction", 0.0) > 0:
            rubbing.append(name)
    if not rubbing:
        return damping, []
    return damping, [Notice(NoticeKind.COULOMB_FRICTION,
                            f"{', '.join(rubbing)}: Coulomb friction ignored",
                            Remedy("vehicle.with_parameters({'<joint>.rolling_resistance': [N m]}) "
                                   "gives wheels a smooth rolling resistance",
                                   "--param JOINT.rolling_resistance=0.1 [N m] gives wheels a "
                                   "smooth rolling resistance"))]


def read_mu(layout: Layout, wheels: Sequence[Wheel]) -> dict[str, float]:
    """Friction coefficients of the wheels that the file tells; none where a plugin moves the whole
    model, for its wheels are made to slide."""
    if any(plugin.drive is DriveType.PLANAR for plugin in layout.elements.drives):
        return {}
    found = {}
    for wheel in wheels:
        told = [friction.mu for link in layout.rigid(layout.carrier(wheel)) if wheel.traits.held
                and (friction := layout.elements.friction.get(link)) and friction.mu]
        if told:
            found[wheel.name] = told[0]
    return found


def read_stiffness(layout: Layout, wheels: Sequence[Wheel]) -> dict[str, float]:
    """Vertical stiffness of the wheels that the file tells [N/m]."""
    return {wheel.name: told[0] for wheel in wheels
            if (told := [kp for link in layout.rigid(layout.carrier(wheel))
                         if (kp := layout.elements.stiffness.get(link))])}


def find_massless(layout: Layout, moving: Sequence[str]) -> list[Notice]:
    """A notice about moving bodies, the base among them, without any mass."""
    light = [head for head in (layout.root, *(layout.joints[name].child for name in moving))
             if not _weigh(layout, head)]
    if not light:
        return []
    return [Notice(NoticeKind.MASSLESS,
                   f"{', '.join(light)}: moves but has no mass in the file; taken as massless")]


def report_light_base(layout: Layout, rolling: Sequence[str]) -> list[Notice]:
    """A notice about links of the base with shapes and no mass, where what is fixed to them weighs
    less than a wheel."""
    base = _weigh(layout, layout.root)
    wheel = max((_weigh(layout, layout.joints[name].child) for name in rolling), default=0.0)
    empty = [link for link in layout.rigid(layout.root) if not layout.mass(link)
             and (layout.shapes(link) or layout.shapes(link, tag="visual"))]
    if not empty or not 0 < base < wheel:
        return []
    return [Notice(NoticeKind.MASSLESS,
                   f"{listed(empty)}: no mass in the file, so that the base weighs {base:.4g} kg, "
                   f"less than a wheel with its {wheel:.4g} kg; give it an <inertial>")]


def _weigh(layout: Layout, head: str) -> float:
    """The mass [kg] of a body."""
    return sum(map(layout.mass, layout.rigid(head)))
