"""What is read off recorded states, of one case and of several: made of random numbers, without a
run."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest
from support import shipped

from nhmech import InputError, SimulationError
from nhmech.simulation.runs.history import History, lock
from nhmech.simulation.simulated import Simulated

NAMES = {"q": ("x", "both", "hitch"), "angles": ("wheel", "both"),
         "v": ("yaw_rate", "wheel", "hitch"), "u": ("wheel",),
         "commanded_twist": ("forward",), "xi": ("yaw_rate",)}
CASES = pytest.mark.parametrize("cases", [(), (4,)], ids=["run", "batch"])


def recorded(cases=(), moments=5, **parts) -> History:
    """t (K,), theta (..., 2) and parts (..., K, n), as long as their names or as is said."""
    found, rng = History(), np.random.default_rng(0)
    found.t, found.theta = np.arange(moments) / 10, rng.normal(size=(*cases, 2))
    found.names = NAMES
    for part, names in NAMES.items():
        setattr(found, part, rng.normal(size=(*cases, moments, parts.get(part, len(names)))))
    return found


def test_what_is_locked_is_a_view_of_what_can_be_written():
    array = np.zeros(3)
    view = lock(array)
    array[1] = 2.0
    assert view[1] == 2.0 and array.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 1.0


# -- columns ---------------------------------------------------------------------------------------
@CASES
@pytest.mark.parametrize("name, part, place", [
    ("x", "q", 0), ("x.position", "q", 0), ("both", "angles", 1), ("yaw_rate", "v", 0),
    ("hitch.position", "q", 2), ("hitch.velocity", "v", 2), ("wheel.position", "angles", 0),
    ("wheel.velocity", "v", 1), ("wheel.effort", "u", 0), ("forward", "commanded_twist", 0)])
def test_a_column_has_a_name(name, part, place, cases):
    """An angle is the unwrapped one."""
    run = recorded(cases)
    np.testing.assert_array_equal(run.column(name), getattr(run, part)[..., place])


@pytest.mark.parametrize("name, words", [
    ("wheel", "'wheel' has several columns: 'wheel.position', 'wheel.velocity', 'wheel.effort'$"),
    ("hitch", "'hitch' has several columns: 'hitch.position', 'hitch.velocity'$"),
    ("x.velocity", "no column 'x.velocity'; there are both, forward, hitch, wheel, x, yaw_rate$"),
    ("hitch.effort", "no column 'hitch.effort'"), ("", "no column ''")])
def test_a_name_without_a_column_or_with_several_is_refused(name, words):
    with pytest.raises(InputError, match=words):
        recorded().column(name)


def test_all_columns_are_listed_however_many_there_are():
    run = recorded(q=40)
    run.names = NAMES | {"q": tuple(f"q{i}" for i in range(40))}
    with pytest.raises(InputError, match="q38, q39, q4"):
        run.column("y")


# -- functions of the states -----------------------------------------------------------------------
@CASES
def test_a_function_is_evaluated_at_each_moment_of_each_case(cases):
    """Of (t, q, v, theta), with the parameters of the case; a matrix by its columns."""
    run = recorded(cases)
    t, q, v, theta = ca.SX.sym("t"), ca.SX.sym("q", 3), ca.SX.sym("v", 3), ca.SX.sym("theta", 2)
    function = ca.Function("f", [t, q, v, theta], [
        ca.horzcat(ca.vertcat(t * q[0], v[2]), ca.vertcat(theta[0], q[1] - v[0]),
                   ca.vertcat(theta[1] * t, 1)), t])
    found = run.evaluate(function, run.q, run.v)
    assert found.shape == (*cases, 5, 6)
    for index in np.ndindex(*cases, 5):
        wanted = function(run.t[index[-1]], run.q[index], run.v[index], run.theta[index[:-1]])[0]
        np.testing.assert_allclose(found[index], wanted.full().ravel(order="F"), rtol=1e-14)
    of_time = ca.Function("g", [t, q, theta], [t * q[1]])
    np.testing.assert_allclose(run.evaluate(of_time, run.q)[..., 0], run.t * run.q[..., 1],
                               rtol=1e-14)


@CASES
def test_energy_is_that_of_each_state_and_stays(cases):
    q, v, t, theta = ca.SX.sym("q", 3), ca.SX.sym("v", 3), ca.SX.sym("t"), ca.SX.sym("theta", 2)
    run = recorded(cases)
    run.simulated = SimpleNamespace(constrained=SimpleNamespace(system=SimpleNamespace(
        energy_function=ca.Function("E", [t, q, v, theta], [theta[0] * ca.sumsqr(v) + q[2]]))))
    np.testing.assert_allclose(run.energy, run.theta[..., None, 0] * (run.v ** 2).sum(-1)
                               + run.q[..., 2], rtol=1e-12)
    assert not run.energy.flags.writeable


# -- poses -----------------------------------------------------------------------------------------
def of_space(run, names, quaternions):
    run.simulated = SimpleNamespace(constrained=SimpleNamespace(system=SimpleNamespace(
        algebroid=SimpleNamespace(q_names=names, quaternions=quaternions))))
    return run


@CASES
def test_an_attitude_is_that_of_a_quaternion_by_its_prefix(cases):
    """Normalised, in the order of x, y, z, w."""
    run = of_space(recorded(cases, q=10), (
        "z", *(f"left_q{axis}" for axis in "xyzw"), *(f"q{axis}" for axis in "xyzw"), "w"), (1, 5))
    for found, first in ((run.attitude(), 5), (run.attitude("left_"), 1)):
        assert found.shape == (*cases, 5, 3, 3)
        for index in np.ndindex(*cases, 5):
            turn = pin.Quaternion(run.q[index][first:first + 4]).normalized().toRotationMatrix()
            np.testing.assert_allclose(found[index], turn, atol=1e-14)
    with pytest.raises(InputError, match="begins with 'right_qx'; there are left_qx, qx$"):
        run.attitude("right_")
    with pytest.raises(InputError, match="begins with 'qx'; there are none$"):
        of_space(run, ("qx", "y"), ()).attitude()


@CASES
def test_a_table_has_the_base_in_the_plane_and_turns_that_are_counted(cases):
    """x, y and the continuous yaw before all columns; each moment of each case is a row."""
    run, vehicle = recorded(cases, q=7, v=6, angles=0, u=0, commanded_twist=0), shipped("ball")
    run.names = {"q": vehicle.algebroid.q_names, "v": vehicle.algebroid.v_names,
                 "angles": (), "u": ()}
    run.simulated, run.theta = Simulated.of(vehicle), np.zeros((*cases, 0))
    yaw = np.linspace(3.0, 4.0, 5) - np.arange(4.0)[:, None] if cases else np.linspace(3.0, 4.0, 5)
    run.q[..., 3:5], run.q[..., 5:7] = 0.0, np.stack([np.sin(yaw / 2), np.cos(yaw / 2)], -1)
    table = run.table()
    first = ["case", "t", "x", "y", "yaw"] if cases else ["t", "x", "y", "yaw"]
    units = table.attrs["units"]
    assert [*table.columns][:len(first)] == first and list(units) == [*table.columns]
    assert units == units | {"t": "s", "x": "m", "y": "m", "yaw": "rad", "q.z": "m", "q.qw": "",
                             "v.yaw_rate": "rad/s", "energy": "J"}
    for name, wanted in (("x", run.q[..., 0]), ("y", run.q[..., 1]), ("yaw", yaw),
                         ("t", run.t + 0 * yaw), ("v.yaw_rate", run.v[..., 5]),
                         ("energy", run.energy)):
        np.testing.assert_allclose(table[name].to_numpy().reshape(yaw.shape), wanted, atol=1e-12)
    if cases:
        assert table["case"].tolist() == np.repeat(np.arange(4), 5).tolist()
        assert units["case"] == ""


def test_a_table_says_what_it_needs(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(SimulationError, match=r"needs pandas: pip install 'nhmech\[sweep\]'"):
        recorded().table()


def test_what_has_no_base_has_no_pose():
    run = recorded()

    def refuse():
        raise SimulationError("no pose")

    run.simulated = SimpleNamespace(require_pose=refuse)
    with pytest.raises(SimulationError, match="no pose"):
        run.T_WB    # noqa: B018 (a property that raises)


# -- forces ----------------------------------------------------------------------------------------
def test_a_force_is_asked_for_by_wheel_and_direction():
    run, vehicle = recorded(), shipped("differential_drive")
    run.simulated = Simulated.of(vehicle)
    run.reactions = SimpleNamespace(component=lambda *of: of)
    left, _, ball = vehicle.contact_names
    assert run.force(left) == (left, "normal") and run.force(left, "lateral") == (left, "lateral")
    for wheel, direction, words in (("lef", "normal", "'lef' does not exist"),
                                    (left, "roller", f"direction of '{left}' 'roller'"),
                                    (ball, "lateral", "there are normal")):
        with pytest.raises(InputError, match=words):
            run.force(wheel, direction)
