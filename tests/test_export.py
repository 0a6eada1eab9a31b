"""Runs for other programs, read back by readers that are not ours."""

from __future__ import annotations

import csv
import os
import resource
import sys

import numpy as np
import pinocchio as pin
import pytest
from support import command_line, mcap_messages, shipped

from nhmech import NhmechError, Simulator, Trajectory
from nhmech.errors import InputError
from nhmech.logs import Table, export_run, write_csv
from nhmech.logs.exporters import EXPORTERS
from nhmech.logs.table import select_rows
from nhmech.logs.template import Template
from nhmech.urdf.layout import Layout
from nhmech.urdf.text.source import read_source

pytest.importorskip("rosbags")
pyarrow = pytest.importorskip("pyarrow")

WALK = {"differential_drive": {"left_wheel_joint": 9.0, "right_wheel_joint": 14.0},
        "ackermann_car": {"forward_speed": 2.0}, "tricycle": {"forward_speed": 1.0},
        "sled": {"forward_speed": 1.0, "yaw_rate": 0.5}, "coin": {"spin_joint": 9.0}}


@pytest.fixture(scope="module")
def command():
    return lambda *words: command_line(*words)


@pytest.fixture(scope="module", params=WALK)
def exported(request, tmp_path_factory, command):
    """(vehicle, run, topic -> [(log time [ns], message)], channels) of a run that was exported
    by the command and read by `mcap`."""
    folder, vehicle = tmp_path_factory.mktemp(request.param), shipped(request.param)
    simulator = Simulator(vehicle, (lambda t, state: np.full(len(vehicle.driven), 0.3))
                          if vehicle.driven else None, dt=2e-3)
    simulator.reset(pose=(1.0, 2.0, 0.7), xi=WALK[request.param])
    run = simulator.run(1.0, every=5, save=folder / "run.npz")
    result = command("export", folder / "run.npz", "-o", folder / "run.mcap")
    assert result.exit_code == 0 and f"{len(run)} states of {len(run)}" in result.output
    return vehicle, run, *mcap_messages(folder / "run.mcap")


def seconds(stamp) -> float:
    return stamp.sec + stamp.nanosec * 1e-9


def pose(p, r) -> pin.SE3:
    return pin.XYZQUATToSE3(np.array([p.x, p.y, p.z, r.x, r.y, r.z, r.w]))


def vector(v) -> np.ndarray:
    return np.array([v.x, v.y, v.z])


# -- MCAP ------------------------------------------------------------------------------------------
def test_stamps_are_the_times_of_the_run(exported):
    _, run, messages, _ = exported
    for topic, told in messages.items():
        if topic in ("/robot_description", "/tf_static"):
            assert len(told) == 1 and told[0][0] == 0
            continue
        assert [log for log, _ in told] == [round(t * 1e9) for t in run.t], topic
        first = told[0][1].transforms if topic == "/tf" else [told[0][1]]
        if hasattr(first[0], "header"):
            stamps = [(m.transforms[-1] if topic == "/tf" else m).header.stamp for _, m in told]
            assert [seconds(stamp) for stamp in stamps] == pytest.approx(run.t, rel=0, abs=1e-9)


def test_odometry_is_pose_and_body_twist(exported):
    """REP-105's frames; the twist is in the child's, as central differences of the
    poses on SE(3) say, to second order."""
    vehicle, run, messages, _ = exported
    odometry = [m for _, m in messages["/odom"]]
    assert {(m.header.frame_id,
             m.child_frame_id) for m in odometry} == {("odom", vehicle.description.root)}
    poses = [pose(m.pose.pose.position, m.pose.pose.orientation) for m in odometry]
    for m, q, v in zip(odometry, run.q, run.v):
        assert np.array_equal(vector(m.pose.pose.position), q[:3])
        r = m.pose.pose.orientation
        assert r.x ** 2 + r.y ** 2 + r.z ** 2 + r.w ** 2 == pytest.approx(1.0, rel=0, abs=1e-15)
        R_WB = pin.Quaternion(q[3:7]).toRotationMatrix()
        assert pin.Quaternion(r.w, r.x, r.y,
                              r.z).toRotationMatrix() == pytest.approx(R_WB, rel=0, abs=1e-14)
        assert np.array_equal(vector(m.twist.twist.linear), v[:3]) and np.array_equal(
            vector(m.twist.twist.angular), v[3:6])
    for k in range(1, len(run) - 1, 9):
        h = run.t[k + 1] - run.t[k]
        back, on = (pin.log6(poses[k].actInv(poses[k - 1])).vector,
                    pin.log6(poses[k].actInv(poses[k + 1])).vector)
        twist = np.r_[vector(odometry[k].twist.twist.linear),
                      vector(odometry[k].twist.twist.angular)]
        assert (on - back) / (2 * h) == pytest.approx(
            twist, rel=0, abs=h**2 * 100 * max(1.0, np.abs(twist).max())
        )


