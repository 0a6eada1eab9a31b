"""What a finished run says of its contacts: forces while wheels roll and while they slide, phases,
losses and notices; of a few states with a record of random numbers."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from support import shipped

import nhmech
from nhmech import InputError, JointVelocity, SimulationError, Simulator, Trajectory
from nhmech.simulation.contact.contact_columns import ContactColumns
from nhmech.simulation.contact.force_reader import force_reader
from nhmech.simulation.contact.phases import Phase
from nhmech.simulation.runs import trajectory
from nhmech.urdf.notice import Notice, NoticeKind

R, S, F, L = Phase.ROLLING, Phase.SLIDING, Phase.AIRBORNE, Phase.LYING


@cache
def rolled():
    """Seven states of a robot that turns ever faster."""
    simulator = Simulator(shipped("differential_drive"), lambda t, state: JointVelocity(
        {"left_wheel_joint": 3 - 40 * t, "right_wheel_joint": 3 + 40 * t}), dt=1e-2,
        on_lift="ignore")
    simulator.reset(xi={"forward_speed": 0.3})
    return simulator.run(0.06)


def slid(known, bodies=(), **changes):
    """The run with forces that were recorded at the states `known`, and its parts by name."""
    run, rng = rolled(), np.random.default_rng(0)
    columns = ContactColumns.of(run.simulated.vehicle, bodies)
    numbers = rng.uniform(1, 2, size=(len(run), len(columns)))
    forces, phases, *_ = parts = columns.split(numbers)
    phases[...] = rng.integers(0, 3, phases.shape)
    forces[~np.isin(np.arange(len(run)), known)] = np.nan
    return replace(run, contact=numbers, names=run.names | {"contact": columns.columns},
                   **changes), parts


# -- forces ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("states", [slice(None), slice(1, 5), np.array([5, 2, 6])], ids=str)
@pytest.mark.parametrize("known", [(), (0, 1), (3,), (5, 6), (0, 2, 4, 6), (1, 2, 3, 4, 5),
                                   (2, 5, 6), range(7)], ids=str)
def test_forces_are_those_of_rolling_or_those_that_were_recorded(known, states):
    run, (forces, *_) = slid(list(known))
    found = run.contact_forces(states)
    places = np.arange(7)[states]
    ideal = force_reader(run.simulated.vehicle).read(run.t, run.q, run.v, run.u)
    for k, place in enumerate(places):
        wanted = forces[place] if place in known else ideal.shortest[place]
        np.testing.assert_allclose(found.shortest[k], wanted, rtol=1e-12, atol=1e-12)
        assert found.kernel[k].any() == (place not in known and ideal.kernel[place].any())
    np.testing.assert_array_equal(run.rolled, ~np.isin(np.arange(7), known))
    if isinstance(states, slice) and states.start is None:
        assert len(run.reactions) == 7
        wheel = run.simulated.vehicle.contact_names[1]
        np.testing.assert_array_equal(run.force(wheel, "lateral"),
                                      found.component(wheel, "lateral"))


def test_a_body_has_forces_where_it_touched_the_ground():
    run, (forces, *_) = slid([2, 4, 5], ("mast",))
    rows = len(run.simulated.vehicle.contact_rows)
    for i, direction in enumerate(("normal", "longitudinal", "lateral")):
        wanted = np.where(run.rolled, 0.0, forces[:, rows + i])
        np.testing.assert_array_equal(run.force("mast", direction), wanted)
    assert run.force("mast")[2] > 0 and not run.force("mast").flags.writeable
    np.testing.assert_array_equal(run.force("caster_link"), run.contact_forces().component(
        "caster_link", "normal"))
    for name, direction in (("mast", "roller"), ("boom", "normal")):
        with pytest.raises(InputError, match="does not exist"):
            run.force(name, direction)
    with pytest.raises(InputError, match="'mast' does not exist"):
        rolled().force("mast")


def test_what_has_no_forces_says_why():
    kinematic = replace(rolled(), kinematic=True)
    with pytest.raises(SimulationError, match="a kinematic run has no forces"):
        kinematic.reactions    # noqa: B018 (a property that raises)
    for part in ("slid", "contact_loss", "friction_loss"):
        with pytest.raises(SimulationError, match="wheels could only roll: .*lets them slide"):
            getattr(rolled(), part)


# -- phases, and what friction took ----------------------------------------------------------------
def test_phases_are_those_of_the_steps_that_end_at_each_moment():
    run, (_, phases, *_) = slid([2, 3], ("mast",))
    phases[...] = [[R, R, R, F]] * 3 + [[S, R, F, L]] * 2 + [[S, R, F, S]] * 2
    assert [(span.start, span.end, tuple(span.wheels.values()), span.bodies)
            for span in run.phases] == [
        (0.0, run.t[2], (R, R, R, F), ("mast",)), (run.t[2], run.t[4], (S, R, F, L), ("mast",)),
        (run.t[4], run.t[6], (S, R, F, S), ("mast",))]
    ideal, = rolled().phases
    assert (ideal.start, ideal.end) == (0.0, rolled().t[-1]) and ideal.bodies == ()
    assert ideal.wheels == dict.fromkeys(run.simulated.vehicle.contact_names, R)


@pytest.mark.parametrize("time, state", [(-1.0, 0), (0.0, 0), (0.001, 1), (0.01, 1), (0.0101, 2),
                                         (0.055, 6), (0.06, 6), (9.0, 6)])
def test_contacts_are_those_of_the_step_that_spans_a_time(time, state):
    run, (forces, phases, *_) = slid([0, 2, 6], settings={"mu": {"left_wheel_joint": 0.4}})
    run = replace(run, t=np.arange(7) / 100)
    found, names = run.contacts_at(time), run.simulated.vehicle.contact_names
    assert found.phases == dict(zip(names, map(Phase, phases[state].astype(int))))
    assert found.mu == {"left_wheel_joint": 0.4}
    assert (found.reactions is not None) == (state in (0, 2, 6))
    if found.reactions is not None:
        assert found.reactions.feasible and found.reactions.undetermined == ()
        for (wheel, direction), force in zip(run.simulated.vehicle.contact_rows, forces[state]):
            assert found.reactions.components[wheel][direction] == force
    assert rolled().contacts_at(time) is None
    assert replace(run, settings={}).contacts_at(time).mu == {}


def test_each_contact_has_its_way_and_its_loss():
    run, (_, phases, ways, losses) = slid([2, 3], ("mast",))
    names = [*run.simulated.vehicle.contact_names, "mast"]
    columns = run.columns()
    assert [*run.slid] == [*run.friction_loss] == names
    np.testing.assert_array_equal(run.contact_loss, losses)
    for i, name in enumerate(names):
        for found, (kind, unit), wanted in (
                (run.slid, ("slid", "m"), ways), (run.friction_loss, ("lost", "J"), losses),
                (None, ("phase", ""), phases)):
            column = columns[f"{kind}.{name}"]
            np.testing.assert_array_equal(column.values, wanted[:, i])
            assert column.unit == unit and not column.values.flags.writeable
            if found is not None:
                np.testing.assert_array_equal(found[name], wanted[:, i])
    assert not any("." in name and name.split(".")[0] in ("phase", "slid", "lost")
                   for name in rolled().columns())


def test_the_loss_of_a_tyre_is_the_integral_of_its_power(monkeypatch):
    """By trapezoids between moments of any distance, beside what its landings took."""
    run, (_, _, _, losses) = slid([2, 3])
    run = replace(run, t=np.array([0.0, 0.1, 0.3, 0.4, 0.45, 0.5, 1.0]))
    left, right, ball = run.simulated.vehicle.contact_names
    monkeypatch.setattr(trajectory, "wheels_with_tyres", lambda of: (right,))
    power = np.array([[2.0, 4, 0, 6, 8, 0, 2]]).T
    vars(run)["tyres"] = SimpleNamespace(wheels=(right,), power=power)
    np.testing.assert_allclose(run.friction_loss[right] - losses[:, 1],
                               [0, 0.3, 0.7, 1.0, 1.35, 1.55, 2.05], rtol=1e-12)
    assert not run.friction_loss[right].flags.writeable
    for i, name in ((0, left), (2, ball)):
        np.testing.assert_array_equal(run.friction_loss[name], losses[:, i])


def test_tyres_are_told_which_wheels_fly(monkeypatch):
    told = []
    monkeypatch.setattr(trajectory.TyresAlong, "of", lambda *arguments: told.append(arguments))
    run, (_, phases, *_) = slid([2, 3], ("mast",))
    for one in (run, rolled()):
        one.tyres    # noqa: B018 (a property that is observed)
    np.testing.assert_array_equal(told[0][-1], phases[:, :3] == F)
    assert told[0][-1].any() and told[1][-1] is None
    np.testing.assert_array_equal(told[0][-2].shortest, run.contact_forces().shortest)


# -- notices ---------------------------------------------------------------------------------------
NOTED = Notice(NoticeKind.COARSE_STEPS, "too long")


@pytest.mark.parametrize("kinematic, slides, looks", [
    (False, False, True), (True, False, False), (False, True, False), (True, True, False)])
def test_lift_off_is_looked_for_where_wheels_only_roll(kinematic, slides, looks, monkeypatch):
    """Before all other notices; at every moment of a run that is not long."""
    asked = []
    monkeypatch.setattr(trajectory, "lift_notice", lambda vehicle, t, q, forces: asked.append(
        (t.tolist(), len(q), len(forces.shortest))) or Notice(NoticeKind.LIFTED, "up"))
    monkeypatch.setattr(trajectory, "twist_notice", lambda *of: (
        Notice(NoticeKind.TWIST_RESIDUAL, "off") if of[2:] == ("twist", run.limits) else None))
    run = slid([2])[0] if slides else rolled()
    run = replace(run, kinematic=kinematic, settings={"notices": [NOTED.as_dict()]})
    object.__setattr__(run, "commanded_twist", "twist")
    assert [notice.text for notice in run.notices] == ["up"] * looks + ["too long", "off"]
    assert asked == [(run.t.tolist(), 7, 7)] * looks
    if looks:
        monkeypatch.setattr(trajectory, "LOOKED_AT", 3)
        again = replace(run, commanded_twist=None)
        assert [notice.text for notice in again.notices] == ["up", "too long"]
        assert asked[1:] == [(run.t[::3].tolist(), 3, 3)]


@pytest.mark.parametrize("notices", [[{"kind": "lifted"}], [{"kind": "x", "text": "y"}], [7], 3])
def test_what_a_file_has_in_the_place_of_notices_is_refused(notices):
    with pytest.raises(SimulationError, match="settings\\['notices'\\] of this run are not notic"):
        replace(rolled(), settings={"notices": notices}).notices    # noqa: B018


@pytest.mark.parametrize("judged, every", [(200, 1), (7, 1), (3, 2), (2, 3), (1, 7)])
def test_validity_is_judged_at_so_many_moments(judged, every, monkeypatch):
    asked = []
    monkeypatch.setattr(trajectory, "JUDGED", judged)
    monkeypatch.setattr(nhmech.analysis, "run_validity",
                        lambda run, every: asked.append((run, every)) or "valid")
    run = replace(rolled())
    assert run.validity == "valid" and asked == [(run, every)]


# -- whose run it is -------------------------------------------------------------------------------
def test_arrays_of_a_run_do_not_change():
    run, _ = slid([2])
    run = replace(run, commanded_twist=np.zeros((7, 3)))
    for part in ("t", "q", "v", "xi", "u", "angles", "commanded_twist", "contact"):
        assert not getattr(run, part).flags.writeable
    bare = Trajectory(*[np.zeros((1, 1))] * 6, stop="duration", names={})
    assert bare.kinematic is False and (bare.events, bare.settings, bare.source) == ((), {}, {})


@pytest.mark.parametrize("held, source, other, words", [
    (True, None, "differential_drive", None),
    (True, None, "bicycle", "of 'differential_drive', whose coordinates, .* those of 'bicycle'"),
    (False, None, "bicycle", "^the run is of 'differential_drive', whose"),
    (False, {}, "bicycle", "^the run's coordinates, speeds or contacts are not those of"),
    (False, {}, "differential_drive", None), (False, {"system": "x"}, "differential_drive", None)])
def test_a_run_is_of_what_has_its_coordinates_and_contacts(held, source, other, words):
    """In memory, or in its file, if that contains a vehicle."""
    run = rolled()
    if not held:
        run = replace(run, system=None, source=run.source if source is None else source)
    assert run.is_system_known == (held or source != {})
    if words is None:
        run.check_is_of(shipped(other))
        return
    with pytest.raises(InputError, match=words) as caught:
        run.check_is_of(shipped(other))
    assert (caught.value.remedy is not None) == ("whose" in words)


def test_a_run_with_other_contacts_is_another_ones():
    """The same coordinates and speeds: of wheels under other names for the caster."""
    vehicle = shipped("differential_drive")
    left, right, _ = vehicle.description.wheels
    other = nhmech.load(nhmech.urdf_path("differential_drive"), wheels=[left, right])
    assert other.algebroid.v_names == vehicle.algebroid.v_names
    with pytest.raises(InputError, match="contacts are not those"):
        rolled().check_is_of(other)
    replace(rolled(), system=None, source={}).check_is_of(other)


def test_a_file_may_be_read_with_a_system_of_one_s_own(tmp_path):
    path, vehicle = rolled().save(tmp_path / "run"), shipped("differential_drive")
    assert Trajectory.load(path, vehicle).simulated.vehicle is vehicle
    again = Trajectory.load(path)
    assert again.system is None and again.simulated.vehicle.name == vehicle.name
