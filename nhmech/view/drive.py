"""A vehicle that is driven from its page, in real time."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from ..checks import check_arguments, read_positive
from ..control.teleoperation import OWN, Teleoperation
from ..control.twist_limits import Twist, easy_limits, turning_radius
from ..ctrl_c import forget_ctrl_c, hear_ctrl_c
from ..paths import free_path
from ..simulation.command import Controller
from ..simulation.pacing import keep_pace
from ..simulation.runs.trajectory import Trajectory
from ..vehicle.vehicle import Vehicle
from .overlays.overlay import Overlay
from .page_commands import AT_REST, Parts
from .viewer import Viewer

TOLD = ("failure", "late")   # what is printed too
AGAIN = 1.0         # [s] between two lines
RATE = 100.0        # turns of the loop in a second: one to a control period


@check_arguments
class Drive:
    """Lets keys, a gamepad or sliders of a page drive a vehicle, in real time; a context manager.

    The loop behind `nhmech drive`; the page shows what the vehicle does. All vehicles are driven by
    the same twist, forward speed, lateral speed and yaw rate, each a part of its limit, which
    `control.WheelServo` (or `control.Balance`) follows. A vehicle that cannot turn on the spot has
    its yaw rate held to |v| / R, R its turning radius. Code is compiled before the clock starts.
    Half a second after the last word of the page it brakes.

    Parameters
    ----------
    vehicle
        A vehicle from `nhmech.load`.
    controllers
        Name -> controller that the keys can be exchanged for on the page, and back.
    start
        Arguments of `Simulator.reset`: where it begins, and is put back to.
    speed, yaw_rate
        Limits [m/s], [rad/s]; if None, 1.5 lengths of the vehicle in a second, and its speed
        over its length, both within the limits of its joints.
    mu
        Friction coefficients, as in `analysis.validity`.
    save
        Run file of the drive; each reset begins another, with a number.
    overlays, open_browser, title, follow
        As those of `Viewer`.
    say
        Takes one line about what happens.

    Attributes
    ----------
    teleoperation
        What moves the vehicle.
    viewer
        What shows it.
    saved
        The run files that are complete.

    Raises
    ------
    ModelError
        For a vehicle that cannot balance.
    InputError
        For limits that are not positive.

    Examples
    --------
    >>> from nhmech.view import Drive
    >>> with Drive(vehicle, speed=0.4) as drive:
    ...     run = drive.run(0.1)
    """

    def __init__(self, vehicle: Vehicle, *, controllers: Mapping[str, Controller] | None = None,
                 start: Mapping[str, Any] | None = None, speed: float | None = None,
                 yaw_rate: float | None = None, mu: float | Mapping[str, float] | None = None,
                 save: str | PathLike[str] | None = None,
                 overlays: Sequence[str | Overlay] = (), open_browser: bool = False,
                 title: str | None = None, follow: bool = True,
                 say: Callable[[str], None] = lambda line: None):
        for name, value in (("speed", speed), ("yaw_rate", yaw_rate)):
            if value is not None:
                read_positive(name, value)
        self.vehicle, self._say = vehicle, say
        self._now: float | None = None      # of the last turn
        self.limits = easy_limits(vehicle, speed, yaw_rate)
        self.turning_radius = turning_radius(vehicle)
        self.teleoperation = Teleoperation(
            vehicle, others=controllers, start=start, limits=self.limits, mu=mu,
            push=True, say=self._tell)
        self._save, self.saved = None if save is None else Path(save), list[Path]()
        self._record: Path | None = None    # what is being written
        self._posted: dict[str, Any] = {}
        self._told = -math.inf
        self._shown: float | None = None
        self.viewer = Viewer(self.teleoperation.vehicle, overlays=overlays, title=title,
                             open_browser=open_browser, follow=follow, drive=True, mu=mu)
        self._show()
        self.viewer.flush()

    def __repr__(self) -> str:
        return f"<Drive of {self.vehicle.name!r} at {self.viewer.url}>"

    # -- the loop ----------------------------------------------------------------------------------
    @hear_ctrl_c()
    def run(self, duration: float | None = None) -> Trajectory | None:
        """Drives for `duration` [s] of real time, or until Ctrl-C; returns what was recorded since
        the last reset, where the drive is saved."""
        self._begin_record()
        end = math.inf if duration is None else time.monotonic() + duration
        self._now, stop = None, "failed"
        try:
            keep_pace(RATE, lambda: time.monotonic() >= end,
                      lambda: self.advance(time.monotonic()))
            stop = "ended"
        except KeyboardInterrupt:
            forget_ctrl_c()
            stop = "interrupted"
        finally:
            trajectory = self._end_record(stop)
        return trajectory

    def advance(self, now: float) -> None:
        """One turn of the loop, at `now` [s] of a clock: commands of the page, the steps up to
        then, and the picture. The first one starts the clock."""
        passed = 0.0 if self._now is None else now - self._now
        self._now = now
        commands, teleoperation = self.viewer.commands, self.teleoperation
        while (action := commands.take_action()) is not None:
            self._obey(*action)
        if (parts := commands.take_parts()) is not None:
            teleoperation.take(*self.twist(parts))
        teleoperation.advance(passed)
        self._show()

    def twist(self, parts: Parts) -> Twist:
        """The twist for parts of the limits."""
        forward, lateral, yaw = (part * limit.max_velocity
                                 for part, limit in zip(parts, self.limits))
        if 0 < self.turning_radius < math.inf:
            most = abs(forward) / self.turning_radius
            yaw = min(max(yaw, -most), most)
        return forward, lateral, yaw

    def _obey(self, kind: str, word: str) -> None:
        """One action of the page, or the choice of a controller."""
        teleoperation = self.teleoperation
        if kind == "choose":
            if word in teleoperation.controllers:
                teleoperation.choose(word)
        elif word == "stop":
            teleoperation.choose(OWN)
            teleoperation.take(*AT_REST)
        elif word == "reset":
            self.reset()
        else:
            teleoperation.is_paused = word == "pause"

    def reset(self) -> None:
        """Back to the start; the record is saved."""
        is_recorded = self._end_record("reset") is not None
        self.teleoperation.restart()
        self.viewer.clear_trails()
        self._shown = None
        if is_recorded:
            self._begin_record()

    def _tell(self, what: str, line: str) -> None:
        """Prints messages that the page does not show, not too often."""
        now = self._now or 0.0
        if what in TOLD and now - self._told >= AGAIN:
            self._told = now
            self._say(line)

    # -- out ---------------------------------------------------------------------------------------
    def _show(self) -> None:
        state = self.teleoperation.simulator.state
        if state.t != self._shown:
            self._shown = state.t
            self.viewer.display(state)
        status = self.status()
        if status != self._posted:
            self._posted = status
            self.viewer.post(status)

    def status(self) -> dict[str, Any]:
        """Sent to the page when it changes."""
        teleoperation = self.teleoperation
        note = teleoperation.refused
        if teleoperation.failure:
            note = f"stands still: {teleoperation.failure}; R resets"
        elif teleoperation.slips is not None:
            since, why = teleoperation.slips
            note = f"ideal rolling does not hold since t = {since:.2f} s: {why}"
        return {"type": "drive", "limits": [limit.max_velocity for limit in self.limits],
                "lateral": teleoperation.has_lateral, "cannot": self.cannot(),
                "controllers": list(teleoperation.controllers), "chosen": teleoperation.chosen,
                "paused": teleoperation.is_paused, "note": note}

    def cannot(self) -> list[str]:
        """The motions that this vehicle cannot make, in words."""
        if self.teleoperation.coasts:
            return ["has no driven wheel, or falls over: keys push it, then it coasts"]
        words = []
        if self.turning_radius == math.inf and self.teleoperation.has_lateral:
            words.append("does not turn: its steering, linked by <mimic>, turns all wheels alike")
        elif self.turning_radius == math.inf:
            words.append("can only go straight, or only turn on the spot: its wheels allow no "
                         "path. For wheels that scrub in turns, use --skid mid-axle")
        elif self.turning_radius > 0:
            words.append(f"does not turn on the spot: {self.turning_radius:.3g} m is its smallest "
                         "turning radius")
        return words if self.teleoperation.has_lateral else [*words, "does not move sideways"]

    # -- the run file ------------------------------------------------------------------------------
    def _begin_record(self) -> None:
        if self._save is None:
            return
        simulator = self.teleoperation.simulator
        every = simulator.inputs.every
        path = self._save if not self.saved else free_path(self._save)
        simulator.record(every=every, save=path)
        self._record = path

    def _end_record(self, stop: str) -> Trajectory | None:
        """The recorded run; None if nothing is recorded."""
        path, self._record = self._record, None
        if path is None:
            return None
        trajectory = self.teleoperation.simulator.end_record(stop)
        self.saved.append(path)
        self._say(f"saved    {path}")
        return trajectory

    def close(self) -> None:
        """Ends the page's server; harmless when called again."""
        self.viewer.close()

    def __enter__(self) -> Drive:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
