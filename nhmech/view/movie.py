"""Moving pictures of an exported page: GIF and WebP by Pillow, MP4 by ffmpeg."""

from __future__ import annotations

import io
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

import numpy as np

from ..checks import read_number
from ..errors import InputError, NhmechError, listed
from ..paths import replace_file
from .browser import find_chromium
from .picture import open_page

if TYPE_CHECKING:
    from PIL.Image import Image

HIDE_CONTROLS = ("document.getElementById('bar').style.display = "
                 "document.getElementById('title').style.display = 'none', 0")
# frames that Pillow is given, which holds them all in memory: 1.2 GB at 640 x 420
MOST = 1500

Frames = Callable[[Iterable[float]], Iterator[bytes]]  # PNGs of the page at these times [s]


def require_tools(path: str | PathLike[str]) -> None:
    """Check that a moving picture of this name could be made."""
    format = _format(path)
    if find_chromium() is None:
        raise NhmechError(f"{path} needs Chromium or Chrome on PATH, for example: apt install "
                          "chromium")
    if format.needs_ffmpeg and shutil.which("ffmpeg") is None:
        raise NhmechError(f"{path} needs ffmpeg on PATH, for example: apt install ffmpeg "
                          "(or ask for .webp or .gif, which need nothing)")


def save_movie(html_path: str | PathLike[str], path: str | PathLike[str], *, speed: float = 1.0,
               size: tuple[int, int] = (640, 420), fps: float | None = None,
               controls: bool = False, progress: Callable[[float], None] | None = None) -> Path:
    """A recorded page as a moving picture, from start to end; returns its path.

    Parameters
    ----------
    html_path
        A page that `save_html` wrote.
    path
        The file to write; its ending says the format.
    speed
        Times real time.
    size
        Width and height in pixels, rounded to even numbers for MP4.
    fps
        Frames a second; None takes 20 for a GIF and 25 otherwise.
    controls
        Whether the page's buttons are in the picture.
    progress
        Called with the time [s] after the page's start that is drawn next.

    Returns
    -------
    Path
        The moving picture.

    Raises
    ------
    InputError
        For numbers that are not positive, and for more frames than memory should hold (MP4 has no
        limit).
    NhmechError
        If a tool is missing or fails.
    """
    require_tools(path)
    format = _format(path)
    fps = read_number("fps", format.fps if fps is None else fps,
                      "a positive number of frames a second", above=0.0)
    speed = read_number("speed", speed, "a positive multiple of real time", above=0.0)
    if format.needs_ffmpeg:
        size = (2 * (size[0] // 2), 2 * (size[1] // 2))
    with _open_camera(html_path, size, controls, progress) as (frames, duration):
        times = [*np.arange(0.0, duration - 1e-9, speed / fps), duration]
        if not format.needs_ffmpeg and len(times) > MOST:
            raise InputError(f"{path} would have {len(times)} frames, and {MOST} is the most; "
                             "play it faster, with fewer frames a second, or as .mp4")
        try:
            with replace_file(path) as new:
                format.write(frames, times, fps, new)
        except OSError as error:
            raise NhmechError(f"{path} cannot be written: {error.strerror or error}") from error
    return Path(path)


@contextmanager
def _open_camera(html_path: str | PathLike[str], size: tuple[int, int], controls: bool,
                 progress: Callable[[float], None] | None = None) -> Iterator[tuple[Frames, float]]:
    """A function that takes pictures of the page, and how long the page plays [s]."""
    with open_page(html_path, size) as browser:
        if not controls:
            browser.evaluate(HIDE_CONTROLS)

        def frames(times: Iterable[float]) -> Iterator[bytes]:
            for t in times:
                if progress is not None:
                    progress(t)
                browser.evaluate(f"nhmech.seek({float(t)}), 0")
                yield browser.picture()

        yield frames, float(browser.evaluate("nhmech.state.duration"))


def _image(png: bytes) -> Image:
    from PIL import Image

    return Image.open(io.BytesIO(png)).convert("RGB")


def _write_gif(frames: Frames, times: Sequence[float], fps: float, file: Path) -> None:
    from PIL.Image import Dither, Quantize

    last = _image(next(frames(times[-1:])))
    palette = last.quantize(255, Quantize.MAXCOVERAGE)  # keeps rare colours, such as the trails
    images = [_image(png).quantize(palette=palette, dither=Dither.NONE) for png in frames(times)]
    images[0].save(file, "GIF", save_all=True, append_images=images[1:],
                   duration=round(1000 / fps), loop=0, optimize=True)


def _write_webp(frames: Frames, times: Sequence[float], fps: float, file: Path) -> None:
    images = [_image(png) for png in frames(times)]
    images[0].save(file, "WEBP", save_all=True, append_images=images[1:],
                   duration=round(1000 / fps), loop=0, quality=80, method=4)


def _write_mp4(frames: Frames, times: Sequence[float], fps: float, file: Path) -> None:
    command = ["ffmpeg", "-y", "-loglevel", "error", "-f", "image2pipe", "-framerate", f"{fps:g}",
               "-c:v", "png", "-i", "-", "-an", "-pix_fmt", "yuv420p", "-movflags", "+faststart",
               "-f", "mp4", str(file)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE) as ffmpeg:
        try:
            _feed(ffmpeg.stdin, frames(times))
        except BaseException:
            ffmpeg.kill()
            raise
        messages = ffmpeg.communicate()[1].decode(errors="replace").strip().splitlines()
    if ffmpeg.returncode:
        raise NhmechError(f"ffmpeg failed: {[f'exit code {ffmpeg.returncode}', *messages][-1]}")


def _feed(pipe: IO[bytes] | None, pngs: Iterable[bytes]) -> None:
    assert pipe is not None
    try:
        for png in pngs:
            pipe.write(png)
    except BrokenPipeError:
        pass  # ffmpeg has ended, and says why in its messages


class _Format(NamedTuple):
    """A kind of moving picture."""

    fps: float
    write: Callable[[Frames, Sequence[float], float, Path], None]
    needs_ffmpeg: bool = False


# a GIF counts time in hundredths of a second
FORMATS = {".gif": _Format(20.0, _write_gif), ".webp": _Format(25.0, _write_webp),
           ".mp4": _Format(25.0, _write_mp4, needs_ffmpeg=True)}


def _format(path: str | PathLike[str]) -> _Format:
    suffix = Path(path).suffix
    if suffix not in FORMATS:
        raise InputError(f"{path}: the name of a moving picture must end in one of "
                         f"{listed(FORMATS)}")
    return FORMATS[suffix]
