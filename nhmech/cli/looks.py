"""The look of a run: options of `nhmech run` and `nhmech view`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import listed
from .options import Context, Parameter, option, option_group
from .saved import read_run, vehicle_of

if TYPE_CHECKING:
    from ..control import path as control_path
    from ..vehicle.vehicle import Vehicle
    from ..view.drawable import Drawable, Playable
    from ..view.overlays.overlay import Overlay


class OverlayType(click.ParamType):
    """A name out of `nhmech.view.overlays`, with dashes or underscores."""

    name = "NAME"

    def convert(self, value: Any, param: Parameter, ctx: Context) -> str:
        """The name with underscores."""
        from ..view.overlays import OVERLAYS

        name = value.replace("-", "_")
        if name not in OVERLAYS:
            known = listed(known.replace("_", "-") for known in OVERLAYS)
            self.fail(f"{value!r}: there are {known}", param, ctx)
        return name


@dataclass(frozen=True)
class LookOptions:
    """Overlays on a vehicle, and the presentation."""

    overlays: tuple[str, ...] = option(
        "--overlay", type=OverlayType(), multiple=True,
        help="Draw on top of the vehicle: 'forces', the ground's force on each wheel in its "
             "friction cone; 'path', the path that is followed; 'rotation-centre', where the axles "
             "meet. Repeat.")
    ghosts: tuple[Path, ...] = option(
        "--ghost", type=click.Path(dir_okay=False, path_type=Path), multiple=True,
        help="Also draw the vehicle of another saved run, translucent, for comparison; repeat.")
    follow: bool | None = option(
        "--follow/--no-follow",
        help="Whether the camera follows the vehicle. Default: if the path is long.")
    title: str | None = option(
        "--title", help="Text in the page's corner, instead of the robot's name.")


look_options = option_group("looks", LookOptions)


@dataclass(frozen=True)
class Look:
    """Options of `save_html` and `Viewer`."""

    overlays: list[Overlay]
    follow: bool | None
    title: str | None

    def save_page(self, vehicle: Drawable, trajectory: Playable, path: Path) -> Path:
        """Write one self-contained HTML file; returns its path."""
        from ..view.recording import save_html

        return save_html(vehicle, trajectory, path, overlays=self.overlays, follow=self.follow,
                         title=self.title)

    def write_html(self, vehicle: Drawable, trajectory: Playable, path: Path) -> None:
        """Writes the page and prints its path."""
        click.echo(f"html     {self.save_page(vehicle, trajectory, path).resolve()}")


def make_look(vehicle: Vehicle, options: LookOptions, *, mu: Mapping[str, float] | None = None,
              path: control_path.Path | None = None) -> Look:
    """The look that the options choose, with the reference `path`. Raises `InputError` for overlays
    that cannot be drawn."""
    from ..view.overlays import make_overlays
    from ..view.overlays.ghost import Ghost

    overlays = make_overlays(vehicle, options.overlays, mu=mu, path=path)
    names: list[str] = []
    for i, file in enumerate(options.ghosts):
        run = read_run(file)
        names.append(file.stem if file.stem not in names else str(file))
        overlays.append(Ghost(vehicle_of(file, run), run, names[-1], i))
    return Look(overlays, options.follow, options.title)
