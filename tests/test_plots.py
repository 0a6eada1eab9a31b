"""Pictures for papers: what is in them, and that every command that draws one writes a file."""

from __future__ import annotations

import re
import time
import warnings
from functools import partial

import numpy as np
import pytest
from support import VARIED, at_length, command_line, shipped

import nhmech
from nhmech.analysis import rolling_events
from nhmech.analysis.stability import speed_sweep
from nhmech.control import line, path_error
from nhmech.paths import urdf_path

pytest.importorskip("matplotlib", reason="the extra `plot` is not installed")
from nhmech.view import plots  # noqa: E402
from nhmech.view.drawing import write  # noqa: E402


@pytest.fixture(scope="module")
def ridden(tmp_path_factory):
    """A bicycle that coasts after a push, and the file of its run."""
    vehicle = shipped("bicycle")
    simulator = nhmech.Simulator(vehicle, dt=1e-3)
    simulator.reset(xi={"rear_wheel_joint": 15.0, "roll_rate": 0.3, "steering_joint": 0.0})
    run = simulator.run(0.5, every=10)
    return vehicle, run, run.save(tmp_path_factory.mktemp("runs") / "ride.npz")


def test_forces_and_their_limits(ridden):
    vehicle, run, _ = ridden
    figure, (above, below) = plots.forces(vehicle, run, mu=0.4)
    normals, tangential = above.lines, below.lines
    assert (len(normals) == 2 and len(tangential) == 4 and "[N]" in above.get_ylabel()
            and "[s]" in below.get_xlabel())
    for wheel, normal, (force, limit) in zip(vehicle.contact_names, normals,
                                             (tangential[:2], tangential[2:])):
        assert {line.get_color() for line in (normal, force,
                                              limit)} == {plots.colour(vehicle, wheel)}
        np.testing.assert_allclose(limit.get_ydata(), 0.4 * normal.get_ydata(), rtol=1e-12)
    last = run.reactions[-1].components["rear_wheel_joint"]
    assert normals[0].get_ydata()[-1] == pytest.approx(last["normal"], rel=1e-12)
    assert tangential[0].get_ydata()[-1] == pytest.approx(
        np.hypot(last["longitudinal"], last["lateral"]), rel=1e-9
    )
    assert len(plots.forces(vehicle, run)[1][1].lines) == 2, (
        "no limit is drawn where no friction coefficient is known"
    )


def test_axes_end_above_all_forces_but_those_of_impacts():
    """A car whose front wheels slide on ice and that is braked hard in the last instants, and a
    robot that is dropped."""
    car, robot = shipped("ackermann_car"), shipped("differential_drive")
    rear = dict.fromkeys(car.driven[:2])

    def brake(t, state):
        return nhmech.JointTorque(dict.fromkeys(rear, -400.0 if t > 0.197 else 0.0))
    mu = {name: 1.0 if name in rear else 0.01 for name in car.contact_names}
    simulator = nhmech.Simulator(car, brake, dt=1e-3, contact="coulomb", mu=mu)
    simulator.reset(v={"forward_speed": 6.0} | dict.fromkeys(rear, 6.0 / 0.32))
    run = simulator.run(0.2)
    _, (_, below) = plots.forces(car, run)
    most = max(np.abs(run.force(name, "longitudinal")).max() for name in rear)
    assert not run.rolled[1:].any() and below.get_ylim()[1] > most > 1000
    assert not [text for text in below.texts if "impact" in text.get_text()]

    simulator = nhmech.Simulator(robot, dt=5e-3, contact="coulomb", mu=0.6)
    simulator.reset(drop=0.1)
    run = simulator.run(0.25)
    _, (above, _) = plots.forces(robot, run)
    weight = 9.81 * sum(inertia.mass for inertia in robot.model.inertias)
    most = max(run.force(name).max() for name in robot.contact_names)
    assert most > 5 * weight and 0.4 * weight < above.get_ylim()[1] < weight
    assert f"impacts up to {most:.3g} N" in [text.get_text() for text in above.texts]


