"""Logs of robots: rosbags of ROS 1 and 2, and tables, read as joint states and poses."""

from __future__ import annotations

import csv
import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..checks import check_arguments
from ..errors import InputError, NhmechError, listed
from ..mechanics.algebroid import TWIST
from ..odometry.samples import JointSamples, PoseSamples
from .table import reading

BAGS = (".bag", ".mcap", ".db3")
JOINTS = "sensor_msgs/msg/JointState"
TREE = "tf2_msgs/msg/TFMessage"
WORLDS = ("odom", "map", "world")       # frames that a base moves in, by REP-105
DIGITS = 1e14                            # [s]: larger stamps are nanoseconds
UNKNOWN_ROTATION = (0.0, 0.0, 0.0, 1.0)


class Sighting(NamedTuple):
    """One pose as a message has it."""

    stamp: float
    frame: str
    child: str
    position: tuple[float, ...]
    rotation: tuple[float, ...]
    twist: tuple[float, ...] | None


class Recording(Protocol):
    """What a log holds.

    Attributes
    ----------
    path
        The file, or the folder of a rosbag2.
    topics
        Topic -> type of its messages; of a table one topic, the file's name.
    """

    path: Path

    @property
    def topics(self) -> Mapping[str, str]: ...

    def joints(self, topic: str | None = None) -> JointSamples:
        """Joint states. Raises `InputError` if there are none, or several and none is chosen."""

    def poses(self, topic: str | None = None) -> PoseSamples:
        """Poses of the robot. Raises `InputError` as `joints` does."""


@check_arguments
def read_recording(path: str | PathLike[str]) -> Recording:
    """Opens a log of a robot.

    Parameters
    ----------
    path
        A rosbag of ROS 1 (.bag), of ROS 2 (.mcap, .db3, or the folder), or a table (.csv) with
        columns t, x, y, yaw and joints as "NAME.position", "NAME.velocity", or as `nhmech export`
        names them.

    Raises
    ------
    InputError
        For any other file.
    NhmechError
        If the package that reads bags is missing.

    Examples
    --------
    >>> run = Simulator(vehicle).run(0.1)
    >>> path = nhmech.logs.export_run(run, tmp_path / "log.mcap")
    >>> nhmech.logs.read_recording(path).poses("/odom").child
    'base_link'
    """
    path = Path(path)
    if not path.exists():
        raise InputError(f"{path}: there is no such file")
    if path.suffix == ".csv":
        return TableRecording(path)
    if path.is_dir() or path.suffix in BAGS:
        return BagRecording(path)
    raise InputError(f"{path}: a log is a rosbag2 folder, or a file ending in one of "
                     f"{listed((*BAGS, '.csv'))}")


