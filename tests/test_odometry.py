"""The referee of odometry: faults that are put into clean runs are named, clean runs have none,
standard errors are right, and logs come back as they were written."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from support import command_line, sampled, shipped

from nhmech import InputError, Simulator, Trajectory
from nhmech.logs import export_run, import_run, read_recording
from nhmech.odometry import FindingKind, JointSamples, PoseSamples, judge_odometry
from nhmech.odometry.findings import Finding
from nhmech.odometry.planar import integrate, join_halves, rotate
from nhmech.odometry.replay import Replay
from nhmech.odometry.rolling import Rolling
from nhmech.odometry.verdicts import tell_apart

JOINTS, POSES = "/joint_states", "/odom"
DRIVEN = ("differential_drive", "tricycle", *(pytest.param(name, marks=pytest.mark.soak)
                                              for name in ("skid_steer", "mecanum")))


@cache
def clean_run(name: str) -> Trajectory:
    """A kinematic run of 8 s whose speeds change all the time."""
    vehicle = shipped(name)
    n = len(vehicle.speeds)
    phase = 1.3 * np.arange(n)

    def speeds(t, state):
        base = 3.0 + np.sin(1.7 * t + phase) + 0.7 * np.sin(4.1 * t + 2 * phase)
        steer = 0.25 * np.cos(0.8 * t)
        return np.where([speed in vehicle.description.steering for speed in vehicle.speeds],
                        steer, base * (1 if n > 2 or name != "tricycle" else 0.3))

    return Simulator(vehicle, speeds, dt=5e-3, mode="kinematic").run(8.0, every=4)


def samples(name: str) -> tuple[JointSamples, PoseSamples]:
    run, vehicle = clean_run(name), shipped(name)
    position = np.column_stack([run.column(f"{j}.position") for j in vehicle.joint_names])
    return (JointSamples(JOINTS, run.t, None, vehicle.joint_names, position, run.v[:, 6:],
                         np.full(position.shape, np.nan)),
            PoseSamples(POSES, run.t, None, run.q[:, :3], run.q[:, 3:7], run.v[:, :6], "odom",
                        "base_link"))


def move(pose: PoseSamples, planar: np.ndarray) -> PoseSamples:
    """The poses x, y, yaw instead, without twists."""
    rotation = np.zeros((len(planar), 4))
    rotation[:, 2], rotation[:, 3] = np.sin(planar[:, 2] / 2), np.cos(planar[:, 2] / 2)
    return replace(pose, position=np.column_stack([planar[:, :2], pose.position[:, 2]]),
                   rotation=rotation, twist=np.full((len(planar), 6), np.nan))


def kinds(name: str, joints: JointSamples, pose: PoseSamples) -> list[FindingKind]:
    return [found.kind for found in judge_odometry(shipped(name), joints, pose).findings]


def side(name: str, word: str) -> list[int]:
    return [i for i, joint in enumerate(shipped(name).joint_names)
            if word in joint and joint.endswith("wheel_joint")]


# -- clean -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", DRIVEN)
def test_nothing_is_found_in_a_clean_run(name):
    joints, pose = samples(name)
    report = judge_odometry(shipped(name), joints, pose)
    assert report.findings == () and not report.windows.exceeds.any()
    assert np.abs(report.fitted[:, :2] - report.poses[:, :2]).max() < 1e-4
    for group in report.groups:
        assert report.estimate[f"radius:{group.name}"][0] == pytest.approx(1.0, abs=1e-4)


def test_a_replay_is_exact_to_the_fourth_order_of_its_samples():
    rolling = Rolling(shipped("differential_drive"), ("left_wheel_joint", "right_wheel_joint"))

    def end(n: int) -> np.ndarray:
        t = np.linspace(0.0, 4.0, n + 1)
        angles = np.column_stack([4 * t + np.sin(2 * t), 3 * t + np.cos(3 * t)])
        nothing = np.full(angles.shape, np.nan)
        joints = JointSamples(JOINTS, t, None, rolling.joints, angles, nothing, nothing)
        return Replay(rolling, joints, t).track(np.ones(2)).poses[-1]

    exact = end(640)
    errors = [np.abs(end(n) - exact).max() for n in (20, 40, 80)]
    assert errors[0] / errors[1] > 10 and errors[1] / errors[2] > 12


@pytest.mark.parametrize("name", ["differential_drive", "mecanum", "tricycle"])
def test_derivatives_of_a_replay_are_those_of_finite_differences(name):
    joints, _ = samples(name)
    rolling = Rolling(shipped(name), joints.names)
    replay = Replay(rolling, joints, joints.t[:100])
    at = 1 + 0.05 * np.random.default_rng(0).normal(size=len(rolling.groups) + 2)

    def track(numbers):
        return replay.track(numbers[:-2], *numbers[-2:])

    found = track(at)
    for i, slope in enumerate(found.slopes):
        step = np.zeros(len(at))
        step[i] = 1e-5
        up, down = track(at + step), track(at - step)
        assert (up.poses - down.poses) / 2e-5 == pytest.approx(slope, abs=1e-8)
        assert (up.slid - down.slid) / 2e-5 == pytest.approx(found.d_slid[i], abs=1e-8)


def test_turning_on_the_spot_and_straight_on_are_joined_exactly():
    halves = np.array([[0.1, 0.0, 0.3]] * 8)
    whole, _ = join_halves(halves, np.zeros((0, 8, 3)))
    track, _ = integrate(whole, np.zeros((0, 4, 3)))
    radius, angle = 0.1 / 0.3, 0.3 * 8
    assert track[-1] == pytest.approx(
        [radius * np.sin(angle), radius * (1 - np.cos(angle)), angle], rel=1e-12)


# -- faults of the odometry ------------------------------------------------------------------------
@pytest.mark.parametrize("name", DRIVEN)
@pytest.mark.parametrize("words, factor, radius", [(("wheel",), 1.05, 1 / 1.05),
                                                   (("left",), 0.97, 1 / 0.97)])
def test_wrong_radii_are_named_and_measured(name, words, factor, radius):
    joints, pose = samples(name)
    wheels = [i for word in words for i in side(name, word)]
    joints.position[:, wheels] *= factor
    report = judge_odometry(shipped(name), joints, pose)
    assert {f.kind for f in report.findings} == {FindingKind.RADIUS}
    wrong = {shipped(name).joint_names[i] for i in wheels}
    for group in report.groups:
        expected = radius if set(group.wheels) <= wrong else 1.0
        assert report.estimate[f"radius:{group.name}"][0] == pytest.approx(expected, abs=1e-3)


def test_a_wider_track_is_named_and_gives_the_multipliers_of_the_controller():
    """What users find by trial for skid steering: husky#193, clearpath_robot#280."""
    joints, pose = samples("skid_steer")
    rolling = Rolling(shipped("skid_steer"), joints.names)
    track = Replay(rolling, joints, joints.t).track(np.ones(2), track=1.8).poses
    report = judge_odometry(shipped("skid_steer"), joints, move(pose, track))
    assert FindingKind.SEPARATION in {f.kind for f in report.findings}
    multiplier, error = report.parameters["wheel_separation_multiplier"]
    assert multiplier == pytest.approx(1.8, abs=1e-5) and error < 1e-4
    assert report.parameters["left_wheel_radius_multiplier"][0] == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("name", DRIVEN)
