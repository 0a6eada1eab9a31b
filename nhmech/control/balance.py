"""Keeping a two-wheeled inverted pendulum upright while it drives."""

from __future__ import annotations

import numpy as np

from ..analysis.equilibria import Equilibrium, SteadyMotions
from ..analysis.linearise import linearise
from ..analysis.variations import Variations
from ..checks import check_arguments, read_positive
from ..errors import MechanicsError, ModelError
from ..simulation.state import State
from ..urdf.layout import to_triple
from ..urdf.remedy import option, suggest
from ..urdf.wheel import Wheel
from ..vehicle.vehicle import Vehicle
from .lqr import LQR
from .twist import Twist, TwistDrive

SPEED, EFFORT = 4.0, 2.0      # weights over the scales of `LQR`
# [rad] limit of the lean that errors of the speeds call for: a jump of the twist is met gradually
LEAN = 0.15


@check_arguments
class Balance:
    """Balances on two wheels by a linear-quadratic regulator, and follows a twist.

    u = u* - K (pitch - pitch*, xi - xi_wanted), K from the exact linearisation about the vehicle's
    own standing equilibrium (`LQR`), which leans where the centre of mass is not above the axle.
    The lean demanded by speed errors is limited to 0.15 rad. The angles of wheels are not part of
    the state: an unbalanced wheel acts as a disturbance.

    `start` stands at the equilibrium.

    Parameters
    ----------
    vehicle
        With a free pitch.
    twist
        As in `TwistDrive`; (0, 0, 0) is rest, (0, 0, w) turns on the spot.
    speed_weight
        Weight of the wheels' speeds.
    effort
        Weight of the torques.
    period
        Control period [s] for which u is held; continuous if None.

    Raises
    ------
    ModelError
        If the vehicle's pitch is not free, where it has no standing equilibrium near upright,
        and where its wheels cannot hold it there.
    """

    def __init__(self, vehicle: Vehicle, twist: Twist = (0.0, 0.0, 0.0), *,
                 speed_weight: float = SPEED,
                 effort: float = EFFORT, period: float | None = None):
        if "pitch_rate" not in vehicle.speeds or "roll_rate" in vehicle.speeds:
            raise ModelError(f"{vehicle.name!r} does not balance on one axle: its independent "
                             f"speeds are {', '.join(vehicle.speeds)}. TwistDrive drives vehicles "
                             "that stand by themselves, BicycleBalance those that lean; do not "
                             "list a caster that is off the ground as a wheel")
        read_positive("speed_weight", speed_weight)
        self.vehicle, self.drive = vehicle, TwistDrive(vehicle, twist)
        spins = [wheel.joint for wheel in self.drive.wheels]
        equilibrium, states = _stand(vehicle)
        turns = [name for name in states if name in spins and name + "'" in states]
        weights = {name: speed_weight for name in states if name.removesuffix("'") in spins
                 and name not in turns}
        try:
            self.lqr = LQR(vehicle, equilibrium, drop=turns, period=period, effort=effort,
                           weights=weights | {"pitch_rate": 0.0})
        except ModelError as error:
            raise _unsupported(vehicle) from error
        self.names, self.K = self.lqr.names, self.lqr.K
        self._pitch = self.names.index("pitch")
        self._rates = [(i, name.removesuffix("'")) for i, name in enumerate(self.names)
                       if name.removesuffix("'") in spins]

    def __repr__(self) -> str:
        return f"Balance({self.vehicle.name!r}, states={self.names})"

    @property
    def start(self) -> dict:
        """Arguments for `Simulator.reset`: standing still."""
        return self.lqr.start

    @property
    def commanded_twist(self) -> np.ndarray:
        """The twist of the last call."""
        return self.drive.commanded_twist

    def __call__(self, t: float, state: State) -> np.ndarray:
        wanted = self.drive(t, state)[1].values
        z = self.lqr.error(t, state)
        for i, name in self._rates:
            z[i] = state.xi[name] - wanted[name]
        pitch, z[self._pitch] = z[self._pitch], 0.0
        u, toward = -self.K @ z, self.K[:, self._pitch]
        # the lean that would take the same effort
        lean = -(toward @ u) / (toward @ toward)
        u -= toward * (np.clip(lean, -LEAN, LEAN) - lean)
        return self.lqr.reference_input + u - toward * pitch


def _stand(vehicle: Vehicle) -> tuple[Equilibrium, tuple[str, ...]]:
    """The equilibrium at rest nearest to upright, and the state names of its linearisation."""
    variations = Variations(vehicle)
    try:
        still = dict.fromkeys(("forward_speed", "lateral_speed", "yaw_rate"), 0.0)
        found = SteadyMotions(variations, vehicle.driven).find(
            vehicle.configuration(), np.zeros(len(vehicle.speeds)), conditions=still
        )
    except MechanicsError as error:
        raise ModelError(f"{vehicle.name!r} has no standing equilibrium near upright: {error}. Is "
                         "its centre of mass above the wheels, with its other joints locked where "
                         "they should be? On a slope, can its wheels hold it?") from error
    return found, linearise(variations, found.q, found.xi, found.u).names


def _unsupported(vehicle: Vehicle) -> ModelError:
    """The error for a vehicle whose motors do not affect its pitch; its remedy adds a caster ball
    half a track ahead of the axle."""
    mounts = [contact.mount for contact in vehicle.contacts]
    one, *_, other = mounts
    half, radius = (one.centre - other.centre) / 2, one.wheel.radius / 4
    point = other.centre + half + [np.linalg.norm(half), 0.0, -3 * radius]
    ball = Wheel(None, "caster_ball", radius, link=vehicle.description.root,
                 point=to_triple(point, 6))
    return ModelError(
        f"{vehicle.name!r} stands on one axle, and its motors cannot balance it because they do "
        "not affect its pitch: the centre of mass is on the axle, or a joint without a motor "
        "swings",
        suggest("If a caster supports it but was not found, list it among the wheels: ",
                option("wheels", [*(mount.wheel for mount in mounts), ball])))
