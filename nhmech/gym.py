"""Gymnasium environments: following a path with any vehicle, one at a time or many side by side.
Needs the extra `gym`."""

from __future__ import annotations

from collections.abc import Sequence

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from .checks import read_positive
from .compile.status import Status
from .control.lqr import input_scales
from .control.path import Path
from .control.path_choice import read_path
from .control.unicycle import unicycle
from .errors import ModelError, SimulationError
from .simulation.batch import simulate_batch
from .simulation.batch_input import start_states
from .simulation.dynamics import dynamics
from .simulation.simulator import Simulator
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
    """What both environments share, on states x (N, nx) of N lanes.

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
        `control.path.Path`, or its words: "figure8", "circle:2", a file of waypoints.
    speed
        [m/s] wanted.
    period
        [s] for which an action is held.
    dt
        [s] step.
    duration
        [s] after which an episode is cut.
    effort
        (nu,) [N m, N] of the actions +-1; where None the least of the joint's limit and what
        changes some speed by the wanted one in the time in which the vehicle goes its own length.

    Raises
    ------
    ModelError
        For a vehicle that cannot follow a path or has no driven joint, and for ground that is not
        level and at rest.
    """

    def __init__(self, vehicle, path: Path | str = "figure8", *, speed: float = 0.5,
                 period: float = 0.05,
                 dt: float = 5e-3, duration: float = 20.0, effort: Sequence[float] | None = None):
        self.vehicle: Vehicle = vehicle if isinstance(vehicle, Vehicle) else load(_source(vehicle))
        vehicle, ground = self.vehicle, self.vehicle.ground
        seen = (*ground.normal, *ground.velocity, *ground.angular_velocity)
        if not np.allclose(seen, (0, 0, 1) + (0,) * 6, atol=1e-12):
            raise ModelError("a path is followed on level ground at rest: load the vehicle without "
                             "ground=")
        if not vehicle.driven:
            raise ModelError(f"{vehicle.name!r} has no driven joint: there is nothing to act on")
        self.speed, self.period, self.dt = (
            read_positive("speed", speed),
            read_positive("period", period),
            read_positive("dt", dt),
        )
        self.substeps = round(self.period / self.dt)
        if self.substeps < 1 or abs(self.substeps * self.dt - self.period) > 1e-9 * self.period:
            raise ModelError(f"period = {period} s must be a multiple of dt = {dt} s")
        self.periods = max(round(read_positive("duration", duration) / self.period), 1)
        self.unicycle, self.dynamics = unicycle(vehicle), dynamics(vehicle)
        self.length = self.unicycle.length
        self.path = path if isinstance(path, Path) else read_path(path, self.length)
        speeds = (None, self._cruise())
        self._at_rest, self._moving = (start_states(vehicle, [(0.0, 0.0, 0.0)],
                                                    xi=xi)[0] for xi in speeds)
        nconf, names = self.dynamics.state_vector.nconf, self.dynamics.names
        rolling = {c.mount.wheel.joint for c in vehicle.contacts}
        self._joints = [i for i in range(7, nconf) if names[i] not in rolling]
        self._speed_scales = self.speed / vehicle.constrained.scales[list(vehicle.frame.speeds)]
        limits = {name: vehicle.limits[name] for name in vehicle.driven if name in vehicle.limits}
        self._limited = [(self.dynamics.coordinate(name), limit) for name, limit in limits.items()
                         if np.isfinite([limit.lower, limit.upper]).all()]
        self.effort = self._efforts() if effort is None else np.asarray(effort, dtype=float)
        usable = np.isfinite(self.effort).all() and (self.effort > 0).all()
        if self.effort.shape != (len(vehicle.driven),) or not usable:
            raise ModelError(f"effort = {effort} must be {len(vehicle.driven)} positive numbers: "
                             f"{', '.join(vehicle.driven)}")
        size = 8 + len(self._joints) + self.dynamics.nx - nconf
        self.observation_space = gymnasium.spaces.Box(-BOUND, BOUND, (size,), np.float64)
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (len(vehicle.driven),), np.float64)

    def _cruise(self) -> dict[str, float]:
        return dict(zip(("forward_speed", "lateral_speed", "yaw_rate"),
                        map(float, self.unicycle.twist(self.speed, 0.0))))

    def _efforts(self) -> np.ndarray:
        import casadi as ca

        f, x = self.dynamics, ca.SX.sym("x", self.dynamics.nx)
        u = ca.SX.sym("u", f.nu)
        effect = ca.Function("effect", [x],
                             [ca.jacobian(f(x, u)[f.state_vector.nconf:], u)])(self._at_rest).full()
        limits = [getattr(self.vehicle.limits.get(name), "effort",
                          np.inf) for name in self.vehicle.driven]
        return np.minimum(input_scales(self.vehicle, effect, self._speed_scales,
                                       self.length / self.speed), limits)

    # -- the start ---------------------------------------------------------------------------------
    def start(self, rng: np.random.Generator) -> np.ndarray:
        """x (nx,) near some place of the path, going along it at some part of the speed."""
        along, lateral, heading, share = rng.random(), *rng.uniform(-1, 1, 2), rng.random()
        along *= self.path.length * (1.0 if self.path.closed else 0.5)
        px, py, tangent, _ = (float(value) for value in self.path.at(np.float64(along)))
        lateral, heading = START[0] * self.length * lateral, tangent + START[1] * heading
        x, y, yaw = self.unicycle.base((px - lateral * np.sin(tangent),
                                        py + lateral * np.cos(tangent), heading))
        state = self._at_rest + share * (self._moving - self._at_rest)
        c, s, ch, sh = np.cos(yaw), np.sin(yaw), np.cos(yaw / 2), np.sin(yaw / 2)
        a, b, p, w = state[3:7]
        # level ground: nothing else changes
        state[:2] = x + c * state[0] - s * state[1], y + s * state[0] + c * state[1]
        state[3:7] = ch * a - sh * b, ch * b + sh * a, ch * p + sh * w, ch * w - sh * p
        return state

    # -- what an agent is told ---------------------------------------------------------------------
    def observe(self, x: np.ndarray,
             near: np.ndarray | None) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """s (N,) on the path, lateral error in lengths (N,), heading error (N,),
        observation (N, size), of x (N, nx)."""
        a, b, c, d = x[:, 3:7].T
        yaw = np.arctan2(2 * (a * b + c * d), 1 - 2 * (b * b + c * c))
        px, py, heading = self.unicycle.pose((x[:, 0], x[:, 1], yaw))
        place = np.stack([px, py], axis=-1)
        s = self.path.entry(place, heading,
                            self.length) if near is None else self.path.nearest(place, near=near)
        qx, qy, tangent, _ = self.path.at(s)
        lateral = ((py - qy) * np.cos(tangent) - (px - qx) * np.sin(tangent)) / self.length
        turned = heading - tangent
        bends = [self.path.curvature(s + ahead * self.length) * self.length for ahead in PREVIEW]
        # of R_WB, its last row
        normal = [2 * (a * c - b * d), 2 * (b * c + a * d)]
        columns = [lateral, np.sin(turned), np.cos(turned), *bends, *normal]
        speeds = x[:, self.dynamics.state_vector.nconf:] / self._speed_scales
        observation = np.column_stack([*columns, x[:, self._joints], speeds])
        return s, lateral, turned, np.clip(observation, -BOUND, BOUND)

    def judge(self, x: np.ndarray, before: np.ndarray, action: np.ndarray):
        """s, observation, reward (N,), terminated (N,) after a period that began at `before` on the
        path."""
        s, lateral, turned, observation = self.observe(x, before)
        gone = (s - before) / (self.speed * self.period)
        reward = (1 - np.abs(gone - 1) - OFF * lateral ** 2 - TURNED * (1 - np.cos(turned))
                  - WASTED * np.mean(action ** 2, axis=1))
        ended = (np.abs(lateral) > LOST) | (1 - 2 * (x[:, 3] ** 2 + x[:, 4] ** 2) < TILTED)
        for i, limit in self._limited:
            ended |= (x[:, i] < limit.lower) | (x[:, i] > limit.upper)
        return s, observation, np.maximum(reward, -2.0), ended

    def controller(self, policy):
        """A policy, observation (size,) -> action (nu,), as a controller for `Simulator`,
        with `control_period=period`."""
        return _Policy(self, policy)


