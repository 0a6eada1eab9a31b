"""The node without its transport, with the message classes of rosbags: what every skin sends and
takes. All messages must serialise, which checks each field's type."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from support import VARIED, shipped

import nhmech
from nhmech.errors import OutputError
from nhmech.logs.messages import Messages
from nhmech.ros import Node, Settings

typesys = pytest.importorskip("rosbags.typesys")
STORE = typesys.get_typestore(typesys.Stores.ROS2_HUMBLE)
TICK = 0.01


def make(name):
    return STORE.types[name]


def node_of(name, said=None, **parameters):
    return Node(shipped(name), Settings.read(parameters), Messages(make, np.array),
                lambda stamp: stamp.sec + 1e-9 * stamp.nanosec,
                print if said is None else said.append)


def twist(x=0.0, y=0.0, yaw=0.0):
    vector = make("geometry_msgs/msg/Vector3")
    return make("geometry_msgs/msg/Twist")(vector(x, y, 0.0), vector(0.0, 0.0, yaw))


def stamped(t, message):
    stamp = make("builtin_interfaces/msg/Time")(*divmod(round(t * 1e9), 10 ** 9))
    return make("geometry_msgs/msg/TwistStamped")(make("std_msgs/msg/Header")(stamp, ""), message)


def run(node, ticks, message=None, start=0):
    """Ticks with a command before each; topic -> all of its messages."""
    found = {}
    for k in range(start, start + ticks):
        if message is not None:
            node.inputs["cmd_vel"].take(message, TICK * k)
        for topic, sent in node.tick(TICK * k):
            found.setdefault(topic, []).append(sent)
            STORE.serialize_cdr(sent, node.outputs[topic])
    return found


EVERYTHING = {"publish_clock": True, "publish_map_odom_tf": True, "publish_contact_tf": True,
              "publish_link_tf": True, "publish_limited_velocity": True, "ground_truth": True}


@pytest.mark.parametrize("name", VARIED)
def test_every_vehicle_is_driven_and_read(name):
    """Messages of all topics serialise; frames hang together."""
    said = []
    node = node_of(name, said, **EVERYTHING)
    found = run(node, 12, twist(0.2))
    coasts = name in ("ball", "bicycle", "coin", "disc", "sled")
    assert len(said) == coasts and all("can only coast" in line for line in said)
    assert (abs(node.bridge.odometry.twist) > 1e-3).any()
    assert found.keys() == node.outputs.keys() - {"robot_description"}
    edges = {edge.child_frame_id: edge.header.frame_id for edge in found["/tf"][-1].transforms}
    for child in edges:
        while child in edges:
            child = edges[child]
        assert child == "map"
    assert STORE.serialize_cdr(node.latched["robot_description"], "std_msgs/msg/String")


def test_odometry_and_frame_agree():
    node = node_of("differential_drive", odom_frame_id="o", tf_frame_prefix="/one/",
                   base_frame_id="base_footprint",
                   pose_covariance_diagonal=[0.1, 0.2, 0.3, 0.4, 0.5, 0.6],
                   twist_covariance_diagonal=[1, 2, 3, 4, 5, 6])
    found = run(node, 60, twist(0.4, 0.0, 0.3))
    odometry, frame = found["odom"][-1], found["/tf"][-1].transforms[0]
    assert odometry.header == frame.header and odometry.header.frame_id == "one/o"
    assert odometry.child_frame_id == frame.child_frame_id == "one/base_footprint"
    place, moved = odometry.pose.pose.position, frame.transform.translation
    assert (place.x, place.y, place.z) == (moved.x, moved.y, 0.0) == (moved.x, moved.y, moved.z)
    assert np.diag(odometry.pose.covariance.reshape(6, 6)).tolist() == pytest.approx(
        [0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    assert odometry.twist.covariance.sum() == 21
    assert found["/tf"][-1].transforms[1].child_frame_id == "one/base_link"


@pytest.mark.parametrize("prefix, name, frame", [
    ("", "/left/nhmech", "odom"), ("~", "/left/nhmech", "left/odom"), ("~", "/nhmech", "odom"),
    ("/robot1", "/ns/n", "robot1/odom"), ("robot2/", "/ns/n", "robot2/odom"),
    ("/", "/ns/n", "odom"), ("~/", "/ns/n", "ns/odom"), ("~/robot", "/a/ns/n", "a/ns/robot/odom"),
])
def test_prefixes_are_those_of_the_controller(prefix, name, frame):
    """As the tests of ros2_control's `resolve_tf_prefix` have it; statuses have the node's name."""
    node = Node(shipped("differential_drive"), Settings(tf_frame_prefix=prefix, ground_truth=True),
                Messages(make, np.array), float, name=name)
    found = run(node, 2)
    assert found["odom"][-1].header.frame_id == frame
    assert found["ground_truth"][-1].header.frame_id == "map"
    status = found["/diagnostics"][0].status[0]
    assert (status.name, status.hardware_id) == (f"{name[1:]}: simulation", "differential_drive")


def test_joints_that_are_held_have_a_state():
    """A robot_state_publisher waits for every joint of the file."""
    text = nhmech.urdf_path("differential_drive").read_text()
    arm = ('<link name="arm"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" '
           'ixz="0" iyz="0"/></inertial></link><joint name="arm_joint" type="revolute">'
           '<parent link="base_link"/><child link="arm"/><axis xyz="0 0 1"/>'
           '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>')
    vehicle = nhmech.load(text.replace("</robot>", arm), locked={"arm_joint": 0.3})
    node = Node(vehicle, Settings(), Messages(make, np.array), float)
    state = run(node, 3)["joint_states"][-1]
    i = state.name.index("arm_joint")
    assert (state.position[i], state.velocity[i]) == (0.3, 0.0)
    assert len(state.effort) == len(state.name) == len(set(state.name)) == 3


def test_topics_are_those_that_are_asked_for():
    plain = node_of("differential_drive")
    assert plain.outputs.keys() == {
        "odom", "joint_states", "/tf", "/diagnostics", "robot_description",
        "wheels/left_wheel_joint/wrench", "wheels/right_wheel_joint/wrench",
        "wheels/caster_link/wrench"}
    bare = node_of("differential_drive", enable_odom_tf=False, publish_robot_description=False)
    assert not {"/tf", "robot_description"} & bare.outputs.keys() and not bare.latched
    (edge,) = run(plain, 2)["/tf"][-1].transforms
    assert (edge.header.frame_id, edge.child_frame_id) == ("odom", "base_link")


def test_messages_come_at_their_rates():
    found = run(node_of("differential_drive"), 301)
    assert len(found["odom"]) == 301 and len(found["/diagnostics"]) == 4
    stamps = [m.header.stamp.sec + 1e-9 * m.header.stamp.nanosec for m in found["odom"]]
    assert np.diff(stamps) == pytest.approx(TICK, abs=1e-9)


def test_a_late_tick_makes_up_for_those_left_out():
    """A busy computer leaves no holes in odometry; a message is early by a quarter period at
    most."""
    plain, late = node_of("differential_drive"), node_of("differential_drive")
    whole = run(plain, 41, twist(0.4))["odom"]
    found = run(late, 11, twist(0.4))
    for now in (0.178, 0.179, 0.1995, 0.2049, 0.4):
        found["odom"] += [m for topic, m in late.tick(now) if topic == "odom"]
    stamps, expected = ([m.header.stamp.nanosec for m in ms] for ms in (found["odom"], whole))
    assert stamps == pytest.approx(expected, abs=2.5e6) and stamps[-1] == 400_000_000


@pytest.mark.parametrize("rate, expected", [(100.0, 8), (20.0, 1), (1.0, 0)])
def test_messages_come_when_they_are_due(rate, expected):
    node = node_of("differential_drive", publish_rate=rate)
    node.tick(0.0)
    assert sum(topic == "odom" for topic, _ in node.tick(0.08)) == expected


def test_a_slow_rate_is_not_late():
    said = []
    node = node_of("differential_drive", said, publish_rate=1.0)
    for k in range(4):
        node.tick(float(k))
    assert node.bridge.simulator.t == pytest.approx(3.0) and not said


def test_only_the_clock_goes_on_in_a_pause():
    node = node_of("differential_drive", publish_clock=True)
    run(node, 5)
    answer = SimpleNamespace(success=None, message="")
    node.services["~/pause"].answer(SimpleNamespace(data=True), answer)
    assert answer.success and answer.message == "paused"
    assert run(node, 3, start=5).keys() == {"/clock"}
    node.services["~/pause"].answer(SimpleNamespace(data=False), answer)
    assert "odom" in run(node, 3, start=8)


def test_stamped_commands(tmp_path):
    said = []
    node = node_of("differential_drive", said, enable_stamped_cmd_vel=True,
                   publish_limited_velocity=True, **{"linear.x.max_velocity": 0.3})
    cmd_vel = node.inputs["cmd_vel"]
    assert cmd_vel.kind == node.outputs["cmd_vel_out"] == "geometry_msgs/msg/TwistStamped"
    run(node, 10)
    cmd_vel.take(stamped(0.01, twist(0.5)), 0.7)
    assert "its stamp is 0.69 s old" in said[0]
    cmd_vel.take(stamped(0.0, twist(0.5)), 0.7)               # no stamp at all
    sent = run(node, 12, start=10)["cmd_vel_out"][-1]
    assert sent.twist.linear.x == 0.3 and sent.header.frame_id == "base_link"


def pose(x, y, yaw, frame="map", length=1.0):
    kind = "geometry_msgs/msg/"
    whole = make(kind + "Pose")(make(kind + "Point")(x, y, 0.0), make(kind + "Quaternion")(
        0.0, 0.0, length * math.sin(yaw / 2), length * math.cos(yaw / 2)))
    stamp = make("builtin_interfaces/msg/Time")(0, 0)
    return make(kind + "PoseWithCovarianceStamped")(
        make("std_msgs/msg/Header")(stamp, frame),
        make(kind + "PoseWithCovariance")(whole, np.zeros(36)))


def test_an_initial_pose_is_taken_or_refused():
    said = []
    node = node_of("differential_drive", said, tf_frame_prefix="one")
    take = node.inputs["initialpose"].take
    take(pose(1.0, 2.0, 0.5, "one/odom"), 0.0)
    place = run(node, 2)["odom"][-1].pose.pose.position
    assert (place.x, place.y) == pytest.approx((1.0, 2.0)) and not said
    for bad in (pose(3.0, 0.0, 0.0, length=0.0), pose(math.nan, 0.0, 0.0), pose(3, 0, 0, "moon")):
        take(bad, 0.0)
    place = run(node, 2, start=2)["odom"][-1].pose.pose.position
    assert (place.x, place.y) == pytest.approx((1.0, 2.0)) and "refused" in said[0]


def test_an_initial_pose_in_the_odometry_of_another_robot_is_refused():
    """Where frames have a prefix, the name without it is somebody else's."""
    said = []
    node = node_of("differential_drive", said, tf_frame_prefix="one")
    node.inputs["initialpose"].take(pose(1.0, 2.0, 0.5, "odom"), 0.0)
    assert "its frame is 'odom', not 'map' or 'one/odom'" in said[0]
    assert np.allclose(node.bridge.reading.base.translation[:2], 0.0)


