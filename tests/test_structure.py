"""Growth vectors, controllability, integrable combinations and symmetry classes of vehicles and
systems, against known answers."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from support import SHIPPED, VARIED, at_length, random_states, shipped, velocity
from test_brackets import ball, trailers
from test_integrable import FRONT, THREE, vehicle

import nhmech
from nhmech import InputError, MechanicsError
from nhmech.analysis.integrable import Combination, integrable_combinations
from nhmech.analysis.momentum_balance import momentum_balance
from nhmech.analysis.motions import kernel, motions
from nhmech.analysis.structure import structure
from nhmech.mechanics import constrain, euclidean, lagrangian_system
from nhmech.mechanics.brackets import span_growth
from nhmech.mechanics.symmetry_search import find_symmetry
from nhmech.systems import carriage, differential_drive, falling_disc, rolling_ball, vertical_disk
from nhmech.systems.car_with_trailers import example as car_with_trailers

STEER = "front_left_steering_joint"
POSE = ("x", "y", "yaw")

# growth vector and variables, modulo frozen coordinates, wheel angles and followers;
# then with wheel angles, and of how many
VEHICLES = {
    "ackermann_car": ((2, 3, 4), (*POSE, STEER), (2, 3, 5, 7), 8),
    "ball": ((3, 5), (*POSE, "roll", "pitch"), (3, 5), 5),
    "bicycle": ((3, 5), (*POSE, "steering_joint", "roll"), (3, 5, 7), 7),
    "carriage": ((2, 3), POSE, (2, 3, 4), 5),
    "coin": ((3, 4), (*POSE, "roll"), (3, 5), 5),
    "differential_drive": ((2, 3), POSE, (2, 3, 4), 5),
    "disc": ((3, 4), (*POSE, "roll"), (3, 4, 5), 5),
    "mecanum": ((3,), POSE, (3, 5), 7),
    "omni": ((3,), POSE, (3, 5), 6),
    "pendulum": ((3, 4), (*POSE, "pitch"), (3, 4, 5), 6),
    "rover": ((2, 3, 4), (*POSE, STEER), (2, 3, 5, 7), 10),
    "skid_steer": ((2, 3), POSE, (2, 3, 4), 7),
    "sled": ((2, 3), POSE, (2, 3), 3),
    "swerve": ((3, 5), (*POSE, STEER, "rear_left_steering_joint"), (3, 5, 9), 9),
    "trailers": ((2, 3, 4, 5, 6), (*POSE, STEER, "hitch_1_joint", "hitch_2_joint"),
                 (2, 3, 5, 7, 9, 10, 11), 14),
    "tricycle": ((2, 3, 4), (*POSE, "steering_joint"), (2, 3, 5, 6), 7),
}
SYSTEMS = {
    "unicycle": (trailers(0), (2, 3), 3),
    "vertical rolling disk": (vertical_disk.example().constrained, (2, 3, 4), 4),
    "falling disc": (falling_disc.example().constrained, (3, 4, 5), 5),
    "ball": (rolling_ball.with_attitude().constrained, (3, 5), 5),
    "ball without pivoting": (ball(pivoting=False), (2, 3, 5), 5),
    "differential drive with wheel angles": (differential_drive.example().constrained, (2, 3, 4),
                                             5),
    "carriage with wheel angles": (carriage.example().constrained, (2, 3, 4), 5),
}


def test_every_shipped_vehicle_is_in_the_table():
    assert set(VEHICLES) == set(SHIPPED)


@pytest.mark.parametrize("name", VEHICLES)
def test_growth_of_vehicles(name):
    """Modulo wheel angles every shipped vehicle is controllable; a gap of nine decades decides each
    rank."""
    ranks, variables, _, _ = VEHICLES[name]
    found = structure(shipped(name))
    assert found.growth.ranks == ranks and found.variables == variables and found.growth.complete
    assert found.controllable is True and found.further == 0 and ranks[-1] == found.dimension
    assert min(found.growth.kept) >= 1e-4 and max(found.growth.dropped) <= 1e-13


@pytest.mark.parametrize("name", [*at_length("trailers"), *(v for v in VARIED if v != "trailers")])
def test_growth_with_wheel_angles(name):
    """What the brackets do not reach is exactly the integrable combinations that are printed."""
    _, _, ranks, dimension = VEHICLES[name]
    found = structure(shipped(name), wheel_angles=True)
    assert found.growth.ranks == ranks and found.dimension == dimension and found.left_out == ()
    assert len(found.combinations) == dimension - ranks[-1] and found.further == 0
    assert found.controllable is (dimension == ranks[-1])


@pytest.mark.parametrize("name", SYSTEMS)
def test_growth_of_systems(name):
    constrained, ranks, dimension = SYSTEMS[name]
    found = structure(constrained)
    assert found.growth.ranks == ranks and found.dimension == dimension
    assert (found.controllable is (ranks[-1] == dimension)
            and len(found.combinations) == dimension - ranks[-1])


@pytest.mark.parametrize("n", [*range(4), *at_length(4)])
def test_car_with_on_axle_trailers(n):
    """(2, 3, ..., n + 4): one direction a level, as Goursat's normal form has it."""
    found = motions(car_with_trailers(n,
                                      **{f"behind_{i}": 0.0 for i in range(1, n + 1)}).constrained)
    grown = span_growth(found.algebroid, found.sections, found.points, depth=9)
    assert grown.ranks == tuple(range(2, n + 5)) and grown.complete and found.dimension == n + 4
    assert min(grown.kept) >= 1e-4 and max(grown.dropped) <= 1e-13


