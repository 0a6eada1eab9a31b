"""Redundancy and mobility: dependent rows, undetermined reactions, the robot's class.

The classes are the five of wheeled robots.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import mode

import numpy as np
import pinocchio as pin

from ..checks import check_arguments
from ..mechanics.distribution import Component
from ..mechanics.frame import adapted_frame, sample_forms
from ..mechanics.system import HasConstrained
from ..simulation.simulated import Simulated
from ..vehicle.vehicle import Vehicle
from .ignorable import frozen_parts
from .motions import ZERO, kernel, motions, rank

CLASSES = {
    (3, 0): "omnidirectional: any motion is possible at once, without steering",
    (2, 0): "forward speed and yaw rate are free",
    (2, 1): "one steered wheel, no fixed axle",
    (1, 1): "car-like: one steering beside a fixed axle",
    (1, 2): "two independent steerings, no fixed axle",
}


@dataclass(frozen=True)
class Dependence:
    """row = sum_i coefficients[name_i] name_i, of the kept rows; `constant` if equal at all sample
    configurations."""

    row: str
    coefficients: dict[str, float]
    constant: bool

    def __str__(self) -> str:
        text = ""
        for name, value in self.coefficients.items():
            factor = "" if abs(abs(value) - 1) < 1e-9 else f"{abs(value):.4g} "
            text += f" {'-' if value < 0 else '+'} {factor}{name}"
        text = text.removeprefix(" + ") or "0"
        return f"{self.row} = {text.strip()}" + ("" if self.constant else " (in the zero pose)")


@dataclass(frozen=True)
class Mobility:
    """The result of `mobility`.

    Attributes
    ----------
    rows, rank, speeds
        Number of rows, rank, number of independent speeds.
    dependent
        The rows that are combinations of others.
    undetermined
        Components of the contact forces that are undetermined.
    splits
        Dimension of the undetermined part of the contact forces.
    degree, steerability
        (delta_m, delta_s) of Campion, Bastin and d'Andrea-Novel (1996); None without wheels.
    leaning
        Whether the class leaves out that the base can lean or pitch.
    fixed
        Number of wheels whose axle is fixed to the base and that hold it sideways.
    trailing
        Joints that turn a wheel whose contact trails behind their axis: castors in the class, even
        where it steers, as a bicycle's fork does.
    """

    rows: int
    rank: int
    speeds: int
    dependent: tuple[Dependence, ...]
    undetermined: tuple[Component, ...]
    splits: int
    degree: int | None
    steerability: int | None
    leaning: bool
    fixed: int = 0
    trailing: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return (f"<Mobility: {self.speeds} speeds, {self.rows} rows of rank {self.rank}, "
                f"{self.type_in_words}>")

    @property
    def manoeuvrability(self) -> int | None:
        """delta_M = delta_m + delta_s."""
        return None if self.type is None else sum(self.type)

    @property
    def type(self) -> tuple[int, int] | None:
        """(delta_m, delta_s)."""
        if self.degree is None or self.steerability is None:
            return None
        return self.degree, self.steerability

    @property
    def type_in_words(self) -> str:
        """The class in words."""
        if self.type is None:
            return "no wheels"
        words = CLASSES.get(self.type, "none of the five classes")
        if self.type == (2, 0) and self.fixed:
            words += ", one fixed axle" if self.fixed == 1 else ", all fixed axles in line"
            one, several = ("s", "") if len(self.trailing) == 1 else ("", "s")
            words += (f", the wheel{several} that {' and '.join(self.trailing)} turn{one} "
                      f"trail{one} without constraining the motion" if self.trailing else "")
        return words + (", leaning or pitching not counted" if self.leaning else "")


@check_arguments
def mobility(constrained: HasConstrained) -> Mobility:
    """Redundancy of a system's rows and, for a vehicle, its class of mobility.

    The degree of mobility is the dimension of the base's planar twists that the rows allow at a
    steering angle, where steered axles meet; the steerability counts the steering rates that are
    independent of those twists. Wheels that trail (casters, hitches) do not restrict the base.
    Source: G. Campion, G. Bastin, B. d'Andrea-Novel, IEEE Trans. Robotics and Automation 12 (1996)
    47.

    Parameters
    ----------
    constrained
        A vehicle or a `ConstrainedSystem`.

    Examples
    --------
    >>> from nhmech.analysis import mobility
    >>> mobility(vehicle).type
    (2, 0)
    """
    simulated = Simulated.of(constrained)
    vehicle, system_of = simulated.vehicle, simulated.constrained
    frame = vehicle.frame if vehicle is not None else adapted_frame(system_of)
    forms, d = sample_forms(frame.constrained), frame.constrained.distribution
    dependent = tuple(_dependence(forms, frame.kept, i,
                                  d.names) for i in range(d.m) if i not in frame.kept)
    undetermined, splits = ((), 0) if vehicle is None else _undetermined_forces(vehicle, forms[-1])
    degree, steerability = _class(vehicle) if vehicle is not None else (None, None)
    found = Mobility(d.m, len(frame.kept), frame.nxi, dependent, undetermined, splits, degree,
                     steerability, False)
    if vehicle is None:
        return found
    steered = {axle.steering for axle in vehicle.steering.steered}
    trailing = tuple(name for name in vehicle.description.steering if name not in steered)
    return replace(found, leaning=not _level(vehicle), fixed=len(vehicle.steering.fixed),
                   trailing=trailing)


def _class(vehicle: Vehicle) -> tuple[int, int]:
    """(degree of mobility, steerability) at most samples: at some, steered wheels may be coaxial.
    """
    if not _level(vehicle):                               # its axles, seen upright
        steering = vehicle.steering
        fixed = rank(np.array([axle.straight for axle in steering.fixed]).reshape(-1, 3))
        return 3 - fixed - len(steering.steered), len(steering.steered)
    found = motions(vehicle, wheel_angles=True)
    steered = [vehicle.algebroid.v_names.index(axle.steering) for axle in vehicle.steering.steered]
    classes = []
    for q, E in zip(found.points, found.at_points()):
        twist = planar(vehicle, q) @ E[:6]
        degree = rank(twist)
        classes.append((rank(np.vstack([twist, E[steered]])) - degree, degree))
    steerability, degree = mode(classes)
    return degree, steerability


def _level(vehicle: Vehicle) -> bool:
    return {"pitch", "roll"} <= set(frozen_parts(vehicle))


def planar(vehicle: Vehicle, q: np.ndarray) -> np.ndarray:
    """(3, 6): rows t1 . v, t2 . v, n . omega of the base's twist.

    t1 is its x axis laid on the ground, n the ground's normal, t2 = n x t1.
    """
    n = pin.Quaternion(np.asarray(q, dtype=float)[3:7]).toRotationMatrix().T @ vehicle.placer.normal
    t1 = np.eye(3)[0] - n[0] * n
    size = np.linalg.norm(t1)
    t1 = t1 / size if size > ZERO else np.array([0.0, 1.0, 0.0])
    rows = np.zeros((3, 6))
    rows[0, :3], rows[1, :3], rows[2, 3:] = t1, np.cross(n, t1), n
    return rows


def _dependence(forms: np.ndarray, kept: tuple[int, ...], row: int,
                names: tuple[str, ...]) -> Dependence:
    """Least squares at every sample; where the coefficients differ, those of the first sample
    (straight ahead)."""
    found = np.array([np.linalg.lstsq(A[list(kept)].T, A[row], rcond=None)[0] for A in forms])
    constant = bool(np.ptp(found, axis=0).max(initial=0.0)
                    <= 1e-8 * max(1.0, np.abs(found).max(initial=0.0)))
    coefficients = {names[k]: float(value) for k, value in zip(kept, found[0]) if abs(value) > 1e-9}
    return Dependence(names[row], coefficients, constant)


def _undetermined_forces(vehicle: Vehicle, A: np.ndarray) -> tuple[tuple[Component, ...], int]:
    """Contact force components that combinations without effect contain, and how many such
    combinations there are."""
    rows = list(vehicle.contact_rows.values())
    idle = kernel((A[rows] / vehicle.reduced.scales).T)
    found = tuple(component for component, part in zip(vehicle.contact_rows, idle)
                  if np.abs(part).max(initial=0.0) > 1e-8)
    return found, idle.shape[1]
