"""Exact linearisation on the constraint manifold, about an equilibrium or a steady motion."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ..checks import check_arguments, read_word
from ..ctrl_c import hear_ctrl_c
from ..errors import MechanicsError
from ..mechanics.system import HasConstrained
from .variations import Point, Variations


@dataclass(frozen=True)
class Linearisation:
    """The linearised equations of motion at one point.

    d/dt (eta, dxi) = A (eta, dxi) + B du, dy = C (eta, dxi) + D du.

    Attributes
    ----------
    A, B
        (n, n), (n, nu).
    names
        Of the state: displacements along fibre coordinates ("roll" along roll_rate, "x" along
        x'), then independent speeds (a joint's with ').
    inputs
        Names of u.
    drift
        Rate of the speeds at the point; zero at an equilibrium or a steady motion.
    units
        Of the state.
    C, D
        (ny, n), (ny, nu).
    outputs, output_units
        Names and units of y.
    """

    A: np.ndarray
    B: np.ndarray
    names: tuple[str, ...]
    inputs: tuple[str, ...]
    drift: np.ndarray
    units: tuple[str, ...]
    C: np.ndarray
    D: np.ndarray
    outputs: tuple[str, ...]
    output_units: tuple[str, ...]

    def __repr__(self) -> str:
        return f"Linearisation(names={self.names}, inputs={self.inputs})"

    @property
    def eigenvalues(self) -> np.ndarray:
        """The eigenvalues of A, by real part, largest first."""
        values = np.linalg.eigvals(self.A)
        return values[np.argsort(-values.real)]

    def state_space(self) -> Any:
        """The same as `control.StateSpace`, with the names. Raises `MechanicsError` without the
        extra `control`."""
        try:
            import control
        except ImportError as error:
            raise MechanicsError("a control.StateSpace needs the package control: pip install "
                                 "control") from error
        return control.ss(self.A, self.B, self.C, self.D, states=list(self.names),
                          inputs=list(self.inputs), outputs=list(self.outputs))


@check_arguments
@hear_ctrl_c()
def linearise(constrained: HasConstrained | Variations, q: np.ndarray, xi: np.ndarray,
              u: np.ndarray | None = None, t: float = 0.0, *, ignorable: bool = False,
              outputs: Sequence[str] | None = None) -> Linearisation:
    """Linearises the equations of motion at (q, xi, u), by automatic differentiation.

    The variational equation is in `Variations`. By default the directions in which the system is
    symmetric are left out: position, heading and wheel angles on level ground. A hitch angle on
    which nothing depends is kept, because it has dynamics of its own.

    Parameters
    ----------
    constrained
        A vehicle, a `ConstrainedSystem`, or `Variations` of one, where many points are wanted.
    q, xi, u
        (nq,), (nxi,), (nu,); u is zero if None.
    t
        Time [s].
    ignorable
        Keep the directions in which the system is symmetric.
    outputs
        Names of the state, of fibre coordinates (speeds of joints and of the base), or of kept rows
        of the distribution (their multipliers, forces in newtons for contact rows: these have a D);
        the state itself if None.

    Raises
    ------
    MechanicsError
        If the point is not on the holonomic manifold.
    InputError
        For unknown outputs.

    Examples
    --------
    >>> from nhmech.analysis import linearise
    >>> linear = linearise(vehicle, vehicle.configuration(), xi=[0.0, 0.0])
    >>> linear.A.shape, linear.B.shape, linear.names
    ((2, 2), (2, 2), ('left_wheel_joint', 'right_wheel_joint'))
    """
    variations = Variations.of(constrained)
    point = variations.at(q, xi, u, t, ignorable=ignorable)
    if not variations.simulated.constrained.holonomic_distances(q, t).max(initial=0.0) <= 1e-6:
        raise MechanicsError("q is not on the holonomic manifold: |phi| = "
                             f"{np.abs(point.phi).max():.3g}")
    space, equations = variations.space, variations.equations
    displacements = tuple(re.sub("_rate$|_speed$|'$", "", space.v_names[i]) for i in point.names)
    names = displacements + tuple(name if name not in displacements else f"{name}'"
                                  for name in equations.names)
    units = (*(_displacement_unit(space.v_units[i]) for i in point.names), *equations.units)
    A, B = point.A, point.B
    if outputs is None:
        C, D, outputs, output_units = np.eye(len(names)), np.zeros(B.shape), names, units
    else:
        at = t, q, xi, np.zeros(B.shape[1]) if u is None else u
        C, D, output_units = _outputs(variations, point, names, units, tuple(outputs), at)
    return Linearisation(A, B, names, variations.system.u_names,
                         point.defect[len(point.names):], units, C, D,
                         tuple(outputs), output_units)


def _displacement_unit(unit: str) -> str:
    """m/s -> m."""
    return unit.removesuffix("/s") if unit.endswith("/s") else f"{unit} s".strip()


def _outputs(variations: Variations, point: Point, names: tuple[str, ...],
             units: tuple[str, ...], wanted: tuple[str, ...],
             at: tuple) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """C, D and units of the outputs called `wanted`."""
    space, frame = variations.space, variations.equations.frame
    rows = {variations.distribution.names[row]: i for i, row in enumerate(frame.kept)}
    known = [name for name in wanted if name in names or name in space.v_names or name in rows]
    if len(known) < len(wanted):
        missing = next(name for name in wanted if name not in known)
        read_word("output", missing, dict.fromkeys((*names, *space.v_names, *rows)))
    lam = ca.SX.zeros(len(rows))
    if any(name in rows for name in wanted):
        lam = variations.equations.multipliers(*variations.inputs)
    s = variations.system
    derivative = ca.Function("outputs", variations.inputs, [
        ca.jacobian(lam, s.q) @ space.anchor, ca.jacobian(lam, variations.xi),
        ca.jacobian(lam, s.u)])
    l_eta, l_xi, l_u = (value.full() for value in derivative(*at, variations.theta))
    v_eta = point.slope @ point.basis
    state = np.eye(len(names))
    C, D, output_units = [], [], []
    for name in wanted:
        if name in names:
            C.append(state[names.index(name)])
            unit, through = units[names.index(name)], np.zeros(l_u.shape[1])
        elif name in space.v_names:
            i = space.v_names.index(name)
            C.append(np.r_[v_eta[i], point.E[i]])
            unit, through = space.v_units[i], np.zeros(l_u.shape[1])
        else:
            i = rows[name]
            C.append(np.r_[l_eta[i] @ point.basis, l_xi[i]])
            at_contact = variations.distribution.components[frame.kept[i]] is not None
            unit, through = "N" if at_contact else "", l_u[i]
        D.append(through)
        output_units.append(unit)
    return np.array(C), np.array(D), tuple(output_units)
