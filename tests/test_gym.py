"""Gymnasium environments: Gymnasium's own check, many lanes against single ones and against the
simulator, seeds, ends of episodes, all tasks."""

import warnings
from itertools import product

import casadi as ca
import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")

from gymnasium.utils.env_checker import check_env  # noqa: E402
from gymnasium.vector import AutoresetMode, SyncVectorEnv  # noqa: E402
from support import sampled, shipped  # noqa: E402
from trains import train  # noqa: E402

import nhmech  # noqa: E402
import nhmech.gym as tasks  # noqa: E402
from nhmech import InputError, ModelError  # noqa: E402
from nhmech.compile.lane_function import compile_lane_function  # noqa: E402
from nhmech.control import Balance, TrailerBacking  # noqa: E402
from nhmech.gym import (  # noqa: E402
    BalanceTask,
    GoalTask,
    PathFollowingEnv,
    PathFollowingVectorEnv,
    PathTask,
    TaskEnv,
    TaskVectorEnv,
    TrailerTask,
    stable_baselines,
)
from nhmech.gym.draws import normal, uniform  # noqa: E402
from nhmech.gym.track import NEAR, WITHIN, PathCells, clothoid  # noqa: E402

TASKS = [(PathTask, "differential_drive"), (PathTask, "mecanum"), (PathTask, "trailers"),
         (PathTask, "pendulum"), (GoalTask, "ackermann_car"), (GoalTask, "swerve"),
         (BalanceTask, "pendulum"), (BalanceTask, "bicycle"), (TrailerTask, "trailers")]


@pytest.fixture(scope="module")
def task_of():
    """Class and vehicle -> the task, made once."""
    made = {}

    def task(kind, name, **words):
        key = kind, name, tuple(words.items())
        if key not in made:
            made[key] = kind(shipped(name), **words)
        return made[key]

    return task


@pytest.mark.parametrize("kind, name", sampled(TASKS, 5))
def test_gymnasium_s_own_check(kind, name, task_of):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(TaskEnv(task_of(kind, name, duration=1.0)), skip_render_check=True)


@pytest.mark.parametrize("name, robot", [
    ("PathFollowing", "differential_drive"), ("GoalReaching", "differential_drive"),
    ("Balancing", "pendulum"), ("TrailerBacking", "trailers")])
def test_made_by_name(name, robot):
    env = gymnasium.make(f"nhmech/{name}-v0", vehicle=robot)
    observation, info = env.reset(seed=1)
    assert env.observation_space.contains(observation) and observation.dtype == np.float32
    assert set(info) == set(env.unwrapped.task.info_names)
    many = gymnasium.make_vec(f"nhmech/{name}-v0", num_envs=3, vehicle=robot)
    assert many.reset(seed=1)[0].shape == (3, *observation.shape)


@pytest.mark.parametrize("kind, name, mode", sampled(
    [(*task, mode) for task, mode in product(TASKS, [AutoresetMode.NEXT_STEP,
                                                     AutoresetMode.SAME_STEP])], 5))
def test_lanes_are_single_environments(kind, name, mode, task_of):
    """To the last bit, through ends of episodes and new starts, against Gymnasium's own vector of
    single ones."""
    n, task = 11, task_of(kind, name, duration=0.75, noise=0.01, delay=1)
    lanes = TaskVectorEnv(n, task, autoreset_mode=mode)
    singles = SyncVectorEnv([lambda: TaskEnv(task)] * n, autoreset_mode=mode)
    rng, ends = np.random.default_rng(0), 0
    ours, theirs = lanes.reset(seed=7), singles.reset(seed=7)
    assert np.array_equal(ours[0], theirs[0])
    for _ in range(40):
        actions = rng.uniform(-1, 1, lanes.action_space.shape).astype(np.float32)
        ours, theirs = lanes.step(actions), singles.step(actions)
        for mine, other in zip(ours[:4], theirs[:4]):
            assert np.array_equal(mine, other)
        for key in task.info_names:
            assert np.array_equal(ours[4][key], theirs[4][key])
        over = ours[2] | ours[3]
        ends += over.sum()
        if mode == AutoresetMode.SAME_STEP and over.any():
            assert (ours[4]["_final_obs"] == over).all()
            assert not np.shares_memory(ours[4]["_final_obs"], ours[4]["_final_info"])
            for i in np.flatnonzero(over):
                assert np.array_equal(ours[4]["final_obs"][i], theirs[4]["final_obs"][i])
    assert ends >= 2 * n


