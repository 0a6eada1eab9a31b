"""Gibbs function and energies of a tree of bodies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import casadi as ca

from .inertia import Inertia, Spin
from .tree import Body


def gibbs_function(bodies: Sequence[Body], inertias: Sequence[Inertia | None], spins: Sequence[Spin], v: ca.SX,
                   a: ca.SX) -> ca.SX:
    """S = sum 1/2 m |a_c|^2 + 1/2 alpha.I alpha + alpha.(omega x I omega).

    a_c is the proper acceleration of the centre of mass. A lumped wheel that turns by phi' about its axle e adds
    J (1/2 phi''^2 + phi'' e.alpha + phi' alpha.(omega x e)).
    From the sum over the bodies of 1/2 (A - A_g)^T I (A - A_g) + (A - A_g)^T (V x* I V) it differs by a function
    of (q, v) only.
    """
    total = ca.SX(0)
    for body, inertia in _massive(bodies, inertias):
        a_com = body.a + ca.cross(body.alpha, inertia.com) + ca.cross(body.omega, ca.cross(body.omega, inertia.com))
        momentum = inertia.matrix @ body.omega
        moment = inertia.matrix @ body.alpha / 2 + ca.cross(body.omega, momentum)
        total += inertia.mass * ca.sumsqr(a_com) / 2 + ca.dot(body.alpha, moment)
    for spin in spins:
        body, rate, acceleration = bodies[spin.carrier], v[spin.rate], a[spin.rate]
        turning = acceleration * spin.axle + rate * ca.cross(body.omega, spin.axle)
        total += spin.axial * (acceleration ** 2 / 2 + ca.dot(body.alpha, turning))
    return total


def energies(bodies: Sequence[Body], inertias: Sequence[Inertia | None], spins: Sequence[Spin], v: ca.SX,
             origin: ca.SX | float = 0) -> tuple[ca.SX, ca.SX]:
    """Kinetic and potential energy [J].

    origin  potential [J/kg] of the ground's reference point, which moves with the ground
    """
    kinetic, potential = ca.SX(0), ca.SX(0)
    for body, inertia in _massive(bodies, inertias):
        moving = inertia.mass * ca.sumsqr(body.velocity_of(inertia.com))
        kinetic += (moving + ca.dot(body.omega, inertia.matrix @ body.omega)) / 2
        potential += inertia.mass * (origin - ca.dot(body.world["g"], body.position + inertia.com))
    for spin in spins:
        kinetic += spin.axial * v[spin.rate] * (v[spin.rate] / 2 + ca.dot(spin.axle, bodies[spin.carrier].omega))
    return kinetic, potential


def _massive(bodies: Sequence[Body], inertias: Sequence[Inertia | None]) -> Iterator[tuple[Body, Inertia]]:
    return ((body, inertia) for body, inertia in zip(bodies, inertias) if inertia is not None)
