"""What is simulated, as runs and files know it: names, units, whether there is a pose, and the
places at which a run may begin."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest
from support import shipped

from nhmech import Simulator
from nhmech.errors import InputError, MechanicsError, SimulationError
from nhmech.mechanics import constrain, euclidean, lagrangian_system
from nhmech.mechanics.algebroid import product, special_euclidean
from nhmech.mechanics.algebroid_makers import special_orthogonal
from nhmech.simulation import simulated as module
from nhmech.simulation.simulated import OFF, Simulated
from nhmech.systems import load_system


# -- names and units -------------------------------------------------------------------------------
def test_units_of_a_vehicle():
    """Angles of circles are pairs without a unit, a quaternion has none, and inputs are those of
    joints and wrenches."""
    legs = Simulated.of(shipped("differential_drive"), ("base_link",))
    assert legs.units("v") == {
        "forward_speed": "m/s", "lateral_speed": "m/s", "vertical_speed": "m/s",
        "roll_rate": "rad/s", "pitch_rate": "rad/s", "yaw_rate": "rad/s",
        "left_wheel_joint": "rad/s", "right_wheel_joint": "rad/s"}
    found = legs.units("q")
    assert [found[name] for name in "xyz"] == ["m"] * 3
    assert {unit for name, unit in found.items() if name not in "xyz"} == {""}
    assert legs.units("u") == {
        "left_wheel_joint": "N m", "right_wheel_joint": "N m",
        **{f"base_link.{part}{axis}": unit for part, unit in (("f", "N"), ("t", "N m"))
           for axis in "xyz"}}


def test_units_of_a_system_by_hand():
    space = euclidean("x", "phi", units=("m/s", "rad/s"))
    system = lagrangian_system(space, lambda s: s.v.x ** 2 + s.v.phi ** 2, inputs=("push",),
                               force=lambda s: {"x": s.u.push})
    made = Simulated.of(constrain(system, rows={}))
    assert made.units("q") == {"x": "m", "phi": "rad"}
    assert made.units("v") == {"x'": "m/s", "phi'": "rad/s"} and made.units("u") == {"push": ""}
    assert made.nu == 1 and made.joint_names == ("x'", "phi'") and made.encoder_names == ()
    assert made.name == "a system" and made.source == {}
    with pytest.raises(InputError, match=r"no pose: reset\(q=...\) with all its coordinates"):
        made.configuration((0, 0, 0), None, None, False)


def test_a_textbook_system_is_named_and_found_again():
    disk = load_system("vertical_disk")
    made = Simulated.of(disk)
    assert (made.name, made.source["system"]) == ("'vertical_disk'", "vertical_disk")
    back = Simulated.restore({**made.source, "parameters": (2 * made.theta).tolist()})
    np.testing.assert_array_equal(back.theta, 2 * made.theta)
    assert back.name == made.name and Simulated.of(back) is back


POSE = special_euclidean()


@pytest.mark.parametrize("space, has_pose", [
    (POSE, True), (replace(POSE, q_names=tuple(f"hull.{name}" for name in POSE.q_names)), True),
    (product(POSE, euclidean("s")), True), (product(euclidean("s"), POSE), False),
    (replace(POSE, q_names=("u", "v", "w", *POSE.q_names[3:])), False),
    (replace(POSE, q_names=("x", "y", "s", *POSE.q_names[3:])), False),
    (product(euclidean("x", "y"), special_orthogonal()), False),
    (euclidean("x", "y", "z", "s"), False)])
def test_a_pose_is_a_place_and_a_quaternion(space, has_pose):
    constrained = SimpleNamespace(system=SimpleNamespace(algebroid=space))
    made = Simulated(constrained, None)
    assert made.has_pose is has_pose
    if has_pose:
        made.require_pose()
        return
    other = "; its attitude is run.attitude()" if space.quaternions else ""
    with pytest.raises(SimulationError) as error:
        made.require_pose()
    assert str(error.value).endswith(f"has the coordinates {', '.join(space.q_names)}{other}")


def test_wrenches_are_for_links_of_a_vehicle():
    drive = Simulated.of(shipped("differential_drive"))
    pushed = Simulated.of(drive, ("base_link",))
    assert pushed.nu == drive.nu == 2 and len(pushed.constrained.system.u_names) == 8
    assert Simulated.of(drive) is drive
    for given in (load_system("sled"), Simulated.of(load_system("sled"))):
        with pytest.raises(InputError, match="an external wrench acts on a link of a vehicle"):
            Simulated.of(given, ("base_link",))


# -- files -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("source, message", [
    ({}, "this file does not contain the simulated system; pass it to Trajectory.load"),
    ({"system": "my_own", "parameters": []}, r"the system 'my_own', which is not in this package; "
     r"name its file: --robot my_own.py, or Trajectory.load\(run, load_system\('my_own.py'\)\)"),
    ({"system": "sled"}, r"cannot be read \(KeyError: 'parameters'\); pass it to"),
    ({"system": "sled", "parameters": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]}, "parameters"),
    ({"description": 3}, r"cannot be read \(TypeError: .*\); pass it to Trajectory.load")])
def test_what_is_in_no_file(source, message):
    with pytest.raises((SimulationError, InputError), match=message):
        Simulated.restore(source)


def test_parameters_of_a_file_must_be_numbers():
    source = Simulated.of(shipped("differential_drive").with_parameters(
        symbolic=["payload.mass", "base_link.mass"])).source
    assert Simulated.restore(source).theta.size == 2
    values = source["parameters"]["values"]
    bad = {**source, "parameters": {**source["parameters"],
                                    "values": {**values, "payload.mass": float("inf")}}}
    with pytest.raises(SimulationError, match="cannot be read"):
        Simulated.restore(bad)


# -- where a run begins ----------------------------------------------------------------------------
def beads(invariant=None, **holonomic) -> Simulated:
    """Three coordinates of unit mass."""
    system = lagrangian_system(euclidean("x", "y", "s"), lambda s: (
        s.v.x ** 2 + s.v.y ** 2 + s.v.s ** 2) / 2)
    turned = np.random.default_rng(0).uniform(-3, 3, size=8)
    made = constrain(system, rows={}, holonomic=holonomic, samples=np.column_stack(
        [np.cos(turned), np.sin(turned), np.zeros(8) if "height" in holonomic else turned]))
    return Simulated.of(made if invariant is None else replace(made, invariant=invariant(system)))


def circle(s):
    return s.q.x ** 2 + s.q.y ** 2 - 1


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("off", [0.0, 0.9 * OFF, -0.9 * OFF, 1.1 * OFF, -1.1 * OFF])
def test_a_start_may_be_off_by_a_millionth(off, unit):
    """Of a coordinate, whatever the unit of the function."""
    assert OFF == 1e-6
    made = beads(height=lambda s: unit * s.q.s, circle=circle)
    q = np.array([0.6, 0.8, off])
    if abs(off) < OFF:
        np.testing.assert_array_equal(made.configuration(None, None, q, False), q)
    else:
        value = f"{off * unit:.6g}".replace("+", ".")
        with pytest.raises(InputError, match=rf"^q does not satisfy 'height', which is {value} "
                                             r"there; the nearest that does is q = \[0.6, 0.8, "
                                             r"0.0\]$"):
            made.configuration(None, None, q, False)


def test_the_worst_function_is_named_with_what_there_is_near():
    made = beads(height=lambda s: s.q.s, circle=circle)
    for q, message in (
            ((2.0, 0.0, 0.1), r"'circle', which is 3 there; the nearest that does is q = "
             r"\[1.0, 0.0, 0.0\]"),
            ((1.0, 0.0, -0.1), r"'height', which is -0.1 there; .* q = \[1.0, 0.0, 0.0\]"),
            ((0.0, 0.0, 0.0), "'circle', which is -1 there; no configuration near it does$")):
        with pytest.raises(InputError, match=message):
            made.configuration(None, None, np.array(q), False)


@pytest.mark.parametrize("height, flies, message", [
    (0.01, True, None), (2.0, True, None), (0.01, False, "is 0.01 m above the ground at this q"),
    (-0.01, True, "is 0.01 m below the ground at this q"),
    (-0.01, False, "is 0.01 m below the ground at this q")])
def test_wheels_may_start_in_the_air_if_they_may_fly(height, flies, message):
    made = Simulated.of(shipped("differential_drive"))
    q = made.configuration((0.0, 0.0, 0.3), None, None, False)
    q[2] += height
    if message is None:
        np.testing.assert_allclose(made.configuration(None, None, q, flies), q, rtol=1e-15)
    else:
        with pytest.raises(InputError, match=f"^'.*' {message}; the nearest that does is q = "):
            made.configuration(None, None, q, flies)


@pytest.mark.parametrize("speed, message", [
    (1.0, None), (1.0 + 0.9 * OFF, None), (1.0 - 0.9 * OFF, None),
    (1.0 + 1.1 * OFF, r"q = \[1.0, 0.0, 0.2\], v = \[0.0, 0.0, 1.0000011\] does not lie on"),
    (3.0, r"does not lie on the manifold of the motion: .* is 8 there; the nearest that does is "
     r"q = \[1.0, 0.0, 0.2\], v = \[0.0, 0.0, 1.0\]$"),
    (0.0, r"^the motion has no direction at q = .*, v = .*: .* have rank 0 of 1;")])
@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_a_motion_on_a_manifold_begins_on_it(speed, message, unit):
    """Of which s'^2 = 1, in any unit of the function."""
    made = beads(lambda system: unit * (system.v[2] ** 2 - 1), circle=circle)
    message = message and message.replace("is 8 ", rf"is {8 * unit:g} ".replace("+", r"\+"))
    start = np.array([1.0, 0.0, 0.2]), np.array([0.0, 0.0, speed])
    if message is None:
        made.check_invariant(*start)
    else:
        with pytest.raises(InputError, match=message):
            made.check_invariant(*start)


