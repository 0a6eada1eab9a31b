"""Messages out of nested dictionaries, for any library that has their classes; fields that are not
given are zero."""

import math

import numpy as np
from rosbags.interfaces import Nodetype
from rosbags.typesys import Stores, get_typestore

STORE = get_typestore(Stores.ROS2_JAZZY)


def complete(kind, given):
    """All fields of a type as plain values."""
    return {name: _value(what, given.get(name)) for name, what in STORE.fielddefs[kind][1]}


def _value(what, given):
    node, inner = what
    if node is Nodetype.NAME:
        return complete(inner, given or {})
    if given is not None:
        return given
    if node is Nodetype.BASE:
        return {"string": "", "bool": False}.get(inner[0], 0.0 if "float" in inner[0] else 0)
    return [0.0] * (inner[1] if node is Nodetype.ARRAY else 0)


def build(find, kind, values, array=list):
    """The message of complete values; `array` is what its arrays of numbers are made with."""
    parts = {}
    for name, (node, inner) in STORE.fielddefs[kind][1]:
        value = values[name]
        if node is Nodetype.NAME:
            value = build(find, inner, value, array)
        elif node is not Nodetype.BASE and inner[0][1][0] != "string":
            value = array(value)
        parts[name] = value
    return find(kind)(**parts)


def rosbags_message(kind, given):
    return build(STORE.types.__getitem__, kind, complete(kind, given),
                 lambda values: np.array(values, dtype=float))


def stamp(t):
    """Of a time [s]."""
    seconds, rest = divmod(round(t * 1e9), 10 ** 9)
    return {"sec": seconds, "nanosec": rest}


def twist(x=0.0, y=0.0, yaw=0.0):
    return {"linear": {"x": x, "y": y}, "angular": {"z": yaw}}


def pose(x, y, yaw, frame="map", length=1.0):
    """Of which the quaternion has a length."""
    turned = {"z": length * math.sin(yaw / 2), "w": length * math.cos(yaw / 2)}
    return {"header": {"frame_id": frame},
            "pose": {"pose": {"position": {"x": x, "y": y}, "orientation": turned}}}