def test_some_lanes_begin_again(task_of):
    lanes = TaskVectorEnv(4, task_of(PathTask, "differential_drive", duration=1.0),
                          autoreset_mode=AutoresetMode.DISABLED)
    lanes.reset(seed=0)
    before = [lanes.step(np.ones((4, 2)))[0] for _ in range(3)][-1]
    mask = np.array([False, True, False, True])
    after, info = lanes.reset(options={"reset_mask": mask})
    assert np.array_equal(after[~mask], before[~mask])
    assert (np.abs(after - before).max(axis=1)[mask] > 1e-3).all()
    assert np.array_equal(info["_s"], mask)


def test_seeds_decide(task_of):
    task = task_of(PathTask, "differential_drive")
    first, again, other = (TaskVectorEnv(5, task) for _ in range(3))
    a, b, c = first.reset(seed=3)[0], again.reset(seed=3)[0], other.reset(seed=4)[0]
    assert (a == b).all() and np.abs(a[1:] - c[:-1]).max() == 0 and np.abs(a - c).max() > 1e-3
    assert (np.abs(first.reset()[0] - a).max(axis=1) > 1e-3).all()
    assert np.array_equal(again.reset(seed=3)[0], a)
    first.reset(seed=3)
    assert first.np_random.integers(2 ** 62) == again.np_random.integers(2 ** 62)
    assert not np.array_equal(TaskVectorEnv(5, task).reset()[0], TaskVectorEnv(5, task).reset()[0])


def test_draws_are_even_and_independent():
    """Moments, over lanes, episodes and places in the sequence; each decides."""
    keys, episodes = np.arange(2000, dtype=np.uint64), np.ones(2000, int)
    u = uniform(keys, episodes, 10)
    assert u.shape == (10, 2000) and u.min() >= 0 and u.max() < 1
    assert abs(u.mean() - 0.5) < 0.01 and abs(u.var() - 1 / 12) < 2e-3
    assert np.abs(np.corrcoef(u) - np.eye(10)).max() < 0.1
    assert len(np.unique(np.concatenate([u.ravel(), uniform(keys, episodes + 1, 10).ravel(),
                                         uniform(keys, episodes, 10, 1).ravel()]))) == 60000
    z = normal(keys, episodes, 10, 2)
    assert abs(z.mean()) < 0.03 and abs(z.var() - 1) < 0.05 and abs((z ** 4).mean() - 3) < 0.2
    few = uniform(keys[5:7], episodes[5:7], 10)
    assert np.array_equal(few, u[:, 5:7])


# -- the track -------------------------------------------------------------------------------------
@pytest.mark.parametrize("path", ["figure8", "circle:2", "line:3", "lane_change:6"])
def test_a_track_is_its_path(path):
    """Points, headings and curvatures to 1e-9 where the curvature is smooth; nearest points too,
    over the laps of a closed path and beyond the ends of an open one."""
    from nhmech.control.path_choice import read_path

    path = read_path(path, 1.0)
    track, rng = PathCells(path, [0.0, 0.7]), np.random.default_rng(0)
    patch, s, point = ca.SX.sym("patch", len(track.rows)), ca.SX.sym("s"), ca.SX.sym("p", 2)
    at = ca.Function("at", [patch, s], clothoid(patch, s))
    nearest = {rounds: ca.Function("nearest", [patch, s, point],
                                   [track.nearest(patch, s, point, rounds)])
               for rounds in (NEAR, WITHIN)}
    laps = (-1.5, 2.5) if path.closed else (-0.2, 1.2)
    for where in rng.uniform(*laps, 20) * path.length:
        rows = np.zeros((len(track.rows), 1))
        track.look(np.array([where]), rows)
        (x, y), heading, curvature = (part.full().ravel() for part in at(rows, where))
        wanted = np.array(path.at(where)).ravel()
        assert np.abs([x - wanted[0], y - wanted[1]]).max() <= 1e-9
        assert abs(np.sin((heading[0] - wanted[2]) / 2)) <= 1e-6
        ahead = float(path.curvature(where + 0.7))
        assert abs(rows[8, 0] + rows[9, 0] * (where - rows[0, 0]) - ahead) <= 1e-4
        beside = wanted[:2] + rng.normal(size=2) * 0.1
        # one look from where a lane was a period before
        found = where + rng.uniform(-0.03, 0.03)
        for rounds in (NEAR, WITHIN):
            track.look(np.array([found]), rows)
            found = float(nearest[rounds](rows, found, beside))
        assert abs(found - float(path.nearest(beside, near=where))) <= 1e-6