# -- bags ------------------------------------------------------------------------------------------
class BagRecording:
    """A rosbag of ROS 1 or 2."""

    def __init__(self, path: Path):
        self.path = path
        try:
            from rosbags.highlevel import AnyReader
            from rosbags.typesys import Stores, get_typestore
        except ImportError as error:
            raise NhmechError("bags need rosbags: pip install rosbags") from error
        with reading(self.path, "a rosbag"):
            self._reader = AnyReader([path], default_typestore=get_typestore(Stores.ROS2_HUMBLE))
            with self._reader as reader:
                self._topics = {c.topic: c.msgtype for c in reader.connections}

    def __repr__(self) -> str:
        return f"<BagRecording of {str(self.path)!r}: {listed(self._topics)}>"

    @property
    def topics(self) -> Mapping[str, str]:
        return self._topics

    def _messages(self, *topics: str) -> Iterable[tuple[float, Any]]:
        with reading(self.path, "a rosbag"), self._reader as reader:
            chosen = [c for c in reader.connections if c.topic in topics]
            for connection, now, data in reader.messages(chosen):
                yield now * 1e-9, reader.deserialize(data, connection.msgtype)

    def joints(self, topic: str | None = None) -> JointSamples:
        """Joint states of a topic, or of several with commas between, each of joints of its own; by
        default the only one, or /joint_states."""
        topics = [self._choose(one, (JOINTS,), ("/joint_states",),
                               "--joints (several are separated by commas)")
                  for one in (topic.split(",") if topic else (None,))]
        owners: dict[str, str] = {}
        for one in topics if len(topics) > 1 else ():
            named = {name for _, message in self._messages(one) for name in message.name}
            if twice := sorted(named & owners.keys()):
                raise InputError(f"{self.path}: {owners[twice[0]]} and {one} both contain the "
                                 f"joint {twice[0]!r}; choose one: --joints {one}")
            owners.update(dict.fromkeys(named, one))
        return gather_joints(",".join(topics), self._messages(*topics))

    def poses(self, topic: str | None = None) -> PoseSamples:
        """Poses of a topic; by default /odom, or the only one of the first type that there is:
        odometry, poses, transforms. TOPIC:PARENT:CHILD chooses a transform."""
        wanted, *edge = (topic or "").split(":")
        topic = self._choose(wanted or None, (*POSES, TREE), ("/odom",), "--pose")
        read = POSES.get(self._topics[topic])
        found = list(self._sightings(topic, edge) if read is None else
                     ((now, read(message)) for now, message in self._messages(topic)))
        return gather_poses(topic, found)

    def _sightings(self, topic: str, edge: list[str]) -> Iterable[tuple[float, Sighting]]:
        """Of one edge of the tree of transforms: the one that is asked for, else that of the
        frame that moves in a world."""
        all_ = [(now, _transform(part)) for now, message in self._messages(topic)
                for part in message.transforms]
        edges = list(dict.fromkeys((seen.frame, seen.child) for _, seen in all_))
        if not edge:
            roots = [pair for world in WORLDS for pair in edges if pair[0] == world
                     and not pair[1].endswith("_contact") and pair[1] not in WORLDS]
            edge = list(roots[0] if roots else edges[0]) if edges else []
        if tuple(edge) not in edges:
            raise InputError(f"{topic} of {self.path} has no transform {':'.join(edge)}; there are "
                             f"{listed(f'{topic}:{a}:{b}' for a, b in edges)}")
        return [(now, seen) for now, seen in all_ if [seen.frame, seen.child] == edge]

    def _choose(self, topic: str | None, types: tuple[str, ...], usual: tuple[str, ...],
                option: str) -> str:
        """The topic that is asked for, or the one that it must be."""
        fit = {name: kind for name, kind in self._topics.items() if kind in types}
        if topic is not None:
            if topic in fit:
                return topic
            if topic in self._topics:
                raise InputError(f"{topic} of {self.path} has messages of {self._topics[topic]}; "
                                 f"wanted is {listed(types)}"
                                 + (f", as on {listed(fit)}" if fit else ""))
            near = difflib.get_close_matches(topic, self._topics, 3, 0.4)
            raise InputError(f"{self.path} has no topic {topic!r}; "
                             + (f"near it: {listed(near)}" if near
                                else f"there are {listed(self._topics)}"))
        for name in usual:
            if name in fit:
                return name
        for kind in types:
            of_kind = [name for name, other in fit.items() if other == kind]
            if len(of_kind) == 1:
                return of_kind[0]
            if of_kind:
                raise InputError(f"{self.path} has {kind} on several topics: {listed(of_kind)}; "
                                 f"choose one with {option}")
        raise InputError(f"{self.path} has no topic of {listed(types)}; there are "
                         f"{listed(f'{name} ({kind})' for name, kind in self._topics.items())}")


def _stamp(header: Any) -> float:
    return header.stamp.sec + header.stamp.nanosec * 1e-9


def _placement(header: Any, child: str, pose: Any, twist: Any = None) -> Sighting:
    p, r = pose.position, pose.orientation
    velocity = None if twist is None else tuple(
        getattr(part, axis) for part in (twist.linear, twist.angular) for axis in "xyz")
    return Sighting(_stamp(header), header.frame_id, child, (p.x, p.y, p.z),
                    (r.x, r.y, r.z, r.w), velocity)


def _transform(message: Any) -> Sighting:
    p, r = message.transform.translation, message.transform.rotation
    return Sighting(_stamp(message.header), message.header.frame_id.lstrip("/"),
                    message.child_frame_id.lstrip("/"), (p.x, p.y, p.z), (r.x, r.y, r.z, r.w), None)


# type of message -> pose; the first types are taken before the others
POSES: dict[str, Callable[[Any], Sighting]] = {
    "nav_msgs/msg/Odometry": lambda m: _placement(m.header, m.child_frame_id, m.pose.pose,
                                                  m.twist.twist),
    "geometry_msgs/msg/PoseStamped": lambda m: _placement(m.header, "", m.pose),
    "geometry_msgs/msg/PoseWithCovarianceStamped": lambda m: _placement(m.header, "", m.pose.pose),
    "geometry_msgs/msg/TransformStamped": _transform,
}


def gather_joints(topic: str, messages: Iterable[tuple[float, Any]]) -> JointSamples:
    """Joint states out of (log time [s], message), with what each of them names."""
    found = list(messages)
    names = tuple(dict.fromkeys(name for _, message in found for name in message.name))
    places = {name: i for i, name in enumerate(names)}
    parts = np.full((3, len(found), len(names)), np.nan)
    named = np.zeros(parts.shape[1:], dtype=bool)
    for k, (_, message) in enumerate(found):
        columns = [places[name] for name in message.name]
        named[k, columns] = True
        for part, values in zip(parts, (message.position, message.velocity, message.effort)):
            if len(values) == len(columns):
                part[k, columns] = values
    return JointSamples(topic, np.array([_stamp(message.header) for _, message in found]),
                        np.array([now for now, _ in found]), names,
                        parts[0], parts[1], parts[2], None if named.all() else named)


def gather_poses(topic: str, found: list[tuple[float, Sighting]]) -> PoseSamples:
    """Poses out of (log time [s], sighting)."""
    seen = [sighting for _, sighting in found]
    nothing = (np.nan,) * 6
    frame, child = (seen[0].frame, seen[0].child) if seen else ("", "")
    return PoseSamples(
        topic, np.array([s.stamp for s in seen]), np.array([now for now, _ in found]),
        np.array([s.position for s in seen]).reshape(-1, 3),
        np.array([s.rotation for s in seen]).reshape(-1, 4),
        np.array([nothing if s.twist is None else s.twist for s in seen]).reshape(-1, 6),
        frame, child)