def test_a_run_begins_on_the_manifold_of_its_motion():
    simulator = Simulator(beads(lambda system: system.v[2] ** 2 - 1, circle=circle).constrained)
    start = {"x'": 0.0, "y'": 0.0}
    assert simulator.reset(q=(0.6, 0.8, 0.2), xi=start | {"s'": -1.0}).xi["s'"] == -1.0
    with pytest.raises(InputError, match="does not lie on the manifold of the motion"):
        simulator.reset(q=(0.6, 0.8, 0.2), xi=start | {"s'": 3.0})


def test_of_several_functions_the_worst_is_shown():
    made = beads(lambda system: ca.vertcat(system.v[2] - 1, system.v[0] * 1e-5 + system.q[2]))
    with pytest.raises(InputError, match="x'.* is 0.5 there; the nearest"):
        made.check_invariant(np.array([1.0, 0.0, 0.5]), np.array([0.0, 0.0, 1.2]))
    with pytest.raises(InputError, match="s'.* is 0.75 there; the nearest"):
        made.check_invariant(np.array([1.0, 0.0, 0.5]), np.array([0.0, 0.0, 1.75]))
    # derivatives may be of any size
    small = beads(lambda system: 1e-5 * (system.v[2] - 1))
    small.check_invariant(np.zeros(3), np.array([0.0, 0.0, 1.0]))


