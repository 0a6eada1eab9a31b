"""How a run is drawn: the options that `nhmech run` and `nhmech view` share."""

from __future__ import annotations

from pathlib import Path

import click

from .saved import read_run, vehicle_of


class OverlayType(click.ParamType):
    """A name out of `nhmech.view.overlays`; dashes do for underscores."""

    name = "NAME"

    def convert(self, value, param, ctx):
        from ..view.overlays import OVERLAYS

        name = value.replace("-", "_")
        if name not in OVERLAYS:
            self.fail(f"{value!r}: there are "
                      f"{', '.join(known.replace('_', '-') for known in OVERLAYS)}", param, ctx)
        return name


_OPTIONS = (
    click.option(
        "--overlay",
        "overlays",
        type=OverlayType(),
        multiple=True,
        help="Draw on top of the vehicle: forces, of the ground on each wheel, in its "
        "friction cone; path, the one that is followed; rotation-centre, where the axles meet. "
        "Repeat.",
    ),
    click.option(
        "--ghost",
        "ghosts",
        type=click.Path(dir_okay=False, path_type=Path),
        multiple=True,
        help="Draw the vehicle of another saved run too, translucent, to compare; repeat.",
    ),
    click.option(
        "--follow/--no-follow",
        default=None,
        help="Whether the camera goes along. Default: if the way is long.",
    ),
    click.option("--title", help="What stands in the page's corner, instead of the robot's name."),
)


def looks(command):
    """Adds the options whose values `look` takes."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def look(vehicle, overlays, ghosts, follow: bool | None, title: str | None, *, mu=None,
         path=None) -> dict:
    """Keywords of `save_html` and `Viewer`.

    Parameters
    ----------
    mu
        Friction coefficients by wheel, or None.
    path
        The `control.path.Path` that is followed, or None.

    Raises
    ------
    NhmechError
        For what cannot be drawn.
    """
    from ..view.overlays import make_overlays
    from ..view.overlays.ghost import Ghost

    drawn = make_overlays(vehicle, overlays, mu=mu, path=path)
    names: list[str] = []
    for i, file in enumerate(ghosts):
        run = read_run(file)
        names.append(file.stem if file.stem not in names else str(file))
        drawn.append(Ghost(vehicle_of(file, run), run, names[-1], i))
    return {"overlays": drawn, "follow": follow, "title": title}
