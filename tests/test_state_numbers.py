"""A state is numbers and the places of their names: each is read where it is."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from nhmech import InputError, SimulationError
from nhmech.simulation import planar_pose
from nhmech.simulation.moment import CLOCK, EXTRA, Moment
from nhmech.simulation.state import ATTRIBUTES, Named, State, StateLayout, base_pose


# -- poses -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("shape", [(), (1,), (5,), (2, 3)])
def test_a_pose_is_a_position_and_the_rotation_of_a_quaternion(shape):
    rng = np.random.default_rng(len(shape))
    q = rng.normal(size=(*shape, 9))
    q[..., 3:7] /= np.linalg.norm(q[..., 3:7], axis=-1, keepdims=True)
    T = base_pose(q)
    turns = Rotation.from_quat(q[..., 3:7].reshape(-1, 4)).as_matrix().reshape(*shape, 3, 3)
    np.testing.assert_allclose(T[..., :3, :3], turns, rtol=0, atol=1e-14)
    np.testing.assert_array_equal(T[..., :3, 3], q[..., :3])
    np.testing.assert_array_equal(T[..., 3, :], np.broadcast_to([0, 0, 0, 1], (*shape, 4)))
    if not shape:
        heading = np.arctan2(turns[1, 0], turns[0, 0])
        assert planar_pose(q) == pytest.approx((*q[:2], heading), abs=1e-13)
        return
    with pytest.raises(InputError, match="one configuration of a vehicle"):
        planar_pose(q)


@pytest.mark.parametrize("n", [0, 3, 6])
def test_fewer_numbers_are_no_pose(n):
    for q in (np.ones(n), np.ones((2, n))):
        with pytest.raises(SimulationError, match="only a vehicle has a pose"):
            base_pose(q)
    assert base_pose(np.array([1, 2, 3, 0, 0, 0, 1.0])).shape == (4, 4)


# -- numbers by name -------------------------------------------------------------------------------
def test_named_numbers_are_a_read_only_mapping():
    found = Named({"b": 3, "a": 1}, np.array([0.5, 1.5, 2.5, 3.5]), {"c": 0, "a": 2})
    assert dict(found) == {"b": 3.5, "a": 1.5} and [*found] == ["b", "a"] == [*found.names]
    assert len(found) == 2 and "a" in found and "x" not in found and found.get("x", 9.0) == 9.0
    assert found["c"] == 0.5                                # can be read, and is not listed
    assert (found[0], found[-1], found[np.int64(1)]) == (3.5, 1.5, 1.5)
    assert type(found["a"]) is type(found[0]) is float
    copy = found.values_array
    copy[:] = 9.0
    assert found["b"] == 3.5 and np.asarray(found, dtype=int).tolist() == [3, 1]
    assert repr(found) == "{b: 3.5, a: 1.5}" and repr(Named.of((), np.zeros(0))) == "{}"
    with pytest.raises(KeyError):
        found["x"]
    with pytest.raises(InputError, match="^no 'x' here; there are b, a, c, a$"):
        found["x"]
    assert dict(Named.of(("p", "q"), np.array([7.0, 8.0, 9.0]))) == {"p": 7.0, "q": 8.0}


def layout(**options) -> StateLayout:
    """Of q (2), v (3), x (4) and u (2), and two numbers more."""
    words = dict(nq=2, nv=3, u=slice(9, 11), xi={"s": 3}, v={"r": 2, "s": 3}, angles={"w": 6},
                 joint_position={"j": 5}, joint_velocity={"j": 4}, encoder_angle={"w": 6},
                 encoder_rate={"w": 2}, slots=((0, 0, False),), has_base=False, has_pose=False,
                 sensors=None)
    return StateLayout(**words | options)


@pytest.mark.parametrize("kind", ["array", "list", "bytes"])
def test_a_state_reads_each_name_where_it_is(kind):
    numbers = np.arange(13) + 0.5
    given = {"array": numbers, "list": numbers.tolist(), "bytes": numbers.tobytes()}[kind]
    state = State(7.5, given, layout())
    numbers += 100.0                                        # it has a copy
    assert state.t == 7.5 and layout().nx == 4
    assert state.q.tolist() == [0.5, 1.5] and state.v.tolist() == [2.5, 3.5, 4.5]
    assert state.u.tolist() == [9.5, 10.5] and len(state.values) == 13
    assert dict(state.xi) == {"s": 3.5} and state.xi["r"] == 2.5
    assert dict(state.angles) == {"w": 6.5} and dict(state.joint_position) == {"j": 5.5}
    assert dict(state.joint_velocity) == {"j": 4.5}
    angle, rate = state.encoder
    assert (angle["w"], rate["w"]) == (6.5, 2.5)
    for what in ("pose", "T_WB"):
        with pytest.raises(SimulationError, match="only a vehicle, or a system whose"):
            getattr(state, what)
    assert repr(state) == "State(t=7.5, q=[0.5 1.5],\n      xi={s: 3.5})"
    assert {"pose", "gyro", "contacts", "encoder"} < {*ATTRIBUTES}


def test_a_state_asks_its_sensors():
    asked = SimpleNamespace(gyro=lambda state, link: ("gyro", state, link),
                            accelerometer=lambda state, link: ("felt", state, link),
                            contacts=lambda state: ("touch", state))
    state = State(0.0, np.arange(13.0), layout(sensors=asked))
    assert state.gyro() == ("gyro", state, None) and state.gyro("arm") == ("gyro", state, "arm")
    assert state.accelerometer("arm") == ("felt", state, "arm")
    assert state.contacts == ("touch", state)


def test_the_pose_of_a_state_is_that_of_its_configuration():
    q = np.array([1.0, 2.0, 3.0, 0.0, 0.0, np.sin(0.3), np.cos(0.3)])
    state = State(0.0, np.r_[q, np.full(9, 99.0)], layout(nq=7, u=slice(14, 16), has_pose=True))
    assert state.pose == pytest.approx((1.0, 2.0, 0.6), abs=1e-15)
    np.testing.assert_array_equal(state.T_WB, base_pose(q))


# -- the moment of a run ---------------------------------------------------------------------------
def test_a_moment_is_one_block_in_this_order():
    moment = Moment(layout(), ntwist=3, ncontact=2)
    moment.block[...] = np.arange(22.0)
    parts = moment.q, moment.v, moment.x, moment.u, moment.twist, moment.contact, moment.health
    assert [*map(len, parts)] == [2, 3, 4, 2, 3, 2, 3]
    np.testing.assert_array_equal(np.concatenate([*parts, moment.clock]), np.arange(22.0))
    assert (moment.guard, moment.t, moment.k, moment.t0, moment.beside) == (18, 19, 20, 21, 5)
    assert type(moment.k) is int and len(moment.block) == 16 + EXTRA
    assert moment.inputs_address == moment.u.ctypes.data
    bare = Moment(layout(u=slice(9, 9)))
    assert bare.inputs_address == bare.block.ctypes.data + 8 * 9 and bare.beside == 0
    moment.clear()
    assert np.isnan(moment.twist).all() and np.nansum(np.abs(moment.block)) == 0


def test_a_moment_shows_one_state_until_it_changes():
    moment = Moment(layout())
    before = moment.state
    assert moment.state is before and before.t == 0
    moment.block[[0, CLOCK]] = 5.0, 0.25
    after = moment.state
    assert after is not before and (after.t, after.q[0], before.q[0]) == (0.25, 5.0, 0.0)
    other = moment.state_of(moment.block + 1)
    assert (other.t, other.q.tolist()) == (1.25, [6.0, 1.0])


@pytest.mark.parametrize("contact", [None, np.array([8.0, 9.0])])
def test_a_moment_changes_in_one_stroke(contact):
    """Inputs and the commanded twist stay, and so does contact unless it is given."""
    moment = Moment(layout(), 3, 2)
    moment.block[...] = np.arange(22.0)
    before = moment.block.copy()
    moment.begin()
    for part, number in zip(moment.next, (1.0, 2.0, 3.0, 4.0)):
        part[...] = -number
    np.testing.assert_array_equal(moment.block, before)
    moment.adopt()
    np.testing.assert_array_equal(
        moment.block, [-1] * 2 + [-2] * 3 + [-3] * 4 + [*range(9, 16)] + [-4] * 3 + [19, 20, 21])
    moment.u[0], moment.twist[0] = 50.0, 60.0
    moment.take(np.full(4, 30.0), np.full(2, 10.0), np.full(3, 20.0), np.full(3, 40.0),
                (1.5, 3, 0.5), contact)
    np.testing.assert_array_equal(
        moment.block, [10] * 2 + [20] * 3 + [30] * 4 + [50, 10, 60, 12, 13]
        + ([14, 15] if contact is None else [8, 9]) + [40] * 3 + [1.5, 3, 0.5])