def test_swapped_sides_and_turned_signs_are_named(name):
    joints, pose = samples(name)
    left, right = side(name, "left"), side(name, "right")
    exchanged = joints.position.copy()
    exchanged[:, left + right] = exchanged[:, right + left]
    assert kinds(name, replace(joints, position=exchanged), pose) == [FindingKind.SWAPPED]
    for wheels in (left, side(name, "wheel")):
        turned = joints.position.copy()
        turned[:, wheels] *= -1
        assert kinds(name, replace(joints, position=turned), pose) == [FindingKind.SIGN]


@pytest.mark.parametrize("name", DRIVEN)
def test_slip_is_found_when_it_happens(name):
    joints, pose = samples(name)
    spun = np.clip(joints.t - 3.0, 0.0, 1.0)
    joints.position[:, side(name, "wheel")] += spun[:, None]
    slips = judge_odometry(shipped(name), joints, pose).findings
    assert {f.kind for f in slips} == {FindingKind.SLIP}
    assert all(2.4 <= f.start < 4.0 and 3.0 < f.end <= 4.6 for f in slips)


def test_the_wheel_that_slipped_is_told():
    joints, pose = samples("differential_drive")
    joints.position[:, 0] += np.clip(joints.t - 3.0, 0.0, 1.0)
    (slip,) = judge_odometry(shipped("differential_drive"), joints, pose).findings
    left, right = (float(re.search(f"{word}_wheel_joint spun (.[0-9.e-]+) m", slip.text)[1])
                   for word in ("left", "right"))
    assert left == pytest.approx(0.1, abs=0.01) and right == pytest.approx(0.0, abs=0.01)


