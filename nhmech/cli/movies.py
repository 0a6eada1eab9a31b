"""Moving pictures of a run: the options that `nhmech run` and `nhmech view` share."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import click

from ..errors import NhmechError
from .options import OutputFile
from .progress import Progress


class MovieFile(OutputFile):
    """A moving picture to write; what that needs must be there before hours of simulation are
    spent."""

    def convert(self, value, param, ctx):
        path = super().convert(value, param, ctx)
        from ..view.movie import require_tools

        try:
            require_tools(path)
        except NhmechError as error:
            self.fail(str(error), param, ctx)
        return path


_OPTIONS = (
    click.option("--gif", type=MovieFile(".gif"),
                 help="Write a moving picture, which Chromium draws: 20 frames for each second of "
                      "it."),
    click.option("--webp", type=MovieFile(".webp"), help="Likewise, with all colours."),
    click.option("--mp4", type=MovieFile(".mp4"), help="Likewise, by ffmpeg."),
)


def movies(command):
    """Adds the options whose values `write_movies` takes."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def write_movies(save_page: Callable[[Path], Path], trajectory, speed: float,
                 *paths: Path | None) -> None:
    """Moving pictures at `speed` times real time of the page that `save_page` writes of a run; says
    where they are."""
    wanted = [path for path in paths if path is not None]
    if not wanted:
        return
    from ..view.movie import save_movie

    with tempfile.TemporaryDirectory(prefix="nhmech-") as folder:
        page = save_page(Path(folder) / "run.html")
        for path in wanted:
            with Progress(float(trajectory.t[-1] - trajectory.t[0])) as progress:
                save_movie(page, path, speed=speed, progress=progress)
            click.echo(f"movie    {path}")
