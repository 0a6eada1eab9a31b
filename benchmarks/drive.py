"""How long a key takes to the wheels of a driven vehicle, and back to the eye, in a real browser.

    python benchmarks/drive.py [PRESSES]

A headless Chromium without a graphics card looks at the page and its keyboard is pressed PRESSES
(20) times for each vehicle. The clock starts with the browser's own time stamp of the key, and is
read when the loop has the command, when the controller has put a torque on the wheels, when these
turn at a hundredth and at two thirds of the rate that is asked for, and when the page has drawn the
vehicle where it is then. The last three are of the vehicle too: of its servo, mass and limits.
"""

from __future__ import annotations

import sys
import threading
import time

import numpy as np
from common.report import machine, measured

import nhmech
from nhmech.view import Drive
from nhmech.view.browser import Browser, find_chromium

VEHICLES = "differential_drive", "mecanum", "ackermann_car"
TURN = 0.01                       # [s] of the loop
KEY = dict(code="ArrowUp", key="ArrowUp")
WATCH = """(() => { window.pressed = []; window.seen = [];
    const wall = () => performance.timeOrigin + performance.now();
    window.addEventListener("keydown",
        e => pressed.push(performance.timeOrigin + e.timeStamp), true);
    const body = () => nhmech.viewer.scene_tree.find(["vehicle", "root_joint"]).object.position;
    const draw = nhmech.viewer.render.bind(nhmech.viewer);
    nhmech.viewer.render = () => { draw(); seen.push([wall(), body().x]); };
    return 0; })()"""


class Watched:
    """The loop in a thread, with a note of each turn."""

    def __init__(self, drive):
        self.drive, self.ends, self.rows, self.heard = drive, threading.Event(), [], []
        self.simulator, self.least = drive.teleoperation.simulator, drive.vehicle.steering.length
        take = drive.teleoperation.take

        def hear(*twist):
            if twist[0]:
                self.heard.append(1000 * time.time())
            return take(*twist)

        drive.teleoperation.take = hear
        self.thread = threading.Thread(target=self.loop)
        self.thread.start()

    def loop(self):
        due = time.monotonic()
        while not self.ends.is_set():
            self.drive.advance(time.monotonic())
            state = self.simulator.state
            self.rows.append((1000 * time.time(), self.drive.teleoperation.twist[0],
                              float(self.drive.viewer._live._instruments.read(
                                  nhmech.view.viewer.Snapshot.of(state))["twist"][0]),
                              float(state.q[0])))
            due = max(due + TURN, time.monotonic())
            time.sleep(max(due - time.monotonic(), 0.0))

    def close(self):
        self.ends.set()
        self.thread.join()


def press(browser, loop, limit):
    """[ms] from one key to: the loop, the torque, a hundredth and two thirds of the speed, the
    page."""
    loop.rows.clear()
    loop.heard.clear()
    browser.evaluate("(pressed.length = seen.length = 0)")
    before = loop.rows[-1][3] if loop.rows else float(loop.simulator.state.q[0])
    browser._page("Input.dispatchKeyEvent", type="rawKeyDown", **KEY)
    end = time.monotonic() + 10
    while not (loop.rows and loop.rows[-1][2] > 0.66 * limit) and time.monotonic() < end:
        time.sleep(0.01)
    moved = before + 1e-3 * loop.least
    while not browser.evaluate(f"seen.some(row => row[1] > {moved})") and time.monotonic() < end:
        time.sleep(0.1)
    browser._page("Input.dispatchKeyEvent", type="keyUp", **KEY)
    start, seen = browser.evaluate("[pressed[0], seen]")
    rows, seen = np.array(loop.rows), np.array(seen).reshape(-1, 2)
    found = [*(loop.heard or [np.nan])[:1], first(rows, rows[:, 1] > 0),
             first(rows, rows[:, 2] > 0.01 * limit), first(rows, rows[:, 2] > 0.66 * limit),
             first(seen, seen[:, 1] > moved)]
    while abs(loop.rows[-1][2]) > 0.01 * limit and time.monotonic() < end:
        time.sleep(0.01)
    return np.array(found) - start


def first(rows, met):
    """When something was met first; NaN where it was not in time."""
    return rows[met][0, 0] if met.any() else np.nan


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    print(machine(("meshcat",)))
    if find_chromium() is None:
        print("no Chromium: nobody presses a key")
        return
    rows = []
    for name in VEHICLES:
        drive = Drive(nhmech.load(nhmech.urdf_path(name)))
        loop = Watched(drive)
        try:
            with Browser(drive.viewer.url, (640, 420)) as browser:
                browser.wait_for("nhmech.state.ready && nhmech.drive.state.limits")
                browser.evaluate(WATCH)
                limit = drive.limits[0].max_velocity
                found = np.array([press(browser, loop, limit) for _ in range(count + 1)])[1:]
        finally:
            loop.close()
            drive.close()
        rows += [(f"{name}, median", *np.median(found, axis=0)),
                 (f"{name}, largest", *found.max(axis=0))]
    print(measured(("", "loop [ms]", "torque [ms]", "1 % of the speed [ms]", "66 % [ms]",
                    "page drawn [ms]"), rows, f"\nfrom a key: {count} of them"))


if __name__ == "__main__":
    main()
