"""Every textbook system keeps one contract; the command line shows, checks and runs them;
the folder's README works as typed."""

import re
import sys
from dataclasses import replace
from importlib import import_module
from inspect import signature
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from support import command_line, sampled

import nhmech
from nhmech.symbolic.plain_text import text
from nhmech.systems import load_system, system_names
from nhmech.systems._checks import imbalance, wander
from nhmech.systems.example import AGREEMENT, METHODS, disagreement, largest
from nhmech.systems.written import sections


def other_numbers(example) -> dict[str, float]:
    """Arguments of an example that are numbers, up to a third larger, each by another share."""
    known = signature(example.make).parameters.values()
    numbers = {one.name: one.default for one in known if isinstance(one.default, float)}
    if any(one.kind is one.VAR_KEYWORD for one in known):
        numbers |= dict(zip(example.constrained.system.theta_names,
                            example.constrained.parameters.tolist()))
    shares = np.random.default_rng(4).uniform(1.05, 1.3, len(numbers))
    return {name: float(share * number) for (name, number), share in zip(numbers.items(), shares)}


@pytest.mark.paper("004 (18)")
@pytest.mark.parametrize("name", system_names())
def test_contract(name):
    example = load_system(name)
    assert example.name == name and example.title and example.source and example.checks
    assert set(example.methods) <= set(METHODS) and len(example.methods) >= 3
    complete = len(example.methods) == len(METHODS)
    assert complete != bool(example.why_not), "what does not apply needs a reason, and only that"
    example.constrained.system.algebroid.check()
    # its own numbers are often 1, which shows nothing
    other = example.make(**other_numbers(example))
    assert disagreement(other) <= AGREEMENT
    for check in other.checks:
        assert 0 < check.tolerance <= 1e-10 and check.source
        assert 0 <= check.error() <= check.tolerance, check.what
    q = np.asarray(example.start["q"], dtype=float)
    system = example.constrained.system
    assert q.shape == (system.algebroid.nq,) and len(example.start["xi"]) == len(
        example.equations().names
    )


@pytest.mark.parametrize("name", system_names())
def test_starts_and_samples_lie_on_the_manifold(name):
    """phi = 0, attitudes of unit length; at t = 0."""
    made = load_system(name)
    system, d = made.constrained.system, made.constrained.distribution
    off = ca.Function("off", [system.t, system.q, system.theta],
                      [ca.vertcat(d.phi, system.algebroid.embedding(system.q))])
    for q in (made.start["q"], *made.constrained.configurations):
        found = off(0.0, q, made.constrained.parameters).full()
        assert largest(found) <= 1e-12
    if name == "veselova_sphere":
        for q in (made.start["q"], *made.constrained.configurations[:8]):
            assert np.linalg.norm(q) == pytest.approx(1.0, rel=1e-12)


VARIANTS = [
    ("ball_on_turntable", {"tilt": 0.02}), ("ball_on_turntable", {"I": 0.0012, "tilt": -0.03}),
    ("falling_disc", {"m": 1.0, "r": 0.2, "A": 0.02, "C": 0.04}),      # a hoop
    ("unbalanced_ball", {"I": (0.0031, 0.0027, 0.0024)}),
    ("chaplygin_sleigh", {"a": -0.2, "v0": 0.7, "w0": -1.0}), ("carriage", {"l": -0.05}),
    *(("sled", {"m": 1.3, "J": 0.4, "fibration": fibration}) for fibration in ("y", "body")),
    ("rattleback", {"Ixy": -5e-5, "h": 0.008}),
    ("snakeboard", {"trucks": "independent", "J": 0.11}), ("roller_racer", {"m2": 0.4}),
    ("roller_racer", {"driven": True}), ("two_wheeled_pendulum", {"rotor_inertia": 1e-5}),
    *(("car_with_trailers", {"n": count}) for count in range(4))]


@pytest.mark.parametrize("name, numbers", sampled(VARIANTS, 9))
def test_other_parameters(name, numbers):
    """The checks of a system hold for numbers other than the default ones, and all its methods
    agree."""
    example = import_module(f"nhmech.systems.{name}").example(**numbers)
    assert example.checks and disagreement(example) <= AGREEMENT
    for check in example.checks:
        assert check.error() <= check.tolerance, check.what


