"""What a recorded page plots, and what it says of a wheel that is clicked."""

import numpy as np
import pytest
import umsgpack
from browser import needs_chromium
from support import shipped

import nhmech
from nhmech.control import WheelServo
from nhmech.view import save_html
from nhmech.view.browser import Browser
from nhmech.view.curves import MOST, make_curves
from nhmech.view.scene import Scene


@pytest.fixture(scope="module")
def run():
    vehicle = shipped("differential_drive")
    simulator = nhmech.Simulator(vehicle, WheelServo(vehicle, (0.3, 0.0, 0.4)),
                                 control_period=0.01)
    simulator.reset()
    return simulator.run(3.0)


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


def test_of_wheels_that_slide_no_forces_of_rolling_are_told():
    vehicle = shipped("differential_drive")
    simulator = nhmech.Simulator(vehicle, contact="coulomb", mu=0.5)
    simulator.reset()
    _, readings, _ = make_curves(Scene(vehicle), simulator.run(0.05))
    assert "needed" not in readings["readings"][0] and "rates" in readings["readings"][0]


def test_a_picture_and_what_is_no_run_have_no_plots(run):
    scene = Scene(shipped("differential_drive"))
    simulator = nhmech.Simulator(shipped("differential_drive"))
    simulator.reset()
    assert make_curves(scene, simulator.run(0.0)) == []
    assert make_curves(scene, type("Motion", (), {"t": run.t, "q": run.q})) == []


@needs_chromium
@pytest.mark.browser
@pytest.mark.parametrize("size", [(900, 600), (390, 800)])
def test_plots_and_picture_go_together_and_a_wheel_says_its_numbers(run, tmp_path, size):
    vehicle = shipped("differential_drive")
    page = save_html(vehicle, run, tmp_path / "run.html")
    with Browser(page.as_uri() + "#t=1", size) as browser:
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
