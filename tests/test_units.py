"""Motions do not depend on the units that somebody writes them in."""

from __future__ import annotations

import numpy as np
import pytest
from support import at_length, joint, link, robot

import nhmech
from nhmech import JointTorque, Simulator, Wheel
from nhmech.mechanics import constrain, constraint_algorithm, euclidean, lagrangian_system
from nhmech.systems.example import METHODS

METRES = (1.0, 1.0, 1.0)


def accelerate(method, row=1.0, mass=1.0, metres=METRES):
    """Of a particle on z' = y x' in a potential, with its row, masses and lengths in other units;
    back in metres."""
    a, b, c = metres

    def lagrangian(s):
        x, y, vx, vy, vz = a * s.q.x, b * s.q.y, a * s.v.x, b * s.v.y, c * s.v.z
        return mass * ((vx ** 2 + 2 * vy ** 2 + 3 * vz ** 2) / 2 + vx * vy / 5 - x ** 2 * y)

    made = constrain(lagrangian_system(euclidean("x", "y", "z"), lagrangian), rows={
        "slope": lambda s: row * (c * s.v.z - b * s.q.y * a * s.v.x)})
    equations = METHODS[method](made, ("x'", "y'"))
    q, xi = np.array([0.3, -0.2, 0.7]) / metres, np.array([1.3, 0.4]) / metres[:2]
    return equations.acceleration(0, q, xi, [], []).full().ravel() * metres


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("units", [
    {"row": 1e-12}, {"row": 1e-8}, {"row": 1e9}, {"mass": 1e-12}, {"mass": 1e9},
    {"metres": (1e-6, 1.0, 1.0)}, {"metres": (1.0, 10.0, 0.1)}], ids=str)
def test_units_do_not_matter(method, units):
    np.testing.assert_allclose(accelerate(method, **units), accelerate(method), rtol=1e-9)


# -- further constraints ---------------------------------------------------------------------------
DRAG = {"drag": lambda s: s.v.x - s.v.y}
SINGULAR = {                                   # Lagrangian of (q, v), rows
    "a row that M allows": (lambda q, v: (v.x ** 2 - v.y ** 2 + v.z ** 2 - q.x ** 2 - 2 * q.x * q.z
                                          - 5 * q.z ** 2) / 2, DRAG),
    "gauge and reaction": (lambda q, v: (v.x ** 2 - v.y ** 2 + v.z ** 2 - (q.x - q.y) ** 2) / 2,
                           DRAG),
    "springs without mass": (lambda q, v: (v.x ** 2 + v.z ** 2) / 2 - (q.x - q.y) ** 2
                             - q.y ** 2 / 2, {}),
    "gauge": (lambda q, v: (v.x - q.y) ** 2 / 2 + v.z ** 2 / 2 - q.z ** 2, {}),
    "regular": (lambda q, v: (v.x ** 2 + 2 * v.y ** 2 + v.z ** 2) / 2 - q.x ** 2 * q.y,
                {"slope": lambda s: s.v.z - s.q.y * s.v.x})}


