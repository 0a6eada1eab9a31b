"""What comes in and cannot be followed, through every skin: it is refused and told, and the node
goes on. The skin for ROS 1 has the same in tests/test_ros1.py, on a real master."""

import itertools
import json
import math
import os
import struct
import time
import types

import pytest

pytest.importorskip("rosbags.typesys")
import numpy as np
import rclpy_stub as stub
from ros_messages import STORE, build, complete, pose, rosbags_message, stamp, twist
from support import shipped

from nhmech.logs.messages import Messages
from nhmech.ros import Node, Settings, ros2
from nhmech.ros.node import Input
from nhmech.ros.ros2 import read_stamp

TICK = 0.01
JOINTS = ["left_wheel_joint", "right_wheel_joint"]


class Skin:
    """A node of ten minutes ago, driven through its transport by a clock of the test's."""

    def __init__(self):
        self.now, self.said, self.last, self.taken = 600.0, [], {}, 0

    def count(self, node):
        """Has it told when a message was taken."""
        for topic, (kind, take) in list(node.inputs.items()):
            def counted(message, now, take=take):
                take(message, now)
                self.taken += 1
            node.inputs[topic] = Input(kind, counted)

    def wait(self, receive):
        """Until what was sent is there."""
        before, until = self.taken, time.monotonic() + 120
        while self.taken == before and time.monotonic() < until:
            receive()
            time.sleep(0.002)
        assert self.taken == before + 1

    def run(self, ticks):
        for _ in range(ticks):
            self.now += TICK
            self.tick()

    @property
    def place(self):
        found = self.last["odom"].pose.pose.position
        return found.x, found.y

    @property
    def speed(self):
        return self.last["odom"].twist.twist.linear.x

    @property
    def troubles(self):
        """Of /diagnostics a second later."""
        self.run(101)
        return [one.message for one in self.last["/diagnostics"].status
                if one.level not in (0, b"\0")]


class Core(Skin):
    """Without transport."""

    def play(self, scenario, robot, **given):
        self.node = Node(shipped(robot), Settings.read(given),
                         Messages(STORE.types.__getitem__, np.array), read_stamp, self.said.append)
        scenario(self)

    def send(self, topic, given):
        kind, take = self.node.inputs[topic]
        take(rosbags_message(kind, given), self.now)

    def tick(self):
        self.last |= dict(self.node.tick(self.now))


class Stub(Skin):
    """`ros2.main` on the stand-in for rclpy."""

    def __init__(self, monkeypatch):
        super().__init__()
        self.patch = monkeypatch

    def play(self, scenario, robot, **given):
        def spin(node):
            self.node, self.said = node, node.logger.said
            ((_, self.callback, _),) = node.timers
            scenario(self)
            raise KeyboardInterrupt

        stub.install(self.patch, spin)
        self.patch.setattr(stub.Node, "overrides", {"robot": robot, **given})
        assert ros2.main() == 0

    def send(self, topic, given):
        self.set_clock()
        kind, take = self.node.made["subscription"][topic]
        take(build(stub.find, kind.kind, complete(kind.kind, given)))

    def set_clock(self):
        self.patch.setattr(stub.Clock, "now_ns", round(self.now * 1e9))

    def tick(self):
        self.set_clock()
        self.callback()
        self.last = {topic: made.sent[-1] for topic, made in self.node.made["publisher"].items()
                     if made.sent}


class Alone(Skin):
    """A node that prints, on a transport of its own."""

    def __init__(self, capsys):
        super().__init__()
        self.capsys = capsys

    def play(self, scenario, robot, **given):
        self.open(shipped(robot), Settings.read(given))
        node = self.transport.node
        self.count(node)
        send = self.transport.send
        self.transport.send = lambda found, now: (self.last.update(found), send(found, now))
        try:
            self.capsys.readouterr()
            scenario(self)
        finally:
            self.close()

    def tick(self):
        node = self.transport.node
        self.transport.receive(node, self.now)
        self.transport.send(node.tick(self.now), self.now)
        self.hear()

    def hear(self):
        self.said += self.capsys.readouterr().out.splitlines()

    def take(self):
        self.wait(lambda: self.transport.receive(self.transport.node, self.now))
        self.hear()


