"""Tyres: the longitudinal and lateral forces of the ground on a wheel that slips.

Slip is defined as in ISO 8855, in the directions of the contact: s = V_s / h(V), with V_s the
velocity of the tyre's material at the contact and V the longitudinal speed of the wheel's centre,
both relative to the ground. So s_x = -kappa and s_y = tan(alpha), and the force opposes both. h(V)
= |V| above the tyre's low speed v_0, and (V^2 + v_0^2) / (2 v_0) below: it has a continuous
derivative, and is never zero.

A linear tyre has F = -K s. The magic formula, with the friction ellipse (H. B. Pacejka, Tire and
Vehicle Dynamics, 3rd ed. 2012, sections 4.2 and 4.3.2)::

    sigma = K s / (mu F_0),  rho = |sigma|,  x = rho / C
    F = -F_z mu sin(C atan(x - E (x - atan(x)))) sigma / rho

where K, mu, C and E differ between the directions. F_z is the multiplier of the normal row; the
force is proportional to it unless the coefficients depend on the load: see
`ConstrainedSystem.friction`.

With a relaxation length sigma the tyre has a deflection z along the ground, and its slip is that of
z (ibid., section 7.2, eq. (7.10) to (7.20))::

    dz/dt = -V_s - h(V) z / sigma,  s = -z / sigma

In steady rolling s = V_s / h(V) again. z is a coordinate without inertia: the position of a joint
without mass, whose rate is given by a row.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import casadi as ca

from ..errors import InputError, listed
from ..mechanics.algebroid import LieAlgebroid
from ..mechanics.system import LagrangianSystem
from ..urdf.tyre import Tyre, change_tyre
from ..urdf.tyre_loads import LOADS, find_load_terms
from ..urdf.wheel import Wheel
from .contact import Contact
from .context import BuildContext
from .parameters import Parameters

DIRECTIONS = ("longitudinal", "lateral")
DAMPING_TIME = 5e-3      # [s] of a standing tyre, whose deflection would otherwise oscillate
NO_SLIP = 1e-9      # added to rho, so that force / rho is finite without slip


class HasParameters(Protocol):
    """A vehicle, or a `BuildContext`."""

    @property
    def parameters(self) -> Parameters: ...

    @property
    def algebroid(self) -> LieAlgebroid: ...


def tyre_of(contact: Contact) -> Tyre | None:
    """The tyre of a wheel; None if it rolls ideally."""
    tyre = contact.mount.wheel.tyre
    return tyre if isinstance(tyre, Tyre) else None


def tyre_force(context: HasParameters, contact: Contact, tyre: Tyre,
               load: ca.SX) -> dict[str, ca.SX]:
    """Force of the ground on the wheel in both directions [N], for a load [N]."""
    if tyre.load is not None:
        return {d: load * part for d, part in tyre_grip(context, contact, tyre, load).items()}
    number = _numbers(context, contact, tyre)
    slip = slips(context, contact, number)
    return {d: -number[f"{d}_stiffness"] * slip[d] for d in DIRECTIONS}


def tyre_grip(context: HasParameters, contact: Contact, tyre: Tyre,
              load: ca.SX) -> dict[str, ca.SX]:
    """Force divided by load in both directions, for a tyre whose force depends on the load."""
    number = _numbers(context, contact, tyre)
    slip = slips(context, contact, number)
    for d in DIRECTIONS:
        number[f"{d}_stiffness"] /= number["load"]
    if tyre.follows is not None:
        number |= _at_load(number, tyre.follows, load)
    stiffness = {d: number[f"{d}_stiffness"] for d in DIRECTIONS}
    if not tyre.is_limited:
        return {d: -stiffness[d] * slip[d] for d in DIRECTIONS}
    return magic_formula(slip, stiffness, number)


def _at_load(number: Mapping[str, ca.SX | float], follows: str,
             load: ca.SX) -> dict[str, ca.SX]:
    """Coefficients at a load, from those at F_0 (stiffness divided by load): stiffness and friction
    change by the ratio of the values in the set `follows`, curvature by their difference. Loads
    above those of the set have the coefficients of its largest load."""
    terms = find_load_terms(follows)
    near = ca.fmin(ca.fmax(load, 0), LOADS[1] * terms.load)
    here, there = terms.per_load(number["load"], ca), terms.per_load(near, ca)
    return {name: number[name] + there[name] - here[name] if name.endswith("curvature") else
            number[name] * there[name] / here[name] for name in there}


def _numbers(context: HasParameters, contact: Contact,
             tyre: Tyre) -> dict[str, ca.SX | float]:
    names = [name.replace(".", "_") for name in tyre.numbers()]
    return {name: context.parameters[f"{contact.name}.{name}"] for name in names}


def check_tyres(wheels: Iterable[Wheel], parameters: Parameters) -> None:
    """Raises `InputError` for impossible parameters of tyres, and for a relaxation length that
    becomes zero or nonzero: parameters cannot add or remove the coordinate of a deflection."""
    for wheel in wheels:
        if not isinstance(wheel.tyre, Tyre):
            continue
        names = {name: f"{wheel.name}.{name.replace('.', '_')}" for name in wheel.tyre.numbers()}
        numbers = {name: parameters.values[full] for name, full in names.items()}
        try:
            changed = change_tyre(wheel.tyre, numbers)
        except InputError as error:
            known = wheel.tyre.numbers()
            shown = [f"{full} = {numbers[name]:g}" for name, full in names.items()
                    if numbers[name] != known[name]]
            raise InputError(f"parameters {listed(shown)}: {error}") from None
        for d in DIRECTIONS:
            before, after = (getattr(tyre, d).relaxation for tyre in (wheel.tyre, changed))
            if (before == 0) != (after == 0):
                raise InputError(f"parameter '{wheel.name}.{d}_relaxation' = {after:g}, where the "
                                 f"tyre has {before:g}: whether it is zero decides how many "
                                 "coordinates there are; give the wheel another tyre when you load "
                                 f"the vehicle, such as \"{wheel.tyre} {d}.relaxation={after:g}\"")


def slip_of_tyre(context: HasParameters, contact: Contact, tyre: Tyre) -> dict[str, ca.SX]:
    """s in both directions, -kappa and tan(alpha)."""
    return slips(context, contact, _numbers(context, contact, tyre))


def slips(context: HasParameters, contact: Contact,
          number: Mapping[str, ca.SX | float]) -> dict[str, ca.SX]:
    """V_s / h(V) in both directions; -z / sigma with a relaxation length, and damping near rest."""
    found = {}
    relaxed = relaxations(context, contact)
    slow = 1 - ca.fmin(ca.fabs(contact.advance) / number["low_speed"], 1)
    for d in DIRECTIONS:
        if d not in relaxed:
            found[d] = contact.speed(d) / rolling_speed(contact, number["low_speed"])
            continue
        damping = DAMPING_TIME * slow ** 2 * contact.speed(d)
        found[d] = (damping - relaxed[d].deflection) / number[f"{d}_relaxation"]
    return found


def rolling_speed(contact: Contact, low_speed: ca.SX | float) -> ca.SX:
    """h(V)."""
    size = ca.fabs(contact.advance)
    slow = ca.fmin(size, low_speed)
    return size - slow + (slow ** 2 + low_speed ** 2) / (2 * low_speed)


@dataclass(frozen=True, eq=False)
class Relaxation:
    """A deflection z of a tyre, in symbols."""

    follower: int  # index of dz/dt in v
    deflection: ca.SX  # z [m]
    flow: ca.SX  # h(V) z / sigma [m/s], by which a rolling tyre loses its deflection


def deflections(wheels: Sequence[Wheel]) -> list[str]:
    """Names of all deflections."""
    return [_deflection(wheel, d) for wheel in wheels for d in DIRECTIONS
            if isinstance(wheel.tyre, Tyre) and getattr(wheel.tyre, d).relaxation]


def _deflection(wheel: Wheel, direction: str) -> str:
    return f"{wheel.name}/{direction}_deflection"


def relaxations(context: HasParameters, contact: Contact) -> dict[str, Relaxation]:
    """The relaxations of a wheel's tyre, by direction."""
    space, wheel = context.algebroid, contact.mount.wheel
    found = {}
    for d in DIRECTIONS:
        if (name := _deflection(wheel, d)) not in space.v_names:
            continue
        z = space.q[space.q_names.index(name)]
        low_speed, sigma = (context.parameters[f"{contact.name}.{what}"]
                            for what in ("low_speed", f"{d}_relaxation"))
        found[d] = Relaxation(space.v_names.index(name), z,
                              rolling_speed(contact, low_speed) * z / sigma)
    return found


