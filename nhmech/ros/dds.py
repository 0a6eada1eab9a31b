"""The node on DDS, for ROS 2 nodes on the same network: without ROS, by cyclonedds."""

from __future__ import annotations

import os
from typing import Any

from ..errors import InputError
from ..logs.messages import Messages
from ..vehicle.vehicle import Vehicle
from .alone import absolute, load_types, missing
from .node import KEPT, NAME, Node, Outgoing
from .ros2 import read_stamp
from .settings import Settings

EXTRA = "dds"


def read_domain(word: str | None = None) -> int:
    """Number of the DDS domain: that of `ROS_DOMAIN_ID` where None."""
    text = os.environ.get("ROS_DOMAIN_ID", "") if word is None else word
    if not text.strip():
        return 0
    if text.strip().isdecimal() and int(text) <= 232:
        return int(text)
    raise InputError(f"the domain (ROS_DOMAIN_ID) is {text!r}, not a whole number from 0 to 232")


class DdsEndpoint:
    """A transport of `alone.run`: the topics of a `node` as ROS 2 nodes find them, "rt/odom" and so
    on, in a `domain` (`read_domain`) and a `namespace` (`alone.read_namespace`). There are no
    services, no parameters and no node's name, which need ROS's own libraries."""

    def __init__(self, vehicle: Vehicle, settings: Settings, domain: int = 0,
                 namespace: str = ""):
        try:
            from cyclonedds.core import DDSException
            from cyclonedds.domain import DomainParticipant
        except ImportError as error:
            raise missing(EXTRA) from error
        self._types = DdsTypes(load_types(EXTRA))
        self.node = Node(vehicle, settings, Messages(self._types.find), read_stamp,
                         name=f"{namespace}/{NAME}")
        self._namespace = namespace
        try:
            self._participant = DomainParticipant(domain)
        except DDSException as error:
            raise InputError(f"DDS domain {domain}: {error}; look at CYCLONEDDS_URI") from error
        self._writers = {topic: self._writer(topic, kind)
                         for topic, kind in self.node.outputs.items()}
        self._readers = {topic: self._reader(topic, one.kind)
                         for topic, one in self.node.inputs.items()}
        for topic, message in self.node.latched.items():
            self._writers[topic].write(message)

    def __repr__(self) -> str:
        return f"<DdsEndpoint of {self.node!r}>"

    @property
    def topics(self) -> list[str]:
        """What is sent, by the names that nodes of ROS 2 see."""
        return [absolute(topic, self._namespace) for topic in self.node.outputs]

    def _quality(self, kind: str, is_latched: bool = False) -> Any:
        from cyclonedds.qos import Policy, Qos
        from cyclonedds.util import duration

        durability = Policy.Durability
        return Qos(Policy.Reliability.Reliable(duration(milliseconds=100)),
                   Policy.History.KeepLast(1 if is_latched else KEPT),
                   durability.TransientLocal if is_latched else durability.Volatile,
                   Policy.DataRepresentation(use_cdrv0_representation=True),
                   Policy.Userdata(self._types.user_data(kind)))

    def _topic(self, topic: str, kind: str) -> Any:
        from cyclonedds.topic import Topic

        name = f"rt{absolute(topic, self._namespace)}"
        return Topic(self._participant, name, self._types.find(kind))

    def _writer(self, topic: str, kind: str) -> Any:
        from cyclonedds.pub import DataWriter

        return DataWriter(self._participant, self._topic(topic, kind),
                          qos=self._quality(kind, topic in self.node.latched))

    def _reader(self, topic: str, kind: str) -> Any:
        from cyclonedds.sub import DataReader

        return DataReader(self._participant, self._topic(topic, kind), qos=self._quality(kind))

    def receive(self, node: Node, now: float) -> None:
        """Hands the node what came in; of a writer that went away there is no message."""
        for topic, reader in self._readers.items():
            for sample in reader.take(N=KEPT):
                if sample.sample_info.valid_data:
                    node.inputs[topic].take(sample, now)

    def send(self, messages: Outgoing, now: float) -> None:
        """Writes messages."""
        for topic, message in messages:
            self._writers[topic].write(message)

    def close(self) -> None:
        """Leaves the domain."""
        del self._writers, self._readers, self._participant


BASIC = ("byte", "char", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
         "float32", "float64")


class DdsTypes:
    """Name such as "nav_msgs/msg/Odometry" -> class with the type's name on the wire,
    "nav_msgs::msg::dds_::Odometry_".
    """

    def __init__(self, types: Any):
        self._types = types
        self._made: dict[str, Any] = {}

    def __repr__(self) -> str:
        return f"<DdsTypes: {len(self._made)} made>"

    def find(self, name: str) -> Any:
        """The class of a type, with its constants."""
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    def user_data(self, name: str) -> bytes:
        """What an endpoint tells of its type's definition, as ROS 2 has it since Iron."""
        return f"typehash={self._types.hash_rihs01(name)};".encode()

    def _make(self, name: str) -> Any:
        from cyclonedds.idl import make_idl_struct
        from cyclonedds.idl.annotations import final

        constants, fields = self._types.fielddefs[name]
        package, part, kind = name.split("/")
        made = final(make_idl_struct(kind, f"{package}.{part}.dds_.{kind}_",
                                     {field: self._field(what) for field, what in fields}))
        for constant, _, value in constants:
            setattr(made, constant, value)
        return made

    def _field(self, what: tuple[Any, Any]) -> Any:
        from cyclonedds.idl import types as idl
        from rosbags.interfaces import Nodetype

        node, inner = what
        if node == Nodetype.NAME:
            return self.find(inner)
        if node == Nodetype.ARRAY:
            return idl.array[self._field(inner[0]), inner[1]]
        if node == Nodetype.SEQUENCE:
            return idl.sequence[self._field(inner[0])]
        word = inner[0]
        return getattr(idl, word) if word in BASIC else {"string": str, "bool": bool}[word]