class Dds(Alone):
    def open(self, vehicle, settings):
        from cyclonedds.domain import DomainParticipant

        from nhmech.ros.dds import DdsEndpoint, DdsTypes

        domain = 1 + os.getpid() % 90
        self.transport = DdsEndpoint(vehicle, settings, domain, "/left")
        self.types, self.writers = DdsTypes(STORE), {}
        self.participant = DomainParticipant(domain)

    def send(self, topic, given):
        from cyclonedds.pub import DataWriter
        from cyclonedds.qos import Policy, Qos
        from cyclonedds.topic import Topic
        from cyclonedds.util import duration

        kind = self.transport.node.inputs[topic].kind
        made = self.types.find(kind)
        if topic not in self.writers:
            # kept for the reader, which may not have been found yet
            self.writers[topic] = DataWriter(
                self.participant, Topic(self.participant, f"rt/left/{topic}", made),
                Qos(Policy.Reliability.Reliable(duration(seconds=1)),
                    Policy.DataRepresentation(use_cdrv0_representation=True)))
            until = time.monotonic() + 120
            while not self.writers[topic].get_matched_subscriptions():
                assert time.monotonic() < until
                time.sleep(0.002)
        self.writers[topic].write(build(self.types.find, kind, complete(kind, given)))
        self.take()

    def close(self):
        self.transport.close()


class Foxglove(Alone):
    numbers = itertools.count(1)

    def open(self, vehicle, settings):
        from websockets.sync.client import connect

        from nhmech.ros.foxglove_live import FoxgloveServer

        self.transport = FoxgloveServer(vehicle, settings, port=0)
        self.socket = connect(f"ws://127.0.0.1:{self.transport.port}",
                              subprotocols=["foxglove.sdk.v1"], close_timeout=0.1).__enter__()

    def send(self, topic, given):
        number, kind = next(self.numbers), self.transport.node.inputs[topic].kind
        self.socket.send(json.dumps({"op": "advertise", "channels": [
            {"id": number, "topic": f"/{topic}", "encoding": "json", "schemaName": kind}]}))
        text = json.dumps(complete(kind, given))
        self.socket.send(struct.pack("<BI", 1, number) + text.encode())
        self.take()

    def close(self):
        self.socket.close()
        self.transport.close()


@pytest.fixture(params=["core", "rclpy", "dds", "foxglove"])
def play(request, monkeypatch, capsys):
    """Plays a scenario with a node: (scenario, robot, **parameters)."""
    def missing(*names):
        for name in names:
            pytest.importorskip(name)

    if request.param == "dds":
        missing("cyclonedds.core")
        from test_dds import LOOPBACK
        monkeypatch.setenv("CYCLONEDDS_URI", LOOPBACK)
    if request.param == "foxglove":
        missing("foxglove", "websockets.sync.client")
    made = types.SimpleNamespace(core=Core, rclpy=lambda: Stub(monkeypatch),
                                 dds=lambda: Dds(capsys), foxglove=lambda: Foxglove(capsys))
    return getattr(made, request.param)().play


@pytest.mark.parametrize("bad", [twist(x=math.nan), twist(yaw=math.inf), twist(y=math.nan)])
def test_a_twist_that_is_not_finite_is_ignored_and_told(bad, play):
    def scenario(skin):
        skin.run(2)
        skin.send("cmd_vel", bad)
        skin.run(20)
        assert abs(skin.speed) < 1e-12
        assert len(skin.said) == 1 and "is ignored because it is not finite" in skin.said[0]
        skin.send("cmd_vel", twist(x=0.3))
        skin.run(40)
        assert skin.speed == pytest.approx(0.3, abs=0.01)

    play(scenario, "differential_drive")


