"""What watching costs: frames a second that a browser draws of a vehicle of 21 bodies and its
processor time for each, the loop's real-time factor with and without the viewer, and the size of
the page that a run becomes."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from time import monotonic, sleep

import numpy as np
from common.generated import trailers
from common.processes import time_of_children
from common.report import aim, machine, table
from common.timing import Spent, interleaved

import nhmech
from nhmech.view.browser import Browser, find_chromium
from nhmech.view.viewer import Viewer

TRAILERS = 6              # 7 bodies with 14 wheels
SECONDS, DT = 2.0, 1e-3   # of each measurement, and of each step
TURN = 0.01               # [s] of the loop of a driven vehicle
FRAMES, CORES = 30.0, 2   # a second that are wanted, on a computer with so many cores
BODY = ('<visual><origin xyz="{x} 0 0.05"/><geometry><box size="0.35 0.3 0.12"/></geometry>'
        '</visual></link>')
WHEEL = ('<visual><origin rpy="1.5707963 0 0"/>'
         '<geometry><cylinder radius="0.1" length="0.04"/></geometry></visual></link>')
COUNT = """(() => { const draw = nhmech.viewer.render.bind(nhmech.viewer); window.drawn = 0;
                    nhmech.viewer.render = () => {
                      window.drawn += 1; draw();
                      window.ratio = nhmech.viewer.renderer.getPixelRatio(); };
                    return 0; })()"""


def vehicle():
    """A train with something to see."""
    text, options = trailers(TRAILERS)

    def seen(link: re.Match) -> str:
        name = link[1]
        return link[0].replace("</link>", WHEEL if name.endswith("_link") and name != "base_link"
                               else BODY.format(x=0 if name == "base_link" else -0.6))

    return nhmech.load(re.sub(r'<link name="(\w+)">.*?</link>', seen, text), **options)


def loop(train, show) -> float:
    """Real-time factor of a step loop with a controller for `SECONDS`; `show` is given each state.

    By the processor time of all threads of this program, which is its wall time on
    a machine that has nothing else to do.
    """
    u = np.array([0.4, 0.5])
    simulator = nhmech.Simulator(train, lambda t, state: u, dt=DT)
    simulator.reset()
    with Spent() as took:
        end = monotonic() + SECONDS
        while monotonic() < end:
            for _ in range(100):
                state = simulator.step()
                if show is not None:
                    show(state)
    return simulator.t / took.processor


class Drawn:
    """What a browser draws within a `with` block: frames a second, and its processor time for each
    [ms], which does not depend on what else the computer does."""

    def __init__(self, browser: Browser):
        self._browser = browser

    def _now(self) -> tuple[int, float, float]:
        return self._browser.evaluate("drawn"), time_of_children(), monotonic()

    def __enter__(self) -> Drawn:
        self._begin = self._now()
        return self

    def __exit__(self, *_: object) -> None:
        frames, used, passed = np.subtract(self._now(), self._begin)
        self.rate, self.cost = frames / passed, 1e3 * used / max(frames, 1)


def judge(what: str, rates: list[float], costs: list[float], ratio: float) -> None:
    """Compares medians with the aims; `ratio` of pixels to those of the window."""
    aim(f"frames a second, {what}", float(np.median(rates)), FRAMES)
    aim(f"the browser's processor time for each of them [ms], {what}", float(np.median(costs)),
        1e3 * CORES / FRAMES, least=False)
    print(f"the last of these frames had {100 * ratio**2:.0f} % of the window's pixels")


def driven(train) -> None:
    """Frames a second of the page with controls and instruments, in real time."""
    if find_chromium() is None:
        return
    u = np.array([0.4, 0.5])
    simulator = nhmech.Simulator(train, lambda t, state: u, dt=DT)
    simulator.reset()
    simulator.compile()
    with (Viewer(train, drive=True, mu=0.8) as viewer,
          Browser(viewer.url, (640, 420)) as browser):
        viewer.display(simulator.step())
        browser.wait_for("nhmech.state.ready")
        browser.evaluate(COUNT)
        rates, costs = [], []
        for _ in range(4):
            with Drawn(browser) as drawn:
                begin = due = monotonic()
                while monotonic() - begin < SECONDS:
                    for _ in range(round(TURN / DT)):
                        state = simulator.step()
                    viewer.display(state)
                    due += TURN
                    sleep(max(0.0, due - monotonic()))
            rates.append(drawn.rate)
            costs.append(drawn.cost)
        # the first one finds out how many pixels the browser can draw
        judge("driven in real time, with instruments", rates[1:], costs[1:],
              browser.evaluate("ratio"))


def main() -> None:
    print(machine(("meshcat",)))
    train = vehicle()
    print(f"{train.model.njoints - 1} bodies, {len(train.visual_model.geometryObjects)} shapes, "
          f"{len(train.contact_names)} contacts")
    loop(train, None)
    with Viewer(train) as viewer:
        factors = interleaved({"without": lambda: loop(train, None),
                               "with": lambda: loop(train, viewer.display)})
        print(table(("real-time factor, a step at a time", *factors),
                    [("no browser", *factors.values())]))
        aim("share of its real-time factor that the loop keeps with the viewer",
            factors["with"] / factors["without"], 0.9)
        if find_chromium() is None:
            print("no Chromium: no frames counted")
        else:
            with Browser(viewer.url, (640, 420)) as browser:
                browser.wait_for("nhmech.state.ready")
                browser.evaluate(COUNT)
                rates = []

                def watched() -> float:
                    with Drawn(browser) as drawn:
                        factor = loop(train, viewer.display)
                    rates.append(drawn.rate)
                    return factor

                busy = interleaved({"without": lambda: loop(train, None), "with": watched})
                print(table(("real-time factor", *busy),
                            [("a browser draws on the same processor", *busy.values())]))
                # no aim: the loop takes a core that this browser draws with, and nobody watches
                # ten times real time
                print("frames a second in a headless browser, the loop at full speed: "
                      f"{np.median(rates):.0f}")
                run = nhmech.Simulator(train, lambda t, state: np.array([0.4, 0.5]),
                                       dt=DT).run(SECONDS)
                with Drawn(browser) as drawn, Spent() as took:
                    viewer.play(run)
                judge("played at real time", [drawn.rate], [drawn.cost], browser.evaluate("ratio"))
                print("processor time of this program meanwhile: "
                      f"{100 * took.processor / took.wall:.0f} %")
    driven(train)
    car = nhmech.load(nhmech.urdf_path("ackermann_car"))
    run = nhmech.Simulator(car).run(10.0)
    with tempfile.TemporaryDirectory() as folder:
        for title, overlays in (("10 s of a car", ()), ("the same with forces", ("forces",))):
            with Spent() as took:
                page = nhmech.save_html(car, run, Path(folder) / "car.html", overlays=overlays)
            print(f"page of {title}: {page.stat().st_size / 1e6:.2f} MB, written in "
                  f"{took.wall:.1f} s")


if __name__ == "__main__":
    main()
