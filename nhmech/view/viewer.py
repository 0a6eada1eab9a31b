"""A vehicle in a browser window: while a simulation runs, or played back at real time."""

from __future__ import annotations

import threading
import time
import webbrowser
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..errors import NhmechError
from ..simulation.state import State
from .live import LiveScene
from .overlays import Moment, make_overlays
from .page import render_live
from .recording import save_html
from .remote import RemoteWindow
from .sampling import moments
from .server import Server

FPS = 60.0
# of the time that the drawing thread may be at work: there are fewer frames where one takes long
SHARE = 0.04
# one in so many of the states of a fast loop is kept for the trails, which go through so many
# between two frames
EACH, BETWEEN = 64, 2


class Viewer:
    """Shows one vehicle on meshcat's page; a context manager.

    Nothing here waits for a browser: without one, the vehicle moves unseen. A thread draws the
    newest moment at most 60 times a second; it is itself at work for at most 4 % of the time, so
    that complicated scenes have fewer frames. Sending them comes on top.

    Parameters
    ----------
    vehicle
        Has name, model, visual_model, ground, contact_points(q) -> (n, 3) [m] and contact_names.
    open_browser
        Open the page in the user's browser.
    overlays
        What is drawn on top: names out of `nhmech.view.overlays`, such as "forces"; or overlays,
        such as `Ghost(vehicle, run)`.
    window
        None: a server of its own inside this process, on 127.0.0.1; or the ZMQ address of a
        meshcat-server that runs already.
    follow
        Whether the camera goes along.
    title
        In the page's corner; the vehicle's name where None.

    Raises
    ------
    NhmechError
        Where the server is closed or does not answer.
    """

    def __init__(self, vehicle, *, open_browser: bool = False, overlays: Sequence = (),
                 window: str | None = None, follow: bool = True, title: str | None = None):
        self.vehicle, self._overlays, self._title = vehicle, make_overlays(vehicle, overlays), title
        self._live = LiveScene(vehicle, self._overlays, follow, title)
        self._window = (
            Server(render_live(title or vehicle.name)) if window is None else RemoteWindow(window)
        )
        self._lock, self._closing, self._failure = threading.Lock(), threading.Event(), None
        self._newest = self._drawn = None
        self._passed, self._count = [], 0
        self._thread = threading.Thread(target=self._work, name="nhmech-drawing", daemon=True)
        self._thread.start()
        if open_browser:
            webbrowser.open(self.url, new=2)

    @property
    def url(self) -> str:
        """Address of the page, on this machine only."""
        return self._window.url

    def _repr_html_(self) -> str:
        """The page itself, where a notebook shows the viewer."""
        style = "border: 0; border-radius: 8px"
        return f'<iframe src="{self.url}" width="100%" height="420" style="{style}" title="live view"></iframe>'

    def wait_for_browser(self, timeout: float = 10.0) -> bool:
        """Whether the page has been opened, after waiting for that at most `timeout` [s]."""
        return self._window.wait_for_browser(timeout)

    def display(self, state) -> None:
        """Show a configuration q (nq,) or a state with `q`; `t` [s] where ground or clock move, v,
        u for some overlays.

        Returns at once; what is displayed before the next frame is drawn is passed over. An error
        of the drawing is raised by the next call.
        """
        if self._failure is not None:
            raise self._failure
        # a State is a copy already, and checked by the loop that made it
        if type(state) is not State:
            state = Moment.of(state)
            if state.q.shape != (self.vehicle.model.nq,) or not np.all(np.isfinite(state.q)):
                raise NhmechError(f"viewer: q must be {self.vehicle.model.nq} finite numbers, got "
                                  f"{state.q}")
        self._count += 1
        if not self._count % EACH:
            self._passed.append(state)
        self._newest = state

    def flush(self) -> None:
        """Return when what was displayed last is on its way to the browsers."""
        self._draw()
        if self._failure is not None:
            raise self._failure

    def play(self, trajectory, speed: float = 1.0) -> None:
        """Show a trajectory at `speed` times real time; returns at its end."""
        if speed <= 0:
            raise NhmechError(f"speed={speed} must be positive")
        first, last = float(trajectory.t[0]), float(trajectory.t[-1])
        self.clear_trails()
        begin, now = time.monotonic(), first
        while now < last:
            self.display(moments(self.vehicle.model, trajectory, np.array([now]))[0])
            time.sleep(1 / FPS)
            now = first + speed * (time.monotonic() - begin)
        self.display(moments(self.vehicle.model, trajectory, np.array([last]))[0])
        self.flush()

    def clear_trails(self) -> None:
        """Remove the trails, for example after the vehicle was put elsewhere."""
        with self._lock:
            self._passed = []
            self._live.clear_trails()
            self._window.forget("/trails")

    def save_html(self, trajectory, path, fps: float = 30.0) -> Path:
        """Write a page that plays `trajectory`, see `nhmech.view.save_html`."""
        return save_html(self.vehicle, trajectory, path, fps, self._overlays, title=self._title)

    def close(self) -> None:
        """Draw what was displayed last and stop the server, if it is this viewer's own; harmless
        when called again."""
        if not self._closing.is_set():
            self._closing.set()
            self._thread.join()
            self._draw()
            self._failure = self._failure or NhmechError("viewer: it is closed; make a new Viewer")
        self._window.close()

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def _work(self) -> None:
        """The thread: draws now and then."""
        due = time.monotonic() + 1 / FPS
        while self._failure is None and not self._closing.wait(max(0.0, due - time.monotonic())):
            begin = time.thread_time()
            self._draw()
            due = max(time.monotonic(), due + max(1 / FPS, (time.thread_time() - begin) / SHARE))

    def _draw(self) -> None:
        """Hands the newest moment over to the window, unless that was done; the next call tells
        what went wrong."""
        with self._lock:
            # in this order: what comes between the two lines is drawn
            passed, self._passed = self._passed, []
            newest = self._newest
            if newest is self._drawn or self._failure is not None:
                return
            try:
                between = passed[::max(1, len(passed) // BETWEEN)]
                self._window.send(self._live.messages(Moment.of(newest),
                                                      [one.q for one in between]))
            except NhmechError as error:
                self._failure = error
            except Exception as error:
                self._failure = NhmechError(f"viewer: drawing failed: {type(error).__name__}: "
                                            f"{error}")
                self._failure.__cause__ = error
            self._drawn = newest
