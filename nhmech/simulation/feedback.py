"""Controllers given as symbolic expressions, which run inside the compiled loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np

from ..checks import as_number, check_arguments, read_mapping
from ..errors import InputError, Remedy, listed
from ..mechanics.algebroid import rotation
from ..mechanics.equations import Equations
from ..mechanics.system import HasConstrained
from ..once import once
from ..symbolic.buffered import Buffered
from ..urdf.description import NO_LIMITS
from ..urdf.notice import Notice, NoticeKind
from .least_squares import SINGULAR, closed_form
from .simulated import Simulated
from .state import State, StateLayout
from .state_vector import StateVector, state_symbols

MAKE_ANOTHER = "make another with Feedback(vehicle, law)"


class SymbolicState:
    """The state of a run as CasADi symbols, with the names of `State`.

    Parameters
    ----------
    simulated
        What moves.
    x
        Symbol of the configuration's part of the state vector.

    Attributes
    ----------
    q, v
        Configuration (nq,) and all fibre coordinates (nv,).
    xi
        Fibre coordinates by name.
    joint_position, joint_velocity
        Of the moving joints by name; angles are unwrapped.
    """

    def __init__(self, simulated: Simulated, x: ca.SX):
        system = simulated.constrained.system
        vector = StateVector.of(simulated.equations)
        self._simulated, self._names = simulated, system.algebroid.v_names
        self.q, self.v = vector.configuration(x), system.v
        self.xi = dict(zip(self._names, ca.vertsplit(system.v)))
        self.joint_position = {name: x[i] for i, name in enumerate(vector.names(()))
                               if name in self.xi}
        self.joint_velocity = {name: self.xi[name] for name in self.joint_position}

    def __repr__(self) -> str:
        return f"<SymbolicState of {', '.join(self.xi)}>"

    @property
    def pose(self) -> tuple[ca.SX, ca.SX, ca.SX]:
        """x [m], y [m] and heading [rad] of the base of a vehicle, seen from above."""
        R_WB = rotation(self.q[3:7])
        return self.q[0], self.q[1], ca.atan2(R_WB[1, 0], R_WB[0, 0])

    def servo(self, accelerations: Mapping[str, Any]) -> ca.SX:
        """Efforts (nu,) that give driven joints these accelerations [rad/s^2, m/s^2], by the exact
        inverse dynamics; of the other joints, none. Where the joints do not move independently of
        each other, the efforts are not numbers, and a run ends.

        Raises
        ------
        InputError
            For joints that are not driven, and for more of them than there are degrees of freedom.
        """
        simulated, system = self._simulated, self._simulated.constrained.system
        equations, driven = simulated.equations, system.u_names[:simulated.nu]
        unknown = [name for name in accelerations if name not in driven or name not in self._names]
        if unknown or len(accelerations) > len(equations.names):
            raise InputError(f"servo({listed(accelerations)}): accelerations of up to "
                             f"{len(equations.names)} of the driven joints {listed(driven)}")
        columns = [driven.index(name) for name in accelerations]
        rows = [self._names.index(name) for name in accelerations]
        xi = self.v[list(equations.frame.speeds)]
        moved = equations.acceleration(system.t, self.q, xi, system.u, system.theta)[rows]
        still = ca.SX.zeros(system.u.numel(), 1)
        effect = ca.jacobian(moved, system.u)[:, columns]
        free, effect = ca.substitute([moved, effect], [system.u, system.theta],
                                     [still, ca.DM(simulated.theta)])
        u = ca.SX.zeros(simulated.nu, 1)
        found, quality = closed_form(effect, ca.vertcat(*accelerations.values()) - free)
        u[columns] = ca.if_else(quality > SINGULAR, found, ca.SX.nan(found.numel(), 1))
        return u


class Feedback:
    """A controller given as a symbolic expression, which a run evaluates within the compiled loop.

    It can be called like any controller, with the same result; so it is used where steps are taken
    in Python: without a compiler, with "dop853", with wrenches or Coulomb friction.

    Parameters
    ----------
    constrained
        What it drives.
    law
        (t, state, references) -> efforts of the driven joints in their order [N m, N], made of
        CasADi's symbols: `SymbolicState`, and the references by name. Efforts beyond a joint's
        limit are clipped.
    references
        Name -> number: values that may change between runs without compiling again (`set`).
    name
        For messages and run files.

    Attributes
    ----------
    references
        Their numbers now, in the order of `names`; read-only.

    Raises
    ------
    InputError
        For a law that returns something else, and for references that are no numbers.

    Examples
    --------
    >>> def servo(t, state, references):
    ...     rates = [state.joint_velocity[name] for name in vehicle.driven]
    ...     return [0.5 * (references["rate"] - rate) for rate in rates]
    >>> law = Feedback(vehicle, servo, {"rate": 3.0})
    >>> run = Simulator(vehicle, law).run(2.0)
    >>> bool(abs(run.v[-1, 6] - 3.0) < 0.1)
    True
    """

    @check_arguments
    def __init__(self, constrained: HasConstrained, law: Callable,
                 references: Mapping[str, float] | None = None, name: str = ""):
        simulated = Simulated.of(constrained)
        system, equations = simulated.constrained.system, simulated.equations
        self.name = name or getattr(law, "__name__", "feedback")
        self._vector = vector = StateVector.of(equations)
        self._names = vector.names(())
        given = read_mapping("references", references, "name -> number")
        self._places = {key: i for i, key in enumerate(given)}
        # compiled loops hold its address: one array for ever, which only `set` writes to
        self._numbers = np.array([float(value) for value in given.values()])
        self._read_only = self._numbers.view()
        self._read_only.setflags(write=False)
        self._driven = simulated.name
        self._robot = _robot(simulated)
        self._columns = _columns(simulated)
        x, r = ca.SX.sym("x", vector.nconf), ca.SX.sym("references", len(given))
        state = SymbolicState(simulated, x)
        u_names = system.u_names[:simulated.nu]
        u = _read_law(law(system.t, state, dict(zip(given, ca.vertsplit(r)))), self.name, u_names)
        most = ca.DM(largest_efforts(simulated, u_names))
        self.function = ca.Function(
            "nhmech_law", [system.t, x, system.v, r],
            [ca.densify(_cut(u, most))], {"cse": True})
        self._evaluate = Buffered(self.function)
        self._layout: StateLayout | None = None      # of the states that it is called with
        self._at: list[int] = []

    def __repr__(self) -> str:
        return f"<Feedback {self.name}: references {listed(self._places) or 'none'}>"

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the references."""
        return tuple(self._places)

    @property
    def references(self) -> np.ndarray:
        return self._read_only

    def check_drives(self, simulated: Simulated) -> Notice | None:
        """A notice if the law was made for another robot whose names happen to be the same; another
        set of parameters is not another robot. Raises `InputError` for a system with other
        coordinates, speeds or driven joints."""
        if self._columns != _columns(simulated):
            raise InputError(f"{self.name} is a Feedback of {self._driven}, and this is "
                             f"{simulated.name}, with other coordinates, speeds or driven joints: "
                             f"{MAKE_ANOTHER}")
        if self._robot == _robot(simulated):
            return None
        remedy = f"If that is not meant, {MAKE_ANOTHER}"
        return Notice(NoticeKind.OTHER_ROBOT, f"{self.name} is a Feedback of another robot, "
                      f"{self._driven}, whose joints have the same names as those of this one, "
                      f"{simulated.name}; limits of effort and a servo's masses are the other's",
                      Remedy(remedy, remedy))

    def set(self, **references: float) -> None:
        """Sets references from here on. Raises `InputError` for unknown names."""
        for key, value in references.items():
            number = as_number(value)
            if key not in self._places or number is None:
                raise InputError(f"{key} = {value!r}: references are numbers, named "
                                 f"{listed(self._places)}")
            self._numbers[self._places[key]] = number

    def __call__(self, t: float, state: State, /) -> np.ndarray:
        if state.layout is not self._layout:
            self._layout = state.layout
            self._at = [state.layout.angles[self._names[ix]] if is_angle else iq
                        for ix, iq, is_angle in self._vector.slots]
        values = state.values
        return self._evaluate(t, values[self._at], state.v, self._numbers)[0].copy()


