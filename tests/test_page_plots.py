"""What a recorded page plots, and what it says of a wheel that is clicked."""

import re

import numpy as np
import pytest
import umsgpack
from browser import Undrawn, needs_chromium
from support import at_length, shipped

import nhmech
from nhmech.control import WheelServo
from nhmech.simulation import Phase
from nhmech.simulation.simulator import Simulator
from nhmech.view import Forces, Viewer, save_html
from nhmech.view.animation import MOST, make_curves
from nhmech.view.drawable import Snapshot
from nhmech.view.instruments import Instruments
from nhmech.view.live import LiveScene
from nhmech.view.report import report_html
from nhmech.view.sampling import snapshots
from nhmech.view.scene import Scene

MU = 0.15


def brake(t, state):
    """Locks one wheel for a while, and lets go."""
    torque = -2.0 * np.sign(state.xi["left_wheel_joint"]) if t < 0.2 else 0.0
    return nhmech.JointTorque({"left_wheel_joint": float(torque)})


@pytest.fixture(scope="module")
def sliding():
    """A robot, and its run in which a wheel slides and rolls again."""
    vehicle = shipped("differential_drive")
    simulator = Simulator(vehicle, brake, control_period=0.01, contact="coulomb", mu=MU)
    simulator.reset(xi={"forward_speed": 1.0})
    return vehicle, simulator.run(0.4)


@pytest.fixture(scope="module")
def run():
    vehicle = shipped("differential_drive")
    simulator = nhmech.Simulator(vehicle, WheelServo(vehicle, (0.3, 0.0, 0.4)),
                                 control_period=0.01)
    simulator.reset()
    return simulator.run(3.0)


# the names beside the plots' lines; and of the numbers beside the axes the brightness, 0 to 765
KEY = """[...document.querySelectorAll("#plots .key:not([hidden]) span")].map(
    one => one.textContent.trim())"""
INK = """(() => { const canvas = document.querySelector('#plots canvas');
    const { data } = canvas.getContext('2d').getImageData(0, 0, 40, canvas.height);
    let most = 0, found = 0;
    for (let i = 0; i < data.length; i += 4) if (data[i + 3] > most) {
        most = data[i + 3];
        found = data[i] + data[i + 1] + data[i + 2]; }
    return found; })()"""


def numbers(packed):
    return np.frombuffer(packed.data, dtype="<f4")


def test_readings_and_columns_are_those_of_the_run(run):
    vehicle = shipped("differential_drive")
    wheels, readings, columns = make_curves(Scene(vehicle), run)
    assert [wheel["name"] for wheel in wheels["wheels"]] == list(vehicle.contact_names)
    t = np.array([reading["t"] for reading in readings["readings"]])
    rows = np.searchsorted(run.t, t)
    assert len(t) <= MOST and t[0] == run.t[0] and t[-1] == run.t[-1]
    assert np.array_equal(run.t[rows], t)
    for k, name in enumerate(vehicle.contact_names[:2]):
        rates = [reading["rates"][k] for reading in readings["readings"]]
        np.testing.assert_allclose(rates, run.column(f"{name}.velocity")[rows], rtol=1e-12)
        normal = [reading["normal"][k] for reading in readings["readings"]]
        np.testing.assert_allclose(normal, run.force(name)[rows], rtol=1e-9)
    known = run.columns()
    assert {column["name"].split(" [")[0] for column in columns["columns"]} == set(known) - {"t"}
    for column in columns["columns"]:
        expected = known[column["name"].split(" [")[0]]
        assert column["unit"] == expected.unit
        np.testing.assert_array_equal(numbers(column["values"]),
                                      np.asarray(expected.values)[rows].astype("f4"))
    assert umsgpack.unpackb(umsgpack.packb(readings)) == readings


def needs(run, k, wheel):
    """|T| / N of a wheel at a recorded moment."""
    held = dict(run.reactions[k].components[wheel])
    return np.linalg.norm([*held.values()][1:]) / held["normal"]


def test_of_wheels_that_slide_the_forces_are_those_of_friction(sliding):
    """T = mu N along the ground; where all roll again, those of rolling."""
    vehicle, run = sliding
    wheels, readings, columns = make_curves(Scene(vehicle), run)
    assert [wheel["mu"] for wheel in wheels["wheels"][:2]] == [MU, MU]
    seen = set()
    for reading in readings["readings"]:
        k = int(np.searchsorted(run.t, reading["t"]))
        for name, phase, normal, needed in zip(vehicle.contact_names, reading["phases"],
                                               reading["normal"], reading["needed"]):
            seen.add(phase)
            assert normal == pytest.approx(run.force(name)[k], rel=1e-9, abs=1e-12)
            if phase == "slides" and needed is not None:
                assert needed == pytest.approx(MU, rel=1e-9)
            elif needed is not None:
                assert needed == pytest.approx(needs(run, k, name), rel=1e-9, abs=1e-12)
    assert seen == {"rolls", "slides"}
    assert "slid.left_wheel_joint [m]" in {column["name"] for column in columns["columns"]}


