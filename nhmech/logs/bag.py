"""A run as ROS 2 messages in an open bag; see `mcap` for the topics."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..control.path_reference import path_of
from ..simulation.runs.trajectory import Trajectory
from ..simulation.sensors import imu_along
from ..vehicle.friction import own_friction
from ..vehicle.vehicle import Vehicle
from .frames import WORLD
from .markers import MARKERS, Markers, limits_of
from .messages import (
    IMU,
    JOINTS,
    ODOMETRY,
    STRING,
    TIME,
    TRANSFORMS,
    TWIST,
    WRENCH,
    Messages,
)
from .readings import Reading, Readings, Transform
from .table import BLOCK
from .template import Template

TYPES = {"/robot_description": STRING, "/tf_static": TRANSFORMS, "/tf": TRANSFORMS,
         "/odom": ODOMETRY, "/joint_states": JOINTS, "/cmd_vel": TWIST}
LATCHED = ("/robot_description", "/tf_static", "/markers/path")
PATH_POINTS = 1000


class _Kind(NamedTuple):
    """Messages on one topic, and the numbers in them, of a state."""

    template: Template
    numbers: Callable[[Reading], Sequence[np.ndarray]]


def _edges(reading: Reading) -> tuple[Transform, ...]:
    """Parent and child of all frames that move."""
    return (reading.base, *reading.links, *reading.contacts)


def _force(name: str, reading: Reading) -> tuple[np.ndarray]:
    return (reading.forces[name],)


def _read_imu(link: str, reading: Reading) -> tuple[np.ndarray]:
    return (reading.imus[link],)


def _squares(deviations: Sequence[float]) -> list[float]:
    return [value * value for value in deviations]


def _plain(name: str) -> str:
    """A name as a topic may have it."""
    return re.sub(r"\W", "_", name)


def _bar_size(vehicle: Vehicle) -> float:
    """[m] of a marker that is seen beside a wheel: the largest radius."""
    return max((wheel.radius for wheel in vehicle.description.wheels if wheel.radius), default=0.1)


class Bag:
    """Writes the messages of a run with an open writer of rosbags. `forces`: whether the wheels'
    wrenches are among them. `twist`: (N, 3) commanded at each recorded state, or None."""

    def __init__(self, writer: Any, vehicle: Vehicle, run: Trajectory, forces: bool,
                 twist: np.ndarray | None, imus: Sequence[str] = ()):
        from rosbags.typesys import Stores, get_typestore

        self.store = get_typestore(Stores.ROS2_HUMBLE)
        self.messages = Messages(self.store.types.__getitem__, np.array)
        self.writer, self.vehicle, self.run, self.twist = writer, vehicle, run, twist
        self.readings = Readings(vehicle)
        self.wheels = {name: _plain(name)
                       for name in (vehicle.contact_names if forces else ())}
        types = TYPES | {f"/wheels/{name}/wrench": WRENCH for name in self.wheels.values()}
        self.noise = defaultdict(float, run.settings.get("noise") or {})
        self.imus = {link: "/imu" if len(imus) == 1 else f"/imu/{_plain(link)}" for link in imus}
        types |= dict.fromkeys(self.imus.values(), IMU)
        self.markers = Markers(self.messages, _bar_size(vehicle))
        self.mu = limits_of(own_friction(vehicle)) if forces else {}
        self.path = path_of(run)
        if self.mu:
            types["/markers/friction"] = MARKERS
        if self.path is not None:
            types["/markers/path"] = MARKERS
        if twist is None or not np.isfinite(twist).any():
            del types["/cmd_vel"]
        self.topics = {topic: self._connect(topic, kind) for topic, kind in types.items()}
        self.positions = np.reshape([self._position(name) for name in self.readings.joints],
                                    (-1, len(run))).T

    def _connect(self, topic: str, kind: str) -> Any:
        from rosbags.interfaces import (
            Qos,
            QosDurability,
            QosHistory,
            QosLiveliness,
            QosReliability,
            QosTime,
        )

        forever = QosTime(2147483647, 4294967295)
        kept = QosDurability.TRANSIENT_LOCAL if topic in LATCHED else QosDurability.VOLATILE
        qos = Qos(QosHistory.KEEP_LAST, 1 if topic in LATCHED else 10, QosReliability.RELIABLE,
                  kept, forever, forever, QosLiveliness.AUTOMATIC, forever, False)
        return self.writer.add_connection(topic, kind, typestore=self.store,
                                          offered_qos_profiles=[qos])

    def _position(self, joint: str) -> np.ndarray:
        """Unwrapped position of a joint along the run."""
        run = self.run
        if joint in run.names["angles"]:
            return run.angles[:, run.names["angles"].index(joint)]
        return run.q[:, run.names["q"].index(joint)]

    def write(self, rows: np.ndarray, progress: Callable[[float], None] | None) -> None:
        """Writes the recorded states `rows`; stamps count from t = 0."""
        first, messages = round(self.run.t[rows[0]] * 1e9), self.messages
        fixed = messages.transforms(messages.time(first), self.readings.fixed())
        self._send("/robot_description", first, messages.string(self.vehicle.description.xml))
        self._send("/tf_static", first, fixed)
        if self.path is not None:
            s = np.linspace(0.0, self.path.length, PATH_POINTS)
            x, y = self.path.point(s).T
            n, p = np.array(self.vehicle.ground.normal), self.vehicle.ground.point
            points = np.column_stack([x, y, (n @ p - n[0] * x - n[1] * y) / n[2]])
            self._send("/markers/path", first,
                       self.markers.path(messages.time(first), WORLD, points))
        kinds = self._kinds(self._read(int(rows[0]), dict.fromkeys(self.imus, np.zeros(6))))
        for begin in range(0, len(rows), BLOCK):
            self._write_states(rows[begin:begin + BLOCK], kinds)
            if progress is not None:
                progress(self.run.t[rows[min(begin + BLOCK, len(rows)) - 1]])

    def _read(self, k: int, felt: Mapping[str, np.ndarray]) -> Reading:
        """One recorded state, and what its IMUs felt (6,)."""
        run = self.run
        forces = dict(zip(self.wheels, run.reactions.world[k])) if self.wheels else None
        return self.readings.read(run.t[k], run.q[k], run.v[k], self.positions[k],
                                  None if run.kinematic else run.u[k], forces, felt)

    def _write_states(self, rows: np.ndarray, kinds: Mapping[str, _Kind]) -> None:
        """The messages of some recorded states."""
        felt = {link: np.hstack(imu_along(self.run, link, rows)) for link in self.imus}
        found = [self._read(int(k), {link: numbers[i] for link, numbers in felt.items()})
                 for i, k in enumerate(rows)]
        stamps = [round(t * 1e9) for t in self.run.t[rows]]
        whole = {topic: kind.template.fill(np.array(stamps), np.array(
            [np.concatenate(kind.numbers(reading)) for reading in found]))
            for topic, kind in kinds.items()}
        twists = {} if self.twist is None else {
            i: self._serialise("/cmd_vel", self.messages.twist((x, y, 0.0, 0.0, 0.0, yaw)))
            for i, (x, y, yaw) in enumerate(self.twist[rows].tolist())
            if np.isfinite((x, y, yaw)).all()}
        for i, now in enumerate(stamps):
            for topic, messages in whole.items():
                self.writer.write(self.topics[topic], now, messages[i].data)
            if i in twists:
                self.writer.write(self.topics["/cmd_vel"], now, twists[i])

    def _serialise(self, topic: str, message: Any) -> memoryview:
        return self.store.serialize_cdr(message, self.topics[topic].msgtype)

    def _send(self, topic: str, now: int, message: Any) -> None:
        self.writer.write(self.topics[topic], now, self._serialise(topic, message))

    # -- kinds of messages -------------------------------------------------------------------------
    def _kinds(self, first: Reading) -> dict[str, _Kind]:
        """Of the topics that each state has a message on, in the order of the file."""
        found = {"/tf": self._kind("/tf", partial(self._placements, _edges(first)), first,
                                   lambda reading: [part for edge in _edges(reading)
                                                    for part in (edge.translation, edge.rotation)]),
                 "/odom": self._kind("/odom", partial(self._odometry, first.base), first,
                                     lambda reading: (reading.base.translation,
                                                      reading.base.rotation, reading.twist)),
                 "/joint_states": self._kind("/joint_states", self._joint_state, first,
                                             lambda reading: (reading.position, reading.velocity,
                                                              reading.effort))}
        for name, wheel in self.wheels.items():
            topic = f"/wheels/{wheel}/wrench"
            found[topic] = self._kind(topic, partial(self._wrench, name), first,
                                      partial(_force, name))
        for link, topic in self.imus.items():
            found[topic] = self._kind(topic, partial(self._imu, link), first,
                                      partial(_read_imu, link))
        if self.mu:
            found["/markers/friction"] = self._kind(
                "/markers/friction",
                lambda stamp, x: self.markers.friction(stamp, list(self.mu), x), first,
                lambda reading: (self.markers.bars(reading, self.mu),))
        return found

    def _kind(self, topic: str, build: Callable[[Any, np.ndarray], Any], first: Reading,
              numbers: Callable[[Reading], Sequence[np.ndarray]]) -> _Kind:
        stamp = self.messages.find(TIME)
        template = Template(partial(self._serialise, topic),
                            lambda seconds, rest, x: build(stamp(sec=seconds, nanosec=rest), x),
                            sum(map(len, numbers(first))))
        return _Kind(template, numbers)

    def _placements(self, edges: Sequence[Transform], stamp: Any, x: np.ndarray) -> Any:
        return self.messages.transforms(stamp, [
            Transform(edge.parent, edge.child, part[:3], part[3:])
            for edge, part in zip(edges, x.reshape(-1, 7))])

    def _odometry(self, base: Transform, stamp: Any, x: np.ndarray) -> Any:
        return self.messages.odometry(stamp, Transform(base.parent, base.child, x[:3], x[3:7]),
                                      x[7:], *map(_squares, self._deviations()))

    def _imu(self, link: str, stamp: Any, x: np.ndarray) -> Any:
        tilt, heading = self.noise["tilt"], self.noise["heading"]
        parts = ((tilt, tilt, heading), (self.noise["gyro"],) * 3,
                 (self.noise["accelerometer"],) * 3)
        return self.messages.imu(stamp, link, x[:4], x[4:7], x[7:],
                                 [_squares(part) for part in parts])

    def _deviations(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Standard deviations of pose (6,) and twist (6,) with which the controller saw them."""
        position, tilt, heading, velocity, turning = (self.noise[name] for name in (
            "position", "tilt", "heading", "velocity", "angular_velocity"))
        return ((position,) * 3 + (tilt, tilt, heading), (velocity,) * 3 + (turning,) * 3)

    def _joint_state(self, stamp: Any, x: np.ndarray) -> Any:
        n = len(self.readings.joints)
        return self.messages.joint_state(stamp, self.readings.joints, x[:n], x[n:2 * n],
                                         x[2 * n:])

    def _wrench(self, name: str, stamp: Any, x: np.ndarray) -> Any:
        return self.messages.wrench(stamp, f"{name}_contact", x)
