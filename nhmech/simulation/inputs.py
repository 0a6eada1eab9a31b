"""What acts on a run from outside: the controller, and external wrenches."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from ..errors import SimulationError
from .atlas import Atlas
from .callbacks import call, controller_name
from .command import NOT_YET, BadCommand, Command, Controller, commanded_twist, is_named
from .moment import Moment
from .propagator import Propagator
from .simulated import Simulated
from .state import State

Wrench = Callable[[float, State], np.ndarray] | np.ndarray


class Inputs:
    """Asks controller and wrenches at the beginning of each control period, checks what they
    answer, and holds it in the moment's u until the next one.

    Parameters
    ----------
    every
        Steps in a control period.

    Attributes
    ----------
    has_twist
        Whether the controller says which twist of the base it commands.
    """

    def __init__(self, simulated: Simulated, controller: Controller | None,
                 wrench: Mapping[str, Wrench], every: int):
        self.controller = controller
        self.wrench = wrench
        self.every = every
        self._simulated = simulated
        self.name = f"controller {controller_name(controller)}"
        self.has_twist = self._twist() is not None

    def reset(self, state: State) -> None:
        """Calls the controller's `reset`, if it has one."""
        reset = getattr(self.controller, "reset", None)
        if reset is not None:
            call(lambda t, state: reset(), f"reset of {self.name}", state, takes="nothing")

    def hold(self, k: int, steps: int) -> int:
        """How many of the next `steps` are taken before somebody is asked again."""
        if self.controller is None and not self.wrench:
            return steps
        return min(steps, self.every - k % self.every)

    def ask(self, propagator: Propagator) -> bool:
        """Asks where a control period begins. Returns whether one does.

        Raises
        ------
        SimulationError
            For an error in the user's code, and for an answer that cannot be carried out.
        """
        moment = propagator.moment
        if self.every > 1 and moment.k % self.every:
            return False
        if self.controller is None and not self.wrench:
            return True
        state = moment.state
        if self.controller is not None:
            command = call(self.controller, self.name, state)
            try:
                self._follow(command, state, propagator)
            except BadCommand as error:
                raise SimulationError(f"{self.name} {error}") from error
        if self.wrench:
            self._push(state, moment)
        return True

    def note_twist(self, moment: Moment) -> None:
        """Notes the twist that the controller commands; only a run that is recorded needs it."""
        if self.has_twist:
            twist = self._twist()
            moment.twist[...] = NOT_YET if twist is None else twist

    def _follow(self, command: Command, state: State, propagator: Propagator) -> None:
        """Efforts that the command asks for; in a kinematic run, speeds."""
        atlas, moment, theta = propagator.atlas, propagator.moment, self._simulated.theta
        chart, nu = atlas.chart, self._simulated.nu
        if type(command) is np.ndarray and not chart.kinematic:
            moment.u[:nu] = chart.inverse_dynamics.plain(command, state.t, nu)
            return
        xi = moment.x[chart.state_vector.nconf:]
        if chart.kinematic:
            xi[...] = self._speeds(command, state, xi, atlas)
            propagator.settle()
        else:
            moment.u[:nu] = chart.inverse_dynamics.efforts(command, state, xi, theta, nu)

    def _speeds(self, command: Command, state: State, xi: np.ndarray, atlas: Atlas) -> np.ndarray:
        """xi of the present chart. Plain numbers are the speeds of the primary one."""
        theta, chart, primary = self._simulated.theta, atlas.chart, atlas.primary
        if chart is primary or command is None or is_named(command):
            return chart.inverse_dynamics.speeds_for(command, state, xi, theta)
        wanted = primary.inverse_dynamics.speeds_for(command, state, xi, theta)
        E, e0 = chart.inverse_dynamics.frame_at(state.t, state.q, theta)
        rows = primary.speeds
        return np.linalg.lstsq(E[rows], wanted - e0[rows], rcond=1e-9)[0]

    def _push(self, state: State, moment: Moment) -> None:
        """Wrenches stand in u after the efforts, in their order."""
        u = moment.u[self._simulated.nu:].reshape(-1, 6)
        for row, (link, wrench) in zip(u, self.wrench.items()):
            found = call(wrench, f"wrench on {link!r}", state) if callable(wrench) else wrench
            row[...] = _read_wrench(link, found, state.t)

    def _twist(self) -> np.ndarray | None:
        try:
            return commanded_twist(self.controller)
        except SimulationError as error:
            raise SimulationError(f"{self.name}: {error}") from error


def _read_wrench(link: str, found: object, t: float) -> np.ndarray:
    """A wrench (6,). Raises `SimulationError`, for it is the answer of a function during a run."""
    try:
        value = np.asarray(found, dtype=float)
    except (TypeError, ValueError, OverflowError):
        value = np.zeros(0)
    if value.shape != (6,) or not np.all(np.isfinite(value)):
        raise SimulationError(f"wrench on {link!r} at t = {t:.6g} s is {found!r}; expected 6 "
                              "finite numbers (force, torque) in W")
    return value