def test_a_report_of_wheels_that_slide_has_the_friction_of_the_run(sliding):
    """Its coefficient, in the table and in the picture; what friction took is accounted for."""
    vehicle, run = sliding
    page = report_html(run)
    assert f'<td class="n">{MU:g}</td>' in page and "What acts on each wheel" in page
    assert f"left wheel, {MU:g}" in page and "lost" in page and "e-" not in re.search(
        r'class="verdict.*?</div>', page, re.S)[0]


def test_arrows_of_wheels_that_slide_are_those_of_friction(sliding):
    vehicle, run = sliding
    forces = Forces(vehicle)
    moments, count = snapshots(vehicle.model, run, run.t, run.q), 0
    for k in np.flatnonzero(~run.rolled)[::20]:
        found = forces.reactions_at(moments[k])
        for name in vehicle.contact_names:
            np.testing.assert_array_equal(found.world[name], run.reactions[k].world[name])
        told = [row.text for row in forces.rows(moments[k])]
        slid = [name for name, phase in moments[k].contacts.phases.items()
                if phase is Phase.SLIDING]
        assert [text.split(" slides at")[0] for text in told if "slides at" in text] == slid
        assert all(text.endswith(f"of {MU}") for text in told if "slides at" in text)
        count += len(slid)
    assert count > 3


def test_a_live_page_has_skid_marks_and_says_who_slides(sliding):
    """The marks lie where the wheels slid, on our page and on meshcat's own; a state says so, to
    controllers too."""
    vehicle, run = sliding
    simulator = Simulator(vehicle, brake, control_period=0.01, contact="coulomb", mu=MU)
    simulator.reset(xi={"forward_speed": 1.0})
    assert Simulator(vehicle).state.contacts is None
    live = LiveScene(vehicle, (), False, None, lambda paths: Instruments(vehicle, MU, paths))
    other = LiveScene(vehicle, (), False, None, draws_trails=False)
    sent, drawn, states = [], [], []
    for _ in range(400):
        states.append(simulator.step())
        if len(states) % 10 == 0:
            sent += live.messages(Snapshot.of(states[-1]))
            drawn += other.messages(Snapshot.of(states[-1]))
    pieces = [message for message in sent if message["type"] == "trail"]
    assert any(Phase.SLIDING in piece["phases"] for piece in pieces)
    assert not any(message.get("path", "").startswith("/trails/") for message in sent
                   if message["type"] == "set_object")
    paths = {message.get("path") for message in drawn}
    n = len(vehicle.contact_names)
    assert {f"/trails/{i}/0" for i in range(n)} <= paths
    assert {path for path in paths if path and "skid" in path} <= {
        f"/trails/skid {i}/{k}" for i in range(n) for k in range(20)}
    assert any(path and "skid" in path for path in paths)
    view, = (message for message in sent if message["type"] == "view")
    assert {"skid mark", "wheel in the air"} <= {entry["name"] for entry in view["contacts"]}
    for state in states[::7]:
        expected = run.contacts_at(state.t)
        assert state.contacts.phases == expected.phases
        assert (state.contacts.reactions is None) == (expected.reactions is None)


def test_a_state_that_was_drawn_unread_is_read_when_there_is_time():
    """Readings take their share of the time; the one of the last state comes all the same."""
    vehicle = shipped("differential_drive")
    simulator = nhmech.Simulator(vehicle)
    live = LiveScene(vehicle, (), False, None, lambda paths: Instruments(vehicle, MU, paths))
    assert live.late_messages(np.inf) == []

    def read(messages):
        return [message["t"] for message in messages if message["type"] == "reading"]

    for wanted in ([0.0], [], []):
        assert read(live.messages(Snapshot.of(simulator.state), share=1e-9)) == wanted
        drawn = simulator.state.t
        simulator.step()
    assert live.late_messages(1e-9) == []
    late = live.late_messages(np.inf)
    assert read(late) == [drawn] and late[-1] == {"type": "time", "t": drawn}
    assert live.late_messages(np.inf) == []
    assert read(live.messages(Snapshot.of(simulator.state), share=np.inf)) == [simulator.state.t]


def test_a_flushed_state_is_read_as_well_as_drawn(monkeypatch):
    """However fast states come."""
    vehicle, sent, states = shipped("differential_drive"), [], []
    simulator = nhmech.Simulator(vehicle)
    with Viewer(vehicle) as viewer:
        monkeypatch.setattr(viewer._window, "send", sent.extend)
        for _ in range(5):
            states.append(simulator.step())
            viewer.display(states[-1])
            viewer.flush()
    assert [one["t"] for one in sent if one["type"] == "reading"] == [one.t for one in states]