class _Policy:
    def __init__(self, task: PathTask, policy):
        self.task, self.policy = task, policy
        self.reset()

    def reset(self) -> None:
        self._s = None

    def __call__(self, t: float, state) -> np.ndarray:
        self._s, _, _, observation = self.task.observe(self.task.dynamics.of(state)[None], self._s)
        return np.clip(self.policy(observation[0]), -1.0, 1.0) * self.task.effort


class PathFollowing(gymnasium.Env):
    """Following a path with one vehicle; arguments, observation and reward as in `PathTask`.

    Gymnasium knows it by name::

        import nhmech.gym
        env = gymnasium.make("nhmech/PathFollowing-v0", vehicle="differential_drive")

    info has "s" [m] and "lateral" [m], and "reason" where the simulator stopped.
    """

    metadata = {"render_modes": []}

    def __init__(self, vehicle, path: Path | str = "figure8", *, render_mode: None = None, **task):
        self.task = PathTask(vehicle, path, **task)
        self.observation_space, self.action_space = (
            self.task.observation_space, self.task.action_space,
        )
        self.render_mode = render_mode
        self._u = np.zeros(len(self.task.effort))
        period = self.task.substeps * self.task.dt
        self.simulator = Simulator(self.task.vehicle, lambda t, state: self._u, dt=self.task.dt,
                                   control_period=period)
        self._s = None

    def reset(self, *, seed: int | None = None, options: dict | None = None):
        super().reset(seed=seed)
        x, vector = self.task.start(self.np_random), self.task.dynamics.state_vector
        self.simulator.reset(q=vector.configuration(x[:vector.nconf]), xi=x[vector.nconf:])
        self._s, lateral, _, observation = self.task.observe(x[None], None)
        self._k = 0
        return observation[0], self._info(lateral[0])

    def step(self, action):
        if self._s is None:
            raise SimulationError("call reset() before step()")
        action, before, reason = np.clip(np.asarray(action, dtype=float), -1.0, 1.0), self._s, None
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
        self._s, observation, reward, ended = self.task.judge(x[None], before, action[None])
        self._k += 1
        info = self._info(observation[0, 0])
        if reason is not None:
            info["reason"] = reason
        return (observation[0], float(reward[0]), bool(ended[0]) or reason is not None,
                self._k >= self.task.periods, info)

    def _info(self, lateral: float) -> dict:
        return {"s": float(self._s[0]), "lateral": float(lateral) * self.task.length}


