"""`nhmech dds` for real: another process that speaks DDS drives and reads; and the bytes of every
message are those of rosbags."""

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from support import at_length, shipped

from nhmech.errors import InputError
from nhmech.logs.messages import Messages
from nhmech.ros import Node, Settings
from nhmech.ros.dds import DdsEndpoint, DdsTypes, read_domain
from nhmech.ros.ros2 import read_stamp

pytest.importorskip("cyclonedds.core")
typesys = pytest.importorskip("rosbags.typesys")

ROOT = Path(__file__).parents[1]
STORE = typesys.get_typestore(typesys.Stores.ROS2_JAZZY)
TYPES = DdsTypes(STORE)
EVERYTHING = {"publish_clock": True, "ground_truth": True, "publish_limited_velocity": True,
              "enable_stamped_cmd_vel": True, "publish_link_tf": True}
# of this machine alone, without multicast
LOOPBACK = """<CycloneDDS><Domain><General><Interfaces><NetworkInterface name="lo"/></Interfaces>
<AllowMulticast>false</AllowMulticast></General><Discovery><Peers><Peer address="localhost"/>
</Peers><ParticipantIndex>auto</ParticipantIndex></Discovery></Domain></CycloneDDS>"""


@pytest.mark.parametrize("name", ["differential_drive", "tricycle", *at_length("swerve")])
def test_bytes_are_those_of_rosbags(name):
    """Both libraries are given the same numbers; they share no code."""
    nodes = [Node(shipped(name), Settings(**EVERYTHING), messages, read_stamp)
             for messages in (Messages(TYPES.find), Messages(STORE.types.__getitem__, np.array))]
    seen = set()
    for k in range(3):
        for (topic, ours), (_, theirs) in zip(*(node.tick(0.01 * k) for node in nodes)):
            kind = nodes[0].outputs[topic]
            assert ours.serialize() == bytes(STORE.serialize_cdr(theirs, kind)), kind
            seen.add(kind)
    for topic, message in nodes[0].latched.items():
        kind = nodes[0].outputs[topic]
        assert message.serialize() == bytes(STORE.serialize_cdr(nodes[1].latched[topic], kind))
        seen.add(kind)
    assert seen == set(nodes[0].outputs.values())
    for one in nodes[0].inputs.values():
        empty = default(one.kind)
        theirs = STORE.deserialize_cdr(empty.serialize(), one.kind)
        assert bytes(STORE.serialize_cdr(theirs, one.kind)) == empty.serialize()


def default(name):
    """A message with nothing in it."""
    from rosbags.interfaces import Nodetype

    values = {}
    for field, (node, inner) in STORE.fielddefs[name][1]:
        if node == Nodetype.NAME:
            values[field] = default(inner)
        elif node == Nodetype.BASE:
            values[field] = "" if inner[0] == "string" else 0
        else:
            values[field] = [0.0] * (inner[1] if node == Nodetype.ARRAY else 0)
    return TYPES.find(name)(**values)


@pytest.fixture
def domain(monkeypatch):
    monkeypatch.setenv("CYCLONEDDS_URI", LOOPBACK)
    number = 100 + os.getpid() % 100
    monkeypatch.setenv("ROS_DOMAIN_ID", str(number))
    return number


def test_two_processes_drive_and_read(domain):
    """The command, and a client here; what the endpoints tell of themselves is as ROS 2 has it."""
    from cyclonedds.builtin import BuiltinDataReader, BuiltinTopicDcpsPublication
    from cyclonedds.domain import DomainParticipant
    from cyclonedds.pub import DataWriter
    from cyclonedds.qos import Policy, Qos
    from cyclonedds.sub import DataReader
    from cyclonedds.topic import Topic
    from cyclonedds.util import duration

    node = subprocess.Popen([sys.executable, "-m", "nhmech", "dds", "mecanum"], cwd=ROOT,
                            stdout=subprocess.PIPE, text=True)
    try:
        here = DomainParticipant(domain)
        reliable = Qos(Policy.Reliability.Reliable(duration(seconds=1)),
                       Policy.History.KeepLast(10))
        twist = TYPES.find("geometry_msgs/msg/Twist")
        vector = TYPES.find("geometry_msgs/msg/Vector3")
        cmd_vel = DataWriter(here, Topic(here, "rt/cmd_vel", twist), qos=reliable)
        odom = DataReader(here, Topic(here, "rt/odom", TYPES.find("nav_msgs/msg/Odometry")),
                          qos=reliable)
        kept = Qos(Policy.Reliability.Reliable(duration(seconds=1)),
                   Policy.Durability.TransientLocal)
        text = DataReader(here, Topic(here, "rt/robot_description",
                                      TYPES.find("std_msgs/msg/String")), qos=kept)
        endpoints = BuiltinDataReader(here, BuiltinTopicDcpsPublication)
        command = twist(linear=vector(x=0.2, y=0.3, z=0.0), angular=vector(x=0.0, y=0.0, z=0.0))
        found, described, end = [], [], time.monotonic() + 120
        while time.monotonic() < end and not (
                described and found and found[-1].twist.twist.linear.y > 0.28):
            cmd_vel.write(command)
            time.sleep(0.05)
            found += odom.take(N=100)
            described += text.take(N=1)
        assert found[-1].twist.twist.linear.y == pytest.approx(0.3, abs=0.03)
        assert found[-1].header.frame_id == "odom" and "<robot" in described[0].data
        told = {one.topic_name: (one.type_name, one.qos[Policy.Userdata].data)
                for one in endpoints.take(N=100) if one.qos[Policy.Userdata] is not None}
        assert told["rt/odom"] == ("nav_msgs::msg::dds_::Odometry_",
                                   TYPES.user_data("nav_msgs/msg/Odometry"))
    finally:
        node.terminate()
        node.wait(120)
    assert f"DDS domain {domain}: /diagnostics, /joint_states, /odom" in node.stdout.read()


@pytest.mark.parametrize("name", ["differential_drive", "ackermann_car", *at_length("swerve")])
def test_a_command_is_taken_in_one_process(name, domain):
    """The same node in steps of its own time; a writer that goes away says nothing."""
    from cyclonedds.domain import DomainParticipant
    from cyclonedds.pub import DataWriter
    from cyclonedds.topic import Topic

    endpoint = DdsEndpoint(shipped(name), Settings(cmd_vel_timeout=0.0), domain)
    here = DomainParticipant(domain)
    twist, vector = (TYPES.find(f"geometry_msgs/msg/{name}") for name in ("Twist", "Vector3"))
    writer = DataWriter(here, Topic(here, "rt/cmd_vel", twist))
    zero = vector(x=0.0, y=0.0, z=0.0)
    end = time.monotonic() + 60
    while time.monotonic() < end and not any(endpoint.node.bridge.twist):
        writer.write(twist(linear=vector(x=0.4, y=0.0, z=0.0), angular=zero))
        endpoint.receive(endpoint.node, 0.0)
        for k in range(5):
            endpoint.send(endpoint.node.tick(endpoint.node.bridge.stamp + 0.01 * (k + 1)), 0.0)
    assert endpoint.node.bridge.twist == (0.4, 0.0, 0.0)
    endpoint.close()


@pytest.mark.parametrize("word", ["x", "-1", "233", "1.5"])
def test_a_domain_that_is_none(word):
    with pytest.raises(InputError, match="whole number from 0 to 232"):
        read_domain(word)