def test_a_picture_and_what_is_no_run_have_no_plots(run):
    scene = Scene(shipped("differential_drive"))
    simulator = nhmech.Simulator(shipped("differential_drive"))
    simulator.reset()
    assert make_curves(scene, simulator.run(0.0)) == []
    assert make_curves(scene, type("Motion", (), {"t": run.t, "q": run.q})) == []


@needs_chromium
@pytest.mark.browser
@pytest.mark.parametrize("size", [(390, 800), *at_length(((900, 600),))])
def test_plots_and_picture_go_together_and_a_wheel_says_its_numbers(run, tmp_path, size):
    vehicle = shipped("differential_drive")
    page = save_html(vehicle, run, tmp_path / "run.html")
    with Undrawn(page.as_uri() + "#t=1", size) as browser:
        browser.wait_for("nhmech.state.ready")
        browser.evaluate("document.getElementById('graph').click(), 0")
        browser.wait_for("document.querySelector('#plots select').length > 0")
        choices = browser.evaluate(
            "[...document.querySelectorAll('#plots select')[0].options].map(one => one.value)")
        for name in ("path from above", "friction used", "load on wheels", "energy [J]",
                     "u.left_wheel_joint [N m]"):
            assert name in choices, name
        # a click into the middle of a plot over time goes to that time
        browser.wait_for("document.querySelector('#plots canvas').width > 100")
        browser.evaluate("""(() => { const canvas = document.querySelector('#plots canvas');
            const box = canvas.getBoundingClientRect(), x = 46 + (canvas.clientWidth - 54) / 2;
            canvas.dispatchEvent(new MouseEvent('click', { clientX: box.left + x,
                                                           clientY: box.top + 40 }));
            return 0; })()""")
        assert browser.evaluate("nhmech.state.t") == pytest.approx(1.5, abs=0.02)
        assert browser.evaluate(KEY) == ["left", "right", "caster"]
        before = browser.evaluate(INK)
        browser.evaluate("document.getElementById('dark').click(), 0")     # and it does not play
        browser.wait_for(f"{INK} > 450")
        assert before < 250
        browser.evaluate("nhmech.plots.toggle(), nhmech.seek(2), nhmech.look('home'), 0")
        browser.picture()
        k = list(vehicle.contact_names).index("right_wheel_joint")
        x, y = browser.evaluate(f"""(() => {{ const {{ path }} = nhmech.plots.store.wheels[{k}];
            const p = nhmech.viewer.scene_tree.find(path.split('/').filter(Boolean)).object
                .getWorldPosition(new MeshCat.THREE.Vector3()).project(nhmech.viewer.camera);
            return [(p.x + 1) / 2 * innerWidth, (1 - p.y) / 2 * innerHeight]; }})()""")
        for kind in ("mousePressed", "mouseReleased"):
            browser._page("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left",
                          clickCount=1)
        browser.wait_for("!document.getElementById('card').hidden")
        text = browser.evaluate("document.getElementById('card').innerText")
        rate = run.column("right_wheel_joint.velocity")[np.searchsorted(run.t, 2.0)]
        assert "right_wheel_joint" in text and f"{rate:.2f} rad/s" in text and "of 0.7" in text


@needs_chromium
@pytest.mark.browser
def test_a_plain_live_page_has_plots_and_wheels_too():
    """Of every column of v and u; a click goes back in its history, and a wheel says its
    numbers."""
    vehicle = shipped("differential_drive")
    simulator = nhmech.Simulator(vehicle, WheelServo(vehicle, (0.3, 0.0, 0.4)),
                                 control_period=0.01)
    simulator.reset()
    with Viewer(vehicle) as viewer, Undrawn(viewer.url, (900, 600)) as browser:
        viewer.display(simulator.state)
        viewer.flush()
        browser.wait_for("nhmech.state.ready")
        states = {}
        for _ in range(20):
            for _ in range(50):
                state = simulator.step()
            states[state.t] = state
            viewer.display(state)
            viewer.flush()
            browser.wait_for(f"nhmech.plots.store.readings.some(one => one.t === {state.t})")
        assert browser.evaluate("document.getElementById('graph').hidden") is False
        browser._page("Input.dispatchKeyEvent", type="rawKeyDown", code="KeyT", key="t")
        browser.wait_for("document.querySelector('#plots select').length > 0")
        names = browser.evaluate(
            "[...document.querySelectorAll('#plots select')[0].options].map(one => one.value)")
        assert {"path from above", "friction used", "v.left_wheel_joint [rad/s]",
                "u.left_wheel_joint [N m]"} <= set(names)
        for t, state in list(states.items())[::-7]:
            browser.evaluate(f"nhmech.history.seek({t}), 0")
            shown = browser.evaluate("nhmech.plots.at()")
            assert shown["t"] == t
            assert shown["columns"] == pytest.approx([*state.v, *state.u], rel=1e-9)
        browser.evaluate("nhmech.wheels.show(0), 0")
        rows = browser.evaluate("document.getElementById('card').innerText")
        assert "left_wheel_joint" in rows and "carries" in rows and " N" in rows
