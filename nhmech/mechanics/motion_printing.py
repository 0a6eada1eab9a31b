"""The text of equations of motion."""

from __future__ import annotations

import casadi as ca

from ..symbolic.document import Section
from .frame import AdaptedFrame
from .printing import Display, column


def motion_sections(frame: AdaptedFrame, display: Display) -> list[Section]:
    """Velocities on the distribution, and M dxi/dt = right-hand side."""
    system = frame.constrained.system
    xi = column([display.v_names[i] for i in frame.speeds])
    rates = display.rates([display.v_names[i] for i in frame.speeds])
    v, q_names = frame.velocity(xi), [f"{name}'" for name in system.algebroid.q_names]
    others = [i for i, name in enumerate(display.v_names) if name not in q_names]
    kinematics = display.section(
        "velocities", [*q_names, *(display.v_names[i] for i in others)],
        ca.vertcat(*system.expand(system.algebroid.anchor @ v, v[others])), [xi])
    mass, right = reduced_equations(frame, xi, rates)
    lefts = display.write(*ca.vertsplit(mass), also=[rates, xi])
    rights = display.write(*ca.vertsplit(right), also=[xi])
    motion = Section("equations of motion", tuple(zip(lefts, rights)))
    return [section for section in (kinematics, motion) if section.formulas]


def reduced_equations(frame: AdaptedFrame, xi: ca.SX, rates: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Both sides of dS/d(dxi/dt) = E^T tau, (nxi,) each: E^T M E dxi/dt, and the remaining
    terms."""
    system = frame.constrained.system
    left = frame.E.T @ ca.substitute(ca.gradient(system.gibbs, system.a), system.a,
                                     frame.acceleration(rates))
    bias = ca.substitute(left, rates, ca.SX.zeros(rates.shape))
    mass = ca.jacobian(left, rates) @ rates
    v = ca.densify(frame.velocity(xi))
    right = ca.substitute(frame.E.T @ system.force - bias, system.v, v)
    mass, right = system.expand(ca.densify(mass), ca.densify(right))
    return mass, right
