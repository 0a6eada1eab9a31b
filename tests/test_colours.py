"""A wheel has one colour: its trail and the legend of the viewer, live and recorded, plots, and the
report agree."""

from __future__ import annotations

import re

import pytest
from support import VARIED, shipped

import nhmech
from nhmech.view.animation import animate
from nhmech.view.drawable import Snapshot
from nhmech.view.live import LiveScene
from nhmech.view.messages import rgb
from nhmech.view.scene import Scene

pytest.importorskip("matplotlib", reason="the extra `plot` is not installed")
from nhmech.view import plots  # noqa: E402
from nhmech.view.drawing import as_words  # noqa: E402
from nhmech.view.judgement import judgement  # noqa: E402
from nhmech.view.report_tables import contact_table  # noqa: E402


def trails(messages) -> dict[int, str]:
    """Colour #RRGGBB of each contact's trail, as sent to the page."""
    return {int(m["path"].split("/")[2]): f"#{m['object']['materials'][0]['color']:06X}"
            for m in messages if m.get("path", "").startswith("/trails/")}


def live_trails(messages) -> dict[int, str]:
    """The same of a page that draws its trails by itself."""
    looks, = (m for m in messages if m["type"] == "trails")
    return {i: f"#{rgb(color):06X}" for i, color in enumerate(looks["colors"])}


def legend(messages) -> dict[str, str]:
    """Colour of each name in the page's legend, rounded as the page rounds it."""
    view, = (m for m in messages if m["type"] == "view")
    return {entry["name"]: "#" + "".join(f"{int(255 * part + 0.5):02X}" for part in entry["color"])
            for entry in view["contacts"]}


@pytest.mark.parametrize("name", VARIED)
def test_viewer_plots_and_report_agree(name):
    vehicle = shipped(name)
    simulator = nhmech.Simulator(vehicle, dt=1e-2)
    simulator.reset()
    run = simulator.run(0.02)
    drawn = {wheel: plots.colour(vehicle, wheel) for wheel in vehicle.contact_names}
    assert len(set(drawn.values())) == len(drawn), "two wheels of one colour"

    recorded = animate(Scene(vehicle), run, fps=100)
    assert trails(recorded) == dict(enumerate(drawn.values())) and legend(recorded) == drawn

    live = LiveScene(vehicle, (), False, None)
    sent = live.messages(Snapshot(run.q[0]))
    assert live_trails(sent) == dict(enumerate(drawn.values())) and legend(sent) == drawn

    lines = {line.get_label(): line.get_color() for line in plots.path(vehicle, run)[1].lines}
    assert {wheel: lines[as_words(wheel)] for wheel in drawn} == drawn

    table = contact_table(vehicle, judgement(run, vehicle), {})
    assert dict(zip(drawn, re.findall(r"background:(#\w+)", table), strict=True)) == drawn
