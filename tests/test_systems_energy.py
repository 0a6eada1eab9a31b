"""Lagrangians of `nhmech.systems`, by masses and potentials that are derived by hand, everywhere:
what the constraints hide too, and what the motion does not depend on."""

from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from nhmech.systems import load_system


def diag(*masses):
    return np.diag(np.array(masses, dtype=float))


def vertical(q) -> np.ndarray:
    """Of the world, in a body whose quaternion is in q."""
    return Rotation.from_quat([q.qx, q.qy, q.qz, q.qw]).as_matrix()[2]


def ball_with_a_weight(q, p, t):
    """The weight moves with (x', y', 0) + R (omega x c e_z)."""
    R = Rotation.from_quat([q.qx, q.qy, q.qz, q.qw]).as_matrix()
    J = np.hstack([np.eye(3, 2), R @ [[0, p.c, 0], [-p.c, 0, 0], [0, 0, 0]]])
    return p.m * J.T @ J + diag(0, 0, p.I1, p.I2, p.I3), -p.m * p.g * p.c * R[2, 2]


def disc(q, p, t):
    """m |v_C|^2 along the heading, across it and upwards: the contact moves with (x', y'), and the
    middle is r away from it, up the disc."""
    c, s, tan = np.cos(q.yaw), np.sin(q.yaw), np.tan(q.lean)
    J = np.array([[c, s, 0, 0, p.r * tan], [-s, c, -p.r * np.cos(q.lean), 0, 0],
                  [0, 0, -p.r * np.sin(q.lean), 0, 0]])
    return (p.m * J.T @ J + diag(0, 0, p.A, p.C, p.A), -p.m * p.g * p.r * np.cos(q.lean))


def coin(q, p, t):
    """The middle falls by (r - crown) (1 - cos(lean))."""
    fall = (p.r - p.crown) * np.sin(q.lean)
    return (diag(p.m, p.m, p.A + p.m * fall ** 2, p.C, p.A),
            -p.m * p.g * (p.crown + (p.r - p.crown) * np.cos(q.lean)))


def stone(q, p, t):
    J = diag(p.Ixx, p.Iyy, p.Izz)
    J[0, 1] = J[1, 0] = p.Ixy
    return np.block([[p.m * np.eye(3), np.zeros((3, 3))], [np.zeros((3, 3)), J]]), (
        -p.m * p.gravity * q.z)


def carriage(q, p, t):
    M = diag(p.m, p.m, p.I, p.C, p.C)
    M[:2, 2] = M[2, :2] = p.m0 * p.l * np.array([-np.sin(q.phi), np.cos(q.phi)])
    return M, 0.0


def sleigh(q, p, t):
    return np.array([[p.m, 0, 0], [0, p.m, p.m * p.a], [0, p.m * p.a, p.I + p.m * p.a ** 2]]), 0.0


def beanie(q, p, t):
    M = diag(p.m, p.m, p.I1 + p.I2, p.I2)
    M[2, 3] = M[3, 2] = p.I2
    return M, -p.k * q.psi ** 2 / 2


def snakeboard(q, p, t):
    """Turning rates of rotor and trucks are those of the board and their own."""
    M = diag(p.m, p.m, p.J + p.J0 + 2 * p.J1, p.J0, p.J1, p.J1)
    M[2, 3:] = M[3:, 2] = p.J0, p.J1, p.J1
    return M, 0.0


def slope(q, p, t):
    """On a plane that turns at p.rate about the level axis through x = 0."""
    rate, angle = getattr(p, "rate", 0.0), p.tilt + getattr(p, "rate", 0.0) * t
    return (diag(p.m, p.m, p.J),
            p.m * p.g * np.sin(angle) * q.x + rate ** 2 * (p.m * q.x ** 2 + p.J) / 2)