@pytest.mark.parametrize("begin, end", [(3.0, 5.0), (0.0, 99.0)], ids=["passing", "lasting"])
def test_lateral_velocity_is_named(begin, end):
    """turtlebot3_simulations#257: a differential drive that moves sideways."""
    joints, pose = samples("differential_drive")
    h, t = pose.planar, pose.t
    slide = np.where((t >= begin) & (t < end), 0.05, 0.0) * np.gradient(t)
    aside = np.column_stack([-np.sin(h[:, 2]), np.cos(h[:, 2])]) * slide[:, None]
    moved = move(pose, np.column_stack([h[:, :2] + np.cumsum(aside, 0), h[:, 2]]))
    assert set(kinds("differential_drive", joints, moved)) == {FindingKind.LATERAL_VELOCITY}


def test_twists_that_are_not_those_of_the_wheels_are_named():
    joints, pose = samples("differential_drive")
    told = pose.twist.copy()
    told[:, 1] += 0.1
    assert kinds("differential_drive", joints, replace(pose, twist=told)) \
        == [FindingKind.LATERAL_VELOCITY]
    told = pose.twist.copy()
    told[:, :2] = rotate(pose.planar[:, 2], told[:, :2])
    (found,) = judge_odometry(shipped("differential_drive"), joints,
                              replace(pose, twist=told)).findings
    assert found.kind is FindingKind.TWIST and "along the axes of odom" in found.text


def test_the_pose_of_the_sensor_and_its_clock_are_found():
    joints, pose = samples("differential_drive")
    h = pose.planar
    seen = np.column_stack([h[:, :2] + rotate(h[:, 2], np.tile([0.2, -0.05], (len(h), 1))),
                            h[:, 2] + 0.1])
    moved = move(pose, seen)
    report = judge_odometry(shipped("differential_drive"), joints,
                            replace(moved, t=moved.t + 0.03))
    assert {FindingKind.SENSOR_POSE, FindingKind.CLOCK_OFFSET} <= {f.kind for f in report.findings}
    for name, value in (("sensor_x", 0.2), ("sensor_y", -0.05), ("sensor_yaw", 0.1),
                        ("clock", 0.03)):
        assert report.estimate[name][0] == pytest.approx(value, abs=1e-4)


# -- faults of the messages ------------------------------------------------------------------------
def shifted(stream, by):
    return replace(stream, t=np.where(stream.t > 4.0, stream.t + by, stream.t))


@pytest.mark.parametrize("which, by", sampled(
    [(which, by) for by in (2.0, -2.0, 0.3, -0.3) for which in ("joints", "poses", "both")], 6))
def test_clocks_that_jump_are_named_and_set_right(by, which):
    joints, pose = samples("differential_drive")
    joints, pose = (joints if which == "poses" else shifted(joints, by),
                    pose if which == "joints" else shifted(pose, by))
    found = judge_odometry(shipped("differential_drive"), joints, pose).findings
    assert {f.kind for f in found} == {FindingKind.CLOCK_JUMP}
    assert len(found) == (2 if which == "both" else 1)
    assert f"jump by {by:+g} s" in found[0].text


@pytest.mark.parametrize("by", [2.0, -2.0])
def test_the_recorder_s_clock_tells_jumps(by):
    joints, pose = (replace(stream, received=stream.t + 0.01) for stream in
                    samples("differential_drive"))
    found = judge_odometry(shipped("differential_drive"), shifted(joints, by), pose).findings
    assert [f.kind for f in found] == [FindingKind.CLOCK_JUMP]


