"""Moving pictures of an exported page: GIF and WebP by Pillow, MP4 by ffmpeg."""

from __future__ import annotations

import io
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from ..errors import NhmechError
from ..paths import replace_file
from .browser import find_chromium
from .picture import opened

FPS = {".gif": 20.0, ".webp": 25.0, ".mp4": 25.0}      # a GIF counts time in hundredths of a second
HIDE_CONTROLS = ("document.getElementById('bar').style.display = "
                 "document.getElementById('title').style.display = 'none', 0")
# frames that Pillow is given: it holds them all in memory
MOST = 1500


def require_tools(path) -> None:
    """Raises `NhmechError`, which says what to install, where a moving picture of this name could
    not be made."""
    suffix = Path(path).suffix
    if suffix not in FPS:
        raise NhmechError(f"{path}: the name of a moving picture must end in one of "
                          f"{', '.join(FPS)}")
    if find_chromium() is None:
        raise NhmechError(f"{path} needs Chromium or Chrome on PATH, for example: apt install "
                          "chromium")
    if suffix == ".mp4" and shutil.which("ffmpeg") is None:
        raise NhmechError(f"{path} needs ffmpeg on PATH, for example: apt install ffmpeg "
                          "(or ask for .webp or .gif, which need nothing)")


def save_movie(html_path, path, *, speed: float = 1.0, size: tuple[int, int] = (640, 420),
               fps: float | None = None,
               controls: bool = False, progress: Callable[[float], None] | None = None) -> Path:
    """The page that `save_html` wrote as a moving picture, from start to end, in the name's format;
    returns its path.

    Parameters
    ----------
    speed
        Times real time.
    size
        In pixels; whole numbers, made even for MP4.
    fps
        Frames a second; 20 in a GIF, 25 else.
    progress
        Called with the time [s] after the page's start that is drawn next.

    Raises
    ------
    NhmechError
        Where a tool is missing or fails, and for more frames than memory should hold (MP4 has no
        limit).
    """
    require_tools(path)
    suffix, fps = Path(path).suffix, fps or FPS[Path(path).suffix]
    if not (speed > 0 and fps > 0):
        raise NhmechError(f"speed = {speed} and fps = {fps} must be positive")
    size = tuple(2 * (n // 2) for n in size) if suffix == ".mp4" else size
    with _filmed(html_path, size, controls, progress) as (frames, duration):
        times = np.append(np.arange(0.0, duration - 1e-9, speed / fps), duration)
        if suffix != ".mp4" and len(times) > MOST:
            raise NhmechError(f"{path} would have {len(times)} frames, and {MOST} is the most; "
                              "play it faster, with fewer frames a second, or as .mp4")
        try:
            with replace_file(path) as new:
                {".gif": _gif, ".webp": _webp, ".mp4": _mp4}[suffix](frames, times, fps, new)
        except OSError as error:
            raise NhmechError(f"{path} cannot be written: {error.strerror or error}") from error
    return Path(path)


def save_gif(html_path, gif_path, times: Iterable[float], size: tuple[int, int] = (640, 420),
             fps: float = 15.0, controls: bool = False) -> Path:
    """Moving picture of the page at these `times` [s after its start], at `fps` frames a second and
    in a loop."""
    times = list(times)
    if not times:
        raise NhmechError("a moving picture needs at least one time")
    with _filmed(html_path, size, controls) as (frames, _):
        _gif(frames, times, fps, gif_path)
    return Path(gif_path)


Frames = Callable[[Iterable[float]], Iterator[bytes]]     # PNGs of the page at these times [s]


@contextmanager
def _filmed(html_path, size: tuple[int, int], controls: bool,
            progress: Callable[[float], None] | None = None) -> Iterator[tuple[Frames, float]]:
    """What takes pictures of the page, and how long it plays [s]."""
    with opened(html_path, size) as browser:
        if not controls:
            browser.evaluate(HIDE_CONTROLS)

        def frames(times: Iterable[float]) -> Iterator[bytes]:
            for t in times:
                if progress is not None:
                    progress(t)
                browser.evaluate(f"nhmech.seek({float(t)}), 0")
                yield browser.picture()

        yield frames, float(browser.evaluate("nhmech.state.duration"))


def _image(png: bytes):
    from PIL import Image

    return Image.open(io.BytesIO(png)).convert("RGB")


def _gif(frames: Frames, times: Sequence[float], fps: float, new) -> None:
    from PIL import Image

    last = _image(next(frames(times[-1:])))
    # keeps rare colours, such as the trails
    palette = last.quantize(255, Image.Quantize.MAXCOVERAGE)
    images = [_image(png).quantize(palette=palette,
                                   dither=Image.Dither.NONE) for png in frames(times)]
    images[0].save(new, "GIF", save_all=True, append_images=images[1:], duration=round(1000 / fps),
                   loop=0, optimize=True)


def _webp(frames: Frames, times: Sequence[float], fps: float, new) -> None:
    images = [_image(png) for png in frames(times)]
    images[0].save(new, "WEBP", save_all=True, append_images=images[1:], duration=round(1000 / fps),
                   loop=0, quality=80, method=4)


def _mp4(frames: Frames, times: Sequence[float], fps: float, new) -> None:
    command = ["ffmpeg", "-y", "-loglevel", "error", "-f", "image2pipe", "-framerate", f"{fps:g}",
               "-c:v", "png", "-i", "-", "-an", "-pix_fmt", "yuv420p", "-movflags", "+faststart",
               "-f", "mp4", str(new)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE) as ffmpeg:
        try:
            for png in frames(times):
                ffmpeg.stdin.write(png)
        except BrokenPipeError:
            pass                                                       # it says why on its way out
        except BaseException:
            ffmpeg.kill()
            raise
        said = ffmpeg.communicate()[1]
    if ffmpeg.returncode:
        lines = said.decode(errors="replace").strip().splitlines()
        raise NhmechError("ffmpeg failed: "
                          f"{lines[-1] if lines else f'exit code {ffmpeg.returncode}'}")
