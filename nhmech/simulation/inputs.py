"""The inputs of a run: its controller, and external wrenches."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..checks import as_numbers
from ..errors import SimulationError
from .callbacks import call, controller_name, failure
from .command import NOT_YET, BadCommand, Command, Controller, commanded_twist, is_named
from .propagator import Propagator
from .state import State

Wrench = Callable[[float, State], np.ndarray] | np.ndarray


class Inputs:
    """Calls controller and wrenches at the beginning of each control period, checks what they
    return, and stores the inputs in u of the moment until the next period. `propagator`: advances
    the motion; a command of speeds changes its moment. `every`: number of steps in a period."""

    def __init__(self, propagator: Propagator, controller: Controller | None,
                 wrench: Mapping[str, Wrench], every: int):
        self.controller = controller
        self.wrench = wrench
        self.every = every
        self.name = f"controller {controller_name(controller)}"
        self._propagator = propagator
        self._atlas = propagator.atlas
        self._moment = propagator.moment
        self._theta = propagator.simulated.theta
        self._slide = None if propagator.coulomb is None else propagator.efforts
        nu = propagator.simulated.nu
        # views of the moment's u: efforts, then wrenches in their order; wrench inputs of the
        # vehicle without a function stay zero
        self._efforts: Any = self._moment.u[:nu].data
        self._wrenches = self._moment.u[nu:].reshape(-1, 6)

    def __repr__(self) -> str:
        return f"<Inputs of {self.name}, called every {self.every} steps>"

    def reset(self, state: State) -> None:
        """Calls the controller's `reset`, if it has one."""
        reset = getattr(self.controller, "reset", None)
        if reset is not None:
            call(lambda t, state: reset(), f"reset of {self.name}", state, takes="nothing")

    def hold(self, steps: int) -> int:
        """Number of the next `steps` that C may take before a function must be called again."""
        if (self.controller is None and not self.wrench) or self._propagator.runs_feedback:
            return steps
        return min(steps, self.every - self._moment.k % self.every)

    def update(self) -> bool:
        """Calls the functions if a control period begins. Returns whether one does."""
        if self.every > 1 and self._moment.k % self.every:
            return False
        if self.controller is None and not self.wrench:
            return True
        state = self._moment.state
        if self.controller is not None:
            try:
                command = self.controller(state.t, state)
            except Exception as error:
                raise failure(error, self.name, state) from error
            try:
                self._follow(command)
            except BadCommand as error:
                raise SimulationError(f"{self.name} {error}") from error
        if self.wrench:
            self._push(state)
        return True

    def note_twist(self) -> None:
        """Stores the twist that the controller commands; only needed for a recorded run."""
        if self._moment.twist.size:
            twist = read_twist(self.controller)
            self._moment.twist[...] = NOT_YET if twist is None else twist

    def _follow(self, command: Command) -> None:
        """Sets the efforts that the command requires; in a kinematic run, the speeds."""
        chart, moment = self._atlas.chart, self._moment
        if chart.kinematic:
            self._move(command)
        else:
            # all in one stroke
            self._efforts[:] = chart.inverse_dynamics.efforts(command, moment, self._theta,
                                                              self._slide)

    def _move(self, command: Command) -> None:
        """Plain numbers are the speeds of the primary chart."""
        chart, primary, moment = self._atlas.chart, self._atlas.primary, self._moment
        if chart is not primary and command is not None and not is_named(command):
            _, wanted = primary.inverse_dynamics.courses.check(command, moment.t)
            command, _ = chart.inverse_dynamics.fit_speeds(
                moment.t, moment.q, self._theta, primary.speeds, np.asarray(wanted))
        chart.inverse_dynamics.move(command, moment, self._theta)

    def _push(self, state: State) -> None:
        for row, (link, wrench) in zip(self._wrenches, self.wrench.items()):
            found = call(wrench, f"wrench on {link!r}", state) if callable(wrench) else wrench
            row[...] = _read_wrench(link, found, state.t)


def read_twist(controller: Controller | None) -> np.ndarray | None:
    """The `commanded_twist` of a controller, None if it has none. Raises a `SimulationError` that
    names the controller for anything but a twist."""
    try:
        return commanded_twist(controller)
    except SimulationError as error:
        raise SimulationError(f"controller {controller_name(controller)}: {error}") from error


def _read_wrench(link: str, found: object, t: float) -> np.ndarray:
    """A wrench (6,) returned by a function during a run. Raises `SimulationError` for anything
    else."""
    value = as_numbers(found)
    if value is None or value.shape != (6,) or not np.isfinite(value).all():
        raise SimulationError(f"wrench on {link!r} at t = {t:.6g} s is {found!r}; expected 6 "
                              "finite numbers (force, torque) in W")
    return value
