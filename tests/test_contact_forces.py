"""Ground forces at many states at once, against the second method, Pinocchio's matrices, one by
one."""

from __future__ import annotations

import pickle
from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest
from support import VARIED, random_states, shipped, velocity

from nhmech import InputError, Simulator
from nhmech.compile import pointwise
from nhmech.compile.pointwise import WIDTHS, Pointwise
from nhmech.mechanics.distribution import Component
from nhmech.simulation.contact.force_reader import (
    ContactForces,
    ForceReader,
    force_reader,
    reactions_at,
    world_forces,
)
from nhmech.vehicle.least_norm import impose_signs, solve_shortest
from nhmech.vehicle.reactions import reactions


def states_of(vehicle, count: int) -> list[np.ndarray]:
    """t, q, v, u of states that the vehicle's own frame serves."""
    found = [(0.0, q, velocity(vehicle, 0.0, q, xi), u)
             for chosen, q, xi, u in random_states(vehicle, count, seed=4) if chosen is vehicle]
    return [np.array(part) for part in zip(*found)]


@pytest.mark.parametrize("name", VARIED)
def test_forces_of_many_states_are_those_of_each(name):
    """In blocks that are full, not full and single states, with wheels that the ground would have
    to pull."""
    vehicle = shipped(name)
    few = states_of(vehicle, 12)
    t, q, v, u = (np.concatenate([part] * (WIDTHS[1] // 8)) for part in few)
    found = force_reader(vehicle).read(t, q, v, u)
    forces, supported = found.split
    for k in range(len(few[0])):
        expected = reactions(vehicle, *(part[k] for part in few))
        listed = np.array([expected.components[c.contact][c.direction] for c in found.components])
        size = np.abs(listed).max()
        for i in range(k, len(t), len(few[0])):
            np.testing.assert_allclose(forces[i], listed, rtol=0, atol=1e-11 * size)
            assert supported[i] == expected.feasible
        single = force_reader(vehicle).read(*(part[k:k + 1] for part in few))
        np.testing.assert_array_equal(single.shortest[0], found.shortest[k])
        named = found.at(k, vehicle, t[k], q[k])
        assert named.undetermined == expected.undetermined
        assert reactions_at(vehicle, *(part[k] for part in few)).components == named.components
        world = world_forces(vehicle, t[k:k + 1], q[k:k + 1], single)
        np.testing.assert_allclose(world[0], list(expected.world.values()), rtol=0,
                                   atol=1e-11 * size)
        for wheel, force in expected.world.items():
            np.testing.assert_allclose(named.world[wheel], force, rtol=0, atol=1e-11 * size)


def test_forces_where_the_frame_is_blind():
    """A swerve drive with its wheels across: its speeds do not determine the motion there. Against
    the frame that is chosen for this place."""
    vehicle = shipped("swerve")
    q = vehicle.configuration(joints={vehicle.description.steering[0]: np.pi / 2})
    assert abs(float(vehicle.contact_forces(0.0, q, np.zeros(vehicle.algebroid.nv), np.zeros(
        len(vehicle.driven)), vehicle.theta, np.zeros(4))[3])) < 1e-12
    other = vehicle.rechoose(q)
    rng = np.random.default_rng(2)
    at = [(0.0, q, velocity(other, 0.0, q, rng.normal(size=3)), rng.normal(size=8))
          for _ in range(3)]
    straight = [part[0] for part in states_of(vehicle, 3)]
    rows = [np.array(part) for part in zip(at[0], straight, *at[1:])]
    grip = np.full(4, 1 / 0.7)
    found = force_reader(vehicle).read(*rows, grip=grip)
    for k, served in enumerate((other, vehicle, other, other)):
        expected = reactions(served, *(part[k] for part in rows))
        listed = np.array([expected.components[c.contact][c.direction] for c in found.components])
        np.testing.assert_allclose(found.split[0][k], listed, rtol=1e-9)
        alone = force_reader(served).read(*(part[k:k + 1] for part in rows), grip=grip)
        np.testing.assert_allclose(found.room[k], alone.room[0], rtol=1e-9)
        np.testing.assert_allclose(found.basis[k] @ found.basis[k].T,
                                   alone.basis[0] @ alone.basis[0].T, rtol=0, atol=1e-10)
        state = [part[k] for part in rows]
        np.testing.assert_allclose(force_reader(vehicle).room(*state, grip), found.room[k],
                                   rtol=1e-9)
        for one, many in zip(force_reader(vehicle).look(*state), (found.shortest, found.kernel)):
            np.testing.assert_allclose(one, many[k], rtol=1e-9, atol=1e-9)


def test_room_is_the_least_that_is_left_of_friction():
    vehicle = shipped("mecanum")
    t, q, v, u = states_of(vehicle, 6)
    mu = np.array([0.3, 0.5, np.inf, 0.8])
    found = force_reader(vehicle).read(t, q, v, u, grip=1 / mu)
    for k, forces in enumerate(found.shortest):
        left = [forces[2 * i] - abs(forces[2 * i + 1]) / mu[i] for i in range(4)]
        assert [c.direction for c in found.components[::2]] == ["normal"] * 4
        np.testing.assert_allclose(found.room[k], [forces[::2].min(), min(left)], rtol=1e-12)


def test_known_forces_have_a_room_of_their_own():
    """Those of other states, put in the place of these, are as if these had been read."""
    vehicle = shipped("ackermann_car")
    states, reader = states_of(vehicle, 6), force_reader(vehicle)
    first, last = (reader.read(*(values[part] for values in states))
                   for part in (slice(0, 3), slice(3, 6)))
    mixed = first.with_known(np.array([0, 2]), last.shortest[[0, 2]])
    np.testing.assert_allclose(mixed.room[[0, 2]], last.room[[0, 2]], rtol=1e-12)
    np.testing.assert_array_equal(mixed.room[1], first.room[1])


# two wheels, of which one has two directions along the ground, and a blade without a normal force
COMPONENTS = tuple(Component(*name.split("/")) for name in (
    "a/lateral", "a/normal", "blade/lateral", "a/longitudinal", "b/normal", "b/lateral"))


def test_room_of_any_forces_is_told_by_hand():
    forces = np.array([[3.0, 10, 99, 4, 8, -2], [0, -1, 99, 0, 8, 16]])
    found = ContactForces(COMPONENTS, forces, np.zeros((2, 6, 1)), np.zeros((2, 2)))
    assert found.normal.tolist() == [False, True, False, False, True, False]
    grip = np.array([0.5, 1.5])
    np.testing.assert_allclose(found.room_of(forces, grip), [[8, 5], [-1, -16]], rtol=1e-12)
    np.testing.assert_allclose(found.room_of(forces, 0 * grip), [[8, 8], [-1, -1]], rtol=1e-12)
    bare = ContactForces(COMPONENTS[2:3], forces[:, 2:3], np.zeros((2, 1, 0)), np.zeros((2, 2)))
    assert (bare.room_of(bare.shortest, np.zeros(0)) == np.inf).all()


def test_a_distribution_without_pulls_is_looked_for_where_the_shortest_has_some():
    """Wheels b and a are lifted and pressed by the kernel: at z = -1.5 neither is pulled; known
    forces are determined."""
    kernel = np.zeros((3, 6, 1))
    kernel[:, [1, 4], 0] = -1, 1
    forces = np.array([[0.0, -1, 0, 0, 4, 0], [0, 2, 0, 0, 4, 0], [0, -5, 0, 0, 4, 0]])
    room = np.column_stack([forces[:, [1, 4]].min(axis=1), [9.0, -9, -9]])
    found = ContactForces(COMPONENTS, forces, kernel, room)
    shares, supported = found.split
    np.testing.assert_allclose(shares[:, [1, 4]], [[0, 3], [2, 4], [-5, 4]], rtol=0, atol=1e-12)
    assert supported.tolist() == [True, True, False]
    assert found.component("b", "normal").tolist() == pytest.approx([3.0, 4.0, 4.0], rel=1e-12)
    one = found.only(1)
    for part in ("shortest", "kernel", "room"):
        np.testing.assert_array_equal(getattr(one, part), getattr(found, part)[1:2])
    known = found.with_known(np.array([0]), forces[2:])
    assert not known.kernel[0].any() and known.kernel[1:].all(axis=0).any()
    np.testing.assert_array_equal(known.room[0], [-5, -5])
    np.testing.assert_array_equal(found.room, room)


def stand_in(which, freedom, seen, asked):
    """A reader of four states q = 0 ... 3 in one frame, whose margins there are `seen`: forces and
    kernels that tell the frame, the state, theta and the friction."""
    def function(t, q, v, u, theta, grip):
        states = q[:, 0].astype(int)
        asked.append((which, states.tolist()))
        forces = np.column_stack([t[:, 0] + states, v[:, 0] + u[:, 0] + 0 * states,
                                  np.broadcast_to(theta, (len(q), 1))[:, 0]]) + 100 * which
        kernel = np.full((len(q), 3, freedom), which + 1.0)
        return (forces, kernel[:, :, 0] if freedom == 1 else kernel,
                np.column_stack([states, grip[0] + 0 * states]) + 100.0 * which,
                np.array(seen)[states][:, None])

    return SimpleNamespace(function=function, freedom=freedom)


@pytest.mark.parametrize("seen, known, asked, frames", [
    ([1.001e-3, -1.001e-3, np.inf, 1e-3], [], [], [0, 0, 0, 0]),
    # the latest known frame first, then others, then one that is chosen where none serves
    ([1.0, 0.999e-3, np.nan, -0.999e-3], [(1, 2, [0, 0, 0, 1.0]), (2, 1, [0, 1.0, -1e-4, 0])],
     [(2, [1, 2, 3]), (1, [2, 3]), (3, [2])], [0, 2, 3, 1]),
    ([0.0, 1.0, 0.0, 0.0], [(1, 2, [0, 0, 0, 0])], [(1, [0, 2, 3]), (3, [0, 2, 3]), (3, [2, 3]),
                                                    (3, [3])], [3, 0, 3, 3])])
@pytest.mark.parametrize("each", [True, False])
def test_states_near_a_singularity_are_read_in_frames_that_see_them(seen, known, asked, frames,
                                                                     each):
    """Those with a margin below a thousandth; kernels of fewer columns are filled with zeros."""
    told, chosen = [], []
    made = {which: SimpleNamespace(workspace=SimpleNamespace(force_reader=stand_in(
        which, freedom, margins, told))) for which, freedom, margins in known}
    made[3] = SimpleNamespace(workspace=SimpleNamespace(
        force_reader=stand_in(3, 3, [np.nan] * 4, told)))
    reader = ForceReader.__new__(ForceReader)
    vars(reader).update(
        vars(stand_in(0, 1, seen, [])), components=COMPONENTS[:3], _theta=np.zeros(1),
        _no_grip=np.zeros(2), vehicle=SimpleNamespace(
            rechosen={which: made[which] for which, *_ in known},
            rechoose=lambda q: chosen.append(q.tolist()) or made[3]))
    t, v, u = np.arange(4) / 8, np.arange(4.0)[:, None] / 4, np.arange(4.0)[:, None] / 16
    theta = np.arange(5.0, 9)[:, None] if each else np.array([5.0])
    q = np.column_stack([np.arange(4.0), np.ones(4)])
    found = reader.read(t, q, v, u, theta, np.array([0.5, 9.0]))
    assert told == asked
    assert chosen == [[float(at[0]), 1.0] for which, at in asked if which == 3]
    frames, states, own = np.array(frames), np.arange(4), np.broadcast_to(theta, (4, 1))[:, 0]
    np.testing.assert_allclose(found.shortest, 100 * frames[:, None] + np.column_stack(
        [t + states, v[:, 0] + u[:, 0], own]), rtol=1e-12)
    np.testing.assert_allclose(found.room, 100 * frames[:, None] + np.column_stack(
        [states, np.full(4, 0.5)]), rtol=1e-12)
    freedom = {0: 1, 1: 2, 2: 1, 3: 3}
    width = max([1, *(freedom[which] for which, _ in asked)])
    assert found.kernel.shape == (4, 3, width)
    for kernel, frame in zip(found.kernel, frames):
        assert (kernel[:, :freedom[frame]] == frame + 1).all()
        assert not kernel[:, freedom[frame]:].any()
    assert reader.read(t, q, v, u).shortest[0, 2] == 100 * frames[0]


def test_signs_are_imposed_on_many_problems_as_on_each():
    """Random problems, of which some hold, some cannot be met, and some are the same column
    twice."""
    rng = np.random.default_rng(5)
    matrices = rng.normal(size=(200, 3, 6))
    matrices[:50, :, 1] = matrices[:50, :, 0]
    start = rng.normal(size=(200, 6))
    start[::2] = np.abs(start[::2])
    right = np.einsum("kij,kj->ki", matrices, start)
    signed = np.ones(6, dtype=bool)
    x0 = np.einsum("kij,kj->ki", np.linalg.pinv(matrices), right)
    kernels = np.linalg.svd(matrices)[2][:, 3:].swapaxes(1, 2)
    x, feasible = impose_signs(x0.reshape(4, 50, 6), kernels.reshape(4, 50, 6, 3), signed)
    assert 100 <= feasible.sum() < 190 and feasible.shape == (4, 50)
    for k, (found, holds) in enumerate(zip(x.reshape(200, 6), feasible.ravel())):
        expected, can_hold = impose_signs(*solve_shortest(matrices[k], right[k]), signed)
        assert holds == can_hold
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_compiled_code_takes_over_and_gives_the_same(monkeypatch):
    """After as many evaluations as it is worth; shapes as those of the function."""
    x, p = ca.SX.sym("x", 3), ca.SX.sym("p", 2)
    function = ca.Function("taken_over", [x, p, ca.SX(0, 1)],
                           [ca.sin(x) * p[0], x @ p.T, ca.SX(3, 0), ca.dot(x, x)])
    points = np.random.default_rng(1).normal(size=(150, 3))
    monkeypatch.setattr(pointwise, "LOOK", 150)
    monkeypatch.setattr(pointwise, "BUILD", 151)
    served = Pointwise(function)
    first, second = (served(points, np.array([2.0, 3.0]), np.zeros(0)) for _ in range(2))
    expected = [2 * np.sin(points), points[:, :, None] * [2.0, 3.0], np.zeros((150, 3, 0)),
                (points ** 2).sum(axis=1, keepdims=True)]
    for found in (first, second):
        for part, wanted in zip(found, expected):
            assert part.shape == wanted.shape
            np.testing.assert_allclose(part, wanted, rtol=1e-14)


def test_threads_have_readers_of_their_own():
    vehicle = shipped("mecanum")
    assert force_reader(vehicle) is force_reader(vehicle)
    assert isinstance(force_reader(vehicle), ForceReader)


def test_an_unknown_contact_is_answered_with_those_that_there_are():
    vehicle = shipped("differential_drive")
    forces = Simulator(vehicle, dt=1e-2).run(0.01).reactions[-1]
    for names, given in ((forces.components, "left_wheel"), (forces.world, "left_wheel"),
                         (forces.components["caster_link"], "lateral")):
        with pytest.raises(KeyError, match="no '.*' here; there are " + ", ".join(names)) as told:
            names[given]
        assert isinstance(told.value, InputError) and given not in names
        assert names.get(given) is None
        assert str(pickle.loads(pickle.dumps(told.value))) == str(told.value)