# name -> (q, p, t) -> mass matrix, and what is left of L at rest
BY_HAND = {
    "areal_velocity": lambda q, p, t: (diag(1, q.r ** -2), p.k / q.r - p.c * q.r ** 4 / 4),
    "ball_on_turntable": lambda q, p, t: (diag(p.m, p.m, p.I, p.I, p.I),
                                          p.m * p.g * np.sin(p.tilt) * q.x),
    "bead_parabola": lambda q, p, t: (diag(p.m, p.m), -p.m * p.g * q.x2),
    "bead_rod": lambda q, p, t: (diag(p.m, p.m, 0), 0.0),
    "carriage": carriage,
    "chaplygin_ball": lambda q, p, t: (diag(p.m, p.m, p.I1, p.I2, p.I3), 0.0),
    "chaplygin_sleigh": sleigh,
    "charged_particle": lambda q, p, t: (diag(p.m, p.m, p.m, 1), 0.0),
    "elroys_beanie": beanie,
    "falling_disc": disc,
    "heavy_top": lambda q, p, t: (diag(p.I1, p.I2, p.I3), -p.m * p.g * p.l * vertical(q)[2]),
    "heisenberg_drift": lambda q, p, t: (diag(1, 1, 1), p.f * q.x),
    "knife_edge_on_incline": slope,
    "knife_edge_on_turning_incline": slope,
    "nonholonomic_particle": lambda q, p, t: (diag(1, 1, 1), 0.0),
    "rattleback": stone,
    "rigid_body": lambda q, p, t: (diag(1, 2, 3.5), 0.0),
    "rolling_ball": lambda q, p, t: (diag(1, 1, p.k2, p.k2, p.k2), 0.0),
    "sled": lambda q, p, t: (diag(p.m, p.m, p.J), 0.0),
    "snakeboard": snakeboard,
    "suslov": lambda q, p, t: (np.array([[p.I1, 0, p.I13], [0, p.I2, p.I23],
                                         [p.I13, p.I23, p.I3]]), 0.0),
    "torus_coin": coin,
    "two_constraints_spring": lambda q, p, t: (
        diag(p.m, p.m, p.m), -p.k * (q.x1 ** 2 + q.x2 ** 2 + q.x3 ** 2) / 2),
    "unbalanced_ball": ball_with_a_weight,
    "vertical_disk": lambda q, p, t: (diag(p.m, p.m, p.I1, p.I2), 0.0),
    "veselova": lambda q, p, t: (diag(p.I1, p.I2, p.I3), 0.0),
    "veselova_sphere": lambda q, p, t: (diag(p.I1, p.I2, p.I3), 0.0),
    "wong_particle": lambda q, p, t: (diag(p.m, p.m, p.m, 1, 1, 1), 0.0)}


def states(name: str, count: int = 3):
    """L, and the values of (t, q, v, theta) at random, on no constraint, with q and theta by
    name."""
    system, rng = load_system(name).constrained.system, np.random.default_rng(3)
    space = system.algebroid
    L = ca.Function("L", [system.t, system.q, system.v, system.theta], [system.lagrangian])
    for _ in range(count):
        t, q, v = rng.uniform(), space.normalise(rng.uniform(0.2, 1.1, space.nq)), rng.normal(
            size=space.nv)
        theta = rng.uniform(0.2, 1.5, len(system.theta_names))
        yield (float(L(t, q, v, theta)), t, SimpleNamespace(**dict(zip(space.q_names, q))), v,
               SimpleNamespace(**dict(zip(system.theta_names, theta))))


@pytest.mark.parametrize("name", BY_HAND)
def test_masses_and_potential_are_those_derived_by_hand(name):
    for L, t, q, v, p in states(name):
        M, rest = BY_HAND[name](q, p, t)
        assert pytest.approx(v @ M @ v / 2 + rest, rel=1e-12, abs=1e-14) == L


def test_a_particle_without_mass_has_no_kinetic_energy():
    """That of Capri and Kobayashi: the others feel a field, of vector potential (-y, x)."""
    for L, _, q, v, p in states("capri_kobayashi"):
        expected = -q.x1 ** 2 - q.y1 ** 2
        for m, x, y, vx, vy in ((p.m2, q.x2, q.y2, *v[2:4]), (p.m3, q.x3, q.y3, *v[4:])):
            expected += m * (vx ** 2 + vy ** 2) + x * vy - y * vx - x ** 2 - y ** 2
        assert pytest.approx(expected, rel=1e-12, abs=0) == L


# -- bodies in the plane: mass and inertia, place of the middle, heading ---------------------------
def ahead(place, heading, distance):
    return place + distance * ca.vertcat(ca.cos(heading), ca.sin(heading))


def drive(q, p):
    place, left = ca.vertcat(q.x, q.y), ca.vertcat(-ca.sin(q.yaw), ca.cos(q.yaw))
    return [(p.mass, p.inertia, ahead(place, q.yaw, p.ahead), q.yaw),
            *((p.wheel_mass, p.wheel_inertia, place + side * p.half_track * left, q.yaw)
              for side in (1, -1)),
            *((0, p.spin_inertia, place, angle) for angle in (q.left, q.right))]


