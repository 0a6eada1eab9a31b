"""What is read off a finished run: poses, forces of a wheel, one table, a page."""

from __future__ import annotations

import dataclasses
import sys

import numpy as np
import pytest
from support import shipped

import nhmech
from nhmech import Event, InputError, JointVelocity, SimulationError, Simulator, control
from nhmech.analysis import SteadyMotions, connection_curvature, mobility, structure
from nhmech.mechanics import find_symmetry, nonholonomic_momentum, quotient
from nhmech.simulation.simulated import Simulated
from nhmech.systems import load_system
from nhmech.vehicle.reactions import reactions

TURN = {"forward_speed": 0.5, "yaw_rate": 2.0}
TWIST = (0.5, 0.0, 0.0)


@pytest.fixture(scope="module")
def run():
    turn = JointVelocity({"left_wheel_joint": -6.0, "right_wheel_joint": 12.0})
    simulator = Simulator(shipped("differential_drive"), lambda t, state: turn, dt=1e-2,
                          on_lift="ignore")
    simulator.reset()
    return simulator.run(4.0)


@pytest.fixture(scope="module")
def disk():
    example = load_system("vertical_disk")
    simulator = Simulator(example)
    simulator.reset(q=np.asarray(example.start["q"], dtype=float))
    return simulator.run(0.01)


def test_poses_are_those_of_the_states():
    seen = []
    simulator = Simulator(shipped("differential_drive"), lambda t, state: seen.append(state))
    simulator.reset(xi=TURN)
    run = simulator.run(0.02)
    assert run.T_WB.shape == (len(run), 4, 4)
    for T, state in zip(run.T_WB, seen):
        assert np.array_equal(T, state.T_WB)


@pytest.mark.parametrize("robot", ["differential_drive", "bicycle", "trailers"])
def test_contact_points_along_a_run_are_those_of_its_states(robot):
    vehicle = shipped(robot)
    run = Simulator(vehicle).run(0.03)
    single = [vehicle.contact_points(q, t) for t, q in zip(run.t, run.q)]
    np.testing.assert_allclose(run.contact_points(), single, atol=1e-15, rtol=0)
    np.testing.assert_array_equal(run.contact_points(np.array([2, 5])),
                                  run.contact_points()[[2, 5]])


def test_the_force_of_a_wheel_is_that_of_the_reactions(run):
    vehicle = run.simulated.vehicle
    for contact, direction in vehicle.contact_rows:
        expected = [moment.components[contact][direction] for moment in run.reactions]
        assert np.array_equal(run.force(contact, direction), expected)
    wheel = vehicle.contact_names[0]
    assert np.array_equal(run.force(wheel), run.force(wheel, "normal"))


def test_wheels_and_directions_that_do_not_exist_are_named(run, disk):
    with pytest.raises(InputError, match="'wheel' does not exist; there are left_wheel_joint"):
        run.force("wheel", "normal")
    with pytest.raises(InputError, match="'roller' does not exist; there are normal, longitudinal"):
        run.force("left_wheel_joint", "roller")
    with pytest.raises(SimulationError, match="only a vehicle"):
        disk.force("disk")


def test_the_table_has_every_column_with_its_unit(run):
    table = run.table()
    units = table.attrs["units"]
    assert list(table.columns) == list(units) and len(table) == len(run)
    x, y, yaw = (table[name].to_numpy() for name in ("x", "y", "yaw"))
    assert np.array_equal(x, run.T_WB[:, 0, 3]) and np.array_equal(y, run.T_WB[:, 1, 3])
    assert np.abs(np.diff(yaw)).max() < 0.1 and yaw[-1] > 2 * np.pi, "turns are counted"
    assert np.array_equal(table["v.yaw_rate"], run.column("yaw_rate"))
    assert np.array_equal(table["energy"], run.energy)
    assert np.array_equal(table["angle.left_wheel_joint"],
                          run.angles[:, run.names["angles"].index("left_wheel_joint")])
    expected = {"t": "s", "x": "m", "yaw": "rad", "q.x": "m", "v.yaw_rate": "rad/s",
                "angle.left_wheel_joint": "rad", "u.left_wheel_joint": "N m", "energy": "J"}
    assert expected.items() <= units.items()


def test_a_system_without_a_base_has_a_table_too(disk):
    table = disk.table()
    assert "yaw" not in table and len(table) == len(disk)
    assert {f"q.{name}" for name in disk.names["q"]} <= set(table.columns)


def test_a_batch_answers_as_its_runs(run):
    vehicle = run.simulated.vehicle
    x0 = nhmech.start_states(vehicle, [(0.1, -0.2, 0.3)], xi={"forward_speed": 0.4})
    batch = nhmech.simulate_batch(vehicle, np.repeat(x0, 2, axis=0), dt=1e-2, duration=0.2)
    simulator = Simulator(vehicle, dt=1e-2)
    simulator.reset(pose=(0.1, -0.2, 0.3), xi={"forward_speed": 0.4})
    expected = simulator.run(0.2)
    table = batch.table()
    assert table["case"].tolist() == [0] * 21 + [1] * 21 and table.attrs["units"]["case"] == ""
    for name, column in expected.table().items():
        assert table.attrs["units"][name] == expected.table().attrs["units"][name]
        found = table[name].to_numpy().reshape(2, 21)
        assert np.allclose(found, column.to_numpy(), rtol=0, atol=1e-12), name
    for answer in ("T_WB", "energy"):
        for array in (getattr(batch, answer), getattr(expected, answer)):
            assert not array.flags.writeable
        assert np.allclose(getattr(batch, answer), getattr(expected, answer), rtol=0, atol=1e-12)
    assert not any(getattr(batch, part).flags.writeable for part in ("q", "v", "xi", "angles"))