@pytest.mark.soak
@pytest.mark.parametrize("name", system_names())
def test_its_own_numbers_hold_too(name):
    for check in load_system(name).checks:
        assert 0 <= check.error() <= check.tolerance, check.what


@pytest.mark.parametrize("name", sampled(system_names(), 12))
def test_every_system_starts_at_given_speeds(name):
    """One speed or several, by name."""
    example = load_system(name)
    names, q = example.equations().names, example.start["q"]
    # nonlinear constraints allow no speeds but their own
    speeds = (example.start["xi"] if example.constrained.invariant.numel()
              else 0.1 * np.arange(1, len(names) + 1))
    wanted = dict(zip(names, speeds))
    start = nhmech.Simulator(example.constrained).reset(q=q, xi=wanted)
    assert {k: start.xi[k] for k in names} == pytest.approx(wanted, rel=1e-12, abs=1e-13)


def test_check_prints_the_table_and_fails_where_a_reference_is_missed(monkeypatch):
    good = command_line("systems", "check", "sled")
    assert good.exit_code == 0 and "disagreement" in good.output and "ok" in good.output
    example = load_system("sled")
    broken = example.checks[0].__class__("a wrong number", "nowhere", 1e-12, lambda: 1.0)
    monkeypatch.setattr("nhmech.systems.load_system",
                        lambda name: example.__class__(**{**example.__dict__, "checks": (broken,)}))
    bad = command_line("systems", "check", "sled")
    assert bad.exit_code == 2 and "FAILED" in bad.output and "a wrong number" in bad.output


def test_a_check_that_gives_no_number_does_not_hold():
    """NaN is neither above nor below; a check that passes over it would always hold."""
    for values in ((0.0, np.nan), (np.nan, 0.0), (0.1, np.nan, 0.2)):
        assert np.isnan(largest(*values))
    sled = load_system("sled")
    assert np.isnan(imbalance(sled, lambda s: s.v.x * np.nan, lambda s: s.v.x))
    assert np.isnan(wander(sled, sled.constrained.system.v[0] * np.nan, duration=0.1))


@pytest.mark.parametrize("name", system_names())
def test_energy_is_measured_from_rest(name):
    """E = T + V: without velocity it is -L, and T grows as the square where L is quadratic."""
    system = load_system(name).constrained.system
    place = load_system(name).constrained.configurations[0]
    theta, v = load_system(name).constrained.parameters, np.ones(system.v.numel())
    if system.lagrangian is None:
        return
    still, once, twice = (float(system.energy_function(0.0, place, k * v, theta))
                          for k in (0.0, 1.0, 2.0))
    L = ca.Function("L", [system.t, system.q, system.v, system.theta], [system.lagrangian])
    assert still == pytest.approx(-float(L(0.0, place, 0 * v, theta)), rel=1e-12, abs=1e-12)
    assert twice - still == pytest.approx(4 * (once - still), rel=1e-9)
    if name in UNLOADED:
        assert still == 0.0


UNLOADED = {"car_with_trailers", "carriage", "chaplygin_sleigh", "differential_drive",
            "roller_racer", "rolling_ball", "sled", "snakeboard", "suslov", "veselova",
            "vertical_disk", "wheeled_snake", "chaplygin_ball", "nonholonomic_particle"}
HEADINGS = "Lagrangian", "constraints", "Hamel symbols", "Gibbs function", "equations of motion"
REDUCTION = "gyroscopic 1-form", "reduced 2-form"


def test_the_carriage_is_written_out():
    found = [section.heading for section in sections(load_system("carriage"))]
    for heading in (*HEADINGS, *REDUCTION):
        assert heading in " ".join(found)


@pytest.mark.parametrize("name, heading, expected", [
    ("nonholonomic_particle", "Gibbs", "(1 + y^2) x''^2/2 + y x'' x' y' + y''^2/2"),
    ("vertical_disk", "Gibbs", "I1 theta1''^2/2 + (I2 + R^2 m) theta2''^2/2"),
    ("vertical_disk", "Hamel", "-R sin(theta1) e_rolling_x + R cos(theta1) e_rolling_y"),
    ("nonholonomic_particle", "Hamel", "-e_slope"),
    ("falling_disc", "Hamel", "-e_u2 + tan(lean) e_u3"),
    ("carriage", "reduced 2-form",
     "omega_L* - a^3 l m0 (psi1' dpsi1 ^ dpsi2 - psi2' dpsi1 ^ dpsi2)/(4 r^2)"),
    ("carriage", "Lagrangian on the base", "(4 C r^2 + I a^2 + a^2 m r^2) (psi1'^2 + psi2'^2)"
     "/(8 r^2) + a^2 (m r^2 - I) psi1' psi2'/(4 r^2)"),
    ("knife_edge_on_incline", "reduced 2-form",
     "omega_L* - m tan(phi) x' dx ^ dphi/cos^2(phi)")])
