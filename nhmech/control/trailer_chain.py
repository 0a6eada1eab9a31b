"""The chain of hitches from a car to its last trailer, and their positions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from ..errors import InputError, ModelError, listed
from ..vehicle.vehicle import Vehicle
from .unicycle import unicycle


def trailer_joints(vehicle: Vehicle, last: str = "") -> tuple[str, ...]:
    """Hitch joints from the base to the trailer `last`, or to the only one that has the most
    trailers before it.

    A hitch is a free joint that turns a body with axles about the normal.
    """
    model, description = vehicle.model, vehicle.description
    steered = {axle.steering for axle in vehicle.steering.steered}
    free = [name for name in description.steering if name not in vehicle.driven
            and name not in steered]
    axles = {model.names[c.mount.body] for c in vehicle.contacts if c.mount.axle is not None}
    chains = {}
    for name in free:
        if name in axles:
            chain: list[str] = []
            joint = model.getJointId(name)
            while joint > 1:
                chain.insert(0, model.names[joint])
                joint = model.parents[joint]
            if set(chain) <= set(free):
                chains[name] = tuple(chain)
    if last:
        ends = [name for name in chains
                if not any(name in other[:-1] for other in chains.values())]
        if last not in ends:
            raise InputError(f"{last!r} is no last hitch of {vehicle.name!r}; last hitches are "
                             f"{listed(ends)}")
        return chains[last]
    longest = [chain for chain in chains.values() if len(chain) == max(map(len, chains.values()))]
    if len(longest) != 1:
        found = ("a trailer is a body with axles on a vertical joint that is not driven, and there "
                 "is none")
        if longest:
            ends = [chain[-1] for chain in longest]
            found = f"{listed(ends)} are equally far back; choose one with trailer="
        raise ModelError(f"no trailer of {vehicle.name!r}: {found}")
    return longest[0]


def backing_way(vehicle: Vehicle, joints: tuple[str, ...]) -> float:
    """Along the heading of its unicycle, the way from the car to its last trailer: -1 for a train
    with its trailers behind, 1 where the base frame is turned against it."""
    return -float(np.sign(sum(link.hitch + link.drawbar
                              for link in trailer_links(vehicle, joints))))


@dataclass(frozen=True)
class TrailerLink:
    """One trailer: `hitch` h [m] behind the axle in front (negative: before it), axle `drawbar` l
    [m] behind that."""

    joint: str
    hitch: float
    drawbar: float


def trailer_links(vehicle: Vehicle, joints: tuple[str, ...]) -> tuple[TrailerLink, ...]:
    """Hitch and drawbar of each trailer, measured at the straight configuration."""
    q, data = vehicle.configuration(), vehicle.model.createData()
    pin.forwardKinematics(vehicle.model, data, q)
    # a ball is on no axle
    points = [(c.mount.body, point) for c, point in zip(vehicle.contacts, vehicle.contact_points(q))
              if c.mount.axle is not None]
    yaw = unicycle(vehicle).yaw
    ahead = data.oMi[1].rotation @ [np.cos(yaw), np.sin(yaw), 0.0]

    def axle(joint: int) -> float:
        return float(np.mean([point @ ahead for body, point in points if body == joint]))

    links, before = [], 1
    for name in joints:
        joint = vehicle.model.getJointId(name)
        hitch = float(data.oMi[joint].translation @ ahead)
        links.append(TrailerLink(name, axle(before) - hitch, hitch - axle(joint)))
        before = joint
    return tuple(links)
