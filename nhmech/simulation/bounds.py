"""The bounds of a run: limits of joints that are not driven, the ground, and the loads at which
wheels lift off."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import casadi as ca
import numpy as np

from ..checks import read_word
from ..compile.status import Status
from ..mechanics.equations import Equations
from ..once import once
from ..symbolic.buffered import Buffered
from ..urdf.description import NO_LIMITS
from ..urdf.notice import Notice
from ..vehicle.clearance import clearance
from ..vehicle.joint_ranges import passive_joints
from ..vehicle.vehicle import Vehicle
from .contact.lift_off import LiftOffBound
from .contact.rolling_bound import RollingBound
from .integration.integrators import rate_function
from .simulated import Simulated
from .state import State
from .state_vector import StateVector

ON_BOUND = ("stop", "warn", "ignore")     # values of `on_limit`, `on_fall` and `on_lift`
ON_FALL = (*ON_BOUND, "go-on")            # and, of a run, of `on_fall`
# a bound counts as crossed when it is exceeded by this [rad, m], so that a run may begin on it
ROUNDING = 1e-9
NEVER = 1e-300      # the least rate at which a margin shrinks


@dataclass(frozen=True)
class Bound:
    """One quantity whose margin must stay positive."""

    name: str  # as in `trajectory.events`, and in `trajectory.stop` where it ends the run
    terminal: bool  # whether it ends a run
    status: Status  # LIMIT, GROUNDED or LIFTED

    def is_crossed(self, before: float, after: float) -> bool:
        """Whether it was crossed between two values of its margin."""
        return before > 0 >= after


@dataclass(frozen=True, eq=False)
class Bounds:
    """The bounds of a system, and the functions of their margins."""

    found: tuple[Bound, ...]
    margins: ca.Function  # (t, q) -> distances (m,) [rad, m] from the first bounds, negative beyond
    notices: tuple[Notice, ...] = ()  # about parts that are not watched
    # the bounds on the forces of the ground [N], which come last
    support: LiftOffBound | RollingBound | None = None
    # (n,) the side of each bound on which the run is; compiled code reads them, and takes no step
    # to the other side
    signs: np.ndarray = field(init=False)
    _read: Buffered = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "signs", np.ones(len(self.found)))
        object.__setattr__(self, "_read", Buffered(self.margins))

    def __repr__(self) -> str:
        return f"<Bounds: {', '.join(bound.name for bound in self.found) or 'none'}>"

    def __len__(self) -> int:
        return len(self.found)

    @property
    def split(self) -> np.ndarray:
        """`split` of the bounds on forces, for compiled code, (k,)."""
        return np.zeros(0) if self.support is None else self.support.split

    @classmethod
    def of(cls, simulated: Simulated, on_limit: str = "stop", on_fall: str = "stop",
           on_lift: str = "ignore", grip: RollingBound | None = None) -> Bounds:
        """The bounds of a vehicle; other systems have none. With `grip`, wheels may slide and lift
        off. Raises `InputError` for a word that is not in `ON_BOUND`."""
        read_word("on_limit", on_limit, ON_BOUND)
        read_word("on_fall", on_fall, ON_BOUND)
        read_word("on_lift", on_lift, ON_BOUND)
        vehicle = simulated.vehicle
        if vehicle is None:
            system = simulated.constrained.system
            return cls((), ca.Function("nhmech_margins", [system.t, system.q], [ca.DM(0, 1)]))
        names, margins, notices = _watch(vehicle, on_limit != "ignore", on_fall != "ignore")
        support = grip or (LiftOffBound.of(vehicle) if on_lift != "ignore" else None)
        if support is not None:
            names += tuple((name, Status.LIFTED) for name in support.names)
            notices += support.notices
        terminal = {Status.LIMIT: on_limit == "stop", Status.GROUNDED: on_fall == "stop",
                    Status.LIFTED: grip is not None or on_lift == "stop"}
        return cls(tuple(Bound(name, terminal[status], status) for name, status in names),
                   margins, notices, support if support is not None and support.names else None)

    def read(self, state: State) -> list[float]:
        """The margins (n,)."""
        margins = self._read(state.t, state.q)[0].tolist() if self._read.outputs[0].size else []
        return margins if self.support is None else [*margins, *self.support.margins(state)]

    def take_side(self, margins: Sequence[float]) -> None:
        """Stores the side of each bound."""
        self.signs[...] = [1.0 if margin > 0 else -1.0 for margin in margins]

    def along(self, equations: Equations) -> ca.Function | None:
        """(t, x, theta) -> the margins, for compiled code; None if there are none."""
        return _along(equations, self.margins) if self.margins.numel_out(0) else None

    def next_one(self, equations: Equations, t: float, x: np.ndarray, theta: np.ndarray,
                 status: Status) -> Bound:
        """The bound with this status that the motion reaches first, or has crossed."""
        margins, rate = self.along(equations), rate_function(equations)
        assert margins is not None, "there is one with this status"
        symbols = margins.sx_in()
        moves = rate(symbols[0], symbols[1], ca.SX.zeros(rate.size1_in(2)), symbols[2])
        value = margins(*symbols)
        change = ca.jtimes(value, symbols[1], moves) + ca.jtimes(value, symbols[0], ca.SX(1))
        now, later = (found.full().ravel() for found in
                      ca.Function("approach", symbols, [value, change])(t, x, theta))
        chosen = [i for i, bound in enumerate(self.found) if bound.status is status]
        # seconds until it is reached, zero if it has been crossed
        wait = [now[i] / max(-later[i], NEVER) for i in chosen]
        return self.found[chosen[int(np.argmin(wait))]]


@once
def _along(equations: Equations, margins: ca.Function) -> ca.Function:
    vector, system = StateVector.of(equations), equations.constrained.system
    x = ca.SX.sym("x", vector.nx)
    values = margins(system.t, vector.configuration(x[:vector.nconf]))
    return ca.Function("nhmech_bounds", [system.t, x, system.theta], [values], {"cse": True})


@once
def _watch(vehicle: Vehicle, limits: bool, falls: bool,
           ) -> tuple[tuple[tuple[str, Status], ...], ca.Function, tuple[Notice, ...]]:
    """Name and status of each bound that is not ignored, the margins, and notices."""
    system = vehicle.constrained.system
    found, margins = [], []
    notices: tuple[Notice, ...] = ()
    if limits:
        for name, margin in _joint_margins(vehicle):
            found.append((name, Status.LIMIT))
            margins.append(margin)
    if falls:
        above = clearance(vehicle)
        found += [(f"fallen: {link}", Status.GROUNDED) for link in above.links]
        margins.append(above.heights(system.t, system.q))
        notices = above.notices
    values = ca.densify(ca.vertcat(ca.SX(0, 1), *margins)) + ROUNDING
    return tuple(found), ca.Function("nhmech_margins", [system.t, system.q], [values]), notices


def _joint_margins(vehicle: Vehicle) -> Iterator[tuple[str, ca.SX]]:
    """Name and margin of each position limit of a passive joint."""
    model, q = vehicle.model, vehicle.algebroid.q
    axles = [model.names[c.mount.body] for c in vehicle.contacts if c.mount.axle is not None]
    for name in passive_joints(vehicle):
        limit = vehicle.limits.get(name, NO_LIMITS)
        joint = model.joints[model.getJointId(name)]
        if joint.nq != 1:
            continue
        # a caster or a fork has one wheel, a trailer an axle
        what = f"jack-knife: {name}" if axles.count(name) > 1 else name
        for side, bound, sign in (("lower", limit.lower, 1), ("upper", limit.upper, -1)):
            if np.isfinite(bound):
                yield f"{what} at its {side} limit", sign * (q[joint.idx_q] - bound)