def test_what_is_written_is_what_is_derived_by_hand(name, heading, expected):
    """S = |a|^2 m / 2 on the constraints; [e_x, e_y] = -d/dz for z' = y x'; of the carriage, kappa
    of its docstring; of the knife edge, p . [E_x, E_phi]; of the disc, that of d/dlean with
    (d/dyaw - sin(lean) d/dspin) / cos(lean)."""
    section, = (one for one in sections(load_system(name)) if heading in one.heading)
    assert section.formulas[0][1] == expected


@pytest.mark.parametrize("name, headings", [
    ("vertical_disk", HEADINGS), ("carriage", (*HEADINGS, *REDUCTION))])
@pytest.mark.parametrize("latex", [False, True], ids=["text", "LaTeX"])
def test_show_writes_a_system_out(name, headings, latex):
    result = command_line("systems", "show", name, *(["--latex"] if latex else []))
    assert result.exit_code == 0, result.output
    for heading in headings:
        assert heading in result.output
    assert (r"\frac" in result.output) == latex


def test_plain_text_as_it_stands():
    system = load_system("nonholonomic_particle").constrained.system
    assert text(system.lagrangian).count("^2") == 3


def test_plain_text_means_what_it_says():
    """As Python reads it; negative numbers stand in brackets where they would be taken apart."""
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    for one in (ca.SX(-0.5) ** y * x, x ** -2.5, x - y * -0.5, -3 - 2.5 * x, ca.SX(-3) ** y / x):
        words = re.sub(r"(?<=[\w)]) (?=[\w(])", "*", text(one)).replace("^", "**")
        assert eval(words, {"x": 1.5, "y": 2.0}) == pytest.approx(
            float(ca.Function("f", [x, y], [one])(1.5, 2.0)), rel=1e-12, abs=0)


def test_run_writes_a_page_and_a_file(tmp_path):
    result = command_line("systems", "run", "carriage", "--duration", "0.5", "--html",
                          tmp_path / "run.html", "--save", tmp_path / "run.npz")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "run.html").stat().st_size > 100_000
    run = nhmech.Trajectory.load(tmp_path / "run.npz")
    assert run.t[-1] == pytest.approx(0.5, rel=1e-12, abs=0) and run.names["q"] == ("x", "y", "phi",
                                                                                    "psi1", "psi2")


def test_unknown_system_is_refused_by_name():
    result = command_line("systems", "show", "carriag")
    assert result.exit_code == 2 and "carriage" in result.output