class PathFollowingVector(gymnasium.vector.VectorEnv):
    """N lanes of `PathFollowing` side by side, by `simulate_batch`;
    lane i seeded with seed + i is `PathFollowing` seeded so.

    Parameters
    ----------
    autoreset_mode
        As in Gymnasium: NEXT_STEP (the step after an episode's end resets the lane), SAME_STEP (the
        end's observation and info are in info["final_obs"], info["final_info"]) or DISABLED
        (`reset(options={"reset_mask": mask})` resets the lanes).
    """

    def __init__(self, num_envs: int, vehicle, path: Path | str = "figure8", *,
                 render_mode: None = None,
                 autoreset_mode: AutoresetMode = AutoresetMode.NEXT_STEP, **task):
        self.task, self.num_envs, self.render_mode = (
            PathTask(vehicle, path, **task),
            num_envs,
            render_mode,
        )
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {"render_modes": [], "autoreset_mode": self.autoreset_mode}
        self.single_observation_space, self.single_action_space = (
            self.task.observation_space, self.task.action_space,
        )
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._rngs: list[np.random.Generator | None] = [None] * num_envs
        self._x, self._s = np.zeros((num_envs, self.task.dynamics.nx)), np.zeros(num_envs)
        self._k, self._done = np.zeros(num_envs, dtype=int), np.zeros(num_envs, dtype=bool)
        self._observation = np.zeros(self.observation_space.shape)

    def reset(self, *, seed: int | Sequence[int | None] | None = None, options: dict | None = None):
        seeds = [None] * self.num_envs if seed is None else seed
        if isinstance(seed, (int, np.integer)):
            seeds = [seed + i for i in range(self.num_envs)]
        mask = np.ones(self.num_envs, dtype=bool)
        if options and "reset_mask" in options:
            mask = np.asarray(options["reset_mask"], dtype=bool)
        for i in np.flatnonzero(mask):
            if seeds[i] is not None or self._rngs[i] is None:
                self._rngs[i], _ = gymnasium.utils.seeding.np_random(seeds[i])
        self._begin(mask)
        lateral = self._observation[:, 0] * self.task.length
        return self._observation.copy(), self._infos({"s": self._s, "lateral": lateral}, mask)

    def _begin(self, mask: np.ndarray) -> None:
        """New episodes in the lanes of a mask (N,)."""
        if mask.any():
            self._x[mask] = [self.task.start(self._rngs[i]) for i in np.flatnonzero(mask)]
            self._s[mask], _, _, self._observation[mask] = self.task.observe(self._x[mask], None)
            self._k[mask], self._done[mask] = 0, False

    def step(self, actions):
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
                                   dt=task.dt, steps=task.substeps, every=task.substeps)
            self._x[going] = batch.x[-1]
            self._s[going], self._observation[going], reward[going], stopped = task.judge(
                self._x[going], self._s[going], actions[going])
            ended[going] = stopped | ~batch.ok
            reasons[np.flatnonzero(going)[~batch.ok]] = [
                Status(status).sentence for status in batch.status[~batch.ok]
            ]
            self._k[going] += 1
            cut[going] = self._k[going] >= task.periods
        self._done = ended | cut
        info = self._infos({"s": self._s, "lateral": self._observation[:, 0] * task.length},
                           everywhere)
        failed = np.array([reason is not None for reason in reasons])
        if failed.any():
            info |= {"reason": reasons, "_reason": failed}
        if self.autoreset_mode == AutoresetMode.SAME_STEP and self._done.any():
            over = self._done.copy()
            final = np.full(self.num_envs, None, dtype=object)
            for i in np.flatnonzero(over):
                final[i] = self._observation[i].copy()
            self._begin(over)
            info = self._infos({"s": self._s, "lateral": self._observation[:, 0] * task.length},
                               everywhere) | {
                "final_obs": final, "_final_obs": over, "final_info": info, "_final_info": over}
        return self._observation.copy(), reward, ended, cut, info

    @staticmethod
    def _infos(values: dict, mask: np.ndarray) -> dict:
        return {key: np.array(value) for key,
                value in values.items()} | {f"_{key}": mask.copy() for key in values}


def _source(vehicle):
    """A shipped vehicle's name, or what `load` takes."""
    from .paths import urdf_names, urdf_path

    return urdf_path(vehicle) if isinstance(vehicle, str) and vehicle in urdf_names() else vehicle


gymnasium.register("nhmech/PathFollowing-v0", entry_point=PathFollowing,
                   vector_entry_point=PathFollowingVector)