# -- against the simulator -------------------------------------------------------------------------
def test_starts_stand_on_the_ground_along_the_path(task_of):
    """Rolling at the start: constraints hold there, P is beside the path, and it moves along its
    heading."""
    for kind, name in [(PathTask, "ackermann_car"), (PathTask, "trailers"), (PathTask, "mecanum"),
                       (TrailerTask, "trailers"), (GoalTask, "swerve"), (BalanceTask, "bicycle")]:
        task = task_of(kind, name)
        vehicle = task.vehicle
        x, memory = task.starts(np.random.default_rng(0).random((task.DRAWS, 5)))
        assert memory.shape == (len(task.memory), 5)
        for state in x:
            v = task.dynamics.velocity(0, state, []).full().ravel()
            rolling, heights = vehicle.constraint_error(0.0, task.configuration(state), v)
            assert np.abs(rolling).max() <= 1e-12 and np.abs(heights).max() <= 1e-12
        if kind in (PathTask, TrailerTask):
            seen = TaskVectorEnv(5, task).reset(seed=2)[0]
            assert np.abs(seen[:, 0]).max() <= 0.2 + 1e-3
            assert seen[:, 2].min() >= np.cos(0.3) - 0.02


def test_a_policy_drives_the_simulator_too(task_of):
    """The same steps as the environment's, from the same start."""
    env = TaskEnv(task_of(PathTask, "differential_drive", duration=1.0))
    task, weights = (
        env.task,
        np.random.default_rng(0).normal(size=(2, env.observation_space.shape[0])) * 0.3,
    )
    policy = lambda observation: np.tanh(weights @ observation)      # noqa: E731
    observation, _ = env.reset(seed=5)
    x = env.x
    for _ in range(10):
        observation, *_ = env.step(policy(observation.astype(float)))
    simulator = nhmech.Simulator(task.vehicle, task.controller(policy), dt=task.dt,
                                 control_period=task.period)
    simulator.reset(q=task.configuration(x), xi=x[task.dynamics.state_vector.nconf:])
    run = simulator.run(10 * task.period)
    # observations of the environment are rounded to 32 bits
    assert np.abs(run.q[-1] - env.configuration).max() <= 1e-6


def test_lanes_have_parameters_of_their_own():
    """Each lane rolls as a vehicle with its masses does."""
    ranges = {"base_link.mass": (2.0, 20.0), "payload.mass": (0.0, 5.0)}
    task = PathTask("differential_drive", randomise=ranges)
    lanes = TaskVectorEnv(3, task)
    lanes.reset(seed=0)
    x, theta = lanes.x, lanes._lanes.task.parameters(
        uniform(lanes._lanes.keys, lanes._lanes.episodes, 2, 1))
    assert np.ptp(theta, axis=0).min() > 0.1
    assert (theta >= [2, 0]).all() and (theta <= [20, 5]).all()
    action = np.array([0.7, 0.4])
    for _ in range(5):
        lanes.step(np.tile(action, (3, 1)))
    for i in range(3):
        other = task.vehicle.with_parameters(dict(zip(ranges, theta[i])), symbolic=[])
        simulator = nhmech.Simulator(other, lambda t, state: action * task.effort, dt=task.dt)
        simulator.reset(q=task.configuration(x[i]), xi=x[i][task.dynamics.state_vector.nconf:])
        end = simulator.run(5 * task.period)
        assert np.abs(end.q[-1] - task.configuration(lanes.x[i])).max() <= 1e-10


def test_a_lane_has_the_motors_of_a_run():
    """Twice the effort that the joints can give is no more than they can give."""
    vehicle = shipped("differential_drive")
    most = np.array([vehicle.limits[name].effort for name in vehicle.driven])
    strong = 2 * most
    env = TaskEnv(PathTask(vehicle, effort=strong))
    env.reset(seed=3)
    task, x = env.task, env.x
    simulator = nhmech.Simulator(vehicle, lambda t, state: strong, dt=task.dt, on_lift="ignore")
    simulator.reset(q=task.configuration(x), xi=x[task.dynamics.state_vector.nconf:])
    env.step(np.ones(2))
    run = simulator.run(task.period)
    np.testing.assert_array_equal(run.u[0], most)
    np.testing.assert_allclose(task.configuration(env.x), run.q[-1], rtol=0, atol=1e-10)


