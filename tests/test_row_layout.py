"""Where the numbers of a recorded row, and of a state, are in a block of memory that is filled with
random numbers."""

from __future__ import annotations

import numpy as np
import pytest
from support import shipped

from nhmech import Simulator
from nhmech.control import TwistDrive
from nhmech.simulation.runs.layouts import RowLayout
from nhmech.systems import load_system

SIMULATORS = {
    "car": lambda: Simulator(shipped("ackermann_car")),
    "sliding": lambda: Simulator(shipped("trailers"), contact="coulomb", mu=0.5),
    "twist": lambda: Simulator(shipped("differential_drive"), commanding(), contact="coulomb",
                               mu=0.5),
    "system": lambda: Simulator(load_system("vertical_disk")),
}


def commanding():
    return TwistDrive(shipped("differential_drive"), (0.1, 0.0, 0.2))


@pytest.fixture(params=SIMULATORS)
def simulator(request):
    found = SIMULATORS[request.param]()
    moment, rng = found.moment, np.random.default_rng(0)
    moment.block[...] = rng.normal(size=moment.block.shape)
    return found


def test_a_row_has_the_numbers_of_a_moment_in_order(simulator):
    moment, layout, chart = simulator.moment, simulator.info.layout, simulator.atlas.chart
    rows = np.array([moment.block.take(layout.places), np.arange(layout.width)])
    parts, v = layout.split(rows), list(chart.equations.constrained.system.algebroid.v_names)
    wanted = {"t": moment.clock[0], "q": moment.q, "v": moment.v, "u": moment.u,
              "angles": moment.x[list(chart.state_vector.angle_slots())],
              "xi": moment.v[[v.index(name) for name in chart.equations.names]],
              "commanded_twist": moment.twist, "contact": moment.contact}
    for part, found in parts.items():
        np.testing.assert_array_equal(found[0], wanted[part])
        assert len(layout.names.get(part, "t")) == np.size(found[0])
    order = [part for part in ("t", "q", "v", "u", "commanded_twist", "contact", "angles")
             if part in layout.parts]
    assert [*layout.parts] == order and {*parts} == {*order, "xi"}
    assert np.concatenate([np.atleast_1d(parts[part][1]) for part in order]).tolist() == list(
        range(layout.width))
    assert layout.widths == tuple(np.size(parts[part][0]) for part in order)
    assert layout.width == len(layout.places) == sum(layout.widths)
    assert ("contact" in parts) == bool(moment.contact.size)
    assert ("commanded_twist" in parts) == bool(moment.twist.size)


@pytest.mark.parametrize("speeds, is_view", [([2, 3, 4], True), ([2, 4], False), ([3, 2], False),
                                             ([0], True), ([], True), ([4], True)])
def test_adjacent_speeds_are_a_view_of_the_velocities(speeds, is_view):
    layout = RowLayout({"t": slice(0, 1), "v": slice(1, 6)}, np.arange(6),
                       np.array(speeds, dtype=np.intp), {})
    rows = np.random.default_rng(0).normal(size=(4, 6))
    found = layout.split(rows)
    np.testing.assert_array_equal(found["xi"], rows[:, [1 + i for i in speeds]])
    assert np.shares_memory(found["xi"], rows) == (is_view and bool(speeds))
    assert np.shares_memory(found["t"], rows) and found["t"].shape == (4,)


def test_a_state_reads_a_block_by_its_names(simulator):
    moment, state, chart = simulator.moment, simulator.moment.state, simulator.atlas.chart
    space, vehicle = chart.equations.constrained.system.algebroid, simulator.simulated.vehicle
    names, vector = list(space.v_names), chart.state_vector
    for found, wanted in ((state.q, moment.q), (state.v, moment.v), (state.u, moment.u)):
        np.testing.assert_array_equal(found, wanted)
    assert dict(state.xi) == {name: moment.v[names.index(name)] for name in chart.equations.names}
    positions = dict(zip(vector.names(()), moment.x))
    assert dict(state.angles) == {name: positions[name] for name in (
        vector.names(())[i] for i in vector.angle_slots())}
    joints = positions if vehicle is None else vehicle.joint_names
    assert dict(state.joint_position) == {name: positions[name] for name in joints}
    assert dict(state.joint_velocity) == {name: moment.v[names.index(name)] for name in (
        names if vehicle is None else joints)}
    for name in simulator.simulated.encoder_names:
        assert state.encoder.angle[name] == positions[name]
        assert state.encoder.rate[name] == moment.v[names.index(name)]
    assert state.layout.has_base == (vehicle is not None) == state.layout.has_pose
    assert state.layout.nx == vector.nx

