"""A task: what an agent sees, what it is rewarded for, and when an episode ends, as one symbolic
function of a lane's numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import gymnasium
import numpy as np

from ..checks import as_numbers, read_count, read_mapping, read_positive, read_positives
from ..control.unit_effort import effort_limits, speed_scales, unit_efforts
from ..errors import InputError, ModelError, NhmechError
from ..once import cached_property
from ..paths import urdf_names, urdf_path
from ..simulation.batch_input import start_states
from ..simulation.command import Controller
from ..simulation.dynamics import Dynamics, dynamics
from ..simulation.state import State
from ..vehicle.load import load
from ..vehicle.vehicle import Vehicle
from .track import NEAR, PathCells

BOUND = 10.0                     # of every entry of an observation
TILTED = 0.5                     # least cosine of the base's vertical axis with n
WASTED = 0.01                    # of the reward: mean square action

# an observation (size,) -> an action (nu,)
Policy = Callable[[np.ndarray], np.ndarray]


class Seen:
    """The quantities of one lane that a rule may use: CasADi's symbols, as attributes.

    All tasks have `x`, `theta`, `action`, `observation`, `reward`, `terminated` (1 or 0), `normal`
    (2,), `joints` and `speeds`; each has more.
    """

    def __init__(self, **quantities: ca.SX):
        vars(self).update(quantities)

    def __repr__(self) -> str:
        return f"<Seen: {', '.join(vars(self))}>"

    def __getattr__(self, name: str) -> ca.SX:
        raise AttributeError(f"the task has no quantity {name!r}; it has {', '.join(vars(self))}")


Rule = Callable[[Seen], Any]


@dataclass(frozen=True)
class Judged:
    """The results of a task for a lane after a period."""

    quantities: dict[str, ca.SX]
    observed: tuple[str, ...]  # which of them are observed, in this order
    reward: ca.SX
    terminated: ca.SX  # 1 or 0
    memory: ca.SX  # what the lane remembers until the next period (m,)
    info_names: tuple[str, ...] = ()  # names of the quantities in `info`


class Task(ABC):
    """The base class of all tasks.

    Parameters
    ----------
    vehicle
        `Vehicle`, a shipped vehicle's name, or what `load` reads.
    speed
        [m/s] wanted.
    period
        [s] for which an action is held.
    dt
        [s] step.
    duration
        [s] after which an episode is truncated.
    effort
        (nu,) [N m, N] of the actions +-1, at most the joint's limit. If None, what changes some
        speed by the wanted one in the time in which the vehicle covers its own length.
    observe, reward, terminate
        Rules in the place of the task's own, or on top of them: each takes `Seen` and returns an
        expression of CasADi, numbers to observe, the reward, and where an episode ends (1 or True).
    randomise
        Parameter of `Vehicle.with_parameters` -> (least, most); each lane draws its own at the
        beginning of an episode.
    noise
        Standard deviation of what is added to each entry of an observation; one number or one for
        each.
    delay
        Periods that pass until an action is carried out; before the first there is none.

    Raises
    ------
    InputError
        For numbers that are not positive, a period that is no multiple of dt, and ranges with ends
        that the vehicle cannot have.
    ModelError
        For a vehicle without a driven joint, and for ground that is not level and at rest.
    """

    memory: tuple[str, ...] = ()
    track: PathCells | None = None

    def __init__(self, vehicle: Vehicle | str, *, speed: float = 0.5, period: float = 0.05,
                 dt: float = 1e-2, duration: float = 20.0,
                 effort: Sequence[float] | None = None, observe: Rule | None = None,
                 reward: Rule | None = None, terminate: Rule | None = None,
                 randomise: Mapping[str, tuple[float, float]] | None = None,
                 noise: float | Sequence[float] = 0.0, delay: int = 0):
        self.ranges = _read_ranges(randomise)
        self.vehicle = _read_vehicle(vehicle, self.ranges)
        self.speed, self.dt = read_positive("speed", speed), read_positive("dt", dt)
        self.period = read_positive("period", period)
        self.substeps = round(self.period / self.dt)
        if self.substeps < 1 or abs(self.substeps * self.dt - self.period) > 1e-9 * self.period:
            raise InputError(f"period = {period} s must be a multiple of dt = {dt} s")
        self.periods = max(round(read_positive("duration", duration) / self.period), 1)
        self.delay = read_count("delay", delay) if delay else 0
        self.rules = observe, reward, terminate
        self.dynamics: Dynamics = dynamics(self.vehicle)
        self.length = self.vehicle.steering.length
        nconf, names = self.dynamics.state_vector.nconf, self.dynamics.names
        rolling = {c.mount.wheel.joint for c in self.vehicle.contacts}
        self.joints = [i for i in range(7, nconf) if names[i] not in rolling]
        self.prepare()
        self.effort = self._read_effort(effort)
        size = self.judge.nnz_out("observation")
        self.noise = _read_noise(noise, size)
        space = gymnasium.spaces.Box
        self.observation_space = space(-BOUND, BOUND, (size,), np.float32)
        self.action_space = space(-1.0, 1.0, (len(self.vehicle.driven),), np.float32)

    @abstractmethod
    def prepare(self) -> None:
        """Processes a task's own arguments once the vehicle is known."""

    @abstractmethod
    def starts(self, draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """States x (N, nx) and memories (m, N) from uniform numbers (`DRAWS`, N)."""

    @abstractmethod
    def judged(self, seen: Seen, memory: ca.SX, patch: ca.SX, near: ca.SX) -> Judged:
        """After a period, of a lane whose memory is that of before; with a track, `patch` is its
        cell at `near`."""

    DRAWS = 4

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.vehicle.name!r}>"

    def _read_effort(self, effort: Sequence[float] | None) -> np.ndarray:
        joints = self.vehicle.driven
        wanted = (unit_efforts(self.vehicle, self.dynamics, self.at_rest, self.speed,
                               self.length / self.speed) if effort is None
                  else read_positives("effort", effort, joints))
        return read_positives("effort", np.minimum(wanted, effort_limits(self.vehicle, joints)),
                              joints)

    # -- numbers -----------------------------------------------------------------------------------
    @cached_property
    def at_rest(self) -> np.ndarray:
        """x (nx,) of the vehicle standing at the origin."""
        return start_states(self.vehicle, [(0.0, 0.0, 0.0)])[0]

    def placed(self, x: np.ndarray, px: float | np.ndarray, py: float | np.ndarray,
               yaw: np.ndarray) -> np.ndarray:
        """States x (N, nx), turned by yaw (N,) about the vertical and moved by (px, py) (N,): on
        level ground nothing else changes."""
        found, half = np.array(x), yaw / 2
        cos, sin, turn = np.cos(yaw), np.sin(yaw), (np.cos(half), np.sin(half))
        found[:, 0] = px + cos * x[:, 0] - sin * x[:, 1]
        found[:, 1] = py + sin * x[:, 0] + cos * x[:, 1]
        a, b, c, d = x[:, 3:7].T
        found[:, 3], found[:, 4] = turn[0] * a - turn[1] * b, turn[0] * b + turn[1] * a
        found[:, 5], found[:, 6] = turn[0] * c + turn[1] * d, turn[0] * d - turn[1] * c
        return found

    def parameters(self, draws: np.ndarray) -> np.ndarray:
        """theta (N, ntheta) from uniform numbers (ntheta, N)."""
        low, high = np.array(list(self.ranges.values())).reshape(-1, 2).T
        return (low[:, None] + (high - low)[:, None] * draws).T

    # -- the judge ---------------------------------------------------------------------------------
    @cached_property
    def judge(self) -> ca.Function:
        """(x, theta, memory, patch, near, action) -> observation, verdict (reward, terminated),
        memory, info; or of the user's rule that replaces one of these."""
        given = self._symbols()
        found, seen = self._judged(given)
        info = ca.vertcat(ca.SX(0, 1), *(found.quantities[name] for name in found.info_names))
        outputs = [ca.densify(part) for part in (
            seen.observation, ca.vertcat(seen.reward, seen.terminated), found.memory, info)]
        self.info_names = found.info_names
        return ca.Function("nhmech_judge", list(given.values()), outputs, list(given),
                           ["observation", "verdict", "memory_after", "info"], {"cse": True})

    @cached_property
    def approach(self) -> ca.Function | None:
        """(x, theta, memory, patch) -> s on the track near that of the memory, for the patch that
        `judge` gets; None without a track."""
        if self.track is None:
            return None
        given = self._symbols()
        point, *_ = self.tracked(given["x"])
        s = self.track.nearest(given["patch"], given["memory"][0], point, NEAR)
        names = ("x", "theta", "memory", "patch")
        return ca.Function("nhmech_approach", [given[name] for name in names], [s], {"cse": True})

    def tracked(self, x: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Point (2,) that is to stay on the track, cosine and sine of its heading."""
        raise NotImplementedError

    def _symbols(self) -> dict[str, ca.SX]:
        patch = 0 if self.track is None else len(self.track.rows)
        sizes = {"x": self.dynamics.nx, "theta": len(self.ranges), "memory": len(self.memory),
                 "patch": patch, "near": int(patch > 0), "action": len(self.vehicle.driven)}
        return {name: ca.SX.sym(name, size) for name, size in sizes.items()}

    def _judged(self, given: dict[str, ca.SX]) -> tuple[Judged, Seen]:
        x, nconf = given["x"], self.dynamics.state_vector.nconf
        a, b, c, d = ca.vertsplit(x[3:7])
        # of R_WB, its last row
        common = {"x": x, "theta": given["theta"], "action": given["action"],
                  "normal": ca.vertcat(2 * (a * c - b * d), 2 * (b * c + a * d)),
                  "upright": 1 - 2 * (a * a + b * b), "joints": x[self.joints],
                  "speeds": x[nconf:] / speed_scales(self.vehicle, self.speed)}
        found = self.judged(Seen(**common), given["memory"], given["patch"], given["near"])
        known = common | found.quantities
        observe, reward, terminate = self.rules
        own = {"observation": ca.vertcat(*(known[name] for name in found.observed)),
               "reward": found.reward, "terminated": found.terminated}
        seen = Seen(**known, **own)
        for key, name, rule, size in (("observation", "observe", observe, None),
                                      ("reward", "reward", reward, 1),
                                      ("terminated", "terminate", terminate, 1)):
            if rule is not None:
                own[key] = _expression(name, rule, seen, size)
        seen = own["observation"]
        # comparisons keep what is not a number; the least and the greatest of it are numbers in C
        own["observation"] = ca.if_else(seen < -BOUND, -BOUND,
                                        ca.if_else(seen > BOUND, BOUND, seen))
        own["terminated"] = own["terminated"] != 0
        return found, Seen(**own)

    def wasted(self, seen: Seen) -> ca.SX:
        """The cost of the effort."""
        return WASTED * ca.sumsqr(seen.action) / seen.action.numel()

    @abstractmethod
    def joined(self, x: np.ndarray) -> np.ndarray:
        """The memory (m,) of a lane that begins at the state x (nx,)."""

    # -- elsewhere ---------------------------------------------------------------------------------
    def configuration(self, x: np.ndarray) -> np.ndarray:
        """q (nq,) of a state x (nx,)."""
        vector = self.dynamics.state_vector
        return vector.configuration(x[:vector.nconf])

    def controller(self, policy: Policy) -> Controller:
        """A policy as a controller for `Simulator`, with `control_period=period`, without noise or
        delay."""
        return _PolicyController(self, policy)


class _PolicyController:
    def __init__(self, task: Task, policy: Policy):
        self.task, self.policy = task, policy
        self.reset()

    def reset(self) -> None:
        self._memory: np.ndarray | None = None

    def __call__(self, t: float, state: State, /) -> np.ndarray:
        task, x = self.task, self.task.dynamics.of(state)
        if self._memory is None:
            self._memory = task.joined(x)
        theta, none = task.dynamics.theta, np.zeros(len(task.effort))
        patch, near = np.zeros((0, 1)), np.zeros((0, 1))
        if task.track is not None and task.approach is not None:
            patch = np.zeros((len(task.track.rows), 1))
            task.track.look(self._memory[:1], patch)
            near = task.approach(x, theta, self._memory, patch).full()
            task.track.look(near[0], patch)
        seen, _, memory, _ = task.judge(x, theta, self._memory, patch, near, none)
        self._memory = memory.full().ravel()
        return np.clip(self.policy(seen.full().ravel()), -1.0, 1.0) * task.effort


def _expression(name: str, rule: Rule, seen: Seen, size: int | None = None) -> ca.SX:
    """The result of a rule. Raises `InputError` unless it is an expression of the size."""
    found = rule(seen)
    try:
        value = ca.vertcat(*found) if isinstance(found, (list, tuple)) else ca.SX(found)
    except (TypeError, NotImplementedError) as error:
        raise InputError(f"{name}= returned {type(found).__name__}: return numbers and what is "
                         f"made of {seen!r}") from error
    if value.shape[1] != 1 or (size is not None and value.numel() != size):
        raise InputError(f"{name}= returned shape {value.shape}, expected ({size or 'n'},)")
    return ca.densify(value)


def _read_vehicle(vehicle: Vehicle | str, ranges: dict[str, tuple[float, float]]) -> Vehicle:
    """Its parameters in these ranges are symbolic. Raises `ModelError` if there is nothing to
    act on, or ground that is not level, `InputError` for ends of ranges that it cannot have."""
    if not isinstance(vehicle, Vehicle):
        vehicle = load(urdf_path(vehicle) if isinstance(vehicle, str) and vehicle in urdf_names()
                       else vehicle)
    ground = vehicle.ground
    seen = (*ground.normal, *ground.velocity, *ground.angular_velocity)
    if not np.allclose(seen, (0, 0, 1) + (0,) * 6, atol=1e-12):
        raise ModelError("tasks are for level ground at rest: load the vehicle without ground=")
    if not vehicle.driven:
        raise ModelError(f"{vehicle.name!r} has no driven joint: there is nothing to control")
    for name, ends in ranges.items():
        for end in ends:
            try:
                vehicle.with_parameters({name: end})
            except NhmechError as error:
                raise InputError(f"randomise[{name!r}] = {ends}: {error}") from error
    return vehicle.with_parameters(symbolic=list(ranges)) if ranges else vehicle


def _read_ranges(given: object) -> dict[str, tuple[float, float]]:
    ranges = read_mapping("randomise", given, "name of a parameter -> (least, most)", keys=object)
    for name, pair in ranges.items():
        found = as_numbers(pair)
        if (found is None or found.shape != (2,) or not np.isfinite(found).all()
                or not found[0] <= found[1]):
            raise InputError(f"randomise[{name!r}] = {pair!r} must be (least, most)")
    return {name: (float(pair[0]), float(pair[1])) for name, pair in ranges.items()}


def _read_noise(given: object, size: int) -> np.ndarray | None:
    """Standard deviations (size,), or one; None if all are zero."""
    noise = as_numbers(given)
    if noise is None or noise.shape not in ((), (size,)) or not (
            np.isfinite(noise).all() and (noise >= 0).all()):
        raise InputError(f"noise = {given!r} must be a standard deviation, or {size} of them")
    return noise if noise.any() else None


def base_rotation(x: ca.SX) -> ca.SX:
    """R_WB (3, 3) of a state x."""
    a, b, c, d = ca.vertsplit(x[3:7])
    return ca.blockcat([
        [1 - 2 * (b * b + c * c), 2 * (a * b - c * d), 2 * (a * c + b * d)],
        [2 * (a * b + c * d), 1 - 2 * (a * a + c * c), 2 * (b * c - a * d)],
        [2 * (a * c - b * d), 2 * (b * c + a * d), 1 - 2 * (a * a + b * b)]])