def test_a_message_that_waited_is_no_jump_of_the_clock():
    """A program stalls for 0.4 s; what it said last reaches the recorder when that ends."""
    joints, pose = samples("differential_drive")
    kept = np.flatnonzero((joints.t < 3.0) | (joints.t > 3.4))
    received = joints.t[kept] + 0.01
    received[np.flatnonzero(joints.t[kept] < 3.0)[-1]] += 0.35
    told = [replace(stream.take(kept), received=received) for stream in (joints, pose)]
    assert kinds("differential_drive", *told) == [FindingKind.MISSING] * 2


@pytest.mark.parametrize("epoch", [0.0, 1.7e9])
def test_a_busy_computer_is_no_jump_of_the_clock(epoch):
    """Messages of 0.2 s are lost and those before them wait: on the recorder's clock, stamps jump
    forward, but the wheels turned all the while. Times are told so that they can be found."""
    joints, pose = samples("differential_drive")
    kept = np.flatnonzero((joints.t < 3.0) | (joints.t > 3.2))
    t = joints.t[kept]
    received = t + 0.01 + np.where((t > 2.5) & (t < 3.1), 0.4, 0.0)
    told = [replace(stream.take(kept), t=t + epoch, received=received + epoch)
            for stream in (joints, pose)]
    found = judge_odometry(shipped("differential_drive"), *told).findings
    assert [one.kind for one in found] == [FindingKind.MISSING] * 2
    assert f" at {'1700000002.980' if epoch else '2.98'} s" in found[0].text


def test_messages_that_are_missing_late_or_repeated_are_named():
    joints, pose = samples("differential_drive")
    rng, n = np.random.default_rng(1), len(joints)
    few = np.sort(rng.choice(n, int(0.9 * n), replace=False))
    gap = np.flatnonzero((joints.t < 3.0) | (joints.t > 3.4))
    order = np.arange(n)
    order[100:104] = order[100:104][::-1]
    twice = np.sort(np.r_[np.arange(n), 50, 90])
    for rows, kind in ((few, FindingKind.MISSING), (gap, FindingKind.MISSING),
                       (order, FindingKind.UNORDERED), (rng.permutation(n), FindingKind.UNORDERED),
                       (twice, FindingKind.DUPLICATE)):
        assert kinds("differential_drive", joints.take(rows), pose.take(rows)) == [kind, kind]
    joints = replace(joints, velocity=joints.velocity.copy())
    joints.position[7] = joints.velocity[7] = np.nan
    assert kinds("differential_drive", joints, pose) == [FindingKind.NOT_FINITE,
                                                         FindingKind.MISSING]


def test_streams_that_do_not_belong_together_are_refused_with_the_reason():
    joints, pose = samples("differential_drive")
    vehicle = shipped("differential_drive")
    with pytest.raises(InputError, match="poses in common.*use_sim_time"):
        judge_odometry(vehicle, joints, replace(pose, t=pose.t + 1.7e9))
    wrong = replace(joints, names=("left_wheel", "right_wheel"))
    with pytest.raises(InputError, match="left_wheel=left_wheel_joint"):
        judge_odometry(vehicle, wrong, pose)
    with pytest.raises(InputError, match="does not follow from the joints left_wheel_joint: the "
                                         "log lacks right_wheel_joint"):
        judge_odometry(vehicle, joints.select(["left_wheel_joint"]), pose)
    still = replace(joints, position=np.zeros_like(joints.position))
    with pytest.raises(InputError, match="stands still"):
        judge_odometry(vehicle, still, move(pose, np.zeros((len(pose), 3))))