def magic_formula(slip: Mapping[str, ca.SX], stiffness: Mapping[str, ca.SX | float],
                  number: Mapping[str, ca.SX | float]) -> dict[str, ca.SX]:
    """Force divided by load in both directions; `stiffness` is K / F_0."""
    sigma = {d: stiffness[d] * slip[d] / number[f"{d}_friction"] for d in DIRECTIONS}
    rho = ca.sqrt(sum((part ** 2 for part in sigma.values()), ca.SX(NO_SLIP ** 2)))
    found = {}
    for d in DIRECTIONS:
        shape, curvature = number[f"{d}_shape"], number[f"{d}_curvature"]
        x = rho / shape
        bent = ca.sin(shape * ca.atan(x - curvature * (x - ca.atan(x))))
        found[d] = -number[f"{d}_friction"] * bent * sigma[d] / rho
    return found


def tyre_forces(context: BuildContext, contacts: Sequence[Contact]) -> ca.SX:
    """tau (nv,) from the tyres whose forces do not depend on the load."""
    return sum((generalised_force(c, tyre_force(context, c, tyre, ca.SX(1)), context.v)
                for c in contacts if (tyre := tyre_of(c)) is not None and tyre.load is None),
               ca.SX(context.algebroid.nv, 1))


def tyre_friction(context: BuildContext, contacts: Sequence[Contact], names: Sequence[str],
                  loads: ca.SX) -> ca.SX:
    """Generalised force per unit force of each row (nv, m) from the tyres whose forces depend on
    the load, at the row forces `loads` (m,); `names`: names of the rows."""
    friction = ca.SX(context.algebroid.nv, len(names))
    for c in contacts:
        if (tyre := tyre_of(c)) is not None and tyre.load is not None:
            row = names.index(f"{c.name}/normal")
            friction[:, row] = generalised_force(c, tyre_grip(context, c, tyre, loads[row]),
                                                 context.v)
    return ca.sparsify(friction)