def test_growth_here_differs_from_the_generic_one():
    """An upright bicycle: two more levels than elsewhere. A car: the same everywhere."""
    bicycle = shipped("bicycle")
    found = structure(bicycle, bicycle.configuration())
    assert (found.growth.ranks == (3, 5) and found.here.ranks == (3, 4, 5)
            and found.controllable is True)
    car = shipped("ackermann_car")
    assert structure(car, car.configuration()).here.ranks == (2, 3, 4)


def test_forms_that_are_not_finite_have_no_kernel():
    with pytest.raises(MechanicsError, match="lose rank"):
        kernel(np.array([[1.0, 0.0, 0.0], [0.0, np.inf, 1.0]]))


def test_a_place_off_the_ground_is_refused():
    car = shipped("ackermann_car")
    q = car.configuration()
    q[2] += 0.1
    with pytest.raises(MechanicsError, match="not on the holonomic manifold"):
        structure(car, q)


def test_a_search_cut_short_decides_nothing():
    found = structure(shipped("trailers"), operations=0)
    assert (found.growth.ranks == (2,) and not found.growth.complete and found.controllable is None
            and found.further is None)


def in_space(rows, names="xyz", **options):
    """A particle with rows that are functions of its named quantities."""
    return constrain(lagrangian_system(euclidean(*names), lambda s: sum(
        getattr(s.v, name) ** 2 for name in names) / 2),
        rows={f"row {k}": row for k, row in enumerate(rows)}, **options)


def test_growth_at_a_place_is_that_of_derivatives_there():
    """Martinet's z' = y^2 x' / 2: brackets of two levels where y is zero, of one elsewhere."""
    martinet = in_space([lambda s: s.v.z - s.q.y ** 2 * s.v.x / 2])
    for y, ranks in ((0.0, (2, 2, 3)), (0.4, (2, 3))):
        found = structure(martinet, np.array([0.3, y, 0.1]))
        assert found.here.ranks == ranks and found.growth.ranks == (2, 3) and found.controllable
    assert structure(martinet).here is None


def test_what_is_constant_is_a_combination_or_another_function():
    """z - x y is constant, and so is w - 3 y: the first is no combination."""
    found = structure(in_space([lambda s: s.v.z - s.q.y * s.v.x - s.q.x * s.v.y,
                                lambda s: s.v.w - 3 * s.v.y], "xyzw"))
    assert found.growth.ranks == (2,) and found.dimension == 4 and found.further == 1
    (combination,) = found.combinations
    assert combination.coefficients == pytest.approx({"y": 1.0, "w": -1 / 3}, rel=1e-12)
    assert found.controllable is False


def test_what_moves_straight_on_keeps_its_yaw_and_a_line():
    """A wheelset before a wheel that is held straight: x sin(yaw) - y cos(yaw) is constant."""
    found = structure(straight := vehicle(THREE, *FRONT, locked={"steer": 0.0}))
    assert found.variables == ("x", "y", "yaw") and found.growth.ranks == (1,)
    assert {"yaw": -1.0} in [one.coefficients for one in found.combinations]
    assert found.further == 1 and found.frozen == ("pitch", "roll", "height")
    whole = structure(straight, wheel_angles=True)
    assert whole.dimension == 6 and whole.further == 2 and len(whole.combinations) == 3


def test_groups_are_named_after_what_moves():
    """On a slope no turn is a symmetry; a sled slides with two freedoms in three."""
    sloping, level = (structure(shipped("sled", ground)).symmetries
                      for ground in (nhmech.Ground(normal=(0.1, 0.2, 1.0)), nhmech.Ground()))
    (shifts,), (plane,) = sloping, level
    assert (shifts.group, shifts.names) == ("x x y", ("x", "y"))
    assert (plane.group, plane.names) == ("SE(2)", POSE)
    for one, sizes in ((shifts, (2, 1, 2, 3)), (plane, (3, 2, 2, 3))):
        assert (one.dim_vertical, one.dim_horizontal, one.dim_motion, one.dim_tangent) == sizes
    for one, sizes in zip(structure(shipped("differential_drive")).symmetries, (
            ("SE(2)", (3, 0, 2, 5)), ("SE(2) x T^2", (5, 2, 2, 5)))):
        assert (one.group, (one.dim_vertical, one.dim_horizontal, one.dim_motion,
                            one.dim_tangent)) == sizes