def test_joint_states_are_the_run_s(exported):
    vehicle, run, messages, _ = exported
    for k, (_, m) in enumerate(messages["/joint_states"]):
        assert list(m.name) == list(vehicle.model.names)[2:]
        for name, position, rate, effort in zip(m.name, m.position, m.velocity, m.effort):
            part = "angles" if name in run.names["angles"] else "q"
            assert (position == getattr(run, part)[k, run.names[part].index(name)]
                    and rate == run.v[k, run.names["v"].index(name)])
            assert effort == (run.u[k,
                                    run.names["u"].index(name)] if name in run.names["u"] else 0.0)
    if vehicle.name == "differential_drive":
        assert max(messages["/joint_states"][-1][1].position) > 2 * np.pi, "turns are counted"


def test_transforms_compose_to_where_the_links_are(exported):
    """Against the layout of the URDF, which is plain NumPy and knows no Pinocchio."""
    vehicle, run, messages, _ = exported
    static = [t for t in messages["/tf_static"][0][1].transforms]
    for k in (0, len(run) // 2, len(run) - 1):
        edges = {}
        for t in [*static, *messages["/tf"][k][1].transforms]:
            assert t.child_frame_id not in edges, "a frame has one parent"
            r = t.transform.rotation
            assert np.linalg.norm([r.x, r.y, r.z, r.w]) == pytest.approx(1.0, rel=0, abs=1e-15)
            edges[t.child_frame_id] = t.header.frame_id, pose(t.transform.translation, r)

        def in_odom(frame):
            parent, X = edges[frame]
            return X if parent == "odom" else in_odom(parent) * X

        joints = messages["/joint_states"][k][1]
        layout = Layout(read_source(vehicle.description.xml),
                        dict(zip(joints.name, joints.position)))
        base = pin.XYZQUATToSE3(run.q[k, :7]).homogeneous
        for link, X_RL in layout.X_RL.items():
            assert in_odom(link).homogeneous == pytest.approx(base @ X_RL, rel=0, abs=1e-12), link
        contacts = {frame.removesuffix("_contact"): in_odom(frame) for frame in edges
                    if frame.endswith("_contact")}
        for name, point in zip(vehicle.contact_names, vehicle.contact_points(run.q[k], run.t[k])):
            assert contacts[name].translation == pytest.approx(point, rel=0, abs=1e-12)
            assert contacts[name].rotation[:, 2] == pytest.approx([0, 0, 1], rel=0, abs=1e-12)
        assert set(edges) == {*layout.X_RL,
                              *(f"{name}_contact" for name in contacts)} and len(contacts) == len(
            vehicle.contacts)


def test_the_description_is_latched(exported):
    vehicle, _, messages, channels = exported
    assert messages["/robot_description"][0][1].data == vehicle.description.xml
    for topic, channel in channels.items():
        durability = "transient_local" if topic in ("/robot_description",
                                                    "/tf_static") else "volatile"
        assert f"durability: {durability}" in channel.metadata["offered_qos_profiles"]


def test_wrenches_are_the_ground_s_forces(exported):
    """Turned by their own frames and summed they are d(m v_com)/dt - m g;
    here the vertical part of it, and the contacts' sum."""
    vehicle, run, messages, channels = exported
    assert {topic for topic in channels if topic.startswith("/wheels/")} == {
        f"/wheels/{name}/wrench" for name in vehicle.contact_names}
    for k in (0, len(run) // 2, len(run) - 1):
        frames = {t.child_frame_id: pose(t.transform.translation, t.transform.rotation)
                  for t in messages["/tf"][k][1].transforms}
        total = np.zeros(3)
        for name in vehicle.contact_names:
            m = messages[f"/wheels/{name}/wrench"][k][1]
            assert m.header.frame_id == f"{name}_contact" and np.array_equal(
                vector(m.wrench.torque), np.zeros(3)
            )
            force = vector(m.wrench.force)
            assert frames[m.header.frame_id].rotation @ force == pytest.approx(
                run.reactions[k].world[name], rel=0, abs=1e-10)
            assert force[2] == pytest.approx(run.reactions[k].components[name].get("normal", 0.0),
                                             rel=0, abs=1e-10)
            total += frames[m.header.frame_id].rotation @ force
        # its height changes as it leans
        if vehicle.name != "coin":
            mass = sum(inertia.mass for inertia in vehicle.model.inertias)
            assert total[2] == pytest.approx(mass * 9.81, rel=1e-9)


def test_a_kinematic_run_and_its_twist(tmp_path):
    """No forces are told where there are none; a twist is told where it is given."""
    from nhmech.logs import write_mcap

    simulator = Simulator(shipped("differential_drive"), lambda t, s: np.array([4.0, 6.0]),
                          mode="kinematic", dt=1e-2)
    simulator.reset()
    run = simulator.run(0.1)
    twist = np.column_stack([run.t, 2 * run.t, 3 * run.t])
    messages, _ = mcap_messages(write_mcap(run, tmp_path / "run.mcap", twist=twist))
    assert not [topic for topic in messages if topic.startswith("/wheels")]
    assert all(len(m.effort) == 0 for _, m in messages["/joint_states"])
    told = [[m.linear.x, m.linear.y, m.angular.z] for _, m in messages["/cmd_vel"]]
    assert np.array_equal(told, twist)
    with pytest.raises(NhmechError, match=r"twist has shape \(3,\), expected \(11, 3\)"):
        write_mcap(run, tmp_path / "run.mcap", twist=np.zeros(3))


# -- tables ----------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def pushed(tmp_path_factory):
    """A run with an external wrench, and its folder."""
    folder = tmp_path_factory.mktemp("pushed")
    simulator = Simulator(shipped("differential_drive"), lambda t, s: np.array([0.1, 0.3]), dt=1e-3,
                          wrench={"base_link": np.array([1.0, 0, 0, 0, 0, 0.5])})
    simulator.reset(xi={"forward_speed": 0.3})
    return simulator.run(0.2, save=folder / "run.npz"), folder


def table_of(run) -> dict[str, np.ndarray]:
    """What should be in it, put together another way."""
    heading = [np.arctan2(T[1, 0], T[0, 0]) for T in run.T_WB]
    wanted = {"t": run.t, "energy": run.energy, "yaw": np.unwrap(heading)}
    for prefix, part in (("q", "q"), ("v", "v"), ("angle", "angles"), ("u", "u")):
        for i, name in enumerate(run.names[part]):
            wanted[f"{prefix}.{name}"] = getattr(run, part)[:, i]
    for contact, held in run.reactions[0].components.items():
        for direction in held:
            wanted[f"force.{contact}.{direction}"] = np.array(
                [r.components[contact][direction] for r in run.reactions]
            )
    return wanted


def test_csv_brings_every_number_back(pushed, command):
    run, folder = pushed
    assert command("export", folder / "run.npz", "-o", folder / "run.csv").exit_code == 0
    with open(folder / "run.csv", newline="") as file:
        names, *lines = csv.reader(file)
    wanted = table_of(run)
    assert {"t [s]", "q.x [m]", "q.qw", "yaw [rad]", "v.yaw_rate [rad/s]", "energy [J]",
            "u.base_link.tz [N m]", "force.left_wheel_joint.normal [N]"} <= set(names)
    names = [name.partition(" [")[0] for name in names]
    assert len(names) == len(set(names)) and set(names) == set(wanted) and len(lines) == len(run)
    for name, column in zip(names, np.array(lines, dtype=float).T):
        assert np.array_equal(column, wanted[name]), name


def test_parquet_brings_every_number_back_with_units(pushed, command):
    import pyarrow.parquet

    run, folder = pushed
    assert command("export", folder / "run.npz", "-o", folder / "run.parquet").exit_code == 0
    table, wanted = pyarrow.parquet.read_table(folder / "run.parquet"), table_of(run)
    assert set(table.column_names) == set(wanted)
    for name in table.column_names:
        assert np.array_equal(table[name].to_numpy(), wanted[name]), name
    units = {field.name: field.metadata[b"unit"].decode() for field in table.schema}
    expected = {
        "t": "s", "q.x": "m", "q.qw": "", "v.forward_speed": "m/s", "v.left_wheel_joint": "rad/s",
        "angle.left_wheel_joint": "rad", "u.left_wheel_joint": "N m", "u.base_link.fx": "N",
        "u.base_link.tz": "N m",
        "energy": "J", "force.left_wheel_joint.normal": "N"}
    assert {name: units[name] for name in expected} == expected


@pytest.mark.parametrize("suffix", EXPORTERS)
def test_every_exporter_brings_a_run_back(suffix, pushed, tmp_path):
    """Names, units and values of the table, in every format; a rate leaves rows out, and what has
    no forces gets none."""
    run, _ = pushed
    seen = []
    file = export_run(run, tmp_path / f"run{suffix}", rate=100, progress=seen.append)
    assert file.is_file() and seen and seen == sorted(seen)
    found, table = EXPORTERS[suffix].read(file), Table(run, rate=100)
    wanted = dict(zip(table.columns, np.vstack(list(table.blocks())).T))
    shared = set(found) & set(wanted)
    assert {"t", "q.x", "q.qw", "v.yaw_rate", "v.left_wheel_joint", "u.left_wheel_joint",
            "force.left_wheel_joint.normal"} <= shared
    for name in shared:
        values, unit = found[name]
        assert unit == (table.columns[name] if EXPORTERS[suffix].keeps_units else None)
        assert values == pytest.approx(wanted[name], rel=1e-12, abs=1e-9), name
    bare = EXPORTERS[suffix].read(export_run(run, tmp_path / f"bare{suffix}", forces=False))
    assert len(bare["t"].values) == len(run)
    assert not [name for name in bare if name.startswith("force.")]


def test_an_unknown_format_is_refused(pushed, tmp_path):
    with pytest.raises(InputError, match="format '.txt' does not exist; there are .csv"):
        export_run(pushed[0], tmp_path / "run.txt")


def test_long_runs_go_through_in_blocks(pushed, monkeypatch):
    run, _ = pushed
    whole = np.vstack(list(Table(run, forces=False).blocks()))
    monkeypatch.setattr("nhmech.logs.table.BLOCK", 7)
    blocks = list(Table(run, forces=False).blocks())
    assert max(map(len, blocks)) == 7 and np.array_equal(np.vstack(blocks), whole)


def test_a_rate_picks_the_first_state_of_each_period():
    t = np.array([0.0, 0.01, 0.02, 0.05, 0.1, 0.11, 0.19, 0.2, 0.21])
    assert select_rows(t, 10.0).tolist() == [0, 4, 7, 8]
    assert select_rows(t, None).tolist() == select_rows(t, 1e6).tolist() == list(range(9))
    assert select_rows(t[:1], 5.0).tolist() == [0]
    with pytest.raises(InputError, match="rate = 0 must be"):
        select_rows(t, 0)


def test_systems_without_wheels(tmp_path, command, monkeypatch):
    """A textbook system is a table, and no robot in ROS."""
    monkeypatch.chdir(tmp_path)
    assert command("systems", "run", "falling_disc", "--duration", 0.1, "--save",
                   "disc.npz").exit_code == 0
    assert command("export", "disc.npz", "-o", "disc.csv", "--rate", 20).exit_code == 0
    names, first = (tmp_path / "disc.csv").read_text().splitlines()[:2]
    assert names.split(",")[:4] == ["t [s]", "q.x [m]", "q.y [m]",
                                    "q.yaw"] and "energy" in names
    assert not [name for name in names.split(",") if name.startswith("force")]
    assert [float(number) for number in first.split(",")][1:6] == list(
        Trajectory.load("disc.npz").q[0]
    )
    result = command("export", "disc.npz", "-o", "disc.mcap")
    assert (result.exit_code == 2 and "falling_disc" in result.stderr
            and not (tmp_path / "disc.mcap").exists())


@pytest.mark.parametrize("out, words", [("run.txt", "must end in one of .csv, .parquet, .mcap"),
                                        ("no/run.csv", "does not exist")])
def test_outputs_that_cannot_be(out, words, pushed, command):
    result = command("export", pushed[1] / "run.npz", "-o", out)
    assert result.exit_code == 2 and words in " ".join(result.stderr.split())


@pytest.mark.parametrize("suffix", [suffix.removeprefix(".") for suffix in EXPORTERS])
def test_a_full_disk_leaves_the_old_file(suffix, pushed, command, tmp_path, monkeypatch):
    run, folder = pushed
    (tmp_path / f"out.{suffix}").write_text("old")
    # a module that is compiled meanwhile would be kept, cut off
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5_000, limits[1]))
    try:
        result = command("export", folder / "run.npz", "-o", tmp_path / f"out.{suffix}",
                         "--no-forces")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert result.exit_code == 2 and f"out.{suffix} cannot be written" in result.stderr
    assert (os.listdir(tmp_path) == [f"out.{suffix}"]
            and (tmp_path / f"out.{suffix}").read_text() == "old")