def test_services():
    node = node_of("differential_drive")
    run(node, 60, twist(0.4))
    answer = SimpleNamespace(success=None, message="")
    told = node.services["~/set_odometry"]
    told.answer(SimpleNamespace(x=5.0, y=6.0, z=0.0, roll=0.0, pitch=0.0, yaw=0.5), answer)
    place = node.bridge.odometry.base.translation
    assert answer.success and place[:2] == pytest.approx([5.0, 6.0])
    told.answer(SimpleNamespace(x=math.inf, y=0.0, z=0.0, roll=0.0, pitch=0.0, yaw=0.0), answer)
    assert not answer.success and "not finite" in answer.message
    node.services["~/reset"].answer(SimpleNamespace(), SimpleNamespace())
    assert node.bridge.odometry.base.translation[:2] == pytest.approx([0, 0])


def test_commands_that_are_followed_are_logged(tmp_path):
    """A run of the log is the motion of the node."""
    log = tmp_path / "commands.csv"
    node = node_of("ackermann_car", command_log=str(log), **{"linear.x.max_acceleration": 0.5})
    place = run(node, 100, twist(0.4, 0.0, 0.2))["odom"][-1].pose.pose.position
    rows = np.loadtxt(log, delimiter=",", skiprows=1)
    vehicle = shipped("ackermann_car")

    def logged(t, state):
        return rows[np.searchsorted(rows[:, 0], t + 1e-6) - 1, 1:]

    from nhmech.control import WheelServo
    simulator = nhmech.Simulator(vehicle, WheelServo(vehicle, logged), control_period=TICK)
    simulator.reset()
    final = simulator.run(node.bridge.simulator.t).q[-1]
    assert (place.x, place.y, place.z) == pytest.approx(final[:3], abs=1e-9)


def test_a_log_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(OutputError, match="command_log: .*nowhere"):
        node_of("differential_drive", command_log=str(tmp_path / "nowhere" / "log.csv"))


def test_joint_commands_replace_twists():
    node = node_of("differential_drive", mode="joints")
    assert node.inputs.keys() == {"joint_commands", "initialpose"}
    header = make("std_msgs/msg/Header")(make("builtin_interfaces/msg/Time")(0, 0), "")
    state = make("sensor_msgs/msg/JointState")
    node.inputs["joint_commands"].take(
        state(header, ["left_wheel_joint", "right_wheel_joint"], np.array([]),
              np.array([2.0, 2.0]), np.array([])), 0.0)
    sent = run(node, 60)
    assert sent["odom"][-1].twist.twist.linear.x > 0.1
