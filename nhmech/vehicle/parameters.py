"""Parameters of a vehicle that a user may change, or differentiate by.

`Vehicle.with_parameters` lists the names. The values come from the description, enter the
expressions as numbers or symbols, and are also written into Pinocchio's model.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence

import casadi as ca
import numpy as np
import pinocchio as pin

from ..checks import read_names, read_number
from ..errors import REPR, InputError, listed
from ..urdf.description import Description
from ..urdf.tyre import Tyre
from .ground import read_slope

GRAVITY = 9.81      # [m/s^2]
INERTIAL = ("mass", "com_x", "com_y", "com_z", "Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")
ROUNDING = 1e-16    # [kg, m, kg m^2]: smaller inertial numbers are rounding errors
INDEFINITE = 1e-9   # of the largest principal moment: a more negative smallest one is not rounding

# (`Tyre` checks those of tyres)
_POSITIVE = ("mass", "rotor_inertia", "damping", "rolling_resistance", "radius")


class Parameters:
    """Named values, some of them symbols.

    A value is a plain number, which folds into the expressions, unless its name is among
    `symbolic`: then it is an entry of theta, and derivatives by it exist.

    Raises
    ------
    InputError
        For a symbolic name that does not exist.
    """

    def __init__(self, values: Mapping[str, float], symbolic: Iterable[str] = ()) -> None:
        self.values = dict(values)
        self.symbolic = read_names("symbolic", symbolic)
        for name in self.symbolic:
            self.require(name)
        self._symbols = {name: ca.SX.sym(name) for name in self.symbolic}

    def __repr__(self) -> str:
        return f"<Parameters: {len(self.values)} numbers, symbolic {listed(self.symbolic, REPR)}>"

    def require(self, name: str) -> None:
        """Raises `InputError` with the four nearest names if there is no such parameter."""
        if name not in self.values:
            near = difflib.get_close_matches(str(name), self.values, 4, 0.0)
            raise InputError(f"unknown parameter {name!r}; nearest to it: {listed(near)}")

    def __getitem__(self, name: str) -> ca.SX | float:
        return self._symbols.get(name, self.values[name])

    def get(self, name: str) -> ca.SX | float:
        """The value, or 0.0 if there is no such parameter."""
        return self[name] if name in self.values else 0.0

    @property
    def theta(self) -> ca.SX:
        """The symbols, (ntheta,)."""
        return ca.vertcat(ca.SX(0, 1), *self._symbols.values())

    @property
    def numbers(self) -> np.ndarray:
        """Values for `theta`, (ntheta,)."""
        return np.array([self.values[name] for name in self.symbolic])

    def replace(self, changes: Mapping[str, float]) -> Parameters:
        """A copy with other values.

        Raises
        ------
        InputError
            For unknown names, and for values that no vehicle can have.
        """
        values = dict(self.values)
        for name, value in changes.items():
            self.require(name)
            values[name] = read_number(f"parameter {name!r}", value, "a finite number")
            if name == "slope":
                read_slope("parameter 'slope'", value, "slope=radians({})")
            if name.rpartition(".")[2] in _POSITIVE and values[name] < 0:
                raise InputError(f"parameter {name!r} = {value} must not be negative")
        return Parameters(values, self.symbolic)


def is_present(value: ca.SX | float) -> bool:
    """Whether a value contributes to an expression: it is a symbol, or not zero."""
    return isinstance(value, ca.SX) or value != 0


def gravity_vector(values: Parameters | Mapping[str, float]) -> ca.SX:
    """g in W (3,) [m/s^2], inclined as if the ground rose by `slope` [rad] in the direction at the
    angle `slope_direction` [rad] from the x axis, as in `Ground.inclined`."""
    slope, direction = values["slope"], values["slope_direction"]
    along = ca.sin(slope)
    up = ca.vertcat(along * ca.cos(direction), along * ca.sin(direction), ca.cos(slope))
    return ca.sparsify(ca.SX(-values["gravity"] * up))


def has_symbolic_inertia(parameters: Parameters, body: str) -> bool:
    """Whether an inertial parameter of a body is symbolic, which may break its symmetry."""
    return any(f"{body}.{key}" in parameters.symbolic for key in INERTIAL)


def read_parameters(model: pin.Model, body_names: Sequence[str],
                    description: Description, massless: Sequence[str] = ()) -> Parameters:
    """All parameters of a vehicle with the values of its description, except those of joints that
    are added without mass, which have the names of their bodies."""
    values = {"gravity": GRAVITY, "slope": 0.0, "slope_direction": 0.0}
    for body, inertia in zip(body_names[1:], list(model.inertias)[1:]):
        if body not in massless:
            values |= _inertial_values(body, inertia)
    for joint in list(model.names)[2:]:
        if joint in massless:
            continue
        values[f"{joint}.damping"] = description.damping.get(joint, 0.0)
        values[f"{joint}.rotor_inertia"] = 0.0
        values[f"{joint}.gear_ratio"] = 1.0
    for wheel in description.wheels:
        values[f"{wheel.name}.radius"] = wheel.radius
        if "crown" not in wheel.traits.refused:
            values[f"{wheel.name}.crown"] = wheel.crown
        if wheel.joint is not None:
            values[f"{wheel.name}.rolling_resistance"] = 0.0
        if isinstance(wheel.tyre, Tyre):
            values |= {f"{wheel.name}.{name.replace('.', '_')}": value
                       for name, value in wheel.tyre.numbers().items()}
    return Parameters(values | {f"payload.{key}": 0.0 for key in ("mass", "x", "y", "z")})


def _inertial_values(body: str, inertia: pin.Inertia) -> dict[str, float]:
    """The ten numbers of a Pinocchio inertia, by name; rounding errors are set to zero."""
    m = inertia.inertia
    numbers = (inertia.mass, *inertia.lever, m[0, 0], m[1, 1], m[2, 2], m[0, 1], m[0, 2], m[1, 2])
    values = {}
    for key, value in zip(INERTIAL, map(float, numbers)):
        values[f"{body}.{key}"] = 0.0 if abs(value) < ROUNDING else value
    return values


def write_parameters(model: pin.Model, body_names: Sequence[str], parameters: Parameters) -> None:
    """Writes the same numbers into Pinocchio's model, whose algorithms are an independent check."""
    p = parameters.values
    for i in range(1, model.njoints):
        body = body_names[i]
        mass, x, y, z, xx, yy, zz, xy, xz, yz = (p.get(f"{body}.{key}", 0.0) for key in INERTIAL)
        matrix = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        # the triangle inequality is checked in the file only: planar models have only Izz
        moments = np.linalg.eigvalsh(matrix)
        if min(xx, yy, zz) < 0 or moments[0] < -INDEFINITE * np.abs(moments).max():
            raise InputError(f"the inertia of {body!r} is none that a body can have: "
                             f"its principal moments are {moments} kg m^2")
        model.inertias[i] = pin.Inertia(mass, np.array([x, y, z]), matrix)
    if p["payload.mass"]:
        place = np.array([p[f"payload.{c}"] for c in "xyz"])
        model.inertias[1] += pin.Inertia(p["payload.mass"], place, np.zeros((3, 3)))
    armature = np.zeros(model.nv)
    for joint in range(2, model.njoints):
        name = model.names[joint]
        reflected = p.get(f"{name}.rotor_inertia", 0.0) * p.get(f"{name}.gear_ratio", 0.0) ** 2
        armature[model.joints[joint].idx_v] = reflected
    model.armature = armature
    model.gravity.linear = ca.evalf(gravity_vector(p)).full().ravel()