def generalised_force(contact: Contact, forces: Mapping[str, ca.SX], v: ca.SX) -> ca.SX:
    """tau (nv,) from a tyre's forces [N] by direction: the derivative of their power by v."""
    along = [(contact.speed(d), force) for d, force in forces.items()]
    return sum((ca.jacobian(speed, v).T @ force for speed, force in along), ca.SX(v.numel(), 1))


def tyre_function(context: HasParameters, system: LagrangianSystem,
                  contacts: Sequence[Contact]) -> ca.Function:
    """(t, q, v, theta, loads (k,) [N]) -> slip (2, k) and force along the ground (2, k) [N],
    longitudinal and lateral, of the k wheels with tyres."""
    tyred = [(c, tyre) for c in contacts if (tyre := tyre_of(c)) is not None]
    loads, slip, force = ca.SX.sym("loads", len(tyred)), ca.SX(2, 0), ca.SX(2, 0)
    for i, (c, tyre) in enumerate(tyred):
        along = tyre_force(context, c, tyre, loads[i])
        found = slip_of_tyre(context, c, tyre)
        slip = ca.horzcat(slip, ca.vertcat(*[found[d] for d in DIRECTIONS]))
        force = ca.horzcat(force, ca.vertcat(*[along[d] for d in DIRECTIONS]))
    return ca.Function("tyres", [system.t, system.q, system.v, system.theta, loads],
                       [ca.densify(slip), ca.densify(force)])