def test_another_radius_stands_on_the_ground_too():
    task = PathTask("differential_drive", randomise={"left_wheel_joint.radius": (0.08, 0.12)})
    lanes = TaskVectorEnv(4, task)
    lanes.reset(seed=0)
    _, _, ended, _, info = lanes.step(np.zeros((4, 2)))
    assert not ended.any() and "reason" not in info
    assert np.ptp(lanes.x[:, 2]) > 1e-3 or np.ptp(lanes.x[:, 3:7], axis=0).max() > 1e-3


def test_actions_come_late():
    """With a delay of two periods, the motion is that of the actions two periods before."""
    late, prompt = (PathFollowingEnv("differential_drive", delay=delay) for delay in (2, 0))
    late.reset(seed=1)
    prompt.reset(seed=1)
    actions = np.random.default_rng(0).uniform(-1, 1, (6, 2))
    for given, due in zip(actions, [np.zeros(2), np.zeros(2), *actions]):
        late.step(given)
        prompt.step(due)
        assert np.array_equal(late.x, prompt.x)


def test_noise_is_on_top_of_what_is_seen():
    clean = PathFollowingVectorEnv(2000, "differential_drive")
    noisy = PathFollowingVectorEnv(2000, "differential_drive", noise=0.05)
    difference = noisy.reset(seed=0)[0] - clean.reset(seed=0)[0]
    assert np.abs(difference.mean(axis=0)).max() < 0.006
    assert np.abs(difference.std(axis=0) - 0.05).max() < 0.004
    assert np.array_equal(noisy.reset(seed=0)[0], noisy.reset(seed=0)[0])
    with pytest.raises(InputError, match="noise = -1"):
        PathTask("differential_drive", noise=-1)


def test_noise_does_not_lead_out_of_the_space():
    env = PathFollowingVectorEnv(200, "differential_drive", noise=20.0)
    assert env.observation_space.contains(env.reset(seed=0)[0])
    assert env.observation_space.contains(env.step(np.ones((200, 2)))[0])


# -- rules -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("words, sign", [
    ({"observe": lambda seen: [seen.lateral, ca.sqrt(seen.lateral)]}, -1),
    ({"reward": lambda seen: ca.log(seen.lateral)}, -1),
    ({"reward": lambda seen: ca.if_else(seen.lateral > 0, ca.inf, 0)}, 1),
], ids=["observation", "reward", "infinite reward"])
def test_what_is_not_finite_ends_the_episode(words, sign):
    plain, own = (PathFollowingVectorEnv(64, "differential_drive", **each) for each in ({}, words))
    lateral = plain.reset(seed=0)[0][:, 0]
    own.reset(seed=0)
    plain_ended = plain.step(np.zeros((64, 2)))[2]
    seen, reward, ended, _, info = own.step(np.zeros((64, 2)))
    wrong = sign * lateral > 0
    assert 0 < wrong.sum() < 64 and not plain_ended.any()
    assert np.array_equal(ended, wrong) and np.isfinite(reward).all()
    assert own.observation_space.contains(seen)
    assert [reason is not None for reason in info["reason"]] == wrong.tolist()
    assert "reward=" in info["reason"][np.flatnonzero(wrong)[0]]


@pytest.mark.parametrize("delay", [0, 1])
def test_an_action_that_is_not_finite_ends_its_episode_in_these_words(delay):
    env = PathFollowingVectorEnv(3, "differential_drive", delay=delay)
    env.reset(seed=0)
    ended, _, info = env.step(np.array([[0.0, 0.0], [np.nan, 0.0], [0.0, 0.0]]))[2:]
    assert ended.tolist() == [False, True, False]
    assert "returned inputs that are not finite" in info["reason"][1]


