"""Whether ideal rolling held in a run: options, events and what is said of them."""

from __future__ import annotations

import click

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
    help="Friction coefficient of all wheels, or of one, e.g. 'left_wheel=0.5'; repeat. Otherwise "
         "what the saved run was given, else mu= of the wheels in the file's <nhmech>; Gazebo's "
         "<mu1> is not read.",
)
on_slip = click.option(
    "--on-slip", type=click.Choice(ON_SLIP), default=None,
    help="Find the exact moment when ideal rolling stops being valid (slower): say it, or stop "
         "there. Default: 'warn' with --mu; without, some moments of the run are judged "
         "afterwards. 'ignore' judges nothing.",
)


def friction_known(vehicle, mu):
    """The vehicle that knows what `--mu` says, so that whatever reads its run does."""
    from ..vehicle.friction import with_friction

    return with_friction(vehicle, coefficients(vehicle, mu))


def coefficients(vehicle, mu) -> dict[str, float] | None:
    """Wheel -> coefficient, as `validity` takes it; None where nothing was said."""
    if not mu:
        return None
    everywhere = [value for wheel, value in mu if wheel is None]
    found = dict.fromkeys(vehicle.contact_names, everywhere[-1]) if everywhere else {}
    return found | {wheel: value for wheel, value in mu if wheel is not None}


def rolling_events(vehicle, mu, on_slip: str | None) -> list:
    """The events that `--on-slip` asks for, or `--mu` alone, for a vehicle that knows its friction.

    Raises
    ------
    InputError
        Where no wheel has a coefficient.
    """
    if on_slip == "ignore" or (on_slip is None and not mu):
        return []
    from ..analysis.rolling_limits import rolling_events as events

    return list(events(vehicle, terminal=on_slip == "stop"))


def print_validity(trajectory, on_slip: str | None) -> None:
    """One line or two on ideal rolling along the run."""
    if on_slip == "ignore" or trajectory.kinematic or len(trajectory) < 2:
        return
    from ..analysis.rolling_limits import run_validity

    report = run_validity(trajectory, every=max(1, len(trajectory) // MOMENTS))
    for line in report.describe(command_line=True).splitlines():
        click.echo(f"{'friction':<8} {line}")