def test_every_axis_has_its_unit(ridden):
    vehicle, run, _ = ridden
    _, axes = plots.run(vehicle, run)
    assert {"path", "normal", "tangential", "energy"} <= set(axes)
    for name, ax in axes.items():
        assert ax.get_ylabel().endswith("]"), name
    words = [text.get_text() for text in axes["energy"].get_legend().get_texts()]
    assert any("constant to" in text
               for text in words), "a coasting bicycle's energy is drawn constant, error in words"


def test_the_same_figure_is_the_same_file(ridden, tmp_path):
    """At another second too, which a date would show."""
    vehicle, run, _ = ridden
    endings = ("svg", "pdf", "png")
    for k in range(2):
        for ending in endings:
            plots.write(plots.path(vehicle, run)[0], tmp_path / f"{k}.{ending}")
        time.sleep(1.0 - k)
    for ending in endings:
        assert len({(tmp_path / f"{k}.{ending}").read_bytes() for k in range(2)}) == 1, ending


@pytest.fixture(scope="module")
def followed(tmp_path_factory):
    """A car on a slalom, and the file of its run."""
    from nhmech.control.path_library import make_path
    from nhmech.control.stanley import Stanley

    vehicle = shipped("ackermann_car")
    follower = Stanley(vehicle, make_path("slalom", 6.0), speed=3.0)
    simulator = nhmech.Simulator(vehicle, follower, control_period=1e-2)
    simulator.reset(**follower.start)
    file = tmp_path_factory.mktemp("runs") / "car.npz"
    return vehicle, follower, simulator.run(2.0, every=20, save=file), file


def test_controller_error(followed):
    vehicle, follower, run, _ = followed
    _, (lateral, heading) = plots.tracking(vehicle, run)
    errors = follower.errors(run)
    np.testing.assert_allclose(lateral.lines[-1].get_ydata(), 1e3 * errors[:, 1], rtol=0, atol=1e-5)
    np.testing.assert_allclose(heading.lines[-1].get_ydata(), np.degrees(errors[:, 2]), rtol=0,
                               atol=1e-2)
    assert (lateral.get_ylabel() == "lateral error [mm]"
            and heading.get_ylabel() == "heading error [deg]")
    _, ax = plots.path(vehicle, run)
    reference = next(line for line in ax.lines if line.get_label() == "reference").get_xydata()
    assert np.abs(follower.path.point(follower.path.nearest(reference)) - reference).max() < 1e-6


def test_commanded_and_driven(followed):
    """Two panels of a car; three where something goes sideways; none of a run that nobody told a
    twist."""
    vehicle, _, run, _ = followed
    _, (forward, yaw) = plots.twist(vehicle, run)
    for ax, k, name in ((forward, 0, "forward_speed"), (yaw, 2, "yaw_rate")):
        wanted, found = ax.lines
        assert np.array_equal(wanted.get_ydata(),
                              run.commanded_twist[:, k]) and wanted.get_drawstyle() == "steps-post"
        np.testing.assert_allclose(found.get_ydata(), run.column(name), rtol=1e-12, atol=1e-12)
    assert [ax.get_ylabel() for ax in (forward, yaw)] == ["forward [m/s]", "yaw rate [rad/s]"]
    from nhmech.control.twist import TwistDrive

    sideways = shipped("mecanum")
    moved = nhmech.Simulator(sideways, TwistDrive(sideways, (0.0, 0.2, 0.0))).run(0.02)
    assert len(plots.twist(sideways, moved)[1]) == 3
    with pytest.raises(nhmech.InputError, match="2 given, 3 are needed: forward"):
        plots.twist(sideways, moved, [forward, yaw])
    with pytest.raises(nhmech.InputError, match="commanded no twist"):
        plots.twist(vehicle, nhmech.Simulator(vehicle).run(0.01))


