"""The ground's forces on the wheels in a written page: what `forces.js` splits and draws."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import casadi as ca

from ..analysis.friction import coefficients
from ..mechanics.equations import Equations
from ..simulation.contact.lift_off import LiftOffBound
from ..simulation.state_vector import state_symbols
from ..vehicle.contact_forces import contact_force_function
from ..vehicle.vehicle import Vehicle
from .camera import View
from .colours import contact_rgb
from .overlays.forces import Forces

FRICTION = 0.8      # of a wheel whose friction nobody gave: rubber on a dry floor


def force_functions(vehicle: Vehicle, charts: Sequence[Equations]) -> list[ca.Function]:
    """Of each chart (t, x, u, theta) -> forces (n,), kernel (n, d) of `contact_force_function`; d
    is the same for all, with columns of zeros where a chart has fewer."""
    found = [_forces(vehicle, equations) for equations in charts]
    d = max((function.size2_out(1) for function in found), default=0)
    return [_widen(function, d) for function in found]


def _forces(vehicle: Vehicle, equations: Equations) -> ca.Function:
    system, (x, q, v) = vehicle.constrained.system, state_symbols(equations)
    function = contact_force_function(equations, vehicle.contact_rows)
    forces, kernel, *_ = function(system.t, q, v, system.u, system.theta, 0)
    return ca.Function("nhmech_forces", [system.t, x, system.u, system.theta],
                       [forces, kernel], {"cse": True})


def _widen(function: ca.Function, d: int) -> ca.Function:
    inputs = function.sx_in()
    forces, kernel = function.call(inputs)
    zeros = ca.SX.zeros(kernel.size1(), d - kernel.size2())
    return ca.Function(function.name(), inputs,
                       [forces, ca.densify(ca.horzcat(kernel, zeros))])


def describe_wheels(vehicle: Vehicle, mu: float | Mapping[str, float] | None,
                    ) -> list[dict[str, Any]]:
    """For each contact: name, colour, index of its rate in v, indices of its normal and its other
    components among the forces, whether its lift-off is reported, whether it really slides when
    friction no longer suffices, friction coefficient."""
    names, given = vehicle.algebroid.v_names, coefficients(vehicle, mu)
    watched, rows = LiftOffBound.of(vehicle).wheels, list(vehicle.contact_rows)
    found = []
    for i, contact in enumerate(vehicle.contacts):
        name, joint = contact.name, contact.mount.wheel.joint
        places = {row.direction: k for k, row in enumerate(rows) if row.contact == name}
        normal = places.pop("normal", None)
        found.append({"name": name, "color": contact_rgb(i), "normal": normal,
                      "along": list(places.values()), "watched": name in watched,
                      "slides": contact.mount.wheel.law == "coulomb",
                      "rate": names.index(joint) if joint in names else None,
                      "mu": given[name] if math.isfinite(given[name]) else FRICTION})
    return found


def describe_arrows(forces: Forces, view: View) -> dict[str, Any]:
    """The arrows of the overlay, for `forces.js`."""
    return {"paths": list(forces.paths.values()), "unseen": view.unseen, **forces.measures(view)}