def test_rules_of_one_s_own():
    task = dict(
        observe=lambda seen: [seen.lateral, ca.tanh(seen.speeds[0])],
        reward=lambda seen: seen.reward - 3 * seen.lateral ** 2,
        terminate=lambda seen: ca.logic_or(seen.terminated, ca.fabs(seen.lateral) > 0.1))
    own = PathFollowingVectorEnv(64, "differential_drive", **task)
    plain = PathFollowingVectorEnv(64, "differential_drive")
    mine, theirs = own.reset(seed=0)[0], plain.reset(seed=0)[0]
    assert mine.shape == (64, 2) and np.array_equal(mine[:, 0], theirs[:, 0])
    action = np.ones((64, 2))
    mine, theirs = own.step(action), plain.step(action)
    lateral = mine[0][:, 0].astype(float)
    assert np.abs(mine[1] - (theirs[1] - 3 * lateral ** 2)).max() <= 1e-6
    assert np.array_equal(mine[2], np.abs(lateral) > 0.1) and 0 < mine[2].sum() < 64


@pytest.mark.parametrize("words, message", [
    (dict(reward=lambda seen: seen.laterl), "no quantity 'laterl'.*lateral"),
    (dict(reward=lambda seen: "high"), "reward= returned str"),
    (dict(terminate=lambda seen: seen.normal), r"terminate= returned shape \(2, 1\)"),
    (dict(randomise={"base_link.mass": (3, 1)}), "least, most"),
    (dict(randomise={"no.such": (1, 2)}), "no.such"),
    (dict(randomise={"base_link.mass": (-5, -4)}), r"randomise\['base_link.mass'\].*negative"),
    (dict(randomise={"base_link.mass": (1, np.inf)}), "least, most"),
    (dict(randomise={"base_link.Ixx": (-1, 1)}), r"randomise\['base_link.Ixx'\].*inertia"),
])
def test_what_is_wrong_about_a_rule_is_said(words, message):
    with pytest.raises((InputError, AttributeError), match=message):
        PathTask(shipped("differential_drive"), **words)


# -- tasks -----------------------------------------------------------------------------------------
def drive(task, controller, start: dict, periods: int):
    """Rewards, and whether the episode ended, with a controller of the package at the wheel."""
    env, simulator = TaskEnv(task), nhmech.Simulator(task.vehicle)
    env.begin_at(task.dynamics.of(simulator.reset(**start)))
    rewards, ended = [], False
    for k in range(periods):
        state = simulator.reset(q=env.configuration, xi=env.x[task.dynamics.state_vector.nconf:])
        u = simulator.atlas.chart.inverse_dynamics.efforts(
            controller(k * task.period, state), simulator.moment, simulator.simulated.theta)
        _, reward, ended, _, _ = env.step(np.array(u) / task.effort)
        rewards.append(reward)
        if ended:
            break
    return np.array(rewards), ended


def test_a_good_driver_earns_nearly_all_there_is(task_of):
    """Reward 1 a period is the most; a controller on the path at its speed gets it,
    driving away ends it."""
    from nhmech.control.mpc import MPC

    task = task_of(PathTask, "differential_drive", duration=2.0)
    tracker = MPC(task.vehicle, task.path, speed=task.speed)
    rewards, ended = drive(task, tracker, tracker.start, 40)
    assert np.mean(rewards) > 0.97 and max(rewards) <= 1.0 and not ended
    lanes = TaskVectorEnv(2, task_of(PathTask, "differential_drive", duration=60.0))
    lanes.reset(seed=0)
    for _ in range(400):
        _, _, ended, cut, info = lanes.step(np.ones((2, 2)))
        if ended.any():
            break
    assert ended.any() and not cut.any()
    assert np.abs(info["lateral_error"][ended]).min() > 2 * task.length


def test_who_arrives_is_rewarded(task_of):
    """Straight ahead to a goal in front: distance gained at the wanted speed is one a period."""
    task = task_of(GoalTask, "differential_drive")
    env = TaskEnv(task)
    env.begin_at(task.placed(task.at_rest[None], -1.0, 0.0, np.zeros(1))[0])
    earned, ended = [], False
    while not ended and len(earned) < 400:
        _, reward, ended, _, info = env.step(np.full(2, 0.3))
        earned.append(reward)
    assert ended and info["arrived"] == 1 and info["distance"] <= task.within
    gone = (1.0 / task.length - info["distance"]) * task.length / (task.speed * task.period)
    assert sum(earned) == pytest.approx(10 + gone - 0.01 * 0.09 * len(earned), abs=1e-9)