def test_what_was_not_installed_is_named(pushed, monkeypatch, tmp_path, command):
    run, folder = pushed
    for module, package, out in (("rosbags.rosbag2", "rosbags", "run.mcap"),
                                 ("pyarrow", "pyarrow", "run.parquet")):
        monkeypatch.setitem(__import__("sys").modules, module, None)
        result = command("export", folder / "run.npz", "-o", tmp_path / out)
        assert result.exit_code == 2 and f"pip install {package}" in result.stderr


@pytest.mark.parametrize("out, forces",
                         [("run.mcap", True), ("run.mcap", False), ("run.csv", True)])
def test_the_vehicle_is_made_once(out, forces, pushed, command, tmp_path, monkeypatch):
    """For messages, energies and forces together."""
    from nhmech.vehicle import record

    made, restore = [], record.restore
    monkeypatch.setattr(record, "restore", lambda source: made.append(restore(source)) or made[-1])
    assert command("export", pushed[1] / "run.npz", "-o", tmp_path / out,
                   *([] if forces else ["--no-forces"])).exit_code == 0
    assert len(made) == 1


def test_another_robot_than_the_run_s_is_refused(pushed, command, tmp_path):
    result = command("export", pushed[1] / "run.npz", "-o", tmp_path / "run.csv", "--robot",
                     "tricycle")
    assert result.exit_code == 2 and ("not those of 'tricycle'. Leave --robot out"
                                      in result.stderr)


