"""A vehicle in a browser window: while a simulation runs, or played back at real time."""

from __future__ import annotations

import math
import threading
import time
import webbrowser
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ..checks import check_arguments, read_number
from ..errors import InputError, NhmechError
from ..simulation.state import State
from ..vehicle.vehicle import Vehicle
from .drawable import Drawable, Playable, Snapshot, check_run
from .instruments import Instruments
from .live import LiveScene
from .overlays import make_overlays
from .overlays.overlay import Overlay
from .page import render_live
from .page_commands import PageCommands
from .recording import save_html
from .remote import RemoteWindow
from .sampling import snapshots
from .server import Server

FPS = 60.0  # that most screens show
# of the time that the drawing thread may work, so that a simulation beside it keeps its speed
SHARE = 0.04
WAITING_SHARE = 0.3     # beside a loop that waits for the clock anyway
READING = 0.25          # of that share for the numbers of the instruments; the rest for the picture
# of a fast loop, one state in EACH is kept for the trails, and BETWEEN of those are drawn between
# two frames: curves stay round, and keeping them costs nothing that can be measured
EACH, BETWEEN = 64, 2
DRIVEN_EACH, DRIVEN_BETWEEN = 1, 16     # of a driven vehicle, which shows a hundred in a second


@check_arguments
class Viewer:
    """Shows one vehicle in a browser on meshcat's page; also a context manager.

    No call waits for a browser. A thread draws the newest state at most 60 times a second and for
    at most 4 % of the time (30 % while a run is played), so that complicated scenes get fewer
    frames; sending them is not included.

    Parameters
    ----------
    vehicle
        A vehicle, or anything else that has the attributes of `nhmech.view.drawable.Drawable`.
    open_browser
        Open the page in the user's browser.
    overlays
        What is drawn on top: names such as "forces", "rotation_centre" and "path", or overlays such
        as `Ghost(vehicle, run)`.
    window
        ZMQ address of a running meshcat-server; None starts a server inside this process, on
        127.0.0.1.
    follow
        Whether the camera moves along.
    title
        In the page's corner; None takes the vehicle's name.
    drive
        Whether the page has controls and instruments; `commands` has what its controls say.
        `nhmech.view.Drive` is a whole loop around it.
    mu
        Friction coefficients for instruments and plots, as in `analysis.validity`.

    Attributes
    ----------
    commands
        Input from the page's controls, if it has any.

    Raises
    ------
    InputError
        For overlays and configurations that do not fit the vehicle, and for drive=True with a
        window, or without wheels.
    NhmechError
        If the server is closed or does not answer.

    Examples
    --------
    >>> with nhmech.Viewer(vehicle) as viewer:
    ...     viewer.display(Simulator(vehicle).step())
    """

    def __init__(self, vehicle: Drawable, *, open_browser: bool = False,
                 overlays: Sequence[str | Overlay] = (), window: str | None = None,
                 follow: bool = True, title: str | None = None, drive: bool = False,
                 mu: float | Mapping[str, float] | None = None):
        self.vehicle, self._title = vehicle, title
        self._overlays = make_overlays(vehicle, overlays, mu=mu)
        self.commands = PageCommands()
        self._share, self._each, self._between = (
            (WAITING_SHARE, DRIVEN_EACH, DRIVEN_BETWEEN) if drive else (SHARE, EACH, BETWEEN))
        instruments = _instruments(vehicle, window, drive, mu)
        self._live = LiveScene(vehicle, self._overlays, follow, title, instruments,
                               draws_trails=window is None)
        self._window: Server | RemoteWindow = (
            Server(render_live(title or vehicle.name, drive, instruments is not None),
                   self.commands.receive if drive else None)
            if window is None else RemoteWindow(window))
        self._lock, self._closing = threading.Lock(), threading.Event()
        self._failure: NhmechError | None = None
        self._newest: Snapshot | State | None = None
        self._drawn: Snapshot | State | None = None
        self._passed: list[Snapshot | State] = []
        self._count = 0
        self._thread = threading.Thread(target=self._work, name="nhmech-drawing", daemon=True)
        self._thread.start()
        if open_browser:
            webbrowser.open(self.url, new=2)

    @property
    def url(self) -> str:
        """Address of the page, reachable on this machine only."""
        return self._window.url

    def __repr__(self) -> str:
        state = "closed" if self._closing.is_set() else f"at {self.url}"
        return f"<Viewer of {self.vehicle.name!r}, {state}>"

    def _repr_html_(self) -> str:
        """The page itself, where a notebook shows the viewer."""
        return (f'<iframe src="{self.url}" width="100%" height="420" title="live view" '
                'style="border: 0; border-radius: 8px"></iframe>')

    def wait_for_browser(self, timeout: float = 10.0) -> bool:
        """Whether the page has been opened, after waiting for that at most `timeout` [s]."""
        return self._window.wait_for_browser(timeout)

    def display(self, state: Any) -> None:
        """Show a configuration q (nq,), or an object with `q` and, where they are known, `t` [s],
        `v` and `u`: the clock and a moving ground need t, some overlays v and u.

        Returns at once. Only the newest of the states that arrive between two frames is drawn. An
        error of the drawing is raised by the next call.
        """
        if self._failure is not None:
            raise self._failure
        # a State is a copy already, and checked by the loop that made it
        if type(state) is not State:
            state = Snapshot.of(state)
            if state.q.shape != (self.vehicle.model.nq,) or not np.all(np.isfinite(state.q)):
                raise InputError(f"viewer: q must be {self.vehicle.model.nq} finite numbers, got "
                                 f"{state.q}")
        self._count += 1
        if not self._count % self._each:
            self._passed.append(state)
        self._newest = state

    def post(self, message: dict) -> None:
        """Sends the page one more message, with a `type` that it knows; the last of each type is
        kept for pages that open later."""
        self._window.send([message])

    def flush(self) -> None:
        """Return when the last displayed state is on its way to the browsers, with all that
        instruments and plots show of it."""
        self._draw(math.inf)
        if self._failure is not None:
            raise self._failure

    def play(self, trajectory: Playable, speed: float = 1.0) -> None:
        """Show a trajectory at `speed` times real time; return at its end."""
        speed = read_number("speed", speed, "a positive multiple of real time", above=0.0)
        check_run(self.vehicle, trajectory)
        first, last = float(trajectory.t[0]), float(trajectory.t[-1])
        self.clear_trails()
        share, self._share = self._share, WAITING_SHARE
        begin, now = time.monotonic(), first
        try:
            while now < last:
                self.display(self._snapshot(trajectory, now))
                time.sleep(1 / FPS)
                now = first + speed * (time.monotonic() - begin)
        finally:
            self._share = share
        self.display(self._snapshot(trajectory, last))
        self.flush()

    def _snapshot(self, trajectory: Playable, t: float) -> Snapshot:
        return snapshots(self.vehicle.model, trajectory, np.array([t]))[0]

    def clear_trails(self) -> None:
        """Remove the trails, for example after the vehicle was put elsewhere."""
        with self._lock:
            self._passed = []
            self._live.clear_trails()
            self._window.forget("/trails")

    def save_html(self, trajectory: Playable, path: str | PathLike[str], fps: float = 30.0) -> Path:
        """Write a page that plays `trajectory`; see `nhmech.view.save_html`."""
        return save_html(self.vehicle, trajectory, path, fps, self._overlays, title=self._title)

    def close(self) -> None:
        """Draw the last displayed state and stop the server, if it is this viewer's own; harmless
        when called again."""
        if not self._closing.is_set():
            self._closing.set()
            self._thread.join()
            self._draw(math.inf)
            self._failure = self._failure or NhmechError("viewer: it is closed; make a new Viewer")
        self._window.close()

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _work(self) -> None:
        """Draws in a thread of its own, until the viewer closes."""
        due = time.monotonic() + 1 / FPS
        while self._failure is None and not self._closing.wait(max(0.0, due - time.monotonic())):
            begin = time.thread_time()
            self._draw(READING * self._share)
            rest = (time.thread_time() - begin) / self._share
            due = max(time.monotonic(), due + max(1 / FPS, rest))

    def _draw(self, share: float) -> None:
        """Hands the newest moment over to the window, or what it was drawn without; `share` is the
        part of this thread's time for that. The next call of `display` or `flush` raises a
        failure."""
        with self._lock:
            # in this order, a state that arrives between the two lines is still drawn
            passed, self._passed = self._passed, []
            newest = self._newest
            if self._failure is not None:
                return
            try:
                if messages := self._messages(newest, passed, share):
                    self._window.send(messages)
            except NhmechError as error:
                self._failure = error
            except Exception as error:
                self._failure = NhmechError(f"viewer: drawing failed: {type(error).__name__}: "
                                            f"{error}")
                self._failure.__cause__ = error
            self._drawn = newest

    def _messages(self, newest: Snapshot | State | None, passed: Sequence[Snapshot | State],
                  share: float) -> list[dict]:
        if newest is self._drawn:
            return self._live.late_messages(share)
        between = passed[::max(1, len(passed) // self._between)]
        return self._live.messages(Snapshot.of(newest), [Snapshot.of(one) for one in between],
                                   share)


def _instruments(vehicle: Drawable, window: str | None, drive: bool,
                 mu: float | Mapping[str, float] | None) -> Callable[..., Instruments] | None:
    """Their factory; None if there are none. Raises `InputError` for vehicles that a page cannot
    drive."""
    if isinstance(vehicle, Vehicle) and window is None:
        return partial(Instruments, vehicle, mu)
    if drive and window is not None:
        raise InputError("drive=True needs the page of this package: leave window= out")
    if drive:
        raise InputError(f"{vehicle.name} is no vehicle: only one with wheels has instruments; "
                         "leave drive=True out")
    return None