def test_the_readme_of_mechanics_works_as_typed():
    """Both systems, from their Lagrangians, against their closed forms; each in ten lines or so."""
    text = (Path(nhmech.__file__).parent / "mechanics" / "README.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.S)
    assert len(blocks) == 2
    particle, sled = {}, {}
    exec(blocks[0], particle)
    y, xp, yp = 0.5, 1.0, -0.4
    np.testing.assert_allclose(particle["q_rate"].full().ravel(), [xp, yp, y * xp], rtol=1e-14)
    np.testing.assert_allclose(particle["xi_rate"].full().ravel(),
                               [-y * xp * yp / (1 + y ** 2), 0.0], rtol=1e-12, atol=1e-15)
    exec(blocks[1], sled)
    np.testing.assert_allclose(sled["xi_rate"].full().ravel(), [-np.tan(0.2) * 0.5, 0.0],
                               rtol=1e-12, atol=1e-15)
    nhmech.Simulator(sled["sled"], dt=1e-2)


OWN = """
from nhmech.mechanics import constrain, euclidean, lagrangian_system
from nhmech.systems import Example

def example():
    free = lagrangian_system(euclidean("x", "y"), lambda s: (s.v.x ** 2 + s.v.y ** 2) / 2)
    made = constrain(free, rows={"slope": lambda s: s.v.y - s.q.x * s.v.x})
    return Example("own", "A curve", "", made, {"q": (0.0, 0.0), "xi": (1.0,)})
"""


def test_a_file_of_ones_own_is_a_system(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(OWN)
    for words in (["show", "own.py"], ["check", "own.py"],
                  ["run", "own.py", "--duration", "0.1", "--save", "own.npz"]):
        assert command_line("systems", *words).exit_code == 0
    refused = command_line("plot", "own.npz", "-o", "a.png")
    assert refused.exit_code == 2 and "--robot own.py" in refused.output
    plotted = command_line("plot", "own.npz", "--robot", "own.py", "-o", "a.png")
    assert plotted.exit_code == 0, plotted.output
    robot = command_line("run", "rattleback")
    assert robot.exit_code == 2 and "try `nhmech systems run rattleback`" in robot.output
    other = command_line("systems", "show", "own")
    assert "no system 'own'; there are" in other.output
    assert "did you mean the file own.py" in other.output


@pytest.mark.parametrize("code, said", [
    ("x = 1", "no function example"), ("def example(): return 3", "not an nhmech"),
    ("def example():\n    return 1 / 0", "line 2: ZeroDivisionError"),
    ("def example(:", "line 1"), ("import nothing_of_this_name", "line 1: ModuleNotFoundError")])
def test_a_file_that_is_no_system_is_refused_by_its_line(code, said, tmp_path):
    (tmp_path / "own.py").write_text(code)
    with pytest.raises(nhmech.InputError, match=said):
        load_system(tmp_path / "own.py")


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(nhmech.InputError, match="gone.py does not exist; a system of one's own"):
        load_system(tmp_path / "gone.py")


def test_a_file_finds_what_lies_beside_it(tmp_path, monkeypatch):
    """Before what is found elsewhere under the same name; the way there is forgotten afterwards."""
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.syspath_prepend(tmp_path / "elsewhere")
    for folder, title in ((tmp_path, "mine"), (tmp_path / "elsewhere", "another")):
        (folder / "title_of_a_curve.py").write_text(f"TITLE = {title!r}")
    (tmp_path / "own.py").write_text("from title_of_a_curve import TITLE\n"
                                     + OWN.replace('"A curve"', "TITLE + __file__"))
    before = [*sys.path]
    made = load_system(tmp_path / "own.py")
    assert made.title == f"mine{tmp_path / 'own.py'}" and sys.path == before
    assert made.make().name == "own"


def test_a_symmetry_that_does_not_reduce_is_said_to():
    """The beanie is moved by all of SE(2), but nothing holds it."""
    made = replace(load_system("elroys_beanie"), generators={"turn": lambda s: {
        "forward_speed": s.q.x * ca.sin(s.q.yaw) - s.q.y * ca.cos(s.q.yaw),
        "lateral_speed": s.q.x * ca.cos(s.q.yaw) + s.q.y * ca.sin(s.q.yaw), "yaw_rate": 1}})
    section = sections(made)[-1]
    assert section.heading.startswith("reduction")
    assert "Chaplygin reduction" in section.formulas[0][0]


def test_a_start_has_a_number_for_each_speed(tmp_path, monkeypatch):
    """One too few was zero, one too many was left out."""
    monkeypatch.chdir(tmp_path)
    for xi in ("()", "(1.0, 2.0)", "(float('nan'),)"):
        (tmp_path / "own.py").write_text(
            OWN.replace('(1.0,)}', f'{xi}}}, speeds=("x\'",)'))
        found = command_line("systems", "run", "own.py")
        assert found.exit_code == 2 and "must be 1 finite numbers: x'" in found.output


def test_a_picture_of_nothing_is_refused_before_the_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(OWN)
    found = command_line("systems", "run", "own.py", "--html", "own.html")
    assert found.exit_code == 2 and "no shapes" in found.output and "energy" not in found.output


def test_a_run_does_not_name_code_to_be_executed(tmp_path):
    """Its file may come from anybody."""
    (tmp_path / "own.py").write_text(OWN)
    example = load_system(tmp_path / "own.py")
    simulator = nhmech.Simulator(example)
    simulator.reset(q=[0.0, 0.0])
    run = simulator.run(0.01)
    object.__setattr__(example, "name", str(tmp_path / "own.py"))
    path = run.save(tmp_path / "own.npz")
    with pytest.raises(nhmech.SimulationError, match="not in this package"):
        _ = nhmech.Trajectory.load(path).energy
    assert nhmech.Trajectory.load(path, example).energy.size == run.t.size