@once
def feedback_function(law: ca.Function, equations: Equations) -> ca.Function:
    """(t, x, references, theta) -> efforts: a `Feedback.function` in the independent speeds of
    these equations. Cached as long as the law exists, because a vehicle may see many laws."""
    system, (x, _, v) = equations.constrained.system, state_symbols(equations)
    r, nconf = ca.SX.sym("references", law.size1_in(3)), StateVector.of(equations).nconf
    return ca.Function("nhmech_feedback", [system.t, x, r, system.theta],
                       [law(system.t, x[:nconf], v, r)], {"cse": True})


def _robot(simulated: Simulated) -> str | None:
    return None if simulated.vehicle is None else simulated.vehicle.description.xml


def _columns(simulated: Simulated) -> tuple[tuple[str, ...], ...]:
    """Names of the quantities that a law reads and drives."""
    system = simulated.constrained.system
    space = system.algebroid
    return space.q_names, space.v_names, system.u_names[:simulated.nu]


def _cut(u: ca.SX, most: ca.DM) -> ca.SX:
    """u clipped to -most and most; fmin and fmax would turn NaN into a bound."""
    return ca.if_else(u < -most, -most, ca.if_else(u > most, most, u))


def largest_efforts(simulated: Simulated, u_names: Sequence[str]) -> np.ndarray:
    """The effort limits of these inputs (nu,) [N m, N]; infinite for one that has none."""
    return np.array([simulated.limits.get(name, NO_LIMITS).effort for name in u_names])


def _read_law(found: Any, name: str, joints: Sequence[str]) -> ca.SX:
    """Efforts (nu,). Raises `InputError` for anything else."""
    try:
        u = ca.vertcat(*found) if isinstance(found, (list, tuple)) else ca.SX(found)
    except (TypeError, NotImplementedError) as error:
        raise InputError(f"{name} returned {type(found).__name__}: expected an effort for each of "
                         f"{listed(joints)}, made of numbers and CasADi's symbols") from error
    if u.shape != (len(joints), 1):
        raise InputError(f"{name} returned shape {u.shape}, expected ({len(joints)},): efforts of "
                         f"{listed(joints)}")
    return ca.SX(u)
