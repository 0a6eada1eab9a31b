"""Moving pictures of a run: options of `nhmech run` and `nhmech view`."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import NhmechError
from .options import Context, OutputFile, Parameter, option, option_group
from .progress import Progress

if TYPE_CHECKING:
    from ..view.drawable import Playable


class MovieFile(OutputFile):
    """A movie to write; a missing tool is reported before hours of simulation are spent."""

    def convert(self, value: Any, param: Parameter, ctx: Context) -> Path:
        """The file."""
        path = super().convert(value, param, ctx)
        from ..view.movie import require_tools

        try:
            require_tools(path)
        except NhmechError as error:
            self.fail(error.command_line, param, ctx)
        return path


@dataclass(frozen=True)
class MovieOptions:
    """The moving pictures to write."""

    gif: Path | None = option(
        "--gif", type=MovieFile(".gif"),
        help="Write an animation with 20 frames per second; needs Chromium.")
    webp: Path | None = option(
        "--webp", type=MovieFile(".webp"), help="The same with all colours, 25 frames per second.")
    mp4: Path | None = option(
        "--mp4", type=MovieFile(".mp4"), help="The same by ffmpeg, for long runs.")

    @property
    def files(self) -> list[Path]:
        """The files to write."""
        return [file for file in astuple(self) if file is not None]


movie_options = option_group("movies", MovieOptions)


def write_movies(movies: MovieOptions, save_page: Callable[[Path], Path], trajectory: Playable,
                 speed: float) -> None:
    """Write moving pictures of the page that `save_page` writes, at `speed` times real time, and
    print where they are."""
    if not movies.files:
        return
    from ..view.movie import save_movie

    with tempfile.TemporaryDirectory(prefix="nhmech-") as folder:
        page = save_page(Path(folder) / "run.html")
        for path in movies.files:
            with Progress(float(trajectory.t[-1] - trajectory.t[0])) as progress:
                save_movie(page, path, speed=speed, progress=progress)
            click.echo(f"movie    {path}")