def test_a_wheel_has_its_own_panel(followed):
    """Small multiples: tangential force under mu times normal, in the wheel's colour, on common
    scales."""
    vehicle, _, run, _ = followed
    _, axes = plots.friction(vehicle, run, mu=0.6)
    assert len(axes) == 4 and len({ax.get_ylim() for ax in axes}) == 1
    for ax, name in zip(axes, vehicle.contact_names):
        limit, force = ax.lines
        found = run.reactions[-1].components[name]
        assert ax.get_title(loc="left") == plots.as_words(name) and {
            line.get_color() for line in ax.lines
        } == {plots.colour(vehicle, name)}
        assert limit.get_ydata()[-1] == pytest.approx(0.6 * found["normal"], rel=1e-9)
        assert force.get_ydata()[-1] == pytest.approx(
            np.hypot(found["longitudinal"], found["lateral"]), rel=1e-9
        )


def test_wheels_turn_in_a_panel_of_their_own(followed):
    vehicle, _, run, _ = followed
    _, (wheels, steering) = plots.joint_rates(vehicle, run)
    names = ({line.get_label() for line in wheels.lines},
             {line.get_label() for line in steering.lines})
    assert names == ({plots.as_words(name) for name in vehicle.description.rolling},
                     {plots.as_words(name) for name in vehicle.description.steering})
    line = next(line for line in wheels.lines if line.get_label() == "rear left wheel")
    assert np.array_equal(line.get_ydata(), run.column("rear_left_wheel_joint.velocity"))
    assert line.get_color() == plots.colour(vehicle, "rear_left_wheel_joint")
    _, panels = plots.efforts(vehicle, run)
    assert [ax.get_ylabel() for ax in panels] == ["effort [N m]"] * 2 and sum(
        len(ax.lines) for ax in panels
    ) == len(vehicle.driven)


@pytest.mark.parametrize("name, drawn", [
    ("trailers", ["front left steering", "hitch 1", "hitch 2"]), ("bicycle", ["steering", "roll"]),
    ("pendulum", ["pitch"]), ("coin", ["roll"]), ("ball", []), *at_length(
        ("disc", ["roll"]), ("differential_drive", []),
        ("swerve", ["front left steering", "rear left steering"]))])
def test_the_shape_of_a_vehicle_is_chosen_by_its_structure(name, drawn):
    """Joints that do not roll and are not led by others; tilts that are free and that gravity acts
    on, on a slope too: a coin's pitch is its spin, and all of a ball's attitude is."""
    for ground in (nhmech.Ground.inclined(0.1), nhmech.Ground()):
        vehicle = shipped(name, ground)
        run = nhmech.Simulator(vehicle, on_fall="ignore").run(0.002)
        if not drawn:
            with pytest.raises(nhmech.InputError, match="has no shape"):
                plots.shape(vehicle, run)
            continue
        _, ax = plots.shape(vehicle, run)
        assert [line.get_label() for line in ax.lines] == drawn
        assert ax.get_ylabel() == "position [deg]"
    found = plots.run(vehicle, run)[1].get("shape0")
    assert len(drawn) == (0 if found is None else len(found.lines))


def test_shape_is_angles_of_the_run(ridden):
    from nhmech.attitude import attitude

    vehicle, run, _ = ridden
    _, ax = plots.shape(vehicle, run)
    lines = {line.get_label(): np.radians(line.get_ydata()) for line in ax.lines}
    np.testing.assert_allclose(lines["steering"], run.column("steering_joint.position"), rtol=1e-12)
    # R = Rz(yaw) Rx(roll) Ry(pitch), with the roll that is drawn
    for k in (0, 20, 50):
        R, roll = run.T_WB[k, :3, :3], lines["roll"][k]
        yaw = np.arctan2(-R[0, 1], R[1, 1])
        pitch = np.arctan2(-R[2, 0], R[2, 2])
        np.testing.assert_allclose(attitude(yaw, roll, pitch), R, rtol=0, atol=1e-12)