def test_a_name_with_a_comma_is_one_column(tmp_path):
    one, none = np.zeros((2, 1)), np.zeros((2, 0))
    names = {"q": ("wheel, left",), "v": ("rate",), "xi": ("rate",), "u": (), "angles": ()}
    run = Trajectory(np.arange(2.0), one, one, one, none, none, "duration", names)
    with open(write_csv(run, tmp_path / "run.csv"), newline="") as file:
        assert list(csv.reader(file)) == [["t [s]", "q.wheel, left", "v.rate"],
                                          ["0.0", "0.0", "0.0"],
                                          ["1.0", "0.0", "0.0"]]


def test_numbers_written_into_a_message_are_those_serialised():
    """Bytes of every message of a template against the same message by rosbags."""
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_HUMBLE)
    kinds = {name.rpartition("/")[2]: kind for name, kind in store.types.items()}

    def build(seconds, rest, x):
        header = kinds["Header"](kinds["Time"](seconds, rest), "a frame")
        return kinds["JointState"](header, ["one", "three"], x[:2], x[2:], np.zeros(0))

    def serialise(message):
        return store.serialize_cdr(message, "sensor_msgs/msg/JointState")

    stamps = np.array([0, 5, 1_999_999_999, 2_000_000_000, 2_000_000_000_000_000_123])
    numbers = np.random.default_rng(0).normal(size=(5, 4))
    numbers[1] = 0.0, -0.0, np.nan, np.inf
    filled = Template(serialise, build, 4).fill(stamps, numbers)
    for found, stamp, x in zip(filled, stamps, numbers):
        assert bytes(found) == bytes(serialise(build(*divmod(int(stamp), 10 ** 9), x)))
