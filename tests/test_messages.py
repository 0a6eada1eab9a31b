"""Refusals that no other test meets, one call each: what is wrong, where, and with which value."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import casadi as ca
import numpy as np
import pytest
from support import shipped
from symmetric_systems import SE2, carriage

import nhmech
from nhmech import InputError, MechanicsError, SimulationError, Simulator
from nhmech.control import TrackingLQR, line
from nhmech.control.path import Arcs
from nhmech.control.path_choice import read_path
from nhmech.control.registry import controller_class, make_controller
from nhmech.mechanics import (
    action_algebroid,
    bates_sniatycki,
    constrain,
    constraint_algorithm,
    euclidean,
    generalised_speeds,
    gibbs_appell,
    hamilton_jacobi,
    lagrangian_system,
    momentum_side,
    nonholonomic_momentum,
    on_level,
    symmetry,
)
from nhmech.mechanics.algebroid import rotation
from nhmech.mechanics.algebroid_makers import atiyah, lie_algebra
from nhmech.mechanics.distribution import Row, assemble
from nhmech.mechanics.hamiltonisation import hamiltonise
from nhmech.mechanics.moving_frame import MovingFrame
from nhmech.mechanics.quasi_velocities import change_of_basis
from nhmech.mechanics.reconstruction import reconstruct, run_reduced
from nhmech.mechanics.reduction import at_momentum, chaplygin
from nhmech.mechanics.regularity import regularity
from nhmech.mechanics.system import require_constrained
from nhmech.urdf.wheel import Wheel

PLANE = euclidean("x", "y")


def plane(lagrangian=lambda s: (s.v.x ** 2 + s.v.y ** 2) / 2, numbers=None, holonomic=None,
          rows=None, **more):
    return constrain(lagrangian_system(PLANE, lagrangian, **more), numbers, holonomic=holonomic,
                     rows=rows)


def on_a_slope():
    """y' = x x', which moves along y as it is."""
    return symmetry(plane(rows={"slope": lambda s: s.v.y - s.q.x * s.v.x}),
                    {"along y": lambda s: {"y": 1}})


def in_space():
    """A free particle, and the turns about the origin: their orbits are spheres."""
    return constrain(lagrangian_system(
        euclidean("x", "y", "z"), lambda s: (s.v.x ** 2 + s.v.y ** 2 + s.v.z ** 2) / 2))


TURNS = {"about x": lambda s: {"y": -s.q.z, "z": s.q.y},
         "about y": lambda s: {"z": -s.q.x, "x": s.q.z},
         "about z": lambda s: {"x": -s.q.y, "y": s.q.x}}


def pushed_carriage():
    """A constant force on one wheel."""
    plain = carriage()
    return replace(plain, system=replace(plain.system, force=ca.SX([0, 0, 0, 1, 0])))


@cache
def rolled():
    return chaplygin(symmetry(carriage(), SE2))


def drive(name="differential_drive", **given):
    return nhmech.load(nhmech.urdf_path(name), **given)


def set_word(name, **settings):
    return make_controller(controller_class(name), shipped("differential_drive"),
                           path=line(2.0), settings=settings)


class Needy:
    """A controller of a user that cannot do without a number."""

    def __init__(self, vehicle, target):
        self.target = target


def stand_off():
    """A start a metre above the ground."""
    robot = shipped("differential_drive")
    q = robot.configuration()
    q[2] += 1
    Simulator(robot).reset(q=q)


MECHANICS = {
    "parameter without a number": (
        lambda: plane(parameters=("m", "g"), numbers={"m": 1.0}), "m, g: no number for g"),
    "number of no parameter": (
        lambda: plane(parameters=("m",), numbers={"m": 1.0, "k": 2.0}), "are m: unknown k"),
    "number without parameters": (lambda: plane(numbers={"k": 2.0}), "are none: unknown k"),
    "no configuration": (
        lambda: plane(holonomic={"ring": lambda s: s.q.x ** 2 + s.q.y ** 2 + 1}).configurations,
        "no configuration was found that satisfies ring"),
    "massless": (lambda: gibbs_appell(plane(lambda s: s.v.x ** 2)), "gibbs_appell.*singular"),
    "basis of another fibre": (lambda: change_of_basis(PLANE, ca.SX.eye(3), ("a", "b")),
                               r"a basis of this fibre is \(2, 2\) with 2 names; given are "
                               r"\(3, 3\) and 2"),
    "a name too few": (lambda: change_of_basis(PLANE, ca.SX.eye(2), ("a",)),
                       r"given are \(2, 2\) and 1"),
    "connection of no matrix": (lambda: atiyah(("x",), "so(3)", lambda q: "flat"),
                                "the connection is 'flat', not a CasADi matrix"),
    "connection of another group": (lambda: atiyah(("x",), "so(3)", ca.SX.zeros(2, 1)),
                                    r"connection has shape \(2, 1\).*needs \(3, 1\)"),
    "constants of another algebra": (lambda: lie_algebra(np.zeros((2, 2, 2)), ("a", "b", "c")),
                                     r"3 names \(a, b, c\) need constants \(3, 3, 3\)"),
    "generator of another fibre": (
        lambda: symmetry(plane(), {"turn": ca.SX.ones(3)}),
        r"generator 'turn' has shape \(3, 1\), a section of this fibre is \(2, 1\)"),
    "generator without names": (lambda: symmetry(plane(), {"turn": lambda s: [-s.q.y, s.q.x]}),
                                "generator 'turn' returned .*; return a mapping, name of a fibre"),
    "an action with fixed points": (
        lambda: at_momentum(symmetry(in_space(), TURNS), [1, 2, 3]),
        "needs a free action: the 3 generators about x, about y, about z span only 2 dimensions"),
    "fields of no matrix": (lambda: action_algebroid("so(3)", ("a", "b", "c"), lambda q: "flat"),
                            "must be one matrix, with a row for each of a, b, c and a column"),
    "fields of another space": (lambda: action_algebroid("so(3)", ("a", "b"), ca.SX.ones(3, 3)),
                                "must be one matrix, with a row for each of a, b and a column for"),
    "quaternion of three": (lambda: rotation(ca.SX([0, 0, 1])), r"must be \(x, y, z, w\)"),
    "nonlinear row": (lambda: constraint_algorithm(plane(), nonlinear=ca.SX.ones(1, 2)),
                      r"nonlinear has shape \(1, 2\), but must be a column vector"),
    "nonlinear of other symbols": (
        lambda: constraint_algorithm(plane(), nonlinear=ca.SX.sym("w")),
        "nonlinear contains w, which are not symbols of this system"),
    "a row of another fibre": (lambda: assemble([Row("rim", ca.SX(1, 3), ca.SX(0))], 2),
                               r"constraint 'rim' has shape \(1, 3\), expected \(1, 2\)"),
    "a row that is nowhere finite": (
        lambda: gibbs_appell(plane(rows={"wall": lambda s: s.v.x * ca.sqrt(-1 - s.q.x ** 2)})),
        "constraint 'wall' is not finite at a sample configuration"),
    "a mass that is there on one side": (
        lambda: regularity(plane(lambda s: ca.fmax(s.q.x, 0) * s.v.x ** 2 + s.v.y ** 2)),
        "the Hessian of L has ranks 1, 2 at different points of the manifold"),
    "a speed that is there on one side": (
        lambda: generalised_speeds(plane(), {"w": lambda s: ca.fmax(s.q.x, 0) * s.v.x}),
        "the speeds w cannot be completed to a basis at all sample configurations"),
    "a field of speeds": (
        lambda: hamilton_jacobi(plane(), {"x'": lambda s: s.v.y, "y'": 0.0}),
        "the field may depend only on q and parameters"),
    "a field that is nowhere finite": (
        lambda: hamilton_jacobi(plane(), {"x'": lambda s: ca.sqrt(-1 - s.q.x ** 2), "y'": 0.0}),
        "the field is not finite at every sample configuration"),
    "a nonlinear row that is nowhere finite": (
        lambda: constraint_algorithm(free := plane(),
                                     nonlinear=ca.sqrt(-1 - free.system.v[0] ** 2)),
        "is not finite on the manifold; give a state"),
    "a momentum that is no linear one": (
        lambda: at_momentum(symmetry(plane(lambda s: s.v.x ** 4 + s.v.y ** 2),
                                     {"along x": lambda s: {"x": 1}}), [1.0]),
        "the Lagrangian is not quadratic along the group: J = mu has no"),
    "one moment": (lambda: run_reduced(rolled(), [0.0], [0, 0], [1, 2]),
                   "must be two or more .s., each after the last"),
    "moments that go back": (lambda: run_reduced(rolled(), [0.0, 1.0, 0.5], [0, 0], [1, 2]),
                             "must be two or more .s., each after the last"),
    "a start of another shape": (
        lambda: run_reduced(rolled(), [0.0, 1.0], [[0, 0]], [1, 2]),
        r"starts from 2 coordinates .* 2 velocities .*; got shapes \(1, 2\) and \(2,\)"),
    "speeds of another shape": (lambda: run_reduced(rolled(), [0.0, 1.0], [0, 0], [1, 2, 3]),
                                r"got shapes \(2,\) and \(3,\)"),
    "a place of another space": (
        lambda: reconstruct(rolled(), run_reduced(rolled(), [0.0, 0.1], [0, 0], [1, 2]), [0, 0]),
        r"q has shape \(2,\), expected \(5,\)"),
    "a place far from the manifold": (
        lambda: bates_sniatycki(momentum_side(carriage()).solve(), ca.SX(1, 1), [np.nan] * 10),
        "the point is not near the final manifold"),
    "a base of one dimension": (lambda: hamiltonise(chaplygin(on_a_slope())),
                                "a Chaplygin system of one dimension has no gyroscopic force"),
    "no sections": (lambda: nonholonomic_momentum(
        symmetry(plane(), {"along y": lambda s: {"y": 1}}), sections={}),
                    "sections = {} must have one section or more"),
    "a force without names": (lambda: plane(force=lambda s: [1.0, 0.0]),
                              r"the force must be a mapping of names .* not \[1.0, 0.0\]"),
    "a row that is not linear": (lambda: plane(rows={"rim": lambda s: s.v.x ** 2 - 1}),
                                 r"constraint 'rim' is not affine in the velocities; pass it to"),
    "a row of words": (lambda: plane(rows={"rim": lambda s: "flat"}),
                       "constraint 'rim' must be a CasADi expression"),
    "a number for a system": (lambda: require_constrained(3),
                              "expected a vehicle or a ConstrainedSystem, not 3"),
    "a level without forms": (
        lambda: on_level(replace(momentum_side(plane()), forms=None), ca.SX(0), [0.0]),
        "on_level needs the forms of F, and F = TM has none"),
    "forces of no Hamiltonian": (
        lambda: hamiltonise(chaplygin(symmetry(pushed_carriage(), SE2))), "without forces"),
}


@pytest.mark.parametrize("name", MECHANICS)
def test_of_mechanics(name):
    call, message = MECHANICS[name]
    with pytest.raises((MechanicsError, InputError), match=message):
        call()


def test_names_that_python_asks_for_are_none_of_a_system():
    """`copy` and notebooks look for them."""
    made = lagrangian_system(PLANE, lambda s: s.v.x ** 2 * (2 - hasattr(s.q, "__len__")))
    assert float(made.mass_and_bias()[0][0, 0]) == 4
    with pytest.raises(AttributeError, match="^__wrapped__$"):
        lagrangian_system(PLANE, lambda s: s.q.__wrapped__)


def record_twice(simulator):
    simulator.record()
    simulator.record()


def reset_a_record(simulator):
    simulator.record()
    simulator.reset()


ARGUMENTS = {
    "ground": (lambda: drive(ground=3.0), "ground = 3.0 must be a Ground, such as Ground"),
    **{option: (lambda option=option: Simulator(shipped("differential_drive"), **{option: "halt"}),
                f"{option} 'halt' does not exist; there are stop, ") for option in (
                    "on_limit", "on_fall", "on_lift")},
    "no wheels to skid": (lambda: drive(skid=()), r"skid \(\) must be 'mid-axle', 'coulomb', a tr"),
    "skid of numbers": (lambda: drive(skid=[3]), r"skid \[3\] must be .* names of wheels"),
    "free and locked": (
        lambda: drive("trailers", free=["hitch_1_joint"], locked={"hitch_1_joint": 0}),
        "joint 'hitch_1_joint' is both free and locked; choose one"),
    "tyre of no set": (lambda: Wheel("a", "disc", 0.1, law="tyre", tyre="slick"),
                       "wheel 'a': tyre: there is no set 'slick'; there are passenger_car, "),
    "word of a tyre": (lambda: Wheel("a", "disc", 0.1, law="tyre", tyre="load=3 grip=3"),
                       "tyre: 'grip=3' is not of the form NAME=NUMBER"),
    "axis of a frame": (lambda: MovingFrame.planar(0, 0, 0).turned("w", 1.0),
                        "axis = 'w' must be 'x', 'y' or 'z'"),
    "arcs of no length": (lambda: Arcs([(0.5, 0.0)]), r"arcs \[\(0.5, 0.0\)\] has no length"),
    "path from a file that is not there": (lambda: read_path("/nowhere/way.csv", 1.0),
                                           "/nowhere/way.csv: "),
    "size of a path": (lambda: read_path("circle:wide", 1.0),
                       "path 'circle:wide': 'wide' is no number; the size of circle .m. is"),
    "a word for a number": (lambda: set_word("stanley", gain="x"), "gain=x: gain is a number"),
    "a required argument": (lambda: make_controller(Needy, shipped("differential_drive")),
                            "Needy needs target"),
    "a run of two records": (
        lambda: TrackingLQR(shipped("differential_drive"),
                            Simulator(shipped("differential_drive"), dt=0.01).run(0.01)),
        "a run of 2 records is too short to be tracked"),
    "a file for a vehicle": (lambda: Simulator("robot.urdf"),
                             r"not 'robot.urdf' \(nhmech.load makes one of a file\)"),
    "a name for a system": (lambda: gibbs_appell("disc"),
                            r"must be an object with .*constrained.* \(nhmech.load makes one of"),
    "no constrained system": (lambda: gibbs_appell(3), "constrained = 3 must be an object with"),
    "several columns": (
        lambda: Simulator(shipped("differential_drive")).run(0.01).column("left_wheel_joint"),
        "'left_wheel_joint' has several columns: 'left_wheel_joint.position', "),
    "off the ground": (stand_off, "'left_wheel_joint' is 1 m above the ground at this q; "
                       r"the nearest that does is q = \[0.0, 0.0, 0.1"),
    "near of another shape": (lambda: line(2.0).nearest([[0.1, 0], [0.2, 0]], near=[0.1]),
                              "must be an arc length .m. for each point"),
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_of_arguments(name):
    call, message = ARGUMENTS[name]
    with pytest.raises(InputError, match=message):
        call()


@pytest.mark.parametrize("call, message", [
    (record_twice, r"is already recording; call end_record\(\) first"),
    (reset_a_record, r"the record would go back in time: call end_record\(\) first")])
def test_of_records(call, message):
    with pytest.raises(SimulationError, match=message):
        call(Simulator(shipped("differential_drive")))


def answer(answer):
    """What is asked by batches and loops, and fails."""
    def ask(t, state):
        if isinstance(answer, Exception):
            raise answer
        return answer
    return ask


@pytest.mark.parametrize("given, message", [
    (InputError("no such gain"), r"^controller ask at t = 0 s: no such gain$"),
    (KeyError("gain"), r"controller ask raised KeyError at t = 0 s: 'gain' \(test_messages.py"),
    ([np.nan] * 2, r"ask at t = 0 s returned \[nan nan\]: not finite \(efforts of left"),
    ("fast", "ask at t = 0 s returned str; return an array, JointTorque, JointVelocity or Joint"),
    (np.array([1j, 0]), "ask at t = 0 s returned complex128; return an array"),
    (np.zeros(5), r"ask at t = 0 s returned shape \(5,\), expected \(2,\): efforts of left_wheel")],
    ids=["ours", "another", "NaN", "a word", "complex", "shape"])
def test_of_controllers(given, message):
    with pytest.raises(SimulationError, match=message):
        Simulator(shipped("differential_drive"), answer(given)).step()


@pytest.mark.parametrize("given, message", [
    (InputError("no such gain"), r"^policy ask at t = 0 s: no such gain$"),
    (KeyError("gain"), r"policy ask raised KeyError at t = 0 s: 'gain' \(test_messages.py"),
    ("fast", "policy ask at t = 0 s returned str, no array of numbers"),
    (np.zeros(7), r"policy ask gave shape \(7,\) at t = 0 s, expected ")],
    ids=["ours", "another", "a word", "shape"])
def test_of_policies(given, message):
    vehicle = shipped("differential_drive")
    x0 = nhmech.start_states(vehicle, [(0.0, 0.0, 0.0)])
    with pytest.raises(SimulationError, match=message):
        nhmech.simulate_batch(vehicle, x0, answer(given), dt=0.01, duration=0.02)