def test_what_falls_is_over_and_what_is_held_earns(task_of):
    task = task_of(BalanceTask, "pendulum", duration=60.0, fallen=0.4)
    env = TaskEnv(task)
    env.reset(seed=3)
    for _ in range(200):
        _, _, ended, _, info = env.step(np.zeros(2))
        if ended:
            break
    assert ended and (info["tilt"] > 1 or "reason" in info)
    keeper = Balance(task.vehicle, (0.0, 0.0, 0.0))
    rewards, ended = drive(task, keeper, dict(pose=(0, 0, 0, 0, 0.05, 0)), 100)
    assert not ended and np.mean(rewards[50:]) > 0.9
    with pytest.raises(ModelError, match="does not fall over"):
        BalanceTask(shipped("differential_drive"))


@pytest.mark.parametrize("turned", [0.0, 2.5])
def test_trailers_are_backed(turned):
    """The tracked axle is that of the controller, and what backs well earns; a fold ends it. The
    base frame may be turned, so that the trailers are before it."""
    task = TrailerTask(train(2, behind=0.35, turned=turned), path="line:20")
    x, data = task.starts(np.full((4, 3), 0.3))[0][0], task.vehicle.model.createData()
    x[task.dynamics.coordinate(task.hitches[0])] = 0.4
    symbol = ca.SX.sym("x", len(x))
    point, cos, sin = (part.full().ravel() for part in
                       ca.Function("f", [symbol], task.tracked(symbol))(x))
    place, heading = task.axle.pose(task.vehicle, data, task.configuration(x))
    assert np.abs(point - place).max() <= 1e-12
    way = 1 if turned else -1
    assert (cos[0], sin[0]) == pytest.approx((way * np.cos(heading), way * np.sin(heading)),
                                             abs=1e-12)
    backer = TrailerBacking(task.vehicle, task.path, speed=task.speed)
    rewards, ended = drive(task, backer, backer.start, 40)
    assert not ended and np.mean(rewards[-10:]) > 0.8
    x[task.dynamics.coordinate(task.hitches[0])] = 1.2
    env = TaskEnv(task)
    env.begin_at(x)
    assert env.step(np.zeros(len(task.effort)))[2]
    with pytest.raises(ModelError, match="trailer"):
        TrailerTask(shipped("ackermann_car"))


# -- pictures --------------------------------------------------------------------------------------
def test_pictures_from_above(task_of):
    env = TaskEnv(task_of(PathTask, "differential_drive"), render_mode="rgb_array")
    env.reset(seed=0)
    first = env.render()
    for _ in range(20):
        env.step(np.ones(2))
    second = env.render()
    assert first.shape == (480, 480, 3) and first.dtype == np.uint8
    assert len(np.unique(first.reshape(-1, 3), axis=0)) >= 4 and (first != second).any()
    lanes = TaskVectorEnv(2, env.task, render_mode="rgb_array")
    lanes.reset(seed=0)
    assert len(lanes.render()) == 2 and np.array_equal(lanes.render()[0], first)
    with pytest.raises(InputError, match="render_mode"):
        TaskEnv(env.task, render_mode="ascii")
    with pytest.raises(InputError, match="render_mode"):
        TaskVectorEnv(2, env.task, render_mode="human")


def test_the_trail_begins_where_the_episode_does(task_of):
    """Also of one that begins at a state of one's own: with a step that leads nowhere, there is no
    line to where the last one was."""
    env = TaskEnv(task_of(PathTask, "differential_drive"), render_mode="rgb_array")
    env.reset(seed=0)
    env.begin_at(env.task.at_rest)
    first = env.render()
    env.step(np.zeros(2))
    assert np.array_equal(env.render(), first)


def test_people_see_the_live_view(task_of, capsys, monkeypatch):
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    env = TaskEnv(task_of(PathTask, "differential_drive"), render_mode="human")
    env.reset(seed=0)
    env.step(np.ones(2))
    assert env.render() is None and "127.0.0.1" in capsys.readouterr().out
    env.close()


