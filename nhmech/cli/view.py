"""`nhmech view`: play a saved run."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..paths import free_path
from .driving import read_path_option
from .looks import LookOptions, look_options, make_look
from .movies import MovieOptions, movie_options, write_movies
from .options import PLAYBACK, OutputFile
from .rolling import Friction, coefficients, friction_option
from .saved import is_textbook, read_run, robot_of_run, vehicle_of
from .show import play

if TYPE_CHECKING:
    from ..simulation.runs.trajectory import Trajectory


@click.command(short_help="Play a saved run, or write it as a page or an animation.")
@click.argument("run", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--html", type=OutputFile(".html"),
              help="Write one HTML file that plays by itself instead of opening a browser. An "
                   "existing file is replaced.")
@robot_of_run
@movie_options
@look_options
@friction_option
@click.option("--path", metavar="NAME[:SIZE]|FILE.csv",
              help="The reference path for `--overlay path`. Default: that of the run's "
                   "controller.")
@click.option("--playback", "--speed", "playback", **PLAYBACK)
def view(run: Path, html: Path | None, file: str | None, movies: MovieOptions, looks: LookOptions,
         mu: Friction, path: str | None, playback: float) -> None:
    """Play RUN, a file of `nhmech run --save` or `nhmech systems run --save`, or the .part of a
    run that still goes on.

    \b
    nhmech view run.npz
    nhmech view run.npz --playback 0.25
    nhmech view run.npz --html run.html
    nhmech view run.npz --mp4 run.mp4
    nhmech view run.npz --ghost other.npz --overlay forces --mu 0.8

    If no browser opens, an HTML file is written beside RUN, under a name that is not taken.
    """
    trajectory = read_run(run, file)
    if is_textbook(trajectory, file):
        view_system(run, trajectory, html, movies, playback)
        return
    from ..control.path_reference import path_of

    vehicle = vehicle_of(run, trajectory, file)
    followed = path_of(trajectory) if path is None else read_path_option(vehicle, path)
    look = make_look(vehicle, looks, mu=coefficients(vehicle, mu), path=followed)
    if html is not None:
        look.write_html(vehicle, trajectory, html)
    elif not movies.files:
        play(vehicle, trajectory, playback, look, run.with_suffix(".html"))
    write_movies(movies, partial(look.save_page, vehicle, trajectory), trajectory, playback)


def view_system(run: Path, trajectory: Trajectory, html: Path | None, movies: MovieOptions,
                playback: float) -> None:
    """Write the run of a textbook system as a page, and as moving pictures."""
    from ..view.recording import save_html

    save = partial(save_html, trajectory.simulated, trajectory)
    if html is not None or not movies.files:
        page = save(html or free_path(run.with_suffix(".html")))
        click.echo(f"html     {page.resolve()}")
    write_movies(movies, save, trajectory, playback)
