"""Geometry of the distribution: growth vector, controllability, integrable part, symmetry and its
class."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import mode

import casadi as ca
import numpy as np
import pinocchio as pin

from ..checks import check_arguments
from ..ctrl_c import hear_ctrl_c
from ..errors import REPR, MechanicsError, listed
from ..mechanics.brackets import Growth, span_growth
from ..mechanics.symmetry import symmetry_class
from ..mechanics.symmetry_search import find_symmetry
from ..mechanics.system import HasConstrained
from ..simulation.simulated import Simulated
from ..vehicle.vehicle import Vehicle
from .curvature import Curvature, connection_curvature
from .ignorable import frozen_parts, ignorable
from .integrable import Combination, integrable_combinations
from .motions import Motions, motions, rank

PLANE = ("x", "y", "yaw")
MANY = 100_000    # instructions of brackets, evaluated in a second or two, with which it is enough


@dataclass(frozen=True)
class SymmetryClass:
    """A group that changes nothing, and its class (paper 004, section VI): purely kinematic,
    horizontal or general; dimensions as in `mechanics.symmetry.Symmetry`."""

    group: str  # such as "SE(2)" or "SE(2) x T^2" of a vehicle; "" if only generators are known
    names: tuple[str, ...]  # of its generators
    kind: str
    dim_vertical: int
    dim_horizontal: int
    dim_motion: int
    dim_tangent: int


@dataclass(frozen=True)
class Structure:
    """The result of `structure`.

    Attributes
    ----------
    variables
        Those of the growth vector.
    left_out
        Wheel angles, and functions of other joints.
    frozen
        What contacts hold.
    growth
        Generic, the largest ranks over the sample configurations; with the singular values on both
        sides of each decision.
    here
        At the given configuration, or None.
    combinations
        Integrable: constant along every motion.
    further
        How many further functions, which are no such combinations, are constant along every motion;
        None if that is not known, as where rows are affine or depend on time.
    curvature
        Of the connection over the independent speeds, at the given configuration or the first
        sample; None if there is no connection.
    symmetries
        Of a vehicle: of the pose alone, and with the angles of its wheels; of another system: all
        found.
    """

    variables: tuple[str, ...]
    left_out: tuple[str, ...]
    frozen: tuple[str, ...]
    growth: Growth
    here: Growth | None
    combinations: tuple[Combination, ...]
    further: int | None
    curvature: Curvature | None
    symmetries: tuple[SymmetryClass, ...]

    def __repr__(self) -> str:
        return (f"<Structure in {listed(self.variables, REPR)}: growth vector {self.growth.ranks}, "
                f"controllable: {self.controllable}>")

    @property
    def dimension(self) -> int:
        return len(self.variables)

    @property
    def controllable(self) -> bool | None:
        """Chow and Rashevskii: the brackets span everything, at `here` if it is given; None if the
        search was cut short, or where constraints lose rank, so that more is free than elsewhere.

        This concerns the linear part of the constraints and motions in both directions: admissible
        paths join nearby configurations.
        """
        return _spanning(self.here or self.growth, self.dimension)


@check_arguments
@hear_ctrl_c()
def structure(constrained: HasConstrained, q: np.ndarray | None = None, *,
              wheel_angles: bool = False, depth: int = 8, operations: float = MANY) -> Structure:
    """The geometry of a system's distribution: growth vector, curvature, symmetries.

    Parameters
    ----------
    constrained
        A vehicle or a `ConstrainedSystem`.
    q
        A configuration at which the growth vector is wanted too.
    wheel_angles
        Count the angles of wheels, and joints that are functions of others, among the variables.
    depth
        Levels of brackets at most.
    operations
        Instructions of all brackets so far beyond which no further level is begun.

    Raises
    ------
    MechanicsError
        Where q is not on the holonomic manifold, or rows or speeds do not define a frame.

    Examples
    --------
    >>> from nhmech.analysis import structure
    >>> structure(vehicle).growth.ranks
    (2, 3)
    """
    simulated = Simulated.of(constrained)
    vehicle, everything = simulated.vehicle, motions(constrained, wheel_angles=True)
    found = everything if wheel_angles or vehicle is None else motions(constrained)
    generic = span_growth(found.algebroid, found.sections, found.points, depth=depth,
                          operations=operations)
    here = None
    if q is not None:
        there = motions(constrained, wheel_angles=wheel_angles, q=q)
        here = span_growth(there.algebroid, there.sections, there.points, pointwise=True,
                           depth=depth, operations=operations)
    combinations = integrable_combinations(constrained, everything)
    further = None
    # functions that are constant along the linear part are not so along the motion where rows are
    # affine or depend on time
    rows, t = simulated.constrained.distribution, simulated.constrained.system.t
    moving = not ca.SX(rows.b).is_zero() or ca.depends_on(ca.densify(ca.vec(rows.A)), t)
    if generic.complete and not moving:
        known = sum(found is everything
                    or set(c.coefficients) <= set(found.variables) for c in combinations)
        further = max(found.dimension - generic.ranks[-1] - known, 0)
    return Structure(found.variables, found.left_out,
                     tuple(frozen_parts(vehicle)) if vehicle is not None else (),
                     generic, here, combinations, further, connection_curvature(constrained, q),
                     _of_vehicle(vehicle, everything) if vehicle is not None
                     else _of_system(simulated))


def _spanning(found: Growth, dimension: int) -> bool | None:
    reached = found.ranks[-1]
    if reached > dimension:
        return None
    return reached == dimension if found.complete or reached == dimension else None


def _of_vehicle(vehicle: Vehicle, found: Motions) -> tuple[SymmetryClass, ...]:
    """Of the ignorable coordinates: sections that move the pose, and those that turn one wheel."""
    names = ignorable(vehicle)
    pose, angles = [name for name in names
                    if name in PLANE], [name for name in names if name not in PLANE]
    moving = "SE(2)" if len(pose) == 3 else " x ".join(pose)
    groups = {moving: pose,
              " x ".join(filter(None, [moving, f"T^{len(angles)}" if angles else ""])): names}
    return tuple(_class_of(vehicle, found, group, tuple(generators))
                 for group, generators in groups.items()
                 if generators)


def _class_of(vehicle: Vehicle, found: Motions, group: str,
              names: tuple[str, ...]) -> SymmetryClass:
    """By the dimensions that most samples have."""
    dimensions = []
    for q, E, basis in zip(found.points, found.at_points(), found.tangent):
        V = np.array([_generator(vehicle, name, q) for name in names]).T
        dimensions.append((rank(V), rank(V) + rank(E) - rank(np.hstack([V, E])), rank(E),
                           basis.shape[1]))
    vertical, horizontal, motion, tangent = mode(dimensions)
    return SymmetryClass(group, names, symmetry_class(vertical, horizontal, motion, tangent),
                         vertical, horizontal, motion, tangent)


def _generator(vehicle: Vehicle, name: str, q: np.ndarray) -> np.ndarray:
    """v of the infinitesimal motion; yaw about the vertical through the base's origin spans the
    same with x and y."""
    column = np.zeros(vehicle.algebroid.nv)
    if name in PLANE:
        t1, t2 = vehicle.ground.tangents
        direction = {"x": t1, "y": t2, "yaw": vehicle.placer.normal}[name]
        column[slice(3, 6) if name == "yaw"
               else slice(3)] = pin.Quaternion(q[3:7]).toRotationMatrix().T @ direction
    else:
        column[vehicle.algebroid.v_names.index(name)] = 1.0
    return column


def _of_system(simulated: Simulated) -> tuple[SymmetryClass, ...]:
    try:
        found = find_symmetry(simulated.constrained)
    except MechanicsError:
        return ()
    return (SymmetryClass("", found.names, found.kind, found.dim_vertical, found.dim_horizontal,
                          found.dim_motion, found.dim_tangent),)
