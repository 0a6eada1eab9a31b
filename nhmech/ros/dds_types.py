"""ROS 2's message types as those of cyclonedds, made from their definitions."""

from __future__ import annotations

from typing import Any

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
