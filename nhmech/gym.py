"""Gymnasium environments: following a path with any vehicle, one at a time or many side by side.
Needs the extra `gym`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import gymnasium
import numpy as np
import pinocchio as pin
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from .checks import read_positive, read_positives
from .compile.status import Status
from .control.path import Path
from .control.path_choice import read_path
from .control.unicycle import unicycle
from .control.unit_effort import effort_limits, speed_scales, unit_efforts
from .errors import InputError, ModelError, SimulationError
from .simulation.batch import simulate_batch
from .simulation.batch_input import start_states
from .simulation.command import Controller
from .simulation.dynamics import dynamics
from .simulation.simulator import Simulator
from .simulation.state import State
from .vehicle.load import load
from .vehicle.vehicle import Vehicle

BOUND = 10.0                     # of every entry of an observation
PREVIEW = (0.0, 1.0, 2.0)        # lengths ahead at which the path's curvature is seen
LOST = 2.0                       # lengths from the path at which an episode ends
TILTED = 0.5                     # least cosine of the base's vertical axis with n
# of the reward: lateral error in lengths, squared; 1 - cos of heading; mean square action
OFF, TURNED, WASTED = 1.0, 0.1, 0.01
START = (0.2, 0.3)               # largest lateral offset in lengths and heading [rad] at the start


class PathTask:
    """The task of both environments, on states x (N, nx) of N lanes.

    Observation, scaled by the vehicle's length and speed, cut at +-10: lateral error, sine and
    cosine of the heading error, curvature at 0, 1, 2 lengths ahead, the ground's normal in the base
    (2), positions of the joints that do not roll, independent speeds. Reward of a period: 1 - |ds /
    (speed period) - 1| - lateral^2 - 0.1 (1 - cos heading) - 0.01 mean(action^2), at least -2. An
    episode ends 2 lengths from the path, with the base tilted by 60 degrees, with a driven joint
    beyond its limits, or where the simulator stops or would change speeds.

    Parameters
    ----------
    vehicle
        `Vehicle`, or what `load` reads.
    path
        `control.Path`, or a word for one: "figure8", "circle:2", a file of waypoints.
    speed
        [m/s] wanted.
    period
        [s] for which an action is held.
    dt
        [s] step.
    duration
        [s] after which an episode is truncated.
    effort
        (nu,) [N m, N] of the actions +-1. Where None, the smaller of the joint's limit and of what
        changes some speed by the wanted one in the time in which the vehicle covers its own length.

    Raises
    ------
    InputError
        For numbers that are not positive, and a period that is no multiple of dt.
    ModelError
        For a vehicle that cannot follow a path or has no driven joint, and for ground that is not
        level and at rest.
    """

    def __init__(self, vehicle: Vehicle | str, path: Path | str = "figure8", *,
                 speed: float = 0.5, period: float = 0.05, dt: float = 5e-3,
                 duration: float = 20.0, effort: Sequence[float] | None = None):
        self.vehicle: Vehicle = vehicle if isinstance(vehicle, Vehicle) else load(_source(vehicle))
        vehicle, ground = self.vehicle, self.vehicle.ground
        seen = (*ground.normal, *ground.velocity, *ground.angular_velocity)
        if not np.allclose(seen, (0, 0, 1) + (0,) * 6, atol=1e-12):
            raise ModelError("a path is followed on level ground at rest: load the vehicle without "
                             "ground=")
        if not vehicle.driven:
            raise ModelError(f"{vehicle.name!r} has no driven joint: there is nothing to act on")
        self.speed, self.dt = read_positive("speed", speed), read_positive("dt", dt)
        self.period = read_positive("period", period)
        self.substeps = round(self.period / self.dt)
        if self.substeps < 1 or abs(self.substeps * self.dt - self.period) > 1e-9 * self.period:
            raise InputError(f"period = {period} s must be a multiple of dt = {dt} s")
        self.periods = max(round(read_positive("duration", duration) / self.period), 1)
        self.unicycle, self.dynamics = unicycle(vehicle), dynamics(vehicle)
        self.length = self.unicycle.length
        self.path = path if isinstance(path, Path) else read_path(path, self.length)
        origin = [(0.0, 0.0, 0.0)]
        self._at_rest = start_states(vehicle, origin)[0]
        self._moving = start_states(vehicle, origin, xi=self._cruise())[0]
        nconf, names = self.dynamics.state_vector.nconf, self.dynamics.names
        rolling = {c.mount.wheel.joint for c in vehicle.contacts}
        self._joints = [i for i in range(7, nconf) if names[i] not in rolling]
        self._speed_scales = speed_scales(vehicle, self.speed)
        limits = {name: vehicle.limits[name] for name in vehicle.driven if name in vehicle.limits}
        self._limited = [(self.dynamics.coordinate(name), limit) for name, limit in limits.items()
                         if np.isfinite([limit.lower, limit.upper]).all()]
        if effort is None:
            unit = unit_efforts(vehicle, self.dynamics, self._at_rest, self.speed,
                                self.length / self.speed)
            effort = np.minimum(unit, effort_limits(vehicle, vehicle.driven))
        self.effort = read_positives("effort", effort, vehicle.driven)
        size = 8 + len(self._joints) + self.dynamics.nx - nconf
        self.observation_space = gymnasium.spaces.Box(-BOUND, BOUND, (size,), np.float64)
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (len(vehicle.driven),), np.float64)

    def _cruise(self) -> dict[str, float]:
        return dict(zip(("forward_speed", "lateral_speed", "yaw_rate"),
                        map(float, self.unicycle.twist(self.speed, 0.0))))

    # -- the start ---------------------------------------------------------------------------------
    def start(self, rng: np.random.Generator) -> np.ndarray:
        """A random state x (nx,) near the path, moving along it at a fraction of the speed."""
        along, lateral, heading, share = rng.random(), *rng.uniform(-1, 1, 2), rng.random()
        along *= self.path.length * (1.0 if self.path.closed else 0.5)
        px, py, tangent, _ = self.path.station(along)
        lateral, heading = START[0] * self.length * lateral, tangent + START[1] * heading
        x, y, yaw = self.unicycle.base((px - lateral * np.sin(tangent),
                                        py + lateral * np.cos(tangent), heading))
        state = self._at_rest + share * (self._moving - self._at_rest)
        # level ground: nothing else changes
        turn = pin.exp3(np.array([0.0, 0.0, yaw]))
        state[:3] = (x, y, 0.0) + turn @ state[:3]
        state[3:7] = (pin.Quaternion(turn) * pin.Quaternion(state[3:7])).coeffs()
        return state

    # -- what an agent sees ------------------------------------------------------------------------
    def observe(self, x: np.ndarray, near: np.ndarray | None) -> Observation:
        """What states x (N, nx) look like, next to s `near` (N,) on the path where it is known."""
        a, b, c, d = x[:, 3:7].T
        yaw = np.arctan2(2 * (a * b + c * d), 1 - 2 * (b * b + c * c))
        px, py, heading = self.unicycle.pose((x[:, 0], x[:, 1], yaw))
        place = np.stack([px, py], axis=-1)
        s = np.asarray(self.path.follow(place, heading, self.length, near))
        qx, qy, tangent, _ = self.path.at(s)
        lateral = ((py - qy) * np.cos(tangent) - (px - qx) * np.sin(tangent)) / self.length
        turned = heading - tangent
        bends = [self.path.curvature(s + ahead * self.length) * self.length for ahead in PREVIEW]
        # of R_WB, its last row
        normal = [2 * (a * c - b * d), 2 * (b * c + a * d)]
        columns = [lateral, np.sin(turned), np.cos(turned), *bends, *normal]
        speeds = x[:, self.dynamics.state_vector.nconf:] / self._speed_scales
        observation = np.column_stack([*columns, x[:, self._joints], speeds])
        return Observation(s, lateral, turned, np.clip(observation, -BOUND, BOUND))

    def judge(self, x: np.ndarray, before: np.ndarray,
              action: np.ndarray) -> tuple[Observation, np.ndarray, np.ndarray]:
        """Observation, reward (N,) and whether the episode has ended (N,), after a period that
        began at `before` on the path."""
        observation = self.observe(x, before)
        lateral, turned = observation.lateral, observation.heading
        gone = (observation.s - before) / (self.speed * self.period)
        reward = (1 - np.abs(gone - 1) - OFF * lateral ** 2 - TURNED * (1 - np.cos(turned))
                  - WASTED * np.mean(action ** 2, axis=1))
        ended = (np.abs(lateral) > LOST) | (1 - 2 * (x[:, 3] ** 2 + x[:, 4] ** 2) < TILTED)
        for i, limit in self._limited:
            ended |= (x[:, i] < limit.lower) | (x[:, i] > limit.upper)
        return observation, np.maximum(reward, -2.0), ended

    def controller(self, policy: Policy) -> Controller:
        """A policy as a controller for `Simulator`, with `control_period=period`."""
        return _PolicyController(self, policy)


class Observation(NamedTuple):
    """What the agents of N lanes observe.

    Attributes
    ----------
    s
        Nearest on the path (N,) [m].
    lateral
        To the left of it, in lengths of the vehicle (N,).
    heading
        From its tangent (N,) [rad].
    values
        What the agent is given (N, size).
    """

    s: np.ndarray
    lateral: np.ndarray
    heading: np.ndarray
    values: np.ndarray


# an observation (size,) -> an action (nu,)
Policy = Callable[[np.ndarray], np.ndarray]


class _PolicyController:
    def __init__(self, task: PathTask, policy: Policy):
        self.task, self.policy = task, policy
        self.reset()

    def reset(self) -> None:
        self._s: np.ndarray | None = None

    def __call__(self, t: float, state: State, /) -> np.ndarray:
        observation = self.task.observe(self.task.dynamics.of(state)[None], self._s)
        self._s = observation.s
        return np.clip(self.policy(observation.values[0]), -1.0, 1.0) * self.task.effort


class PathFollowing(gymnasium.Env):
    """Following a path with one vehicle; arguments, observation and reward as in `PathTask`.

    Gymnasium knows it by name::

        import nhmech.gym
        env = gymnasium.make("nhmech/PathFollowing-v0", vehicle="differential_drive")

    info has "s" [m] and "lateral" [m], and "reason" where the simulator stopped.
    """

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(self, vehicle: Vehicle | str, path: Path | str = "figure8", *,
                 render_mode: None = None, **task: Any):
        self.task = PathTask(vehicle, path, **task)
        self.observation_space = self.task.observation_space
        self.action_space = self.task.action_space
        self.render_mode = render_mode
        self._u = np.zeros(len(self.task.effort))
        period = self.task.substeps * self.task.dt
        # an episode ends where one of a batch does, which does not look at the load of its wheels
        self.simulator = Simulator(self.task.vehicle, lambda t, state: self._u, dt=self.task.dt,
                                   control_period=period, on_lift="ignore")
        self._s: np.ndarray | None = None

    def reset(self, *, seed: int | None = None,
              options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        x, vector = self.task.start(self.np_random), self.task.dynamics.state_vector
        self.simulator.reset(q=vector.configuration(x[:vector.nconf]), xi=list(x[vector.nconf:]))
        observation = self.task.observe(x[None], None)
        self._s, self._k = observation.s, 0
        return observation.values[0], self._info(observation)

    def step(self,
             action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        if self._s is None:
            raise SimulationError("call reset() before step()")
        action, reason = np.clip(np.asarray(action, dtype=float), -1.0, 1.0), None
        self._u = action * self.task.effort
        state = self.simulator.state
        try:
            for _ in range(self.task.substeps):
                after = self.simulator.step()
                if self.simulator.atlas.chart is not self.simulator.atlas.primary:
                    reason = Status.SINGULAR.sentence                # where lanes end too
                    break
                state = after
        except SimulationError as error:
            reason = str(error)
        x = self.task.dynamics.of(state)
        observation, reward, ended = self.task.judge(x[None], self._s, action[None])
        self._s, self._k = observation.s, self._k + 1
        info = self._info(observation)
        if reason is not None:
            info["reason"] = reason
        return (observation.values[0], float(reward[0]), bool(ended[0]) or reason is not None,
                self._k >= self.task.periods, info)

    def _info(self, observation: Observation) -> dict[str, Any]:
        """The lateral error as the agent sees it, cut where its observation is."""
        return {"s": float(observation.s[0]),
                "lateral": float(observation.values[0, 0]) * self.task.length}


class PathFollowingVector(gymnasium.vector.VectorEnv):
    """N lanes of `PathFollowing` side by side, by `simulate_batch`.

    Lane i of a reset with `seed` is a `PathFollowing` reset with seed + i.

    Parameters
    ----------
    autoreset_mode
        As in Gymnasium: NEXT_STEP (the step after an episode's end resets the lane), SAME_STEP (the
        end's observation and info are in info["final_obs"], info["final_info"]) or DISABLED
        (`reset(options={"reset_mask": mask})` resets the lanes).
    """

    def __init__(self, num_envs: int, vehicle: Vehicle | str, path: Path | str = "figure8", *,
                 render_mode: None = None,
                 autoreset_mode: AutoresetMode = AutoresetMode.NEXT_STEP, **task: Any):
        self.task = PathTask(vehicle, path, **task)
        self.num_envs, self.render_mode = num_envs, render_mode
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {"render_modes": [], "autoreset_mode": self.autoreset_mode}
        self.single_observation_space = self.task.observation_space
        self.single_action_space = self.task.action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._rngs: dict[int, np.random.Generator] = {}          # by lane
        self._x, self._s = np.zeros((num_envs, self.task.dynamics.nx)), np.zeros(num_envs)
        self._k, self._done = np.zeros(num_envs, dtype=int), np.zeros(num_envs, dtype=bool)
        self._observation = np.zeros((num_envs, *self.task.observation_space.shape))

    def reset(self, *, seed: int | Sequence[int | None] | None = None,
              options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        seeds: Sequence[int | None]
        if seed is None:
            seeds = [None] * self.num_envs
        elif isinstance(seed, (int, np.integer)):
            seeds = [seed + i for i in range(self.num_envs)]
        else:
            seeds = seed
        mask = np.ones(self.num_envs, dtype=bool)
        if options and "reset_mask" in options:
            mask = np.asarray(options["reset_mask"], dtype=bool)
        for i in map(int, np.flatnonzero(mask)):
            if seeds[i] is not None or i not in self._rngs:
                self._rngs[i], _ = gymnasium.utils.seeding.np_random(seeds[i])
        self._begin(mask)
        return self._observation.copy(), self._info(mask)

    def _begin(self, mask: np.ndarray) -> None:
        """New episodes in the lanes of a mask (N,)."""
        if mask.any():
            self._x[mask] = [self.task.start(self._rngs[int(i)]) for i in np.flatnonzero(mask)]
            observation = self.task.observe(self._x[mask], None)
            self._s[mask], self._observation[mask] = observation.s, observation.values
            self._k[mask], self._done[mask] = 0, False

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray,
                                                 dict[str, Any]]:
        task, everywhere = self.task, np.ones(self.num_envs, dtype=bool)
        fresh = self._done.copy() if self.autoreset_mode == AutoresetMode.NEXT_STEP else ~everywhere
        going = ~fresh
        actions = np.clip(np.asarray(actions, dtype=float), -1.0, 1.0)
        reward = np.zeros(self.num_envs)
        ended, cut = np.zeros((2, self.num_envs), dtype=bool)
        self._begin(fresh)
        reasons = np.full(self.num_envs, None, dtype=object)
        if going.any():
            batch = simulate_batch(task.vehicle, self._x[going], actions[going] * task.effort,
                                   dt=task.dt, duration=task.substeps * task.dt,
                                   every=task.substeps)
            self._x[going] = batch.x[:, -1]
            observation, reward[going], stopped = task.judge(self._x[going], self._s[going],
                                                             actions[going])
            self._s[going], self._observation[going] = observation.s, observation.values
            ended[going] = stopped | ~batch.ok
            for case in np.flatnonzero(~batch.ok):
                reasons[np.flatnonzero(going)[case]] = batch.stop[case]
            self._k[going] += 1
            cut[going] = self._k[going] >= task.periods
        self._done = ended | cut
        info = self._info(everywhere)
        failed = np.array([reason is not None for reason in reasons])
        if failed.any():
            info |= {"reason": reasons, "_reason": failed}
        if self.autoreset_mode == AutoresetMode.SAME_STEP and self._done.any():
            over = self._done.copy()
            final = np.full(self.num_envs, None, dtype=object)
            for i in np.flatnonzero(over):
                final[i] = self._observation[i].copy()
            self._begin(over)
            info = self._info(everywhere) | {"final_obs": final, "_final_obs": over,
                                             "final_info": info, "_final_info": over}
        return self._observation.copy(), reward, ended, cut, info

    def _info(self, mask: np.ndarray) -> dict[str, Any]:
        return {"s": self._s.copy(), "lateral": self._observation[:, 0] * self.task.length,
                "_s": mask.copy(), "_lateral": mask.copy()}


def _source(vehicle: Any) -> Any:
    """A shipped vehicle's name, or what `load` takes."""
    from .paths import urdf_names, urdf_path

    return urdf_path(vehicle) if isinstance(vehicle, str) and vehicle in urdf_names() else vehicle


gymnasium.register("nhmech/PathFollowing-v0", entry_point=PathFollowing,
                   vector_entry_point=PathFollowingVector)
