"""A stand-in for rclpy, of which neither Debian nor pip has a package: the names and signatures of
rclpy's API that the node may use (Humble to Kilted), and no others. Messages take keywords only,
and refuse values of other types, as the generated classes do."""

import array
import sys
import types
from enum import Enum

import numpy as np
from rosbags.interfaces import Nodetype
from rosbags.typesys import Stores, get_typestore

STORE = get_typestore(Stores.ROS2_JAZZY)
FLOATS = {"float32", "float64"}


class ParameterUndeclared(Exception):
    pass


class HistoryPolicy(Enum):
    KEEP_LAST = 1
    KEEP_ALL = 2


class ReliabilityPolicy(Enum):
    RELIABLE = 1
    BEST_EFFORT = 2


class DurabilityPolicy(Enum):
    TRANSIENT_LOCAL = 1
    VOLATILE = 2


class ClockType(Enum):
    ROS_TIME = 1
    SYSTEM_TIME = 2
    STEADY_TIME = 3


class QoSProfile:
    def __init__(self, *, history=None, depth=None, reliability=None, durability=None,
                 lifespan=None, deadline=None, liveliness=None, liveliness_lease_duration=None,
                 avoid_ros_namespace_conventions=False):
        assert isinstance(history, HistoryPolicy) and isinstance(depth, int)
        assert isinstance(reliability, ReliabilityPolicy)
        assert isinstance(durability, DurabilityPolicy)
        self.depth, self.durability, self.reliability = depth, durability, reliability


class Clock:
    now_ns = 0

    def __init__(self, *, clock_type=ClockType.SYSTEM_TIME):
        assert isinstance(clock_type, ClockType)
        self.clock_type = clock_type

    def now(self):
        return types.SimpleNamespace(nanoseconds=Clock.now_ns)


class Logger:
    def __init__(self):
        self.said = []

    def info(self, message):
        assert isinstance(message, str)

    def warning(self, message):
        assert isinstance(message, str)
        self.said.append(message)


class Parameter:
    def __init__(self, name, value):
        self.name, self.value = name, value


class Publisher:
    def __init__(self, kind):
        self.kind, self.sent = kind, []

    def publish(self, msg):
        assert type(msg) is self.kind
        self.sent.append(msg)


class Node:
    overrides, namespace = {}, ""          # as the command line gives them

    def __init__(self, node_name, *, context=None, cli_args=None, namespace=None,
                 use_global_arguments=True, enable_rosout=True, start_parameter_services=True,
                 parameter_overrides=None, allow_undeclared_parameters=False,
                 automatically_declare_parameters_from_overrides=False):
        self.parameters = {"use_sim_time": Parameter("use_sim_time", False)}
        assert automatically_declare_parameters_from_overrides
        for name, value in Node.overrides.items():
            self.parameters[name] = Parameter(name, value)
        self.descriptors, self.context = {}, types.SimpleNamespace(ok=ok)
        self.logger, self.name = Logger(), f"{Node.namespace}/{node_name}"
        self.clock = Clock(clock_type=ClockType.ROS_TIME)
        self.made = {"publisher": {}, "subscription": {}, "service": {}}
        self.qualities, self.timers, self.checks = {}, [], []

    def get_parameters_by_prefix(self, prefix):
        assert prefix == ""
        return dict(self.parameters)

    def has_parameter(self, name):
        return name in self.parameters

    def declare_parameter(self, name, value=None, descriptor=None, ignore_override=False):
        assert name not in self.parameters
        # an empty list and a tuple have no type that rclpy knows
        assert isinstance(value, (bool, int, float, str)) or (isinstance(value, list) and value)
        self.parameters[name] = Parameter(name, value)
        return self.parameters[name]

    def set_descriptor(self, name, descriptor, alternative_value=None):
        assert name in self.parameters and type(descriptor) is find(
            "rcl_interfaces/msg/ParameterDescriptor")
        self.descriptors[name] = descriptor

    def add_on_set_parameters_callback(self, callback):
        self.checks.append(callback)

    def get_fully_qualified_name(self):
        return self.name

    def get_logger(self):
        return self.logger

    def get_clock(self):
        return self.clock

    def create_publisher(self, msg_type, topic, qos_profile, *, callback_group=None,
                         event_callbacks=None, qos_overriding_options=None):
        return self._make("publisher", topic, Publisher(msg_type), qos_profile)

    def create_subscription(self, msg_type, topic, callback, qos_profile, *, callback_group=None,
                            event_callbacks=None, qos_overriding_options=None, raw=False):
        return self._make("subscription", topic, (msg_type, callback), qos_profile)

    def create_service(self, srv_type, srv_name, callback, *, qos_profile=None,
                       callback_group=None):
        return self._make("service", srv_name, (srv_type, callback))

    def create_timer(self, timer_period_sec, callback, callback_group=None, clock=None):
        self.timers.append((timer_period_sec, callback, clock))

    def _make(self, what, name, made, quality=None):
        assert name not in self.made[what] and isinstance(quality, (QoSProfile, type(None)))
        self.made[what][name], self.qualities[what, name] = made, quality
        return made


