"""What a run asks of its controller and of external wrenches, and when; of a moment that is no
vehicle's."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from nhmech import SimulationError
from nhmech.simulation.command import BadCommand
from nhmech.simulation.inputs import Inputs

NU = 2


def made(controller=None, wrench=None, every=1, coulomb=None, kinematic=False, twist=0, **settings):
    """Inputs of a moment with two efforts and two wrenches, and what a chart is asked for."""
    asked = []

    def efforts(command, moment, theta, slide):
        asked.append((command, moment, theta, slide))
        if command == "bad":
            raise BadCommand("at t = 0.5 s returned str")
        return np.array([1.5, -2.5])

    dynamics = SimpleNamespace(efforts=efforts, move=lambda *of: asked.append(of))
    chart = SimpleNamespace(kinematic=kinematic, inverse_dynamics=dynamics)
    moment = SimpleNamespace(u=np.zeros(NU + 12), k=0, t=0.5, twist=np.full(twist, 9.0),
                             state=SimpleNamespace(t=0.5))
    propagator = SimpleNamespace(
        atlas=SimpleNamespace(chart=chart, primary=chart), moment=moment, efforts="slide",
        simulated=SimpleNamespace(theta="theta", nu=NU), coulomb=coulomb,
        **{"runs_feedback": False} | settings)
    return Inputs(propagator, controller, wrench or {}, every), moment, asked


@pytest.mark.parametrize("coulomb, slide", [(None, None), ("coulomb", "slide")])
def test_a_command_becomes_efforts(coulomb, slide):
    """By those of sliding wheels, where wheels may slide; wrenches stay as they are."""
    inputs, moment, asked = made(lambda t, state: ("command", t, state), coulomb=coulomb)
    moment.u[NU:] = 7.0
    assert inputs.update()
    assert asked == [(("command", 0.5, moment.state), moment, "theta", slide)]
    assert moment.u.tolist() == [1.5, -2.5, *[7.0] * 12]


def test_a_command_of_a_kinematic_run_moves_it():
    inputs, moment, asked = made(lambda t, state: "command", kinematic=True)
    assert inputs.update()
    assert asked == [("command", moment, "theta")] and not moment.u.any()


@pytest.mark.parametrize("controller, wrench", [(True, False), (False, True), (True, True)])
def test_functions_are_called_where_a_period_begins(controller, wrench):
    """And code may take the steps up to the next one."""
    calls, held = [], []
    inputs, moment, _ = made((lambda t, state: calls.append("c")) if controller else None, {
        "base": lambda t, state: calls.append("w") or np.ones(6)} if wrench else {}, every=3)
    for moment.k in range(5):
        assert inputs.update() == (moment.k % 3 == 0)
        held.append(inputs.hold(10))
    assert calls == [*["c"] * controller, *["w"] * wrench] * 2
    assert held == [3, 2, 1, 3, 2] and inputs.hold(1) == 1


def test_without_functions_or_with_one_in_c_all_steps_are_alike():
    assert made(every=3)[0].hold(10) == 10 and made(every=3)[0].update()
    assert made(lambda t, state: None, every=3, runs_feedback=True)[0].hold(10) == 10


def test_a_command_that_is_none_names_its_controller():
    def steer(t, state):
        return "bad"
    steer.name = "helm"
    with pytest.raises(SimulationError, match=r"^controller helm at t = 0.5 s returned str$"):
        made(steer)[0].update()


# -- wrenches --------------------------------------------------------------------------------------
def test_wrenches_follow_the_efforts_in_their_order():
    """Those of functions, and constant ones; lists of whole numbers too."""
    states = []
    inputs, moment, _ = made(wrench={
        "arm": lambda t, state: states.append((t, state)) or [1, 2, 3, 4, 5, 6],
        "base": np.arange(6.0) / 4})
    assert inputs.update() and states == [(0.5, moment.state)]
    assert moment.u.tolist() == [0.0, 0.0, 1, 2, 3, 4, 5, 6, *(np.arange(6) / 4)]


@pytest.mark.parametrize("wrench", [
    "push", None, [1.0] * 5, [1.0] * 7, [[1.0] * 6], 1.0, [1.0, np.nan, 0, 0, 0, 0],
    [np.inf, 0, 0, 0, 0, 0], ["1"] * 6], ids=str)
def test_what_is_no_wrench_is_refused(wrench):
    """At the moment, by the link on which it would act; what is there stays."""
    inputs, moment, _ = made(wrench={"base": np.ones(6), "arm": lambda t, state: wrench})
    with pytest.raises(SimulationError, match=r"wrench on 'arm' at t = 0.5 s is .*expected 6 fin"):
        inputs.update()
    assert not moment.u[NU + 6:].any()


# -- twists ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("twist, noted", [((0.5, 0.1, -0.2), [0.5, 0.1, -0.2]),
                                          (None, [np.nan] * 3)])
def test_the_twist_that_is_commanded_is_noted_where_there_is_room(twist, noted):
    """NaN as long as there is none."""
    controller = SimpleNamespace(commanded_twist=twist)
    inputs, moment, _ = made(controller, twist=3)
    inputs.note_twist()
    np.testing.assert_array_equal(moment.twist, noted)
    inputs, moment, _ = made(SimpleNamespace(commanded_twist="straight on"))
    inputs.note_twist()      # nobody asks
    inputs, moment, _ = made(SimpleNamespace(commanded_twist="straight on", name="pilot"), twist=3)
    with pytest.raises(SimulationError, match="controller pilot: "):
        inputs.note_twist()


def test_a_controller_is_told_of_a_new_start():
    told = []
    for controller in (SimpleNamespace(reset=lambda: told.append(1)), lambda t, state: None, None):
        made(controller)[0].reset(SimpleNamespace(t=0.0))
    assert told == [1]