def test_what_sticks_out_at_the_start_is_cut_and_told():
    from nhmech.view.drawing import clip_start, new_figure

    t = np.linspace(0, 10, 1001)
    for peak, arrow in ((400.0, "\u2191"), (-400.0, "\u2193")):
        ax = new_figure(3, 2).subplots()
        ax.plot(t, np.where(t < 0.05, peak, 1 + np.sin(t)))
        clip_start(ax)
        low, high = ax.get_ylim()
        assert -0.5 < low <= 0 and 2 <= high < 2.5
        assert [text.get_text() for text in ax.texts] == [f"{arrow} {peak:.3g} at the start"]
    for kept in (np.sin(t), np.where(t < 1.0, 400.0, np.sin(t)), np.where(t < 0.05, 4.0, 2 + t / 9),
                 np.zeros_like(t), np.where(t > 9.9, 400.0, np.sin(t))):
        ax = new_figure(3, 2).subplots()
        ax.plot(t, kept)
        before = ax.get_ylim()
        clip_start(ax)
        assert ax.get_ylim() == before and not ax.texts, "what lasts, or comes later, is shown"


@pytest.mark.parametrize("name", ["energy", "run", "forces", "friction", "speeds", "joint_rates",
                                  "efforts", "coordinates", "path", "tracking", "twist", "shape"])
@pytest.mark.parametrize("other", ["pendulum", "bicycle"])
def test_a_run_of_another_robot_is_not_drawn(name, other):
    """The pendulum has the coordinates of the robot of the run, and other contacts."""
    run = nhmech.Simulator(shipped("differential_drive")).run(0.01)
    with pytest.raises(nhmech.InputError, match=f"is of 'differential_drive', .* of '{other}'. "):
        getattr(plots, name)(shipped(other), run)
    if name == "path":
        with pytest.raises(nhmech.InputError, match="the run is of 'differential_drive'"):
            path_error(shipped(other), run, line(1.0))


def test_moments_at_which_rolling_ends_are_named_once():
    """Each is a line; names at several moments wrote over each other in small pictures."""
    vehicle = shipped("differential_drive")

    def shake(t, state):
        return nhmech.JointTorque(dict.fromkeys(vehicle.driven, 1.5 * np.sin(60 * t)))
    run = nhmech.Simulator(vehicle, shake, on_lift="warn",
                           events=rolling_events(vehicle, 0.3, terminal=False)).run(0.2)
    moments = [t for t, name in run.events if name == "friction limit"]
    assert len(moments) > 2
    for axes in (plots.forces(vehicle, run)[1], plots.friction(vehicle, run, mu=0.3)[1].flat):
        (named,) = (text for text in axes[0].texts if text.get_text() == " friction limit")
        assert named.get_position()[0] == moments[0]
        drawn = [line.get_xdata()[0] for line in axes[0].lines
                 if list(line.get_ydata()) == [0, 1]]
        assert set(moments) <= set(drawn)


def test_wheels_are_told_apart_without_colours(followed):
    """Each has a mark of its own in every picture; equal lines show both marks; and a picture that
    stands alone names them."""
    vehicle, _, run, _ = followed
    _, (above, below) = plots.forces(vehicle, run)
    marks = [line.get_marker() for line in above.lines]
    assert len(set(marks)) == 4 and len({line.get_markevery()[0] for line in above.lines}) == 4
    named = [text.get_text() for text in above.get_legend().get_texts()]
    assert named == [plots.as_words(name) for name in vehicle.contact_names]
    _, ax = plots.path(vehicle, run)
    tracks = {line.get_label(): line.get_marker() for line in ax.lines}
    assert [tracks[name] for name in named] == marks
    _, (wheels, _) = plots.joint_rates(vehicle, run)
    rates = {line.get_label(): line.get_marker() for line in wheels.lines}
    assert [rates[name] for name in named] == marks