# -- noise -----------------------------------------------------------------------------------------
def errors_in_units(count: int, drift: float) -> np.ndarray:
    """(estimate - truth) / standard error of runs with noise on poses and encoders."""
    joints, pose = samples("differential_drive")
    rng, found = np.random.default_rng(3), []
    for _ in range(count):
        noise = rng.normal(size=joints.position.shape) * 1e-3
        noise += np.cumsum(rng.normal(size=noise.shape) * drift, 0)
        planar = pose.planar + rng.normal(size=(len(pose), 3)) * 2e-3
        report = judge_odometry(shipped("differential_drive"),
                                replace(joints, position=joints.position + noise),
                                move(pose, planar))
        assert report.findings == ()
        truth = np.array([name.startswith(("radius", "track", "wheelbase"))
                          for name in report.estimate.names])
        found.append((report.estimate.values - truth) / report.estimate.errors)
    return np.array(found)[:, np.isfinite(found[0])]


@pytest.mark.parametrize("count, drift", [
    (4, 0.0), pytest.param(200, 0.0, marks=pytest.mark.soak),
    pytest.param(200, 5e-4, marks=pytest.mark.soak)])
def test_standard_errors_cover_the_truth_and_nothing_is_found_in_noise(count, drift):
    off = np.abs(errors_in_units(count, drift))
    assert off.max() < 5
    if count > 100:       # 95 % is 2 standard errors; the larger of two kinds covers a bit more
        covered = (off < 1.96).mean(0)
        assert (covered > 0.92).all() and (off.std(0) > 0.3).all()


# -- files -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("ending", ["mcap", "csv"])
def test_a_run_comes_back_from_a_log_as_it_was(ending, tmp_path):
    pytest.importorskip("rosbags")
    vehicle = shipped("differential_drive")
    run = Simulator(vehicle, lambda t, state: [0.2, 0.3]).run(1.0, every=10)
    path = export_run(run, tmp_path / f"run.{ending}", forces=False)
    again = import_run(path, vehicle)
    for part in ("t", "q", "v", "xi", "u", "angles"):
        assert getattr(again, part) == pytest.approx(getattr(run, part), abs=1e-9)
    assert again.names == run.names and not again.kinematic
    loaded = Trajectory.load(again.save(tmp_path / "again.npz"))
    assert loaded.force("left_wheel_joint", "normal") == pytest.approx(
        run.force("left_wheel_joint", "normal"), rel=1e-9)


@pytest.fixture(scope="module")
def bags(tmp_path_factory):
    """The same run as a bag of ROS 1, as folders of rosbag2 in both storages, and as a table of
    x, y, yaw."""
    rosbags = pytest.importorskip("rosbags")
    assert rosbags is not None
    from rosbags.rosbag1 import Writer as Writer1
    from rosbags.rosbag2 import StoragePlugin, Writer
    from rosbags.typesys import Stores, get_typestore

    folder = tmp_path_factory.mktemp("bags")
    joints, pose = samples("differential_drive")
    for name, store in (("one.bag", Stores.ROS1_NOETIC), ("sqlite", Stores.ROS2_HUMBLE),
                        ("mcap", Stores.ROS2_HUMBLE)):
        types = get_typestore(store)
        T, one = types.types, name.endswith(".bag")
        writer = Writer1(folder / name) if one else Writer(
            folder / name, version=9, storage_plugin=getattr(StoragePlugin, {
                "sqlite": "SQLITE3", "mcap": "MCAP"}[name]))
        with writer:
            kinds_ = {JOINTS: "sensor_msgs/msg/JointState",
                      "/amcl_pose": "geometry_msgs/msg/PoseWithCovarianceStamped"}
            where = {topic: writer.add_connection(topic, kind, typestore=types)
                     for topic, kind in kinds_.items()}
            for k in range(0, len(joints), 2):
                stamp = T["builtin_interfaces/msg/Time"](
                    *divmod(round(joints.t[k] * 1e9) + 5 * 10 ** 9, 10 ** 9))
                head = {"seq": k} if one else {}
                head = T["std_msgs/msg/Header"](stamp=stamp, frame_id="map", **head)
                point = T["geometry_msgs/msg/Point"](*pose.position[k])
                turned = T["geometry_msgs/msg/Quaternion"](*pose.rotation[k])
                told = T["geometry_msgs/msg/Pose"](point, turned)
                messages = {
                    JOINTS: T[kinds_[JOINTS]](head, ["l", "right_wheel_joint"],
                                              joints.position[k], np.zeros(0), np.zeros(0)),
                    "/amcl_pose": T[kinds_["/amcl_pose"]](
                        head, T["geometry_msgs/msg/PoseWithCovariance"](told, np.zeros(36)))}
                for topic, message in messages.items():
                    data = (types.serialize_ros1 if one else types.serialize_cdr)(
                        message, kinds_[topic])
                    writer.write(where[topic], round(joints.t[k] * 1e9), data)
    with open(folder / "log.csv", "w") as file:
        file.write("time [s],x [m],y [m],yaw [rad],l.position,right_wheel_joint.position\n")
        for row in np.column_stack([pose.t, pose.planar, joints.position]):
            file.write(",".join(map(repr, row.tolist())) + "\n")
    return folder