# -- tables ----------------------------------------------------------------------------------------
TIMES = ("t", "time", "stamp", "timestamp", "%time", "secs", "seconds")
PLACES = (("q.x", "q.y", "q.z"), ("x", "y", "z"), ("pose.x", "pose.y", "pose.z"))
ROTATIONS = (("q.qx", "q.qy", "q.qz", "q.qw"), ("qx", "qy", "qz", "qw"),
             ("pose.qx", "pose.qy", "pose.qz", "pose.qw"))
YAWS = ("yaw", "theta", "heading", "pose.yaw", "pose.theta")
TWISTS = tuple(f"v.{name}" for name in TWIST)
# part of a joint state -> how columns of it are named; the first that fits is taken
COLUMNS = {"position": ("{}.position", "position.{}", "angle.{}", "q.{}"),
           "velocity": ("{}.velocity", "velocity.{}", "v.{}"),
           "effort": ("{}.effort", "effort.{}", "u.{}")}


class TableRecording:
    """A table of columns with names, which may have units behind them in brackets."""

    def __init__(self, path: Path):
        self.path = path
        with reading(path, "a table"), open(path, newline="", encoding="utf-8-sig") as file:
            head, *lines = csv.reader(file)
            names = [re.sub(r"\s*[\[(][^\])]*[\])]\s*$", "", name).strip() for name in head]
            values = np.array([[float(word or "nan") for word in line] for line in lines])
        self._columns = dict(zip(names, values.reshape(len(lines), len(names)).T))

    def __repr__(self) -> str:
        return f"<TableRecording of {str(self.path)!r}: {listed(self._columns)}>"

    @property
    def topics(self) -> Mapping[str, str]:
        return {self.path.name: "table"}

    def _check(self, topic: str | None) -> None:
        if topic not in (None, self.path.name):
            raise InputError(f"{self.path} is a table without topics, so it has no {topic!r}")

    def _time(self) -> np.ndarray:
        t = self._first(TIMES)
        if t is None:
            raise self._lacks(f"a column of times: {listed(TIMES)}")
        return t * 1e-9 if np.nanmax(np.abs(t), initial=0.0) > DIGITS else t

    def _first(self, names: Iterable[str]) -> np.ndarray | None:
        return next((self._columns[name] for name in names if name in self._columns), None)

    def _lacks(self, what: str) -> InputError:
        return InputError(f"{self.path} lacks {what}; its columns are {listed(self._columns)}")

    def joints(self, topic: str | None = None) -> JointSamples:
        """Joint states."""
        self._check(topic)
        bodies = {*(name for place in PLACES for name in place), *TWISTS,
                  *(name for rotation in ROTATIONS for name in rotation)}
        found: dict[str, dict[str, np.ndarray]] = {}
        for part, forms in COLUMNS.items():
            for form in forms:
                pattern = re.compile(re.escape(form).replace(r"\{\}", "(.+)"))
                for column, values in self._columns.items():
                    match = pattern.fullmatch(column)
                    if match and column not in bodies and not column.endswith((".cos", ".sin")):
                        found.setdefault(match.group(1), {}).setdefault(part, values)
        if not found:
            raise self._lacks("columns of joints, such as left_wheel_joint.position")
        t = self._time()
        nothing = np.full(len(t), np.nan)
        parts = [np.column_stack([joint.get(part, nothing) for joint in found.values()])
                 for part in COLUMNS]
        return JointSamples(self.path.name, t, None, tuple(found), *parts)

    def poses(self, topic: str | None = None) -> PoseSamples:
        """Poses."""
        self._check(topic)
        t = self._time()
        place = next((names for names in PLACES if set(names[:2]) <= set(self._columns)), None)
        turned = next((names for names in ROTATIONS if set(names) <= set(self._columns)), None)
        yaw = self._first(YAWS)
        if place is None or (turned is None and yaw is None):
            raise self._lacks("columns of poses: x, y, yaw, or q.x, q.y, q.z, q.qx, q.qy, q.qz, "
                              "q.qw")
        flat = turned is None or place[2] not in self._columns
        position = np.column_stack([self._columns.get(name, np.zeros(len(t))) for name in place])
        if turned is not None:
            rotation = np.column_stack([self._columns[name] for name in turned])
        else:
            assert yaw is not None
            rotation = np.tile(UNKNOWN_ROTATION, (len(t), 1))
            rotation[:, 2], rotation[:, 3] = np.sin(yaw / 2), np.cos(yaw / 2)
        has_twist = set(TWISTS) <= set(self._columns)
        twist = (np.column_stack([self._columns[name] for name in TWISTS]) if has_twist
                 else np.full((len(t), 6), np.nan))
        return PoseSamples(self.path.name, t, None, position, rotation, twist, is_planar=flat)