@pytest.mark.parametrize("name", SINGULAR)
@pytest.mark.parametrize("mass", [1e-12, 1e-6, 1e6, 1e12])
def test_further_constraints_do_not_depend_on_the_unit_of_mass(name, mass):
    """Ranks, classes, the manifold, the motion on it and, in the unit, the reactions."""
    lagrangian, rows = SINGULAR[name]
    one, other = (constraint_algorithm(constrain(lagrangian_system(
        euclidean("x", "y", "z"), lambda s: size * lagrangian(s.q, s.v)), rows=rows))
        for size in (1.0, mass))
    for part in ("dimension", "hessian_rank", "gauge", "undetermined_reactions", "first_class",
                 "second_class"):
        assert getattr(other, part) == getattr(one, part), part
    assert [(step.rank, step.constraints.numel(), step.dimension) for step in other.steps] == [
        (step.rank, step.constraints.numel(), step.dimension) for step in one.steps]
    for z in one.manifold.states:
        q, v = z[:3], z[3:]
        np.testing.assert_allclose(other.drift(0, q, v, [], [])[1].full(),
                                   one.drift(0, q, v, [], [])[1].full(), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(other.multipliers(0, q, v, [], []).full() / mass,
                                   one.multipliers(0, q, v, [], []).full(), rtol=1e-9, atol=1e-9)


# -- wheels that slide -----------------------------------------------------------------------------
def cart(metre: float, kilogram: float = 1.0):
    """Two wheels and a ball under a box, in units of which so many make a metre and a kilogram."""
    def box(*size, at):
        return (f'<collision><origin xyz="{at[0] * metre} {at[1] * metre} {at[2] * metre}"/>'
                f'<geometry><box size="{" ".join(str(one * metre) for one in size)}"/></geometry>'
                '</collision>')

    def part(name, mass, inertia, body=""):
        return link(name, mass * kilogram, [one * kilogram * metre ** 2 for one in inertia],
                    body=body)

    def at(*xyz):
        return [one * metre for one in xyz]

    parts = [part("base", 4.0, (0.05, 0.06, 0.07), box(0.5, 0.4, 0.2, at=(0, 0, 0.25))),
             part("ball", 0.1, (1e-4, 1e-4, 1e-4)),
             joint("to_ball", "base", "ball", at(-0.3, 0, -0.05), kind="fixed")]
    for side, y in (("left", 0.3), ("right", -0.3)):
        parts += [part(side, 0.3, (1e-3, 2e-3, 1e-3)),
                  joint(f"{side}_wheel", "base", side, at(0, y, 0))]
    wheels = [Wheel("left_wheel", "disc", 0.1 * metre, driven=True),
              Wheel("right_wheel", "disc", 0.1 * metre, driven=True),
              Wheel(None, "caster_ball", 0.05 * metre, link="ball")]
    return nhmech.load(robot(*parts), wheels=wheels).with_parameters({"gravity": 9.81 * metre})


def slide(metre: float, kilogram: float):
    """A cart that is thrown and driven with wheels that slip, lands, and rolls in the end; its run
    in metres."""
    newton_metre = kilogram * metre ** 2

    def drive(t, state):
        torque = 2.5 * newton_metre if t < 0.2 else 0.0
        return JointTorque({"left_wheel": torque, "right_wheel": 0.9 * torque})

    vehicle = cart(metre, kilogram)
    simulator = Simulator(vehicle, drive, dt=2e-3, contact="coulomb", mu=0.3, on_fall="go-on",
                          restitution=0.2)
    simulator.reset(drop=0.02 * metre, v={"forward_speed": 1.0 * metre, "yaw_rate": 0.5})
    run = simulator.run(1.0)
    q = run.q.copy()
    q[:, :3] /= metre
    return run, q


@pytest.mark.parametrize("metre, kilogram", [
    (39.4, 2.2e-4), *at_length((1e3, 1.0), (1e-3, 1e3))])
def test_wheels_slide_alike_in_any_units(metre, kilogram):
    """Lengths in millimetres, kilometres, and inches with tons: places, phases and forces."""
    (run, q), (same, same_q) = slide(1.0, 1.0), slide(metre, kilogram)
    assert [span.wheels for span in run.phases] == [span.wheels for span in same.phases]
    assert [name for _, name in run.events] == [name for _, name in same.events]
    assert run.rolled[-1] and not run.rolled[0]
    # moments of landing are located, and iterations end, at 1e-11 or less
    np.testing.assert_allclose(same_q, q, rtol=0, atol=1e-8)
    newton = kilogram * metre
    np.testing.assert_allclose(same.force("left_wheel") / newton, run.force("left_wheel"),
                               rtol=1e-6, atol=1e-6)
