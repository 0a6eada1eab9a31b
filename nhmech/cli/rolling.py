"""Whether ideal rolling held in a run: options, events and the lines that report it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from .options import Context, Parameter, Positive, option, option_group
from .summary import print_rows

if TYPE_CHECKING:
    from ..analysis.rolling_limits import RunValidity
    from ..simulation.events import Event
    from ..simulation.runs.trajectory import Trajectory
    from ..vehicle.vehicle import Vehicle

Friction = Sequence[tuple[str | None, float]]  # (wheel or None for all, coefficient)
STATES = 200  # at which a run is judged at most, besides those of its events: below a second
ON_SLIP = ("warn", "stop", "go-on", "ignore")
ON_BOUND = ("stop", "warn", "ignore")
ON_FALL = (*ON_BOUND, "go-on")


class FrictionType(click.ParamType):
    """`0.8` for all wheels, or `WHEEL=0.8` for one."""

    name = "MU|WHEEL=MU"

    def convert(self, value: Any, param: Parameter, ctx: Context) -> tuple[str | None, float]:
        """The wheel, or None for all, and the coefficient."""
        wheel, _, number = value.rpartition("=")
        return wheel or None, Positive().convert(number, param, ctx)


FRICTION: dict[str, Any] = {
    "type": FrictionType(), "multiple": True,
    "help": "Friction coefficient of all wheels, or of one, e.g. 'left_wheel=0.5'; repeat. "
            "Default: that of the saved run, else mu= of the wheels in the file's <nhmech>, else "
            "its <mu1> and <mu2>.",
}
friction_option = click.option("--mu", "mu", **FRICTION)


@dataclass(frozen=True)
class RollingOptions:
    """The friction of the wheels, and the reaction of a run that is no longer valid."""

    mu: Friction = option("--mu", **FRICTION)
    on_slip: str | None = option(
        "--on-slip", type=click.Choice(ON_SLIP),
        help="When ideal rolling stops being valid: 'warn' finds the exact time (slower) and "
             "prints it, 'stop' ends the run there, 'go-on' lets wheels slide, lift off and land, "
             "'ignore' checks nothing. Default: 'warn' with --mu; otherwise, some times of the run "
             "are checked afterwards.")
    on_limit: str = option(
        "--on-limit", type=click.Choice(ON_BOUND), default="stop", show_default=True,
        help="When an undriven joint, such as a hitch, reaches a position limit: end the run, "
             "print the time, or do nothing.")
    on_fall: str = option(
        "--on-fall", type=click.Choice(ON_FALL), default="stop", show_default=True,
        help="When a part of the robot touches the ground: the same, or with --on-slip go-on also "
             "'go-on': it makes contact with friction.")
    on_lift: str = option(
        "--on-lift", type=click.Choice(ON_BOUND), default="stop", show_default=True,
        help="When a wheel lifts off, that is, when no distribution of the load keeps all normal "
             "forces positive: the same.")


rolling_options = option_group("rolling", RollingOptions)


def with_friction_option(vehicle: Vehicle, mu: Friction) -> Vehicle:
    """The vehicle with the coefficients of `--mu`, which its runs and their files keep."""
    from ..vehicle.friction import with_friction

    return with_friction(vehicle, coefficients(vehicle, mu))


def coefficients(vehicle: Vehicle, mu: Friction) -> dict[str, float] | None:
    """Wheel -> coefficient, as for `validity`; None without `--mu`."""
    if not mu:
        return None
    everywhere = [value for wheel, value in mu if wheel is None]
    found = dict.fromkeys(vehicle.contact_names, everywhere[-1]) if everywhere else {}
    return found | {wheel: value for wheel, value in mu if wheel is not None}


def rolling_events(vehicle: Vehicle, options: RollingOptions) -> list[Event]:
    """The events that `--on-slip` or `--mu` request, for a vehicle with friction coefficients.

    Raises
    ------
    InputError
        If no wheel has a coefficient.
    """
    if options.on_slip in ("ignore", "go-on") or (options.on_slip is None and not options.mu):
        return []
    from ..analysis import rolling_limits

    return list(rolling_limits.rolling_events(vehicle, terminal=options.on_slip == "stop"))


def print_validity(trajectory: Trajectory, options: RollingOptions) -> RunValidity | None:
    """Print a line or two on ideal rolling along the run; returns the report, if there is one."""
    slides = trajectory.settings.get("contact") == "coulomb"
    unjudged = options.on_slip == "ignore" or slides or trajectory.kinematic
    if unjudged or len(trajectory) < 2:
        return None
    from ..analysis.rolling_limits import run_validity

    report = run_validity(trajectory, every=max(1, len(trajectory) // STATES))
    print_rows("friction", *report.describe(command_line=True).splitlines())
    return report
