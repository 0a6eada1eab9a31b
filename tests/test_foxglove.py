"""`nhmech live` for real: a websocket client, which knows nothing of the SDK, drives and reads."""

import json
import re
import struct
import time

import numpy as np
import pytest
from support import command_line, shipped

from nhmech.ros.alone import read_settings
from nhmech.ros.foxglove_live import FoxgloveServer

pytest.importorskip("foxglove")
client_of = pytest.importorskip("websockets.sync.client")
typesys = pytest.importorskip("rosbags.typesys")

STORE = typesys.get_typestore(typesys.Stores.ROS2_JAZZY)
TICK = 0.01
WAIT = 60.0      # [s], many times what it takes
TWIST = "geometry_msgs/msg/Twist"


@pytest.fixture
def serve():
    opened = []

    def serve(name):
        settings = read_settings([("cmd_vel_timeout", "0")], publish_link_tf=True)
        opened.append(FoxgloveServer(shipped(name), settings, port=0))
        return opened[-1]
    yield serve
    for server in opened:
        server.close()


class Client:
    """The protocol of the Foxglove app, as far as it is needed."""

    def __init__(self, port):
        self.socket = client_of.connect(f"ws://127.0.0.1:{port}",
                                        subprotocols=["foxglove.sdk.v1"]).__enter__()
        self.channels, self.messages, self.times = {}, {}, []

    def listen(self, is_enough):
        """Whatever comes in, until it is enough."""
        while not is_enough():
            data = self.socket.recv(timeout=WAIT)
            if isinstance(data, str):
                told = json.loads(data)
                for channel in told.get("channels", ()):
                    self.channels[channel["topic"]] = channel
            elif data[0] == 1:
                number, stamp = struct.unpack_from("<IQ", data, 1)
                self.messages.setdefault(number, []).append((stamp, data[13:]))
            elif data[0] == 2:
                self.times.append(struct.unpack_from("<Q", data, 1)[0])

    def tell(self, **words):
        self.socket.send(json.dumps(words))

    def subscribe(self, *topics):
        self.tell(op="subscribe", subscriptions=[
            {"id": self.channels[topic]["id"], "channelId": self.channels[topic]["id"]}
            for topic in topics])

    def of(self, topic):
        return self.messages.get(self.channels[topic]["id"], ())

    def read(self, topic):
        kind = self.channels[topic]["schemaName"]
        return [STORE.deserialize_cdr(data, kind) for _, data in self.of(topic)]

    def publish(self, encoding, payload):
        self.tell(op="advertise", channels=[{"id": 7, "topic": "/cmd_vel", "encoding": encoding,
                                             "schemaName": TWIST}])
        self.socket.send(struct.pack("<BI", 1, 7) + payload)


@pytest.fixture
def connect():
    clients = []

    def connect(port):
        clients.append(Client(port))
        return clients[-1]
    yield connect
    for client in clients:
        client.socket.close()


def has_come(queue, count):
    """Waits until the server has it."""
    until = time.monotonic() + WAIT
    while queue.qsize() < count:
        assert time.monotonic() < until
        time.sleep(0.005)


def tick(server, begin, ticks):
    for k in range(begin, begin + ticks):
        server.receive(server.node, TICK * k)
        server.send(server.node.tick(TICK * k), TICK * k)


def payload(encoding, x):
    if encoding == "json":
        zero = {"x": 0.0, "y": 0.0, "z": 0.0}
        return json.dumps({"linear": zero | {"x": x}, "angular": zero}).encode()
    vector = STORE.types["geometry_msgs/msg/Vector3"]
    return bytes(STORE.serialize_cdr(STORE.types[TWIST](vector(x, 0.0, 0.0), vector(0.0, 0.0, 0.0)),
                                     TWIST))


@pytest.mark.parametrize("name, encoding", [("differential_drive", "cdr"),
                                            ("ackermann_car", "json"), ("mecanum", "cdr")])
def test_a_client_drives_and_reads_back(name, encoding, serve, connect):
    server = serve(name)
    client = connect(server.port)
    client.listen(lambda: len(client.channels) == len(server.node.outputs))
    assert client.channels.keys() == {f"/{topic.strip('/')}" for topic in server.node.outputs}
    for channel in client.channels.values():
        text, _ = STORE.generate_msgdef(channel["schemaName"], ros_version=2)
        assert (channel["encoding"], channel["schemaEncoding"]) == ("cdr", "ros2msg")
        assert channel["schema"] == text
    client.subscribe("/odom", "/tf", "/robot_description")
    client.publish(encoding, payload(encoding, 0.4))
    has_come(server._late, 3)
    has_come(server._came, 1)
    for k in range(10):
        tick(server, 10 * k, 10)
        client.listen(lambda: {len(client.of("/odom")), len(client.of("/tf")), len(client.times)}
                      == {10 * (k + 1)} and client.of("/robot_description"))
    odometry = client.read("/odom")
    assert odometry[-1].twist.twist.linear.x == pytest.approx(0.4, abs=0.02)
    frames = {edge.child_frame_id for edge in client.read("/tf")[-1].transforms}
    assert {server.node.bridge.readings.root} < frames
    assert "<robot" in client.read("/robot_description")[0].data
    assert client.times[-1] == pytest.approx(990_000_000) and np.all(np.diff(client.times) > 0)


def test_what_is_no_message_is_told_once_a_second(serve, connect, capsys):
    server = serve("differential_drive")
    client = connect(server.port)
    for _ in range(5):
        client.publish("json", b"{")
    has_come(server._came, 5)
    tick(server, 0, 2)
    said = capsys.readouterr().out
    assert said.count("a message on /cmd_vel is not a geometry_msgs/msg/Twist") == 1


@pytest.mark.parametrize("words, said", [
    ("live differential_drive --port {}", "port {}.*in use.*--port takes another one"),
    ("live hovercraft", "hovercraft: no such file"),
    ("live differential_drive --set dt=slow", "parameter dt = 'slow' is not of the type"),
    ("live differential_drive --set speed=1", "no parameter 'speed'"),
    ("live /nowhere/robot.urdf", "no such file"),
    ("dds differential_drive --domain x", "the domain .* is 'x'"),
    ("dds differential_drive --namespace 1st", "namespace '1st' must be letters"),
    ("dds differential_drive --set speed=1", "no parameter 'speed'"),
    ("dds hovercraft", "hovercraft: no such file"),
])
def test_what_cannot_start_says_so(words, said, serve):
    port = serve("differential_drive").port if "{}" in words else ""
    done = command_line(*words.format(port).split())
    assert done.exit_code == 1 and re.search(said.format(port), done.output)
    assert done.output.count("\n") == 1
