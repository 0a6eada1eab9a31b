"""Gymnasium environments: Gymnasium's own check, many lanes against single ones, seeds, ends of
episodes."""

import warnings
from itertools import product

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")

from gymnasium.utils.env_checker import check_env  # noqa: E402
from gymnasium.vector import AutoresetMode, SyncVectorEnv  # noqa: E402
from support import sampled, shipped  # noqa: E402

import nhmech  # noqa: E402
from nhmech import InputError, ModelError  # noqa: E402
from nhmech.gym import PathFollowing, PathFollowingVector, PathTask  # noqa: E402


@pytest.mark.parametrize("name",
                         ["differential_drive", "ackermann_car", "mecanum", "pendulum", "trailers"])
def test_gymnasium_s_own_check(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(PathFollowing(shipped(name), duration=1.0), skip_render_check=True)


def test_made_by_name():
    env = gymnasium.make("nhmech/PathFollowing-v0", vehicle="differential_drive", path="circle:1")
    observation, info = env.reset(seed=1)
    assert (env.observation_space.contains(observation)
            and abs(info["lateral"]) <= 0.2 * env.unwrapped.task.length + 1e-9)
    many = gymnasium.make_vec("nhmech/PathFollowing-v0", num_envs=3, vehicle="differential_drive")
    assert many.reset(seed=1)[0].shape == (3, *observation.shape)


@pytest.mark.parametrize("name, mode", sampled(product(
    ["differential_drive", "tricycle", "pendulum"],
    [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP]), 3))
def test_lanes_are_single_environments(name, mode):
    """Step for step to 1e-10, through ends of episodes and new starts,
    against Gymnasium's own vector of single ones."""
    n, words = 4, dict(duration=0.75)
    lanes = PathFollowingVector(n, shipped(name), autoreset_mode=mode, **words)
    singles = SyncVectorEnv([lambda: PathFollowing(shipped(name), **words)] * n,
                            autoreset_mode=mode)
    rng, ends = np.random.default_rng(0), 0
    ours, theirs = lanes.reset(seed=7), singles.reset(seed=7)
    assert np.abs(ours[0] - theirs[0]).max() == 0
    for _ in range(40):
        actions = rng.uniform(-1, 1, lanes.action_space.shape)
        ours, theirs = lanes.step(actions), singles.step(actions)
        assert (
            np.abs(ours[0] - theirs[0]).max() <= 1e-10
            and np.abs(ours[1] - theirs[1]).max() <= 1e-10
        )
        assert (ours[2] == theirs[2]).all() and (ours[3] == theirs[3]).all()
        assert np.abs(ours[4]["s"] - theirs[4]["s"]).max() <= 1e-10
        over = ours[2] | ours[3]
        ends += over.sum()
        if mode == AutoresetMode.SAME_STEP and over.any():
            assert (ours[4]["_final_obs"] == over).all()
            for i in np.flatnonzero(over):
                assert np.abs(ours[4]["final_obs"][i] - theirs[4]["final_obs"][i]).max() <= 1e-10
                assert abs(ours[4]["final_info"]["s"][i] - theirs[4]["final_info"]["s"][i]) <= 1e-10
    assert ends >= 2 * n


def test_seeds_decide():
    first, again, other = (PathFollowingVector(5, shipped("differential_drive")) for _ in range(3))
    a, b, c = first.reset(seed=3)[0], again.reset(seed=3)[0], other.reset(seed=4)[0]
    assert (a == b).all() and np.abs(a[1:] - c[:-1]).max() == 0 and np.abs(a - c).max() > 1e-3
    for _ in range(3):
        action = np.full(first.action_space.shape, 0.5)
        assert all(np.array_equal(x, y)
                   for x, y in zip(first.step(action)[:4], again.step(action)[:4]))


def test_starts_stand_on_the_ground_along_the_path():
    """Rolling at the start: constraints hold there, P is beside the path, and it moves along its
    heading."""
    for name in ("ackermann_car", "trailers", "mecanum"):
        task = PathTask(shipped(name))
        vehicle, vector = task.vehicle, task.dynamics.state_vector
        for seed in range(5):
            x = task.start(np.random.default_rng(seed))
            q, v = (
                vector.configuration(x[: vector.nconf]),
                task.dynamics.velocity(0, x, []).full().ravel(),
            )
            rolling, heights = vehicle.constraint_error(0.0, q, v)
            assert np.abs(rolling).max() <= 1e-12 and np.abs(heights).max() <= 1e-12
            _, lateral, turned, _ = task.observe(x[None], None)
            assert abs(lateral[0]) <= 0.2 + 1e-3 and np.cos(turned[0]) >= np.cos(0.3) - 0.02


def test_a_good_driver_earns_nearly_all_there_is():
    """Reward 1 a period is the most; a controller on the path at its speed gets it,
    standing still nothing, driving away ends it."""
    from nhmech.control.mpc import MPC

    task = PathTask(shipped("differential_drive"), duration=2.0)
    tracker = MPC(task.vehicle, task.path, speed=task.speed)
    env = PathFollowing(task.vehicle, task.path, duration=2.0)
    env.reset(seed=0)
    env.simulator.reset(**tracker.start)
    env._s = np.zeros(1)
    rewards = [env.step(tracker(env.simulator.t,
                                env.simulator.state) / env.task.effort)[1] for _ in range(40)]
    assert np.mean(rewards) > 0.97 and max(rewards) <= 1.0
    env.reset(seed=0)
    lanes = PathFollowingVector(2, task.vehicle, duration=60.0)
    lanes.reset(seed=0)
    for _ in range(400):
        _, _, ended, cut, info = lanes.step(np.ones((2, 2)))
        if ended.any():
            break
    assert ended.any() and not cut.any() and np.abs(info["lateral"][ended]).min() > 2 * task.length


def test_a_policy_drives_the_simulator_too():
    """The same steps as the environment's, from the same start."""
    env = PathFollowing(shipped("differential_drive"), duration=1.0)
    task, weights = (
        env.task,
        np.random.default_rng(0).normal(size=(2, env.observation_space.shape[0])) * 0.3,
    )
    policy = lambda observation: np.tanh(weights @ observation)      # noqa: E731
    observation, _ = env.reset(seed=5)
    start = env.simulator.state
    for _ in range(10):
        observation, *_ = env.step(policy(observation))
    simulator = nhmech.Simulator(task.vehicle, task.controller(policy), dt=task.dt,
                                 control_period=task.period)
    simulator.reset(q=start.q, xi=start.v[list(task.vehicle.frame.speeds)])
    run = simulator.run(10 * task.period)
    assert np.abs(run.q[-1] - env.simulator.state.q).max() <= 1e-12


@pytest.mark.parametrize("words, error, message", [
    (dict(vehicle=nhmech.load(nhmech.urdf_path("differential_drive"),
                              ground=nhmech.Ground(normal=(0.1, 0, 1)))),
     ModelError, "level ground"),
    (dict(vehicle="sled"), ModelError, "driven"),
    (dict(vehicle="disc"), ModelError, "."),
    (dict(vehicle="differential_drive", period=0.012), InputError, "multiple of dt"),
    (dict(vehicle="differential_drive", effort=[1.0]), InputError, "2 positive numbers"),
    (dict(vehicle="differential_drive", speed=0.0), InputError, "speed"),
])
def test_what_cannot_be_is_refused(words, error, message):
    with pytest.raises(error, match=message):
        PathTask(**words)
