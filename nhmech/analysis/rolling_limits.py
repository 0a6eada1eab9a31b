"""When ideal rolling stops being valid: as events of a run, and along a finished one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from ..errors import InputError, Remedy
from ..simulation.events import Event
from ..simulation.state import State
from ..simulation.trajectory import Trajectory
from ..vehicle.vehicle import Vehicle
from .contact_load import ContactLoad, contact_load
from .friction import known_coefficients, slack
from .validity import Validity, Verdict, judge, validity

FRICTION, LIFT_OFF = "friction limit", "lift-off"      # names of the events


def friction_limit(vehicle: Vehicle, mu: float | Mapping[str, float] | None = None, *,
                   doubt: bool = False, terminal: bool = True) -> Event:
    """An event: no way of sharing the load keeps |tangential| <= mu N at every wheel.

    It looks at the inputs that act at the moment (`State.u`). Where the command of a controller
    jumps over the limit, the event is at the jump.

    Parameters
    ----------
    vehicle
        A vehicle from `nhmech.load`.
    mu
        As in `validity`.
    doubt
        The event is where it begins to depend on how the load is shared, instead.
    terminal
        Whether it ends the run; otherwise the moment stands in `trajectory.events`.

    Raises
    ------
    InputError
        Where no wheel has a friction coefficient.

    Examples
    --------
    >>> from nhmech.analysis import friction_limit
    >>> wheels = "left_wheel_joint", "right_wheel_joint"
    >>> harder = lambda t, state: JointTorque(dict.fromkeys(wheels, 5 * t))
    >>> Simulator(vehicle, harder, events=[friction_limit(vehicle, 0.3)]).run(5.0).stop
    'event: friction limit'
    """
    return _friction_limit(_LoadReader(vehicle), mu, doubt, terminal)


def lift_off(vehicle: Vehicle, *, terminal: bool = True) -> Event:
    """An event: the ground would have to pull, so a wheel leaves it and the vehicle tips.

    Where the normal forces are not determined, it is the moment from which no split has all of them
    >= 0.

    Parameters
    ----------
    vehicle
        A vehicle from `nhmech.load`.
    terminal
        Whether it ends the run; otherwise the moment stands in `trajectory.events`.
    """
    return _lift_off(_LoadReader(vehicle), terminal)


def rolling_events(vehicle: Vehicle, mu: float | Mapping[str, float] | None = None, *,
                   terminal: bool = True) -> tuple[Event, Event]:
    """Both events, `friction_limit` and `lift_off`; they share one look at the forces of a state.

    Parameters
    ----------
    vehicle
        A vehicle from `nhmech.load`.
    mu
        As in `validity`.
    terminal
        Whether they end the run; otherwise the moments stand in `trajectory.events`.

    Raises
    ------
    InputError
        Where no wheel has a friction coefficient.
    """
    loads = _LoadReader(vehicle)
    return _friction_limit(loads, mu, False, terminal), _lift_off(loads, terminal)


class _LoadReader:
    """The contact load at the states of a run; the latest is kept, for several events look at the
    same state."""

    def __init__(self, vehicle: Vehicle):
        self.vehicle = vehicle
        self._latest: tuple[State, ContactLoad] | None = None

    def at(self, t: float, state: State) -> ContactLoad:
        latest = self._latest
        if latest is not None and latest[0] is state:
            return latest[1]
        wanted = self.vehicle.constrained.system.u.numel()
        if len(state.u) != wanted:
            raise InputError(f"the state has {len(state.u)} inputs, {self.vehicle.name!r} has "
                             f"{wanted}: make the event for the vehicle that runs; with external "
                             "wrenches, for vehicle.with_wrench(links)")
        load = contact_load(self.vehicle, t, state.q, state.v, state.u)
        self._latest = state, load
        return load


def _friction_limit(loads: _LoadReader, mu: float | Mapping[str, float] | None, doubt: bool,
                    terminal: bool) -> Event:
    known = known_coefficients(loads.vehicle, mu)

    def slack_left(t: float, state: State) -> float:
        return slack(loads.at(t, state), known, sign=True)

    def certainty(t: float, state: State) -> float:
        return max(1 - judge(loads.vehicle, loads.at(t, state), t, known).use[1], -1.0)

    return Event(FRICTION, certainty if doubt else slack_left, terminal, direction=-1, limit=True)


def _lift_off(loads: _LoadReader, terminal: bool) -> Event:
    def least_normal(t: float, state: State) -> float:
        load = loads.at(t, state)
        # where this split holds, the kindest one does
        least = float(load.split[load.normal].min())
        return least if least > 0 else load.least_normal

    return Event(LIFT_OFF, least_normal, terminal, direction=-1, limit=True)


@dataclass(frozen=True, eq=False)
class RunValidity:
    """Ideal rolling along a run.

    Attributes
    ----------
    states
        `Validity` at recorded moments.
    events
        (time [s], name) of `friction_limit` and `lift_off` in the run, located exactly.
    """

    states: tuple[Validity, ...]
    events: tuple[tuple[float, str], ...]

    def __repr__(self) -> str:
        return f"RunValidity({len(self)} states, {len(self.events)} events, until={self.until})"

    def __len__(self) -> int:
        return len(self.states)

    def __getitem__(self, i: int) -> Validity:
        return self.states[i]

    def first(self, verdict: Verdict) -> Validity | None:
        """The first recorded state with this verdict."""
        return next((state for state in self.states if state.verdict is verdict), None)

    @property
    def until(self) -> float | None:
        """Time [s] of the first event, else of the last state before the first that FAILS; None
        where rolling held."""
        failed = self.first(Verdict.FAILS)
        if self.events or failed is None:
            return min((t for t, _ in self.events), default=None)
        return max((state.t for state in self.states if state.t < failed.t), default=failed.t)

    @property
    def remedy(self) -> Remedy | None:
        """How to find the exact moment at which rolling failed; None where it held or is known."""
        if self.events or self.first(Verdict.FAILS) is None:
            return None
        known = any(np.isfinite(one.mu) for one in self.states[0].wheels)
        options = "--on-slip warn" if known else "--mu 0.8 --on-slip warn"
        return Remedy("run with friction_limit and lift_off for the exact moment",
                      f"run with {options} for the exact moment")

    def failure(self, call: Callable[[str], str] = str) -> str | None:
        """When and why rolling failed, in words; None where it held.

        Parameters
        ----------
        call
            Makes of a wheel's name what it is called.
        """
        if self.events:
            t, name = self.events[0]
            after = next((state for state in self.states if state.t >= t), self.states[-1])
            when = "" if after.t - t < 1e-6 else f" at t = {after.t:.6g} s"
            return (f"ideal rolling stopped being valid at t = {t:.6g} s ({name}), "
                    f"{after.reason(call)}{when}")
        failed = self.first(Verdict.FAILS)
        if failed is None:
            return None
        return f"ideal rolling was not valid at t = {failed.t:.6g} s, {failed.reason(call)}"

    def describe(self, command_line: bool = False) -> str:
        """E.g. "ideal rolling stopped being valid at t = 3.2 s, left_wheel, needs mu = 0.9 > 0.8".

        Parameters
        ----------
        command_line
            Whether the remedy is for someone who types `nhmech run`.
        """
        remedy = self.remedy
        doubted = [state.t for state in self.states if state.verdict is Verdict.POSSIBLE]
        lines = []
        if failure := self.failure():
            advice = [] if remedy is None else [remedy.command if command_line else remedy.python]
            lines.append("; ".join([failure, *advice]))
        else:
            hardest = max(self.states, key=lambda state: state.use[0])
            lines.append(f"ideal rolling was {'possible' if doubted else 'valid'} from t = "
                         f"{self.states[0].t:.6g} to {self.states[-1].t:.6g} s; closest to slip at "
                         f"t = {hardest.t:.6g} s, {hardest.reason()}")
        if doubted:
            first, last = doubted[0], doubted[-1]
            when = (f"at t = {first:.6g} s" if first == last
                    else f"between t = {first:.6g} and {last:.6g} s")
            lines.append(f"whether it held {when} depends on how the wheels share the load, "
                         "which rigid bodies do not determine")
        return "\n".join(lines)


def run_validity(trajectory: Trajectory, mu: float | Mapping[str, float] | None = None, *,
                 every: int = 1) -> RunValidity:
    """Whether ideal rolling was possible along a run: `validity` at its recorded states.

    The last state and those after an event are always included.

    A run that was read from a file is judged with the vehicle it was made with
    (`trajectory.simulated.vehicle`), or with the one that `Trajectory.load` was given.

    Parameters
    ----------
    trajectory
        The run.
    mu
        As in `validity`.
    every
        Judge every n-th recorded state.

    Raises
    ------
    InputError
        For a run of something without wheels, and of a kinematic run (which has no forces).
    SimulationError
        For a file that does not say what was simulated.

    Examples
    --------
    >>> from nhmech.analysis import run_validity
    >>> run = Simulator(vehicle).run(0.1)
    >>> run_validity(run, mu=0.8, every=50).events
    ()
    """
    vehicle = trajectory.simulated.vehicle
    if vehicle is None:
        raise InputError("only the run of a vehicle has wheels to judge")
    if trajectory.kinematic:
        raise InputError("a kinematic run has no forces: its speeds were commanded")
    events = tuple(event for event in trajectory.events if event[1] in (FRICTION, LIFT_OFF))
    last = len(trajectory) - 1
    after = {min(int(np.searchsorted(trajectory.t, t)), last) for t, _ in events}
    chosen = sorted({*range(0, len(trajectory), every), last, *after})
    states = tuple(validity(vehicle, trajectory.t[k], trajectory.q[k], trajectory.v[k],
                            trajectory.u[k], mu)
                   for k in chosen)
    return RunValidity(states, events)