def draw(name, duration, folder):
    vehicle = shipped(name)
    run = nhmech.Simulator(vehicle, on_fall="ignore", on_lift="ignore").run(duration)
    plots.write(plots.run(vehicle, run)[0], folder / "run.svg")
    plots.write(plots.forces(vehicle, run)[0], folder / "forces.svg")


@pytest.mark.parametrize("name", VARIED)
def test_every_vehicle_is_drawn(name, tmp_path):
    """Whatever its wheels hold: a caster has no tangential force."""
    draw(name, 0.003, tmp_path)


def test_a_run_of_one_moment_is_drawn(tmp_path):
    draw("differential_drive", 0.0, tmp_path)


def test_energy_lines_add_up(followed):
    """What is drawn is the balance: kinetic + potential = work + what is not accounted for."""
    vehicle, _, run, _ = followed
    _, ax = plots.energy(vehicle, run)
    lines = {line.get_label(): line.get_ydata() for line in ax.lines}
    change = lines["kinetic"] + lines.get("potential", 0.0)
    np.testing.assert_allclose(change, run.energy - run.energy[0], rtol=0,
                               atol=1e-6 * run.energy.max())
    np.testing.assert_allclose(
        change,
        lines["work of inputs"] + lines.get("damping", 0.0) + lines["not accounted for"],
        rtol=0,
        atol=1e-9 * run.energy.max(),
    )


def test_coordinates_have_units():
    from nhmech.systems import load_system

    example = load_system("falling_disc")
    simulator = nhmech.Simulator(example)
    simulator.reset(q=np.asarray(example.start["q"], dtype=float), xi=example.start["xi"])
    _, axes = plots.coordinates(example, simulator.run(0.1))
    assert [ax.get_ylabel() for ax in axes] == ["x [m]", "y [m]", "yaw [rad]", "lean [rad]",
                                                "spin [rad]"]


def test_nothing_sticks_out_of_a_figure(followed):
    """Names of legends and axes of every picture lie inside it."""
    vehicle, _, run, _ = followed
    for draw in (plots.path, plots.forces, plots.friction, plots.energy, plots.speeds,
                 plots.joint_rates, plots.shape, plots.efforts, plots.tracking, plots.twist,
                 plots.run):
        figure, _ = draw(vehicle, run)
        figure.canvas.draw()
        box, page = figure.get_tightbbox(), figure.bbox_inches
        assert box.x0 > -0.02 and box.x1 < page.width + 0.02, draw.__name__
        assert box.y0 > -0.02 and box.y1 < page.height + 0.02, draw.__name__
        assert figure._repr_png_().startswith(b"\x89PNG"), "a notebook can show it"


@pytest.mark.parametrize("picture", ["path", "friction", "energy", "speeds", "joint-rates",
                                     "shape", "efforts", "tracking", "twist", "coordinates"])
def test_plot_of_one_picture(followed, tmp_path, picture):
    out = tmp_path / "one.svg"
    done = command_line("plot", followed[3], "--picture", picture, "-o", out)
    assert done.exit_code == 0 and "<image" not in out.read_text(), "vectors all through"


def test_plot_of_a_textbook_system(tmp_path):
    file = str(tmp_path / "sled.npz")
    assert command_line("systems", "run", "sled", "--duration", "0.1", "--save",
                        file).exit_code == 0
    assert (command_line("plot", file, "--picture", "energy").exit_code == 0
            and (tmp_path / "sled.pdf").exists())
    refused = command_line("plot", file, "--picture", "forces")
    assert refused.exit_code == 2 and "not of a vehicle" in refused.output