def init(*, args=None, context=None, domain_id=None, signal_handler_options=None):
    pass


def create_node(node_name, **words):
    return Node(node_name, **words)


def ok(*, context=None):
    return True


def try_shutdown(*, context=None, uninstall_handlers=None):
    pass


def message_class(name):
    """The generated class of a message type."""
    constants, fields = STORE.fielddefs[name]
    known = dict(fields)

    def __init__(self, **words):
        unknown = words.keys() - known.keys()
        assert not unknown, f"{name} has no {unknown}"
        for field, kind in known.items():
            setattr(self, field, words.get(field, default(kind)))

    def __setattr__(self, field, value):
        assert field in known, f"{name} has no {field}"
        assert fits(value, known[field]), f"{name}.{field} = {value!r} ({type(value)})"
        object.__setattr__(self, field, value)

    values = {word: bytes([value]) if kind == "byte" else value for word, kind, value in constants}
    return type(name.rpartition("/")[2], (), {"__init__": __init__, "__setattr__": __setattr__,
                                              "kind": name, **values})


def default(kind):
    node, inner = kind
    if node is Nodetype.NAME:
        return find(inner)()
    if node is Nodetype.ARRAY:
        return np.zeros(inner[1])
    if node is Nodetype.SEQUENCE:
        return []
    return {"string": "", "bool": False, "byte": b"\0"}.get(inner[0],
                                                            0.0 if inner[0] in FLOATS else 0)


def fits(value, kind):
    node, inner = kind
    if node is Nodetype.NAME:
        return type(value) is find(inner)
    if node in (Nodetype.ARRAY, Nodetype.SEQUENCE):
        element, length = inner
        if isinstance(value, np.ndarray):
            right = node is Nodetype.ARRAY and value.dtype == np.float64
        else:
            right = isinstance(value, (list, tuple, array.array)) and all(
                fits(one, element) for one in value)
        return right and (node is Nodetype.SEQUENCE or len(value) == length)
    word = inner[0]
    if word in FLOATS:
        return isinstance(value, float)
    if word == "byte":
        return isinstance(value, bytes) and len(value) == 1
    return type(value) is {"string": str, "bool": bool}.get(word, int)


CLASSES = {}


def find(name):
    if name not in CLASSES:
        CLASSES[name] = message_class(name)
    return CLASSES[name]


class _Messages(types.ModuleType):
    """A module such as geometry_msgs.msg."""

    def __getattr__(self, word):
        name = f"{self.__name__.replace('.', '/')}/{word}"
        if name not in STORE.fielddefs:
            raise AttributeError(name)
        return find(name)


def module(name, **content):
    made = types.ModuleType(name)
    vars(made).update(content)
    return made


def install(monkeypatch, spin):
    """Puts the stand-in where rclpy would be; `spin(node)` is what `rclpy.spin` does."""
    modules = [
        module("rclpy", init=init, create_node=create_node, ok=ok,
               try_shutdown=try_shutdown, spin=spin),
        module("rclpy.clock", Clock=Clock, ClockType=ClockType),
        module("rclpy.executors", ExternalShutdownException=type("ExternalShutdownException",
                                                                  (Exception,), {})),
        module("rclpy.qos", QoSProfile=QoSProfile, HistoryPolicy=HistoryPolicy,
               ReliabilityPolicy=ReliabilityPolicy, DurabilityPolicy=DurabilityPolicy),
        module("std_srvs.srv", Empty="Empty", SetBool="SetBool")]
    packages = {name.partition("/")[0] for name in STORE.fielddefs} | {"std_srvs"}
    modules += [_Messages(f"{package}.msg") for package in packages]
    modules += [module(package) for package in packages]
    for one in modules:
        monkeypatch.setitem(sys.modules, one.__name__, one)
    for absent in ("control_msgs", "control_msgs.srv"):
        monkeypatch.setitem(sys.modules, absent, None)
