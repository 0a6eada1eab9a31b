"""The node for the Foxglove app: a websocket that tells the topics of ROS 2, without ROS."""

from __future__ import annotations

import json
from queue import SimpleQueue
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..errors import InputError
from ..logs.messages import Messages
from ..vehicle.vehicle import Vehicle
from .alone import absolute, load_types, missing
from .node import Node, Outgoing
from .ros2 import read_stamp
from .settings import Settings

CDR, JSON = "cdr", "json"
EXTRA = "foxglove"


class FoxgloveServer:
    """A transport of `alone.run`: channels of CDR messages with `ros2msg` schemas, on any free port
    if `port` is 0.

    The app's Teleop panel publishes on `/cmd_vel`. A client that subscribes to a latched topic gets
    its message then, because the protocol keeps none.
    """

    def __init__(self, vehicle: Vehicle, settings: Settings, host: str = "127.0.0.1",
                 port: int = 8765):
        try:
            import foxglove
            from foxglove.websocket import Capability
        except ImportError as error:
            raise missing(EXTRA) from error
        self._types = load_types(EXTRA)
        self.node = Node(vehicle, settings, Messages(self._types.types.__getitem__, np.array),
                         read_stamp)
        self._context = foxglove.Context()
        self._channels = {topic: self._open(foxglove, topic, kind)
                          for topic, kind in self.node.outputs.items()}
        self._came: SimpleQueue[tuple[str, str, bytes]] = SimpleQueue()
        self._late: SimpleQueue[str] = SimpleQueue()
        try:
            self._server = foxglove.start_server(
                name=vehicle.name, host=host, port=port, context=self._context,
                capabilities=[Capability.ClientPublish, Capability.Time],
                supported_encodings=[CDR, JSON],
                server_listener=_Listener(self._came, self._late))
        except RuntimeError as error:
            raise InputError(f"port {port} of {host}: {error}; --port takes another one") from error
        self.port = self._server.port

    def __repr__(self) -> str:
        return f"<FoxgloveServer on port {self.port}: {self.node!r}>"

    @property
    def topics(self) -> list[str]:
        """What is sent, by the names that the app shows."""
        return [absolute(topic) for topic in self.node.outputs]

    def _open(self, foxglove: Any, topic: str, kind: str) -> Any:
        text, _ = self._types.generate_msgdef(kind, ros_version=2)
        schema = foxglove.Schema(name=kind, encoding="ros2msg", data=text.encode())
        return foxglove.Channel(absolute(topic), schema=schema, message_encoding=CDR,
                                context=self._context)

    def receive(self, node: Node, now: float) -> None:
        """Hands the node what clients published; reports unreadable messages in one line."""
        inputs = {absolute(topic): one for topic, one in node.inputs.items()}
        while not self._came.empty():
            topic, encoding, data = self._came.get()
            if topic not in inputs:
                continue
            try:
                kind = inputs[topic].kind
                message = (self._types.deserialize_cdr(data, kind) if encoding == CDR else
                           json.loads(data, object_hook=lambda part: SimpleNamespace(**part)))
                inputs[topic].take(message, now)
            except Exception as error:       # whatever a client sent in place of a message
                node.bridge.tell(topic, f"a message on {topic} is not a {inputs[topic].kind}: "
                                        f"{type(error).__name__}: {error}")

    def send(self, messages: Outgoing, now: float) -> None:
        """Logs messages on their channels, and tells the time."""
        while not self._late.empty():
            topic = self._late.get().removeprefix("/")
            if topic in self.node.latched:
                messages = [*messages, (topic, self.node.latched[topic])]
        stamp = round(now * 1e9)
        self._server.broadcast_time(stamp)
        for topic, message in messages:
            data = bytes(self._types.serialize_cdr(message, self.node.outputs[topic]))
            self._channels[topic].log(data, log_time=stamp)

    def close(self) -> None:
        """Stops the server."""
        self._server.stop()


class _Listener:
    """Puts what clients send into queues, from the threads of the server."""

    def __init__(self, came: SimpleQueue[tuple[str, str, bytes]], late: SimpleQueue[str]):
        self._came, self._late = came, late
        self._channels: dict[tuple[int, int], tuple[str, str]] = {}

    def on_subscribe(self, client: Any, channel: Any) -> None:
        self._late.put(channel.topic)

    def on_unsubscribe(self, client: Any, channel: Any) -> None:
        pass

    def on_client_advertise(self, client: Any, channel: Any) -> None:
        self._channels[client.id, channel.id] = absolute(channel.topic), channel.encoding

    def on_client_unadvertise(self, client: Any, client_channel_id: int) -> None:
        self._channels.pop((client.id, client_channel_id), None)

    def on_message_data(self, client: Any, client_channel_id: int, data: bytes) -> None:
        if known := self._channels.get((client.id, client_channel_id)):
            self._came.put((*known, data))
