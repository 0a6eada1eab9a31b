"""Commands of single joints, as a controller manager sends them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from lxml import etree

from ..errors import InputError, listed
from ..simulation.command import JointPosition, JointTorque, JointVelocity, NamedCommand
from ..simulation.state import State
from ..urdf.elements import Interface, read_elements
from ..vehicle.vehicle import Vehicle

COMMANDS: dict[Interface, type[JointPosition | JointVelocity | JointTorque]] = {
    Interface.POSITION: JointPosition, Interface.VELOCITY: JointVelocity,
    Interface.EFFORT: JointTorque}


class JointCommands:
    """A controller (t, state) that passes the last command of each driven joint on; joints that
    were sent none stand still.

    The plugins for ros2_control whose hardware is a topic send one JointState: `name` lists all
    joints, while `position`, `velocity` and `effort` have numbers only of the joints with that
    command interface, in their order. Which have it stands in the file's `<ros2_control>`. Arrays
    as long as `name` are taken too; NaN commands nothing.
    """

    def __init__(self, vehicle: Vehicle):
        self.vehicle = vehicle
        description = vehicle.description
        elements = read_elements(etree.fromstring(description.xml.encode()))
        self.interfaces: dict[str, frozenset[Interface]] = {
            command.joint: command.interfaces for command in reversed(elements.commands)
            if command.tag == "ros2_control"}
        # what the file has, but nothing moves by itself: it stays where it is held
        self._idle = {name for name in (*description.locked, *vehicle.joint_names)
                      if name not in vehicle.driven}
        self.clear()

    def __repr__(self) -> str:
        return f"<JointCommands of {self.vehicle.name!r}: {listed(self.vehicle.driven, 6)}>"

    def clear(self) -> None:
        """Forgets what was sent."""
        self._sent: dict[str, tuple[Interface, float]] = {
            name: (Interface.VELOCITY, 0.0) for name in self.vehicle.driven}

    def take(self, names: Sequence[str], position: Sequence[float] = (),
             velocity: Sequence[float] = (), effort: Sequence[float] = ()) -> None:
        """The numbers of one message."""
        for name in names:
            if name not in self._sent and name not in self._idle:
                raise InputError(f"joint {name!r} does not exist; driven are "
                                 f"{listed(self.vehicle.driven, 12)}")
        if len(set(names)) < len(names):
            twice = next(name for name in names if list(names).count(name) > 1)
            raise InputError(f"joint {twice!r} is named twice")
        wanted = {}
        for interface, values in ((Interface.EFFORT, effort), (Interface.VELOCITY, velocity),
                                  (Interface.POSITION, position)):
            for name, value in self._match(interface, names, values).items():
                if np.isinf(value):
                    raise InputError(f"{interface.value} of joint {name!r} is {value}; it must be "
                                     "finite, or NaN for no command")
                # of a joint with several interfaces, position counts before velocity before effort
                if name in self._sent and not np.isnan(value):
                    wanted[name] = interface, float(value)
        self._sent |= wanted

    def _match(self, interface: Interface, names: Sequence[str],
               values: Sequence[float]) -> Mapping[str, float]:
        having = [name for name in names if interface in self.interfaces.get(name, ())]
        if len(values) == len(having):
            return dict(zip(having, values))
        if len(values) == len(names):
            known = dict(zip(names, values))
            return {name: known[name] for name in names
                    if name in having or name not in self.interfaces}
        if not len(values):
            return {}
        raise InputError(f"{interface.value} has {len(values)} numbers; name has {len(names)} "
                         f"joints, {len(having)} of them with a {interface.value} command "
                         "interface in the file's <ros2_control>")

    def __call__(self, t: float, state: State) -> tuple[NamedCommand, ...]:
        return tuple(kind({name: value for name, (by, value) in self._sent.items()
                           if by is interface}) for interface, kind in COMMANDS.items())
