"""Moving pictures: they open, and show that time passes."""

from __future__ import annotations

import os
import shutil
import subprocess

import numpy as np
import pytest
from browser import needs_chromium
from stand_in_cart import Cart, drive
from support import command_line

from nhmech import NhmechError
from nhmech.view import movie, save_html, save_movie

Image = pytest.importorskip("PIL.Image")
SIZE = (241, 161)                                     # odd: MP4 wants even numbers


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    cart = Cart()
    return save_html(cart, drive(cart), tmp_path_factory.mktemp("page") / "cart.html")


def frames_of(path):
    image, frames = Image.open(path), []
    for k in range(image.n_frames):
        image.seek(k)
        frames.append(np.asarray(image.convert("RGB")).astype(int))
    return image, frames


@needs_chromium
@pytest.mark.browser
@pytest.mark.parametrize("suffix", [".gif", pytest.param(".webp", marks=pytest.mark.soak)])
def test_pillow_s_pictures_move(suffix, page, tmp_path):
    """Three frames of a run: start, middle, end, each another picture."""
    path = save_movie(page, tmp_path / f"cart{suffix}", size=SIZE, fps=2.0,
                      speed=duration_of() / 1.0)
    image, frames = frames_of(path)
    assert image.size == SIZE and len(frames) == 3 and image.info["loop"] == 0
    for a, b in ((0, 1), (1, 2), (0, 2)):
        assert (np.abs(frames[a] - frames[b]).max(axis=-1) > 40).sum() > 50, (
            f"frames {a} and {b} are the same picture"
        )
    assert os.listdir(tmp_path) == [f"cart{suffix}"]


def duration_of() -> float:
    run = drive(Cart())
    return float(run.t[-1] - run.t[0])


@needs_chromium
@pytest.mark.browser
@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="no ffmpeg on PATH")
def test_ffmpeg_s_picture_moves(page, tmp_path):
    """Taken apart again by ffmpeg itself."""
    path = save_movie(page, tmp_path / "cart.mp4", size=SIZE, fps=2.0, speed=duration_of() / 1.0)
    subprocess.run(["ffmpeg", "-loglevel", "error", "-i", path, str(tmp_path / "%d.png")],
                   check=True, stdin=subprocess.DEVNULL)
    stills = sorted(tmp_path.glob("*.png"))
    pictures = [np.asarray(Image.open(still).convert("RGB")).astype(int) for still in stills]
    assert len(pictures) == 3 and {picture.shape for picture in pictures} == {(160, 240, 3)}
    assert (np.abs(pictures[0] - pictures[2]).max(axis=-1) > 40).sum() > 50


@needs_chromium
@pytest.mark.browser
def test_too_many_frames_for_memory_are_refused(page, tmp_path, monkeypatch):
    monkeypatch.setattr(movie, "MOST", 2)
    with pytest.raises(NhmechError, match="would have 3 frames, and 2 is the most; play it faster"):
        save_movie(page, tmp_path / "cart.webp", size=SIZE, fps=2.0, speed=duration_of() / 1.0)


def test_what_is_missing_is_named(tmp_path, monkeypatch):
    """Before anything is run, with what to install."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(movie, "find_chromium", lambda: None)
    for out in ("a.gif", "a.webp", "a.mp4"):
        result = command_line("run", "differential_drive", "--duration", "1e6", f"--{out[2:]}", out)
        assert result.exit_code == 2 and "apt install chromium" in " ".join(result.stderr.split())
    monkeypatch.setattr(movie, "find_chromium", lambda: "chromium")
    monkeypatch.setattr(movie.shutil, "which", lambda name: None)
    with pytest.raises(NhmechError,
                       match="a.mp4 needs ffmpeg on PATH, for example: apt install ffmpeg"):
        save_movie(tmp_path / "page.html", tmp_path / "a.mp4")
    with pytest.raises(NhmechError, match="must end in one of .gif, .webp, .mp4"):
        save_movie(tmp_path / "page.html", tmp_path / "a.avi")
    with pytest.raises(NhmechError, match="speed = 0 must be"):
        save_movie(tmp_path / "page.html", tmp_path / "a.gif", speed=0)
    assert not list(tmp_path.iterdir())


@needs_chromium
@pytest.mark.browser
def test_what_ffmpeg_says_is_passed_on(page, tmp_path, monkeypatch):
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "ffmpeg"
    program.write_text("#!/bin/sh\ncat > /dev/null\necho 'no such codec' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    with pytest.raises(NhmechError, match="ffmpeg failed: no such codec"):
        save_movie(page, tmp_path / "cart.mp4", size=SIZE, fps=1.0, speed=duration_of())
    assert os.listdir(tmp_path) == ["bin"]


@needs_chromium
@pytest.mark.browser
def test_the_commands_draw(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["run", "differential_drive", "--duration", "0.04", "--save", "run.npz", "--gif",
             "run.gif", "--playback", "1"]
    result = command_line(*words)
    assert result.exit_code == 0 and "movie    run.gif" in result.output
    assert frames_of("run.gif")[0].n_frames >= 2
    result = command_line("view", "run.npz", "--webp", "again.webp", "--speed", "2")
    assert (result.exit_code == 0 and "movie    again.webp" in result.output
            and "html" not in result.output)
    assert sorted(os.listdir(tmp_path)) == ["again.webp", "run.gif", "run.npz"]
