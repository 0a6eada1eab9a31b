"""`nhmech view`: play a saved run."""

from __future__ import annotations

from pathlib import Path

import click

from .looks import look, looks
from .movies import movies, write_movies
from .options import OutputFile, speed
from .rolling import coefficients, friction
from .saved import read_run, unused, vehicle_of
from .show import play, save_page, write_html


@click.command()
@click.argument("run", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--html", type=OutputFile(".html"),
              help="Write one HTML file that plays by itself, and open nothing. An older one is "
                   "replaced.")
@click.option("--robot", "file", metavar="FILE",
              help="Draw this robot (path or shipped name) instead of the one the run was made "
                   "with.")
@movies
@looks
@friction
@click.option("--path", metavar="NAME[:SIZE]|FILE.csv",
              help="What the run was to follow, for `--overlay path`. Default: the path of the "
                   "run's controller.")
@speed
def view(run, html, file, gif, webp, mp4, overlays, ghosts, follow, title, mu, path, speed):
    """Play RUN, which `nhmech run --save` or `nhmech systems run --save` wrote, or the .part of a
    run that goes on.

    \b
    nhmech view run.npz
    nhmech view run.npz --playback 0.25
    nhmech view run.npz --html run.html
    nhmech view run.npz --mp4 run.mp4
    nhmech view run.npz --ghost other.npz --overlay forces --mu 0.8

    Where no browser opens, an HTML file is written beside RUN, under a name that is not taken.
    """
    trajectory, written = read_run(run), html is not None or any((gif, webp, mp4))
    if file is None and "system" in trajectory.source:
        from ..systems import load_system
        from ..view.system_picture import save_system_html

        def save(path: Path) -> Path:
            return save_system_html(load_system(trajectory.source["system"]), trajectory, path)

        if html is not None or not written:
            click.echo(f"html     {save(html or unused(run.with_suffix('.html'))).resolve()}")
    else:
        vehicle = vehicle_of(run, trajectory, file)
        from ..control.path_choice import read_path, scale
        from ..control.path_reference import path_of

        path = path_of(trajectory) if path is None else read_path(path, scale(vehicle))
        drawn = look(vehicle, overlays, ghosts, follow, title, mu=coefficients(vehicle, mu),
                     path=path)

        def save(page: Path) -> Path:
            return save_page(vehicle, trajectory, page, drawn)

        if html is not None:
            write_html(vehicle, trajectory, html, drawn)
        if not written:
            play(vehicle, trajectory, speed, drawn, instead=run.with_suffix(".html"))
    write_movies(save, trajectory, speed, gif, webp, mp4)