def test_a_table_without_pandas_says_what_to_install(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(SimulationError, match=r"pip install 'nhmech\[sweep\]'"):
        run.table()


def test_the_page_is_that_of_save_html(run, disk, tmp_path):
    path = run.save_html(tmp_path / "mine.html", fps=5.0)
    nhmech.save_html(run.simulated.vehicle, run, tmp_path / "theirs.html", fps=5.0)
    assert path == tmp_path / "mine.html"
    assert abs(len(path.read_bytes()) - len((tmp_path / "theirs.html").read_bytes())) < 100


def test_a_run_without_its_system_is_drawn_as_the_one_that_is_given(run, disk, tmp_path):
    """It is known by its coordinates and speeds alone; "mine" is a system of the user's own."""
    for known, source, other in ((run, {}, "bicycle"), (disk, {"system": "mine"}, "pendulum")):
        bare = dataclasses.replace(known, system=None, source=source)
        bare.check_is_of(known.simulated)
        assert nhmech.save_html(known.simulated, bare, tmp_path / "a.html", fps=5.0).exists()
        with pytest.raises(InputError, match=f"the run's coordinates, .* those of '{other}'$"):
            nhmech.save_html(shipped(other), bare, tmp_path / "no.html")


def test_a_textbook_system_has_a_page_and_what_cannot_be_drawn_is_refused(disk, tmp_path):
    page = disk.save_html(tmp_path / "disk.html").read_text()
    assert "<title>vertical_disk</title>" in page
    other = nhmech.save_html(load_system("vertical_disk"), disk, tmp_path / "other.html")
    assert other.stat().st_size == len(page.encode())
    by_hand = Simulated(load_system("vertical_disk").constrained, None)
    for thing, words in ((by_hand, "written by hand has no shapes"),
                         (3, "vehicle = 3 must be an object with"),
                         (load_system("vertical_disk").constrained,
                          "must be an object with .* model, name")):
        with pytest.raises(InputError, match=words):
            nhmech.save_html(thing, disk, tmp_path / "no.html")


def test_what_is_shown_of_an_object_fits_into_three_lines(run):
    vehicle = shipped("trailers")
    simulator = Simulator(vehicle, events=[Event("far", lambda t, state: 1.0)])
    state, path, drive = simulator.reset(), control.make_path("figure8"), run.simulated.vehicle
    batch = nhmech.simulate_batch(drive, nhmech.start_states(drive, [(0, 0, 0)] * 2), dt=0.01,
                                  duration=0.05)
    spin = find_symmetry(load_system("rigid_body"))
    sleigh = load_system("chaplygin_sleigh")
    for shown in (
            simulator, state, run, simulator.events[0], state.layout, simulator.simulated,
            simulator.atlas, simulator.atlas.chart, simulator.propagator, simulator.moment,
            simulator.inputs, simulator.atlas.chart.inverse_dynamics, run.reactions,
            run.simulated, Simulator(drive).reset().layout, batch, batch.stepper, batch.reactions,
            reactions(vehicle, 0.0, state.q, state.v, state.u), control.TwistDrive(drive, TWIST),
            control.PurePursuit(drive, path), control.DemoDrive(drive), sleigh, spin,
            quotient(spin), nonholonomic_momentum(find_symmetry(sleigh)), mobility(vehicle),
            structure(drive), connection_curvature(drive), SteadyMotions(drive)):
        assert len(repr(shown).splitlines()) <= 3 and len(repr(shown)) < 600, repr(shown)
    assert repr(simulator.events[0]) == "Event('far', terminal, any direction)"
    assert repr(run) == "<Trajectory of 401 states, 0 to 4 s, stopped by duration>"


def test_a_joint_has_a_column_for_each_of_what_it_has():
    """Position (unwrapped), velocity and effort; the bare name would be any of them."""
    vehicle = shipped("trailers")
    run = nhmech.Simulator(vehicle, lambda t, state: nhmech.JointTorque(
        {"rear_left_wheel_joint": 0.3})).run(0.2)
    for name, kinds in (("rear_left_wheel_joint", ("position", "velocity", "effort")),
                        ("hitch_1_joint", ("position", "velocity"))):
        with pytest.raises(InputError, match=", ".join(f"'{name}.{kind}'" for kind in kinds)):
            run.column(name)
    wheel = "rear_left_wheel_joint"
    assert np.array_equal(run.column(f"{wheel}.position"),
                          run.angles[:, run.names["angles"].index(wheel)])
    assert np.array_equal(run.column(f"{wheel}.velocity"),
                          run.v[:, run.names["v"].index(wheel)])
    assert run.column(f"{wheel}.effort")[0] == 0.3
    assert np.array_equal(run.column("front_left_steering_joint.position"),
                          run.q[:, run.names["q"].index("front_left_steering_joint")])
    with pytest.raises(InputError, match="no column 'hitch_1_joint.effort'"):
        run.column("hitch_1_joint.effort")