# -- Stable-Baselines3, and the compiled judge -----------------------------------------------------
def test_lanes_for_stable_baselines(task_of):
    """Its own checks and a few steps of learning; lanes are those of the environment."""
    pytest.importorskip("stable_baselines3", reason="Stable-Baselines3 is not installed")
    from stable_baselines3 import PPO

    task = task_of(PathTask, "differential_drive", duration=0.5)
    lanes, ours = stable_baselines(task, 8, seed=3), TaskVectorEnv(
        8, task, autoreset_mode=AutoresetMode.SAME_STEP)
    seen, wanted = lanes.reset(), ours.reset(seed=3)[0]
    assert np.array_equal(seen, wanted)
    rng = np.random.default_rng(0)
    for _ in range(12):
        action = rng.uniform(-1, 1, (8, 2)).astype(np.float32)
        seen, reward, done, infos = lanes.step(action)
        other = ours.step(action)
        assert np.array_equal(seen, other[0]) and np.array_equal(done, other[2] | other[3])
        assert np.array_equal(reward, other[1].astype(np.float32))
        for i in np.flatnonzero(done):
            assert np.array_equal(infos[i]["terminal_observation"], other[4]["final_obs"][i])
    assert lanes.env_is_wrapped(object) == [False] * 8 and lanes.get_attr("num_envs", [1]) == [8]
    PPO("MlpPolicy", lanes, n_steps=8, batch_size=64, device="cpu").learn(128)


def test_a_function_of_columns_is_the_function(monkeypatch):
    """Compiled in lanes, and in the virtual machine."""
    x, y = ca.SX.sym("x", 3), ca.SX.sym("y")
    function = ca.Function("nhmech_try", [x, y], [
        ca.vertcat(ca.sin(x) * y, ca.if_else(y > 0, x[0], x[1])), ca.sumsqr(x)])
    rng = np.random.default_rng(0)
    given = [rng.normal(size=(3, 16)), rng.normal(size=(1, 16))]
    wanted = [np.column_stack([function(*(part[:, i] for part in given))[k].full()
                               for i in range(16)]) for k in range(2)]
    for compiled in (True, False):
        if not compiled:
            monkeypatch.setattr("nhmech.compile.lane_function._compile", lambda function: None)
        columns = compile_lane_function(function, given)
        columns.run()
        for found, value in zip(columns.outputs, wanted):
            assert np.abs(found - value).max() <= 1e-15 * 4


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


@pytest.mark.parametrize("kind, words, message", [
    (GoalTask, dict(within=5.0), "less than radius"),
    (BalanceTask, dict(tilt=0.5), "tilt = 0.5 and fallen = 0.5"),
    (BalanceTask, dict(fallen=1.6), "less than pi / 2"),
])
def test_episodes_that_are_over_at_their_start_are_refused(kind, words, message):
    with pytest.raises(InputError, match=message):
        kind("pendulum", **words)


@pytest.mark.parametrize("actions", [np.ones(2), np.ones((3, 2)), np.ones((2, 1)), 1.0])
def test_actions_are_of_each_lane_and_each_joint(actions, task_of):
    """NumPy would take those of one lane for all, or those of a lane for those of a joint."""
    task = task_of(PathTask, "differential_drive")
    lanes = TaskVectorEnv(2, task)
    with pytest.raises(nhmech.SimulationError, match="reset"):
        lanes.step(np.ones((2, 2)))
    lanes.reset(seed=0)
    with pytest.raises(InputError, match=r"expected \(2, 2\)"):
        lanes.step(actions)
    env = TaskEnv(task)
    env.reset(seed=0)
    with pytest.raises(InputError, match=r"expected \(1, 2\)"):
        env.step(np.ravel(actions)[:1])


@pytest.mark.parametrize("words, message", [
    (dict(seed=[1]), "seed has shape"), (dict(seed=[1, 2, 3]), "seed has shape"),
    (dict(options={"reset_mask": [True]}), "reset_mask has shape"),
])
def test_a_reset_is_of_each_lane(words, message, task_of):
    lanes = TaskVectorEnv(2, task_of(PathTask, "differential_drive"))
    with pytest.raises(InputError, match=message):
        lanes.reset(**words)
    with pytest.raises(InputError, match="finite numbers: x, y"):
        TaskEnv(lanes.task).begin_at([0.0, 1.0])
    with pytest.raises(InputError, match="num_envs"):
        TaskVectorEnv(0, lanes.task)


def test_the_room_names_what_it_exports():
    assert {"PathTask", "TaskVectorEnv", "stable_baselines"} <= set(tasks.__all__)
