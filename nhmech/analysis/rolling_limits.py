"""The end of ideal rolling: as events of a run, and along a finished run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from ..checks import check_arguments, read_count
from ..errors import InputError, Remedy
from ..simulation.contact.coulomb import SLIP
from ..simulation.contact.force_reader import ContactForces, force_reader
from ..simulation.contact.lift_off import LIFT_OFF
from ..simulation.events import Event
from ..simulation.runs.trajectory import Trajectory
from ..simulation.state import State
from ..vehicle.vehicle import Vehicle
from .contact_load import contact_load, contact_loads, load_from
from .friction import coefficients, known_coefficients, widest_split
from .validity import JudgedStates, Validity, Verdict, judge_load

FRICTION = "friction limit"      # name of the event
STRIDE = 10     # states in a row of which one is judged while nothing holds


@check_arguments
def friction_limit(vehicle: Vehicle, mu: float | Mapping[str, float] | None = None, *,
                   doubt: bool = False, terminal: bool = True) -> Event:
    """An event: no way of sharing the load keeps |tangential| <= mu N at every wheel.

    It uses the inputs that act at the moment (`State.u`). If the command of a controller jumps
    across the limit, the event is at the jump.

    Parameters
    ----------
    vehicle
        A vehicle from `nhmech.load`.
    mu
        As in `validity`.
    doubt
        Whether the event is instead the moment from which rolling depends on how the load is
        distributed.
    terminal
        Whether it ends the run; otherwise the moment stands in `trajectory.events`.

    Raises
    ------
    InputError
        If no wheel has a friction coefficient.

    Examples
    --------
    >>> from nhmech.analysis import friction_limit
    >>> wheels = "left_wheel_joint", "right_wheel_joint"
    >>> harder = lambda t, state: JointTorque(dict.fromkeys(wheels, 5 * t))
    >>> Simulator(vehicle, harder, events=[friction_limit(vehicle, 0.3)]).run(5.0).stop
    'event: friction limit'
    """
    return _friction_limit(_Looks(vehicle, known_coefficients(vehicle, mu)), doubt, terminal)


@check_arguments
def lift_off(vehicle: Vehicle, *, terminal: bool = True) -> Event:
    """An event: the ground would have to pull a wheel, so that it lifts off and the vehicle tips.

    If the normal forces are not determined, it is the moment from which no split has all of them
    >= 0.

    Parameters
    ----------
    vehicle
        A vehicle from `nhmech.load`.
    terminal
        Whether it ends the run; otherwise the moment stands in `trajectory.events`.

    Notes
    -----
    A `Simulator` looks for it by itself, wheel by wheel (`on_lift`).
    """
    return _lift_off(_Looks(vehicle, {}), terminal)


@check_arguments
def rolling_events(vehicle: Vehicle, mu: float | Mapping[str, float] | None = None, *,
                   terminal: bool = True) -> tuple[Event, Event]:
    """Both events, `friction_limit` and `lift_off`, which share one evaluation of the forces.

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
        If no wheel has a friction coefficient.
    """
    looks = _Looks(vehicle, known_coefficients(vehicle, mu))
    return _friction_limit(looks, False, terminal), _lift_off(looks, terminal)


def is_rolling_event(name: str) -> bool:
    """Whether an event of this name is that of the friction limit, of a lift-off, or of the end of
    rolling."""
    return name in (FRICTION, SLIP) or name.startswith(LIFT_OFF)


class _Looks:
    """Looks at the forces of the states of a run; the latest is kept, for several events look at
    the same states. `mu`: friction coefficients, infinite where a wheel cannot slip or is not
    named."""

    def __init__(self, vehicle: Vehicle, mu: Mapping[str, float]):
        self.vehicle = vehicle
        self.mu = {wheel: mu.get(wheel, np.inf) for wheel in vehicle.contact_names}
        contacts = [c.contact for c in vehicle.contact_rows if c.is_normal]
        self.grip = 1 / np.array([self.mu[contact] for contact in contacts])
        self._room: tuple[State, tuple[float, float]] | None = None
        self._forces: tuple[np.ndarray, ContactForces] | None = None

    def room(self, t: float, state: State) -> tuple[float, float]:
        """`ContactForces.room` at a state."""
        if self._room is None or self._room[0] is not state:
            self._check(state.u)
            reader = force_reader(self.vehicle)
            self._room = state, reader.room(t, state.q, state.v, state.u, self.grip)
        return self._room[1]

    def forces(self, t: np.ndarray, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> ContactForces:
        """The forces at many states."""
        if self._forces is None or self._forces[0] is not q:
            self._check(u)
            self._forces = q, force_reader(self.vehicle).read(t, q, v, u, grip=self.grip)
        return self._forces[1]

    def _check(self, u: np.ndarray) -> None:
        wanted = self.vehicle.constrained.system.u.numel()
        if u.shape[-1] != wanted:
            raise InputError(f"the state has {u.shape[-1]} inputs, {self.vehicle.name!r} has "
                             f"{wanted}: create the event with the vehicle that runs; with "
                             "external wrenches, with vehicle.with_wrench(links)")


class _Margin:
    """A number of the sign of the most that any split leaves at the worst wheel: of the normal
    forces, or of friction.

    It is that of the shortest split where this holds, or of one that held lately; only where both
    fail a programme is solved.
    """

    def __init__(self, looks: _Looks, friction: bool):
        self._looks = looks
        self._column = int(friction)
        self._mu = looks.mu if friction else dict.fromkeys(looks.mu, np.inf)
        # of the shortest split, along the kernel
        self._change: np.ndarray | None = None

    def at(self, t: float, state: State) -> float:
        """The margin at a state."""
        left = self._looks.room(t, state)[self._column]
        if left > 0:
            return left
        rows = [np.array([part], dtype=float) for part in (t, state.q, state.v, state.u)]
        return float(self.along(*rows)[0])

    def along(self, t: np.ndarray, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> np.ndarray:
        """At many states; where none holds, each `STRIDE`-th of them is judged."""
        found = self._looks.forces(t, q, v, u)
        values = found.room[:, self._column].copy()
        doubtful = np.flatnonzero(~(values > 0))
        while len(doubtful := doubtful[~(self._try(found, doubtful, values) > 0)]):
            k = doubtful[0]
            forces = found.only(k)
            load = load_from(forces, self._looks.vehicle, float(t[k]), q[k])
            left, split = widest_split(load, self._mu, sign=True)
            if left > 0:
                values[k] = left
                # the shortest split has no part along the kernel
                self._change = np.linalg.lstsq(found.kernel[k], split, rcond=None)[0]
                doubtful = doubtful[1:]
            else:
                values[doubtful[:STRIDE]] = min(left, 0.0)
                doubtful = doubtful[STRIDE:]
        return values

    def _try(self, found: ContactForces, states: np.ndarray, values: np.ndarray) -> np.ndarray:
        """The margins that the last valid split leaves at some states; keeps the split if it
        holds."""
        if self._change is None or len(self._change) != found.kernel.shape[2]:
            return np.zeros(len(states))
        forces = found.shortest[states] + found.kernel[states] @ self._change
        left = found.room_of(forces, self._looks.grip)[:, self._column]
        values[states[left > 0]] = left[left > 0]
        return left


def _friction_limit(looks: _Looks, doubt: bool, terminal: bool) -> Event:
    if doubt:
        def certainty(t: float, state: State) -> float:
            load = contact_load(looks.vehicle, t, state.q, state.v, state.u)
            return max(1 - judge_load(looks.vehicle, load, t, looks.mu).use[1], -1.0)

        return Event(FRICTION, certainty, terminal, direction=-1, limit=True)
    margin = _Margin(looks, friction=True)
    return Event(FRICTION, margin.at, terminal, direction=-1, limit=True, along=margin.along)


def _lift_off(looks: _Looks, terminal: bool) -> Event:
    margin = _Margin(looks, friction=False)
    return Event(LIFT_OFF, margin.at, terminal, direction=-1, limit=True, along=margin.along)


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

    states: JudgedStates
    events: tuple[tuple[float, str], ...]

    def __repr__(self) -> str:
        return f"RunValidity({len(self)} states, {len(self.events)} events, until={self.until})"

    def __len__(self) -> int:
        return len(self.states)

    def __getitem__(self, i: int) -> Validity:
        return self.states[i]

    def first(self, verdict: Verdict) -> Validity | None:
        """The first recorded state with this verdict."""
        verdicts = self.states.verdicts
        return self.states[verdicts.index(verdict)] if verdict in verdicts else None

    @property
    def hardest(self) -> Validity:
        """The recorded state that uses most of its friction."""
        return self.states.hardest

    @property
    def until(self) -> float | None:
        """Time [s] of the first event, else of the last state before the first that FAILS; None
        if rolling held."""
        failed = self.first(Verdict.FAILS)
        if self.events or failed is None:
            return min((t for t, _ in self.events), default=None)
        return max((t for t in self.states.t if t < failed.t), default=failed.t)

    @property
    def remedy(self) -> Remedy | None:
        """How to find the exact moment at which rolling failed; None if it held or is known."""
        if self.events or self.first(Verdict.FAILS) is None:
            return None
        known = any(np.isfinite(one.mu) for one in self.states[0].wheels)
        options = "--on-slip warn" if known else "--mu 0.8 --on-slip warn"
        return Remedy("run with friction_limit and lift_off for the exact moment",
                      f"run with {options} for the exact moment")

    def failure(self, call: Callable[[str], str] = str) -> str | None:
        """When and why rolling failed, in words; None if it held.

        Parameters
        ----------
        call
            Maps a wheel's name to the one to print.
        """
        if self.events:
            t, name = self.events[0]
            later = (k for k, time in enumerate(self.states.t) if time >= t)
            after = self.states[next(later, -1)]
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
        doubted = [t for t, verdict in zip(self.states.t, self.states.verdicts)
                   if verdict is Verdict.POSSIBLE]
        lines = []
        if failure := self.failure():
            advice = [] if remedy is None else [remedy.command if command_line else remedy.python]
            lines.append("; ".join([failure, *advice]))
        else:
            hardest = self.hardest
            kept = "ideal rolling was" if self.states.rolls else "contact with the ground was"
            closest = (f"; closest to slip at t = {hardest.t:.6g} s, {hardest.reason()}"
                       if self.states.rolls else "")
            lines.append(f"{kept} {'possible' if doubted else 'valid'} from t = "
                         f"{self.states.t[0]:.6g} to {self.states.t[-1]:.6g} s{closest}")
        if doubted:
            first, last = doubted[0], doubted[-1]
            when = (f"at t = {first:.6g} s" if first == last
                    else f"between t = {first:.6g} and {last:.6g} s")
            lines.append(f"whether it held {when} depends on how the wheels share the load, "
                         "which rigid bodies do not determine")
        return "\n".join(lines)


@check_arguments
def run_validity(trajectory: Trajectory, mu: float | Mapping[str, float] | None = None, *,
                 every: int = 1) -> RunValidity:
    """Whether ideal rolling was possible along a run: `validity` at its recorded states.

    The last state and those after an event are always included. Of a run with Coulomb friction,
    moments at which wheels slide or fly are left out.

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
        For a run of something without wheels, of a kinematic run (which has no forces), and of
        one that does not roll at all.
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
    every = read_count("every", every)
    events = tuple(event for event in trajectory.events if is_rolling_event(event[1]))
    last = len(trajectory) - 1
    after = {min(int(np.searchsorted(trajectory.t, t)), last) for t, _ in events}
    wanted = {*range(0, len(trajectory), every), last, *after}
    chosen = sorted(k for k in wanted if trajectory.rolled[k])
    if not chosen:
        raise InputError("no wheel rolls at any of the checked times: read `trajectory.phases` "
                         "instead")
    loads = contact_loads(vehicle, *(part[chosen] for part in (
        trajectory.t, trajectory.q, trajectory.v, trajectory.u)))
    known = coefficients(vehicle, mu)
    return RunValidity(JudgedStates(vehicle, loads, known), events)