def test_a_stamped_twist_that_is_old_is_dropped_and_told(play):
    def scenario(skin):
        skin.run(2)
        for age in (0.7, 0.3):
            skin.send("cmd_vel", {"header": {"stamp": stamp(skin.now - age)},
                                  "twist": twist(x=0.3)})
            skin.run(15)
            assert abs(skin.speed) < 1e-9 if age > 0.5 else skin.speed > 0.1
        assert len(skin.said) == 1 and "is dropped: its stamp is 0.7 s old" in skin.said[0]
        skin.run(10)                       # the time-out counts from the stamp: 0.55 s by now
        assert "no cmd_vel for 0.5 s: the vehicle brakes" in skin.said[-1]

    play(scenario, "differential_drive", enable_stamped_cmd_vel=True)


def test_a_lateral_speed_that_cannot_be_is_in_diagnostics(play):
    def scenario(skin):
        skin.run(2)
        skin.send("cmd_vel", twist(0.3, 0.2))
        skin.run(40)
        assert skin.speed == pytest.approx(0.3, abs=0.01)
        assert skin.troubles == ["lateral speed 0.2 m/s is refused: differential_drive cannot move "
                                 "sideways"]
        skin.send("cmd_vel", twist(0.3))
        assert skin.troubles == []

    play(scenario, "differential_drive", cmd_vel_timeout=0.0)


def test_an_impossible_pose_is_refused_and_the_old_one_stays(play):
    def scenario(skin):
        skin.send("initialpose", pose(1.0, 2.0, 0.5))
        skin.run(2)
        for bad, why in ((pose(math.nan, 0.0, 0.0), "not finite"),
                         (pose(3.0, 0.0, 0.0, length=0.0), "not finite"),
                         (pose(3.0, 0.0, 0.0, "moon"), "its frame is 'moon'")):
            skin.send("initialpose", bad)
            skin.run(101)
            assert skin.place == pytest.approx((1.0, 2.0), abs=1e-9)
            assert "initialpose" in skin.said[-1] and "is refused" in skin.said[-1]
            assert why in skin.said[-1]
        assert len(skin.said) == 3

    play(scenario, "differential_drive")


def test_time_that_goes_back_resets_and_is_told(play):
    def scenario(skin):
        skin.run(2)
        skin.send("cmd_vel", twist(0.4))
        skin.run(40)
        assert skin.place[0] > 0.05
        skin.now -= 100.0
        skin.run(1)
        assert skin.place == pytest.approx((0.0, 0.0), abs=1e-12)
        assert len(skin.said) == 1 and "time went back to 500.4" in skin.said[0]
        skin.send("cmd_vel", twist(0.4))
        skin.run(40)
        assert skin.place[0] > 0.05

    play(scenario, "differential_drive")


@pytest.mark.parametrize("bad, why", [
    ({"name": ["wheel"], "velocity": [1.0]}, "joint 'wheel' does not exist; driven are left_wheel"),
    ({"name": JOINTS, "velocity": [1.0, 1.0, 1.0]}, "velocity has 3 numbers; name has 2 joints"),
    ({"name": [*JOINTS, JOINTS[0]], "velocity": [1.0] * 3}, "left_wheel_joint' is named twice"),
    ({"name": JOINTS, "velocity": [1.0, math.inf]}, "is inf; it must be finite, or NaN for no"),
])
def test_commands_of_joints_that_are_none_are_refused(bad, why, play):
    def scenario(skin):
        skin.run(2)
        skin.send("joint_commands", bad)
        (trouble,) = skin.troubles
        assert abs(skin.speed) < 1e-12 and why in trouble and why in skin.said[0]
        skin.send("joint_commands", {"name": JOINTS, "velocity": [2.0, 2.0]})
        assert skin.troubles == [] and skin.speed > 0.1

    play(scenario, "differential_drive", mode="joints")