def test_a_name_that_looks_like_a_formula_is_a_name(tmp_path):
    """Between two dollar signs matplotlib reads a formula, and stops at a bad one; powers of ten at
    an axis stay formulas."""
    text = urdf_path("differential_drive").read_text()
    (tmp_path / "cart.urdf").write_text(text.replace("left_wheel_joint", "a$x_{$"))
    vehicle = nhmech.load(tmp_path / "cart.urdf")
    run = nhmech.Simulator(vehicle).run(0.01)
    for name, draw in {"rates": plots.joint_rates, "all": plots.run,
                       "forces": plots.forces, "friction": partial(plots.friction, mu=0.5)}.items():
        plots.write(draw(vehicle, run)[0], tmp_path / f"{name}.svg")
        written = (tmp_path / f"{name}.svg").read_text()
        assert "a$x {$" in written or name == "forces"
    plots.write(run_of_logarithms(), tmp_path / "powers.svg")
    assert "$" not in re.sub("<!--.*?-->", "", (tmp_path / "powers.svg").read_text())


def run_of_logarithms():
    figure, axes = plots.axes_of(None)
    axes.loglog([1, 1e4], [1, 100])
    return figure


@pytest.mark.parametrize("ending, told", [("png", 1), ("pdf", 1), ("svg", 0)])
def test_characters_that_no_font_has_are_told_once(ridden, tmp_path, ending, told, caplog):
    """Whatever there is of each; other warnings stay."""
    figure, axes = plots.path(*ridden[:2])
    figure.axes[0].set_xlabel("\U000f1234 \U000f1235")          # of private use
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        write(figure, tmp_path / f"path.{ending}")
    assert [record.getMessage().startswith("no font here has \U000f1234, \U000f1235: install")
            for record in caplog.records] == [True] * told
    figure.savefig = lambda *_, **__: warnings.warn("odd", stacklevel=2)
    with pytest.warns(UserWarning, match="odd"):
        write(figure, tmp_path / f"path.{ending}")


def test_no_path_no_error(ridden):
    with pytest.raises(nhmech.InputError, match="followed no path"):
        plots.tracking(ridden[0], ridden[1])


def test_eigenvalues_over_speed(ridden):
    sweep = speed_sweep(ridden[0], np.linspace(1, 9, 33))
    _, axes = plots.eigenvalues(sweep)
    assert axes.get_xlabel() == "forward speed [m/s]" and axes.get_ylabel() == "eigenvalue [1/s]"
    band = axes.patches[0].get_extents().transformed(axes.transData.inverted())
    np.testing.assert_allclose([band.x0, band.x1], [4.2924, 6.0243], rtol=0, atol=0.01)


@pytest.mark.parametrize("ending, head", [("pdf", b"%PDF"), ("svg", b"<?xml"), ("png", b"\x89PNG")])
def test_plot_of_a_run(ridden, tmp_path, ending, head):
    out = tmp_path / f"run.{ending}"
    done = command_line("plot", ridden[2], "--mu", "0.8", "-o", out)
    assert done.exit_code == 0, done.output
    assert out.read_bytes().startswith(head)


def test_plot_of_eigenvalues_prints_where_they_cross(tmp_path):
    done = command_line("plot", "--eigenvalues", "bicycle", "--points", "20", "-o",
                        tmp_path / "e.pdf")
    assert done.exit_code == 0, done.output
    assert ("4.292383 to   6.024262 m/s  stable" in done.output
            and (tmp_path / "e.pdf").stat().st_size > 1000)


@pytest.mark.parametrize("words, says", [
    ([], "give a RUN"), (["none.npz"], "no such file"),
    (["--eigenvalues", "bicycle", "-o", "a.txt"], "must end in"),
    (["--eigenvalues", "bicycle", "--robot", "sled"], "--robot, --picture, --path and"),
    (["--eigenvalues", "bicycle", "--mu", "0.8"], "with a RUN, not with --eigenvalues"),
    (["--eigenvalues", "bicycle", "--range", "3", "1"], "the lower one first")])
def test_bad_input(words, says):
    done = command_line("plot", *words)
    assert done.exit_code == 2 and says in done.output
