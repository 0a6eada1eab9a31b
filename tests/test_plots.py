"""Pictures for papers: what is in them, and that every command that draws one writes a file."""

from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner

import nhmech
from nhmech.analysis.stability import speed_sweep
from nhmech.cli import main

pytest.importorskip("matplotlib", reason="the extra `plot` is not installed")
from nhmech.view import plots  # noqa: E402


@pytest.fixture(scope="module")
def ridden(tmp_path_factory):
    """A bicycle that coasts after a push, and the file of its run."""
    vehicle = nhmech.load(nhmech.urdf_path("bicycle"))
    simulator = nhmech.Simulator(vehicle, dt=1e-3)
    simulator.reset(xi={"rear_wheel_joint": 15.0, "roll_rate": 0.3, "steering_joint": 0.0})
    run = simulator.run(0.5, every=10)
    return vehicle, run, run.save(tmp_path_factory.mktemp("runs") / "ride.npz")


def test_forces_and_their_limits(ridden):
    vehicle, run, _ = ridden
    figure, (above, below) = plots.forces(vehicle, run, mu=0.4)
    normals, tangential = above.lines, below.lines
    assert len(normals) == 2 and len(tangential) == 4 and "[N]" in above.get_ylabel() and "[s]" in below.get_xlabel()
    for wheel, normal, (force, limit) in zip(vehicle.contact_names, normals, (tangential[:2], tangential[2:])):
        assert {line.get_color() for line in (normal, force, limit)} == {plots.colour(vehicle, wheel)}
        np.testing.assert_allclose(limit.get_ydata(), 0.4 * normal.get_ydata(), rtol=1e-12)
    last = run.reactions[-1].components["rear_wheel_joint"]
    assert normals[0].get_ydata()[-1] == pytest.approx(last["normal"], rel=1e-12)
    assert tangential[0].get_ydata()[-1] == pytest.approx(np.hypot(last["longitudinal"], last["lateral"]), rel=1e-9)
    assert len(plots.forces(vehicle, run)[1][1].lines) == 2, "no limit is drawn where no friction coefficient is known"


def test_every_axis_has_its_unit(ridden):
    vehicle, run, _ = ridden
    _, axes = plots.run(vehicle, run)
    assert {"path", "normal", "tangential", "energy"} <= set(axes)
    for name, ax in axes.items():
        assert ax.get_ylabel().endswith("]"), name
    assert "constant to" in axes["energy"].texts[0].get_text(), "energy of a coasting bicycle is drawn as constant, its error in words"


def test_eigenvalues_over_speed(ridden):
    sweep = speed_sweep(ridden[0], np.linspace(1, 9, 33))
    _, axes = plots.eigenvalues(sweep)
    assert axes.get_xlabel() == "forward speed [m/s]" and axes.get_ylabel() == "eigenvalue [1/s]"
    band = axes.patches[0].get_extents().transformed(axes.transData.inverted())
    np.testing.assert_allclose([band.x0, band.x1], [4.2924, 6.0243], rtol=0, atol=0.01)


@pytest.mark.parametrize("ending, head", [("pdf", b"%PDF"), ("svg", b"<?xml"), ("png", b"\x89PNG")])
def test_plot_of_a_run(ridden, tmp_path, ending, head):
    out = tmp_path / f"run.{ending}"
    done = CliRunner().invoke(main, ["plot", str(ridden[2]), "--mu", "0.8", "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert out.read_bytes().startswith(head)


def test_plot_of_eigenvalues_prints_where_they_cross(tmp_path):
    done = CliRunner().invoke(main, ["plot", "--eigenvalues", "bicycle", "--points", "20", "--out", str(tmp_path / "e.pdf")])
    assert done.exit_code == 0, done.output
    assert "4.292383 to   6.024262 m/s  stable" in done.output and (tmp_path / "e.pdf").stat().st_size > 1000


@pytest.mark.parametrize("words, says", [
    ([], "give a RUN"), (["none.npz"], "no such file"), (["--eigenvalues", "bicycle", "--out", "a.txt"], "must end in"),
    (["--eigenvalues", "bicycle", "--speeds", "3", "1"], "must be the lower")])
def test_bad_input(words, says):
    done = CliRunner().invoke(main, ["plot", *words])
    assert done.exit_code == 2 and says in done.output