def test_a_motion_that_its_equations_do_not_determine(monkeypatch):
    """Is blamed on joints without mass if there are any, and on the equations otherwise."""
    def fail(*given):
        raise MechanicsError("singular")

    asked = []
    monkeypatch.setattr(module, "check_massless", asked.append)
    monkeypatch.setattr(module, "gibbs_appell", fail)
    with pytest.raises(MechanicsError, match="^singular$"):
        _ = Simulated(SimpleNamespace(), None).equations
    assert not asked

    class Vehicle:
        equations = property(fail)

    vehicle = Vehicle()
    with pytest.raises(MechanicsError, match="^singular$"):
        _ = Simulated(SimpleNamespace(), vehicle).equations
    assert asked == [vehicle]


@pytest.mark.parametrize("t, q", [(0.0, (0.0, 0.3)), (2.0, (0.5, 0.1))])
def test_where_rows_lose_rank_their_numbers_are_said(t, q):
    """Of a moving row and of one that vanishes at x = 0."""
    system = lagrangian_system(euclidean("x", "y", "s"), lambda s: (
        s.v.x ** 2 + s.v.y ** 2 + s.v.s ** 2) / 2)
    made = Simulated.of(constrain(system, rows={
        "slides": lambda s: s.v.x + 3, "turns": lambda s: (s.q.x - s.t / 4) * s.v.y}))
    where = np.array([*q, -1.5])
    assert str(made.rank_error(t, where, "here")) == (
        f"the constraints lose rank here: the rows slides, turns have rank 1 at x = {q[0]:g}, "
        f"y = {q[1]:g}, s = -1.5, elsewhere 2")
    with pytest.raises(SimulationError, match="the constraints lose rank here: .* have rank 1"):
        made.rechoose(t, where)
    assert len(made.rechoose(t, where + 0.1).names) == 1
