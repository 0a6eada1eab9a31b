"""Every textbook system, by the commands: it runs, is saved, drawn and plotted."""

import casadi as ca
import numpy as np
import pytest
from scipy.linalg import null_space
from support import command_line, sampled

from nhmech.systems import load_system, system_names
from nhmech.view.system_picture import SystemPicture


@pytest.mark.parametrize("name", sampled(system_names(), 6))
def test_a_system_runs_and_is_seen(name, tmp_path):
    page, run, figure = tmp_path / "a.html", tmp_path / "a.npz", tmp_path / "a.png"
    done = command_line("systems", "run", name, "--duration", "0.2", "--html", str(page), "--save",
                        str(run))
    # an abstract one has nothing to draw, and says so; the run is kept all the same
    assert (done.exit_code, page.exists()) in [(0, True), (2, False)], done.output
    assert page.exists() or "shape" in done.output
    assert run.stat().st_size > 500
    plotted = command_line("plot", str(run), "-o", str(figure))
    assert plotted.exit_code == 0, plotted.output
    assert figure.read_bytes().startswith(b"\x89PNG")


def test_a_lone_body_is_called_by_what_it_is():
    assert SystemPicture(load_system("falling_disc")).contact_names == ["Falling disc"]
    assert SystemPicture(load_system("snakeboard")).contact_names[:2] == ["body 1", "body 2"]


@pytest.mark.parametrize("name", ["car_with_trailers", "carriage", "differential_drive",
                                  "roller_racer", "snakeboard", "wheeled_snake"])
def test_drawn_wheels_stand_and_do_not_slide_along_their_axle(name):
    """On the ground, at a radius's height; and J_y v = 0 of each axle's middle for all v that the
    constraints allow, so the picture has its wheels where the equations have them."""
    example = load_system(name)
    system = example.constrained.system
    q = np.array(ca.vertsplit(system.q), dtype=object)
    poses = [ca.vertcat(*(ca.SX(x) for x in shape.pose(q)[:3].ravel())) for shape in example.shapes
             if shape.kind == "cylinder" and shape.trail]
    moving = [ca.jacobian(pose, system.q) @ system.q_rate for pose in poses]
    at = ca.Function("wheels", [system.t, system.q, system.v, system.theta],
                     [ca.horzcat(*poses), ca.horzcat(*moving), example.constrained.distribution.A])
    rng, theta = np.random.default_rng(4), example.constrained.parameters
    for place in example.constrained.configurations[:3]:
        A = at(0.0, place, np.zeros(system.v.numel()), theta)[2].full()
        v = null_space(A) @ rng.normal(size=A.shape[1] - np.linalg.matrix_rank(A))
        where, rate, _ = (x.full() for x in at(0.0, place, v, theta))
        assert where.shape[1] >= 2
        for T, T_rate in zip(where.T.reshape(-1, 3, 4), rate.T.reshape(-1, 3, 4)):
            axle = T[:, 2]
            assert abs(axle[2]) < 1e-12 and 0.01 < T[2, 3] < 1.0
            np.testing.assert_allclose(axle @ T_rate[:, 3], 0.0, atol=1e-12)


def test_the_drawn_links_of_a_snake_lie_along_them_about_their_axles():
    """Nine tenths of the way to the joints, one link length l from each axle."""
    made = load_system("wheeled_snake").shapes
    q = np.array([0.3, -0.2, 0.4, 0.5, -0.6])
    axles = [np.mean([shape.pose(q)[:2, 3] for shape in made[k:k + 2]], axis=0) for k in (0, 3, 6)]
    decks = [made[k] for k in (2, 5, 8)]
    for deck, axle, heading in zip(decks, axles, q[2] + np.array([q[3], 0, q[4]])):
        pose = deck.pose(q)
        np.testing.assert_allclose(pose[:2, 3], axle, atol=1e-15)
        np.testing.assert_allclose(pose[:2, 0], [np.cos(heading), np.sin(heading)], atol=1e-15)
    for one, other, a, b in zip(axles, axles[1:], decks, decks[1:]):
        lengths = [deck.size[0] / 0.9 / 2 * deck.pose(q)[:2, 0] for deck in (a, b)]
        np.testing.assert_allclose(other - one, sum(lengths), atol=1e-15)


@pytest.mark.parametrize("name", ["ball_on_turntable", "chaplygin_ball", "chaplygin_sleigh",
                                  "rolling_ball", "vertical_disk"])
def test_a_picture_moves_as_its_place_does(name):
    """dp/d(x, y), of the middle p of each part: the unit matrix, or nothing for what stands. Bars
    through a ball stand out of it by a little."""
    example = load_system(name)
    system = example.constrained.system
    assert system.algebroid.q_names[:2] == ("x", "y")
    q = np.array(ca.vertsplit(system.q), dtype=object)
    for shape in example.shapes:
        middle = ca.vertcat(*(ca.SX(x) for x in shape.pose(q)[:3, 3]))
        moved = ca.Function("moved", [system.q], [ca.jacobian(middle, system.q)[:, :2]])
        moved = moved(example.constrained.configurations[0]).full()
        np.testing.assert_allclose(moved, np.eye(3, 2) if moved.any() else 0.0, atol=1e-15)
    balls = [shape.size[0] for shape in example.shapes if shape.kind == "sphere"]
    for shape in example.shapes if "ball" in name else ():
        assert shape.kind == "sphere" or balls[0] < max(shape.size) / 2 < 1.1 * balls[0]
