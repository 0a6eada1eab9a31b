"""Whether ideal rolling held in a run: options, events and what is said of them."""

from __future__ import annotations

import click
import numpy as np

from ..errors import ModelError
from .options import Positive

MOMENTS = 200      # at which a run is judged at most, besides the moments of its events
ON_SLIP = ("warn", "stop", "ignore")


class FrictionType(click.ParamType):
    """`0.8` for all wheels, or `WHEEL=0.8` for one."""

    name = "MU|WHEEL=MU"

    def convert(self, value, param, ctx):
        wheel, _, number = value.rpartition("=")
        return wheel or None, Positive().convert(number, param, ctx)


friction = click.option(
    "--mu", "mu", type=FrictionType(), multiple=True,
    help="Friction coefficient of all wheels, or of one, e.g. 'left_wheel=0.5'; repeat. Otherwise what the file says.",
)
on_slip = click.option(
    "--on-slip", type=click.Choice(ON_SLIP), default=None,
    help="Find the exact moment when ideal rolling stops being valid (slower): say it, or stop there. Default: 'warn' "
         "with --mu; without, some moments of the run are judged afterwards. 'ignore' judges nothing.",
)


def coefficients(vehicle, mu) -> dict[str, float] | None:
    """Wheel -> coefficient, as `validity` takes it; None where nothing was said."""
    if not mu:
        return None
    everywhere = [value for wheel, value in mu if wheel is None]
    found = dict.fromkeys(vehicle.contact_names, everywhere[-1]) if everywhere else {}
    return found | {wheel: value for wheel, value in mu if wheel is not None}


def rolling_events(vehicle, mu, on_slip: str | None) -> list:
    """The events that `--on-slip` asks for. Raises `ModelError` where no wheel has a friction coefficient."""
    if on_slip == "ignore" or (on_slip is None and not mu):
        return []
    from ..analysis.friction import coefficients as known
    from ..analysis.rolling_limits import friction_limit, lift_off

    given, stop = coefficients(vehicle, mu), on_slip == "stop"
    if not np.isfinite(list(known(vehicle, given).values())).any():
        raise ModelError(f"no wheel of {vehicle.name!r} has a friction coefficient: give --mu 0.8, or --mu WHEEL=0.8, "
                         "or mu=\"0.8\" to the wheels in the file's <nhmech>")
    return [friction_limit(vehicle, given, terminal=stop), lift_off(vehicle, terminal=stop)]


def print_validity(trajectory, mu, on_slip: str | None) -> None:
    """One line or two on ideal rolling along the run."""
    if on_slip == "ignore" or trajectory.kinematic or len(trajectory) < 2:
        return
    from ..analysis.rolling_limits import along

    report = along(trajectory, coefficients(trajectory.subject.vehicle, mu), every=max(1, len(trajectory) // MOMENTS))
    for line in report.describe().splitlines():
        click.echo(f"{'friction':<8} {line}")