def racer(q, p):
    place = ca.vertcat(q.x, q.y)
    turned = q.yaw + q.joint
    return [(p.m1, p.I1, place, q.yaw),
            (p.m2, p.I2, ahead(ahead(place, q.yaw, p.d1), turned, p.d2), turned)]


def snake(q, p):
    middle, back, front = ca.vertcat(q.x, q.y), q.yaw + q.back, q.yaw + q.front
    return [(p.m, p.J, middle, q.yaw),
            (p.m, p.J, ahead(ahead(middle, q.yaw, -p.l), back, -p.l), back),
            (p.m, p.J, ahead(ahead(middle, q.yaw, p.l), front, p.l), front)]


def train(q, p):
    heading, axle = q.yaw, ca.vertcat(q.x, q.y)
    bodies = [(p.mass, p.inertia, ahead(axle, heading, p.ahead), heading),
              (0, p.steering_inertia, axle, heading + q.steering)]
    for behind, drawbar, m, J, centre, hitch in (
            (p.behind_1, p.drawbar_1, p.mass_1, p.inertia_1, p.ahead_1, q.hitch_1),
            (p.behind_2, p.drawbar_2, p.mass_2, p.inertia_2, p.ahead_2, q.hitch_2)):
        axle = ahead(ahead(axle, heading, -behind), heading + hitch, -drawbar)
        heading = heading + hitch
        bodies.append((m, J, ahead(axle, heading, centre), heading))
    return bodies


@pytest.mark.parametrize("name, bodies", [
    ("differential_drive", drive), ("roller_racer", racer), ("wheeled_snake", snake),
    ("car_with_trailers", train)])
def test_kinetic_energy_is_that_of_bodies_in_the_plane(name, bodies):
    system = load_system(name).constrained.system
    q = SimpleNamespace(**dict(zip(system.algebroid.q_names, ca.vertsplit(system.q))))
    p = SimpleNamespace(**dict(zip(system.theta_names, ca.vertsplit(system.theta))))
    T = sum(m * ca.sumsqr(ca.jtimes(place, system.q, system.q_rate)) / 2
            + J * ca.jtimes(heading, system.q, system.q_rate) ** 2 / 2
            for m, J, place, heading in bodies(q, p))
    both = ca.Function("both", [system.q, system.v, system.theta], [system.lagrangian, T])
    rng = np.random.default_rng(6)
    for _ in range(3):
        L, expected = both(*(rng.normal(size=x.numel()) for x in (system.q, system.v)),
                           rng.uniform(0.2, 1.5, system.theta.numel()))
        assert float(L) == pytest.approx(float(expected), rel=1e-12, abs=0)


def test_energy_of_a_body_on_two_wheels():
    """In space: the centre of mass by its place, the pitched body's rates by its attitude."""
    system = load_system("two_wheeled_pendulum").constrained.system
    q = SimpleNamespace(**dict(zip(system.algebroid.q_names, ca.vertsplit(system.q))))
    p = SimpleNamespace(**dict(zip(system.theta_names, ca.vertsplit(system.theta))))
    c, s = ca.cos(q.pitch), ca.sin(q.pitch)
    level = ahead(ca.vertcat(q.x, q.y), q.yaw, p.above * s)
    place = ca.vertcat(level, p.above * c)
    turn, pitch = system.v[2], system.v[3]
    left = ca.vertcat(-ca.sin(q.yaw), ca.cos(q.yaw))
    T = p.mass * ca.sumsqr(ca.jtimes(place, system.q, system.q_rate)) / 2 + (
        p.roll_inertia * (turn * s) ** 2 + p.pitch_inertia * pitch ** 2
        + p.yaw_inertia * (turn * c) ** 2) / 2
    for side, rate in ((1, system.v[4]), (-1, system.v[5])):
        wheel = ca.vertcat(q.x, q.y) + side * p.half_track * left
        T += (p.wheel_mass * ca.sumsqr(ca.jtimes(wheel, system.q, system.q_rate))
              + p.wheel_inertia * turn ** 2 + p.spin_inertia * (rate + pitch) ** 2
              + p.rotor_inertia * rate ** 2) / 2
    V = p.mass * p.gravity * p.above * c
    both = ca.Function("both", [system.q, system.v, system.theta], [system.lagrangian, T - V])
    rng = np.random.default_rng(7)
    L, expected = both(*(rng.normal(size=x.numel()) for x in (system.q, system.v)),
                       rng.uniform(0.2, 1.5, system.theta.numel()))
    assert float(L) == pytest.approx(float(expected), rel=1e-12)