PRINTED = {
    # r (right - left) - track yaw
    "differential_drive": ["0.1 (right_wheel_joint - left_wheel_joint) - 0.44 yaw is constant"],
    "carriage": ["0.1 (right_wheel_joint - left_wheel_joint) - 0.5 yaw is constant"],
    "pendulum": ["0.04 (right_wheel_joint - left_wheel_joint) - 0.14 yaw is constant"],
    "omni": [
        "0.06 (front_left_wheel_joint + front_right_wheel_joint + rear_wheel_joint) - 0.51 yaw is "
        "constant"
    ],
    "ackermann_car": [
        "0.32 (rear_right_wheel_joint - rear_left_wheel_joint) - 1.5 yaw is constant"
    ],
    "bicycle": [],
    "ball": [],
    "swerve": [],
}


@pytest.mark.parametrize("name", PRINTED)
def test_combinations_are_printed(name):
    assert [str(c) for c in integrable_combinations(shipped(name))] == PRINTED[name]


@pytest.mark.parametrize("name", VARIED)
def test_combinations_have_no_rate(name):
    """On any motion at any sample the combined rates cancel."""
    vehicle = shipped(name)
    names = vehicle.algebroid.v_names
    for combination in integrable_combinations(vehicle):
        for chosen, q, xi, _ in random_states(vehicle, 5, seed=3):
            v = velocity(chosen, 0.0, q, xi)
            R = pin.Quaternion(q[3:7]).toRotationMatrix()
            rates = {**dict(zip(names, v)), "yaw": float((R @ v[3:6])[2])}
            terms = [value * rates[key] for key, value in combination.coefficients.items()]
            assert abs(sum(terms)) <= 1e-9 * max(1.0, np.abs(terms).max())


def test_a_combination_in_words():
    assert str(Combination({"a": 1.0, "b": -1.0})) == "a - b is constant"
    assert str(Combination({"a": -0.2, "b": 0.2, "c": -0.2,
                            "yaw": -3.0})) == "0.2 (b - a - c) - 3 yaw is constant"
    assert str(Combination({"w": 0.2, "h": -1.0, "yaw": -1.0})) == "0.2 w - (h + yaw) is constant"
    rounded = Combination({"b": -1.0 - 1e-15, "c": 1.0, "a": -1.0 + 1e-15})
    assert str(rounded) == "c - a - b is constant", "terms of one size stand by name"


@pytest.mark.parametrize("name, pose, all_of_it", [
    ("differential_drive", "purely kinematic", "general"),
    ("carriage", "purely kinematic", "general"),
    ("omni", "purely kinematic", "general"),
    ("pendulum", "purely kinematic", "general"), ("disc", "general", "general"),
    ("ball", "general", None),
    ("sled", "general", None)])
def test_symmetry_classes(name, pose, all_of_it):
    """A wheel rate for each motion of the pose: Chaplygin. A sled slides within the group:
    general."""
    found = structure(shipped(name)).symmetries
    assert found[0].group == "SE(2)" and found[0].names == POSE and found[0].kind == pose
    assert [c.kind for c in found[1:]] == ([] if all_of_it is None else [all_of_it])
    assert all(c.group.startswith("SE(2) x T^") for c in found[1:])


def test_symmetry_of_a_system_is_searched_for():
    (found,) = structure(vertical_disk.example().constrained).symmetries
    assert (len(found.names) == 4 and found.kind == "general"
            and (found.dim_motion, found.dim_tangent) == (2, 4))


def test_momentum_equation_along_a_run():
    """Falling disc: the momenta about the vertical and the axle change, by what the momentum
    equation says."""
    example = falling_disc.example()
    run = nhmech.Simulator(example.constrained, dt=1e-3)
    run.reset(q=np.asarray(example.start["q"], dtype=float),
              xi=np.asarray(example.start["xi"], dtype=float))
    found = run.run(0.5)
    balance = momentum_balance(find_symmetry(example.constrained), found.t, found.q, found.v)
    assert np.ptp(balance.momentum, axis=0).max() > 1e-4
    assert np.abs(balance.defect).max() <= 1e-9
    changed = found.v.copy()
    # a run that obeys other equations
    changed[:, -1] *= 1 + 1e-3 * found.t
    assert np.abs(momentum_balance(find_symmetry(example.constrained), found.t, found.q,
                                   changed).defect).max() > 1e-5
    # the least that a spline needs, and one less
    symmetry, few = find_symmetry(example.constrained), slice(0, 6)
    few_t, few_q, few_v = found.t[few], found.q[few], found.v[few]
    assert np.abs(momentum_balance(symmetry, few_t, few_q, few_v).defect).max() <= 1e-9
    with pytest.raises(InputError, match="must be times .*, each after the last"):
        momentum_balance(symmetry, few_t[::-1], few_q, few_v)
    with pytest.raises(InputError, match="6 or more times"):
        momentum_balance(symmetry, few_t[:5], few_q[:5], few_v[:5])