@pytest.mark.parametrize("name", ["one.bag", "sqlite", "mcap", "log.csv"])
def test_bags_and_tables_are_read_and_judged(name, bags):
    result = command_line("odometry", bags / name, "--vehicle", "differential_drive", "--rename",
                          "l=left_wheel_joint", "--check", "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.output)["poses"]
    assert found["findings"] == [] and found["way"] > 1.0
    assert found["parameters"]["wheel_separation_multiplier"][0] == pytest.approx(1.0, abs=1e-4)
    run = import_run(bags / name, shipped("differential_drive"),
                     rename={"l": "left_wheel_joint"})
    assert run.kinematic and run.column("left_wheel_joint.velocity") == pytest.approx(
        np.gradient(run.column("left_wheel_joint.position"), run.t))


@pytest.mark.parametrize("words, code, said", [
    (("--pose", "/amcl"), 2, "near it: /amcl_pose"),
    (("--pose", JOINTS), 2, "has messages of sensor_msgs/msg/JointState"),
    (("--rename", "x=left_wheel_joint"), 2, "no joint 'x' to rename"),
    ((), 2, "the log lacks left_wheel_joint"),
    (("--rename", "l=right_wheel_joint"), 2, "right_wheel_joint"),
])
def test_what_cannot_be_read_is_named(words, code, said, bags):
    result = command_line("odometry", bags / "mcap", "--vehicle", "differential_drive", *words)
    assert result.exit_code == code and said in result.output


def by_publishers(joints, *columns, late=0.0):
    """The same joint states from a publisher for each of these columns, and one of an arm."""
    n, parts = len(joints), []
    for i, column in enumerate([*columns, []]):
        t = joints.t + i * late
        named = np.zeros((n, len(joints.names)), dtype=bool)
        named[:, column] = True
        at = np.column_stack([np.interp(t, joints.t, joints.position[:, k])
                              for k in range(len(joints.names))])
        position = np.where(named, at, np.nan)
        parts.append((t, position, named, np.full(n, i)))
    t, position, named, order = (np.concatenate(part) for part in zip(*parts))
    rows = np.lexsort((order, t))
    rows = rows[t[rows] <= joints.t[-1]]
    return JointSamples(joints.topic, t[rows], None, joints.names, position[rows],
                        *[np.full(position[rows].shape, np.nan)] * 2, named=named[rows])


@pytest.mark.parametrize("columns, late", [([[0, 1]], 0.003), ([[0], [1]], 0.0),
                                           ([[0], [1]], 0.007)])
def test_several_publishers_are_read_as_one(columns, late):
    """Messages of an arm between those of the wheels, and a publisher for each wheel, in step or
    not: nothing of that is a fault of the odometry."""
    joints, pose = samples("differential_drive")
    assert list(joints.names) == ["left_wheel_joint", "right_wheel_joint"]
    report = judge_odometry(shipped("differential_drive"), by_publishers(joints, *columns,
                                                                         late=late), pose)
    assert report.findings == ()
    assert report.parameters["wheel_separation_multiplier"][0] == pytest.approx(1.0, abs=2e-3)


def test_wheels_on_topics_of_their_own_are_read_together(tmp_path):
    """Each wheel has a topic: both are named, or the error says how."""
    pytest.importorskip("rosbags")
    from rosbags.rosbag2 import StoragePlugin, Writer
    from rosbags.typesys import Stores, get_typestore

    joints, pose = samples("differential_drive")
    types, kind = get_typestore(Stores.ROS2_HUMBLE), "sensor_msgs/msg/JointState"
    T, names = types.types, ("/left/joint_states", "/right/joint_states")
    with Writer(tmp_path / "bag", version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        where = [writer.add_connection(name, kind, typestore=types) for name in names]
        for k in range(0, len(joints), 2):
            stamp = T["builtin_interfaces/msg/Time"](*divmod(round(joints.t[k] * 1e9), 10 ** 9))
            head = T["std_msgs/msg/Header"](stamp=stamp, frame_id="")
            for i, name in enumerate(joints.names):
                told = T[kind](head, [name], joints.position[k, i:i + 1], np.zeros(0), np.zeros(0))
                writer.write(where[i], round(joints.t[k] * 1e9), types.serialize_cdr(told, kind))
    recording = read_recording(tmp_path / "bag")
    with pytest.raises(InputError, match="choose one with --joints .several"):
        recording.joints()
    with pytest.raises(InputError, match=f"{names[0]} and {names[0]} both contain the joint"):
        recording.joints(f"{names[0]},{names[0]}")
    report = judge_odometry(shipped("differential_drive"), recording.joints(",".join(names)), pose)
    assert report.findings == () and report.topics[0] == "/left/joint_states,/right/joint_states"


def test_publishers_at_different_times_are_refused():
    joints, pose = samples("differential_drive")
    apart = by_publishers(joints, [0], [1])
    later = replace(apart, t=np.where(apart.named[:, 1], apart.t + 100.0, apart.t))
    with pytest.raises(InputError, match="left_wheel_joint and right_wheel_joint in different"):
        judge_odometry(shipped("differential_drive"), later, pose)


def test_each_joint_is_proposed_to_be_renamed_once():
    joints, pose = samples("differential_drive")
    other = replace(joints, names=("wheel_l", "wheel_r"))
    with pytest.raises(InputError, match="wheel_l=left_wheel_joint, wheel_r=right_wheel_joint"):
        judge_odometry(shipped("differential_drive"), other, pose)


def test_files_that_are_no_logs_are_refused(tmp_path):
    for name, text in (("x.mcap", "no"), ("x.csv", "a,b\n1,x\n"), ("x.txt", "")):
        (tmp_path / name).write_text(text)
        with pytest.raises(InputError):
            read_recording(tmp_path / name).poses()
    with pytest.raises(InputError, match="no such file"):
        read_recording(tmp_path / "none.bag")


def test_the_commands_import_report_and_compare(bags, tmp_path):
    pytest.importorskip("matplotlib")
    out = tmp_path / "run.npz"
    result = command_line("import", bags / "log.csv", "--vehicle", "differential_drive",
                          "--rename", "l=left_wheel_joint", "-o", out)
    assert result.exit_code == 0 and "401 states" in result.output
    for words in (("report", out, "-o", tmp_path / "r.html"),
                  ("odometry", bags / "log.csv", "--vehicle", "differential_drive", "--rename",
                   "l=left_wheel_joint", "--plot", tmp_path / "o.pdf")):
        result = command_line(*words)
        assert result.exit_code == 0, result.output
    assert "nothing: the poses agree with ideal rolling" in result.output


def test_slip_and_a_wrong_odometry_are_told_apart_by_a_truth(tmp_path):
    """gz_ros2_control#595. The odometry follows from the wheels, which spun; the truth does not."""
    pytest.importorskip("rosbags")
    from rosbags.rosbag2 import StoragePlugin, Writer
    from rosbags.typesys import Stores, get_typestore

    joints, pose = samples("differential_drive")
    joints.position[:] += np.clip(joints.t - 3.0, 0.0, 1.0)[:, None]
    rolling = Rolling(shipped("differential_drive"), joints.names)
    odometry = move(pose, Replay(rolling, joints, joints.t).track(np.ones(2)).poses)
    types = get_typestore(Stores.ROS2_HUMBLE)
    T, kind = types.types, {JOINTS: "sensor_msgs/msg/JointState",
                            "/odom": "geometry_msgs/msg/PoseStamped",
                            "/truth": "geometry_msgs/msg/PoseStamped"}
    with Writer(tmp_path / "bag", version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        where = {topic: writer.add_connection(topic, name, typestore=types)
                 for topic, name in kind.items()}
        for k, now in enumerate(np.round(joints.t * 1e9).astype(int).tolist()):
            head = T["std_msgs/msg/Header"](
                T["builtin_interfaces/msg/Time"](*divmod(now, 10 ** 9)), "odom")
            messages = {JOINTS: T[kind[JOINTS]](head, list(joints.names), joints.position[k],
                                                np.zeros(0), np.zeros(0))}
            for topic, seen in (("/odom", odometry), ("/truth", pose)):
                messages[topic] = T[kind[topic]](head, T["geometry_msgs/msg/Pose"](
                    T["geometry_msgs/msg/Point"](*seen.position[k]),
                    T["geometry_msgs/msg/Quaternion"](*seen.rotation[k])))
            for topic, message in messages.items():
                writer.write(where[topic], now, types.serialize_cdr(message, kind[topic]))
    result = command_line("odometry", tmp_path / "bag", "--vehicle", "differential_drive",
                          "--truth", "/truth", "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.output)
    assert found["odometry"]["findings"] == []
    assert {f["kind"] for f in found["truth"]["findings"]} == {"slip"}
    assert found["answer"].startswith("the odometry is what its wheels say; the wheels did not "
                                      "roll (slip): that is the physics")


def find(*kinds):
    return [Finding(FindingKind(kind), "") for kind in kinds]


@pytest.mark.parametrize("odometry, truth, computed, moved", [
    ((), (), "is what its wheels say", "the robot moved as its wheels say"),
    (("missing",), ("clock jump",), "is what its wheels say", "moved as its wheels say"),
    (("twist", "radius"), (), "is not what its wheels say (twist)", "moved as its wheels"),
    (("separation",), ("separation",), "computes with another geometry", "by another geometry"),
    ((), ("separation",), "is what", "another geometry than the vehicle's file (separation)"),
    (("lateral velocity",), ("slip", "slip", "radius"), "say (lateral velocity)",
     "did not roll (slip): that is the physics, friction and load, and no odometry of wheels can "
     "know it, and the robot moved by another geometry"),
])
def test_the_odometry_and_the_physics_are_told_apart(odometry, truth, computed, moved):
    said = tell_apart(find(*odometry), find(*truth))
    first, _, second = said.partition("; ")
    assert computed in first and moved in second


def test_wheels_that_slip_all_the_time_are_no_noise():
    """Each window of a robot on ice is off another way: none is an exception, and a clock that
    seems late explains some of it."""
    joints, pose = samples("differential_drive")
    rng = np.random.default_rng(2)
    slid = np.interp(joints.t, np.arange(0.0, 9.0, 0.4), 0.6 * rng.normal(size=23).cumsum())
    joints.position[:] += slid[:, None]
    (found,) = judge_odometry(shipped("differential_drive"), joints,
                              move(pose, pose.planar)).findings
    assert found.kind is FindingKind.SLIP and "slip all along, or the poses" in found.text
    assert tell_apart([], [found]).endswith("no odometry of wheels can know it")


def test_a_radius_that_no_wheel_can_have_points_to_the_encoders():
    """husky#193: counts of an encoder of twice the resolution."""
    joints, pose = samples("differential_drive")
    joints.position[:] *= 2
    found = judge_odometry(shipped("differential_drive"), joints,
                           move(pose, pose.planar)).findings
    assert len(found) == 2 and all("encoders' resolution" in one.text for one in found)


def test_a_finding_is_exit_code_one_where_it_is_asked_for(tmp_path):
    joints, pose = samples("differential_drive")
    rows = np.column_stack([pose.t, pose.planar, 1.1 * joints.position])
    path = tmp_path / "log.csv"
    np.savetxt(path, rows, delimiter=",", comments="", header=",".join(
        ["t", "x", "y", "yaw", *(f"{name}.position" for name in joints.names)]))
    for words, code in (((), 0), (("--check",), 1)):
        result = command_line("odometry", path, "--vehicle", "differential_drive", *words)
        assert result.exit_code == code and "radius of 0.090909" in result.output
        assert "left_wheel_radius_multiplier: 0.90909" in result.output
