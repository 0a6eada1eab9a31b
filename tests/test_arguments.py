"""Wrong arguments of every public name: an error of this package that names what is wrong, or a
sound answer; nothing else. `make soak` tries all values, `make test` a random choice."""

import inspect
import random
import re
import warnings
from collections import ChainMap, Counter, OrderedDict, deque
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from importlib import import_module
from numbers import Number
from pathlib import Path
from types import MappingProxyType

import casadi as ca
import numpy as np
import pandas as pd
import pytest
from support import at_most, shipped

import nhmech
from nhmech import NhmechError, Simulator, analysis, control, logs, mechanics
from nhmech.systems import load_system

PACKAGES = ("nhmech", *(f"nhmech.{name}" for name in (
    "analysis", "control", "logs", "mechanics", "simulation", "systems", "urdf", "view")))


class Subclass(np.ndarray):
    """As pint and astropy make them."""


class Odd:
    """An object of nobody's kind."""


def broken(*_, **__):
    raise RuntimeError("broken")


VALUES = (None, True, "", "x", "nan", "\u202e", b"x", -1, 0, 3.0, 10 ** 400, 1e300, float("nan"),
          float("inf"), 1j, [], (), {}, set(), [1.0], ["x"], [None], [[]], [float("nan")] * 3,
          [1.0, 2.0, 3.0], [[1.0, 2.0], [3.0]], {"x": 1.0}, {"x": "y"}, {1: 2}, {"": float("nan")},
          Odd(), Odd, broken, lambda: None, np.array(1.0), np.zeros(3), np.zeros((2, 2)),
          np.array(["x"]), np.array([None]), np.full(3, np.nan), range(3), iter("x"),
          ca.SX.sym("x"), Ellipsis, "\0")


def calls(folder) -> dict[str, tuple[Callable, dict]]:
    """Each name with arguments that serve. Results of computations, which nobody makes by hand,
    are not there: what is a dataclass without checks of its own."""
    robot, trailers = shipped("differential_drive"), shipped("trailers")
    bicycle, pendulum = shipped("bicycle"), shipped("pendulum")
    run = Simulator(robot).run(0.01)
    run_path, html = run.save(folder / "run.npz"), folder / "page.html"
    plain = load_system("chaplygin_sleigh")
    sleigh = plain.constrained
    disc = load_system("vertical_disk").constrained
    kinematic = mechanics.symmetry(disc, {"x": ca.SX([1, 0, 0, 0]), "y": ca.SX([0, 1, 0, 0])})
    reduced = mechanics.chaplygin(kinematic)
    motion = mechanics.run_reduced(reduced, [0.0, 0.1], [0.0, 0.0], [1.0, 1.0])
    fibre = ("x'", "y'")
    plane_motion = mechanics.euclidean("x1", "x2")
    bead = mechanics.constrain(
        mechanics.lagrangian_system(plane_motion, lambda s: (s.v.x1 ** 2 + s.v.x2 ** 2) / 2),
        holonomic={"curve": lambda s: s.q.x2 - s.q.x1 ** 2})
    space = mechanics.euclidean("x", "y", "z")
    free = mechanics.lagrangian_system(space, lambda s: (s.v.x ** 2 + s.v.y ** 2 + s.v.z ** 2) / 2)
    times = np.arange(6.0)
    q, v, u = run.q[0], run.v[0], run.u[0]
    path = control.circle(2.0)
    motions = analysis.SteadyMotions(robot.with_parameters(symbolic=["payload.mass"]))
    still = analysis.standing(robot)
    found = mechanics.find_symmetry(sleigh)
    plane = mechanics.special_euclidean_2()
    state = Simulator(robot).state

    def rest(t, state):
        return np.zeros(2)

    tracked = {"vehicle": robot, "path": path, "speed": 0.5}
    written = {"trajectory": run, "forces": False, "rate": None}
    table = {
        "Event": dict(name="x", function=lambda t, state: 1.0, terminal=True, direction=0),
        "Ground": dict(normal=(0, 0, 1.0), point=(0, 0, 0), velocity=(0, 0, 0),
                       angular_velocity=(0, 0, 0)),
        "Simulator": dict(constrained=robot, controller=rest, dt=0.001, control_period=0.002,
                          integrator="rk4", events=(), wrench=None, mode="dynamic"),
        "Viewer": dict(vehicle=robot, open_browser=False, overlays=(), window=None, follow=True,
                       title=None),
        "Wheel": dict(joint="left_wheel_joint", kind="torus", radius=0.1, crown=0.01,
                      roller_angle=None, axis=(0, 1, 0), mu=0.5, driven=True, link=None,
                      point=(0, 0, 0)),
        "dynamics": dict(constrained=robot),
        "load": dict(source=nhmech.urdf_path("coin"), wheels=None, ground=nhmech.Ground(), free=(),
                     locked=None, skid=None, speeds=None, packages=None, arguments=None,
                     repair=False),
        "save_html": dict(vehicle=robot, trajectory=run, path=html, fps=30.0, overlays=(),
                          follow=None, title=None),
        "simulate_batch": dict(constrained=sleigh, x0=np.zeros((2, 5)), u=None, dt=0.01,
                               duration=0.02, control_period=None, every=1, theta=None, threads=1,
                               device="cpu"),
        "start_states": dict(constrained=robot, poses=[None], joints=None, xi=None),
        "urdf_path": dict(name="coin"),
        "axles": dict(vehicle=robot, q=q, gripping=False),
        "connection_curvature": dict(constrained=sleigh, q=None, base=None),
        "critical_speeds": dict(constrained=robot, speeds=(), inputs=(), sweep=None),
        "eigenvalue_sensitivities": dict(motions=motions, motion=still,
                                         conditions=None, t=0.0),
        "energy_balance": dict(trajectory=run, simulated=None),
        "friction_limit": dict(vehicle=robot, mu=0.5, doubt=False, terminal=True),
        "lift_off": dict(vehicle=robot, terminal=True),
        "limits": dict(vehicle=robot, mu=0.5, radius=1.0, speed=1.0),
        "linearise": dict(constrained=sleigh, q=np.zeros(3), xi=np.zeros(2), u=None, t=0.0,
                          ignorable=False, outputs=None),
        "mobility": dict(constrained=robot),
        "momentum_balance": dict(symmetry=found, t=times, q=np.zeros((6, 3)),
                                 v=np.zeros((6, 3)), u=None),
        "residuals": dict(trajectory=run, simulated=None),
        "rolling_events": dict(vehicle=robot, mu=0.5, terminal=True),
        "rotation_centre": dict(vehicle=robot, q=q),
        "run_validity": dict(trajectory=run, mu=0.5, every=10),
        "speed_sweep": dict(constrained=robot, speeds=(1.0,), inputs=()),
        "standing": dict(vehicle=robot),
        "step_adjoint": dict(constrained=sleigh, dt=0.01),
        "step_jacobian": dict(constrained=sleigh, dt=0.01),
        "structure": dict(constrained=sleigh, q=None, wheel_angles=False, depth=3, operations=1e5),
        "reactions": dict(vehicle=robot, t=0.0, q=q, v=v, u=u),
        "validity": dict(vehicle=robot, t=0.0, q=q, v=v, u=u, mu=0.5),
        "SteadyMotions": dict(constrained=robot, inputs=()),
        "Balance": dict(vehicle=pendulum, twist=(0, 0, 0), speed_weight=4.0, effort=2.0,
                        period=None),
        "BicycleBalance": dict(vehicle=bicycle, path=None, speed=5.0, coast=False, weights=None,
                               effort=1.0, period=0.001, preview=2.5),
        "Collocation": dict(constrained=sleigh, intervals=2, duration=1.0, degree=3, unit=None),
        "Combinator": dict(inside=rest),
        "Delay": dict(controller=rest, delay=0.1),
        "DemoDrive": dict(vehicle=robot),
        "FeedbackLinearisation": dict(**tracked, stiffness=1.0, damping=2.0, drive=None),
        "Hold": dict(controller=rest, period=0.1),
        "Kanayama": dict(**tracked, along=1.0, across=1.0, heading=2.0, drive=None),
        "LQR": dict(vehicle=robot, twist=(0.5, 0.0, 0.0), keep="", drop="", inputs="", weights=None,
                    effort=1.0, period=None),
        "MPC": dict(**tracked, stages=2, horizon=None, effort=0.02),
        "MeasurementNoise": dict(controller=rest, position=0.1, heading=0.0, tilt=0.0, velocity=0.0,
                                 angular_velocity=0.0, joint_position=0.0, joint_velocity=0.0,
                                 gyro=0.0, accelerometer=0.0, seed=0),
        "Polar": dict(**{**tracked, "path": control.line(2.0)}, approach=1.0, align=2.5,
                      weight=2.0, drive=None),
        "PurePursuit": dict(**tracked, lookahead=None, drive=None),
        "Quantise": dict(controller=rest, ticks=100),
        "Saturation": dict(controller=rest, effort=1.0, velocity=None, position=None, plain=None),
        "Stanley": dict(**tracked, gain=1.0, drive=None),
        "Sum": dict(inside=rest),
        "Switch": dict(first=rest, second=rest, when=1.0, latch=True),
        "TrackingLQR": dict(vehicle=robot, trajectory=run, dt=None, weights=None, effort=0.1,
                            final=10.0),
        "TrailerBacking": dict(vehicle=trailers, path=None, speed=0.5, trailer="", weights=None,
                               effort=1.0, period=0.01, preview=5.0),
        "TwistDrive": dict(vehicle=robot, twist=(0.5, 0.0, 0.1)),
        "WheelServo": dict(vehicle=robot, twist=(0.5, 0.0, 0.1), commands=None, time=0.05),
        "control.circle": dict(radius=1.0, left=True),
        "controller_class": dict(name="kanayama"),
        "dubins": dict(start=(0, 0, 0), end=(3, 3, 1.0), radius=1.0),
        "lane_change": dict(length=6.0, offset=1.0, before=0.0, after=0.0),
        "control.line": dict(length=1.0),
        "make_path": dict(name="circle", size=1.0),
        "path_error": dict(vehicle=robot, trajectory=run, path=path),
        "read_path": dict(text="circle:1", length=1.0),
        "spline": dict(waypoints=[(0, 0), (1, 0), (2, 1)], closed=False),
        "Table": written,
        "export_run": dict(path=folder / "run.csv", **written),
        "write_csv": dict(path=folder / "run.csv", **written),
        "write_mcap": dict(path=folder / "run.mcap", vehicle=None, twist=None, **written),
        "write_parquet": dict(path=folder / "run.parquet", **written),
        "read_csv": dict(path=logs.write_csv(run, folder / "a.csv", forces=False)),
        "read_mcap": dict(path=logs.write_mcap(run, folder / "a.mcap", forces=False)),
        "read_parquet": dict(path=logs.write_parquet(run, folder / "a.parquet", forces=False)),
        "adapted_frame": dict(constrained=sleigh, speeds=None),
        "atiyah": dict(base=("x",), group="so(3)", connection=lambda r: ca.SX.zeros(3, 1),
                       names=None, units=None),
        "change_of_basis": dict(algebroid=plane, basis=ca.SX.eye(3), names=("a", "b", "c"),
                                units=None),
        "chaplygin": dict(symmetry=kinematic, speeds=None),
        "chetaev": dict(constrained=sleigh, constraints={"c": lambda s: s.v.yaw_rate ** 2 - 1},
                        near=None),
        "mechanics.circle": dict(name="phi"),
        "mechanics.line": dict(name="x", unit="m"),
        "closed_form_multipliers": dict(
            constrained=bead, inverse={"x2": lambda y, s: y[0] + s.q.x1 ** 2}),
        "constrain": dict(system=free, parameters=None, rows=None, holonomic=None,
                          samples=None),
        "constraint_algorithm": dict(constrained=sleigh, nonlinear=None, gauge=None, near=None),
        "constraint_forms": dict(constrained=disc, base=None, fibre=fibre),
        "ehresmann_connection": dict(constrained=disc, base=None, fibre=fibre),
        "euclidean": dict(names="x", units=None),
        "find_symmetry": dict(constrained=sleigh),
        "growth_vector": dict(constrained=sleigh, q=None, t=0.0, speeds=None, depth=3),
        **{name: dict(constrained=sleigh, speeds=None, frame=None)
           for name in ("gibbs_appell", "hamel", "lagrange_dalembert", "lagrange_multipliers",
                        "projection")},
        "lagrangian_system": dict(space=space, lagrangian=lambda s: (s.v.x ** 2 + s.v.y ** 2) / 2,
                                  parameters=(), inputs=(), force=None),
        "lie_algebra": dict(constants="so(3)", names=None, units=None),
        "momentum_map": dict(symmetry=found),
        "nonholonomic_momentum": dict(symmetry=found, sections=None),
        "product": dict(factors=plane),
        "quotient": dict(symmetry=found, invariants=None),
        "action_algebroid": dict(constants="u(1)", q_names=("a",), fields=lambda q: q, names=None,
                                 units=None),
        "nonholonomic_bracket": dict(constrained=sleigh, speeds=None),
        "casimirs": dict(bracket=mechanics.nonholonomic_bracket(sleigh), degree=1),
        "first_integrals": dict(constrained=sleigh),
        "energy_momentum": dict(constrained=load_system("heavy_top"), q=[0, 0, 0, 1],
                                xi=[0, 0, 2.0], speeds=None),
        "hamiltonise": dict(reduction=mechanics.chaplygin(kinematic)),
        "hamilton_jacobi": dict(constrained=disc, field={"theta1'": 0.7, "theta2'": 2.0}),
        "reconstruct": dict(reduced=reduced, motion=motion, q=np.zeros(4), rtol=1e-9),
        "run_reduced": dict(reduced=reduced, times=[0, 0.1], r=[0, 0], xi=[1, 1], u=None,
                            rtol=1e-9),
        "regularity": dict(constrained=sleigh, nonlinear=None, near=None),
        "rotation": dict(quaternion=ca.SX.sym("q", 4)),
        "special_euclidean": dict(v_names=("a", "b", "c", "d", "e", "f")),
        "special_euclidean_2": dict(prefix="", v_names=("a", "b", "c"), embedded=False),
        "special_orthogonal": dict(prefix="", v_names=("a", "b", "c")),
        "symmetry": dict(constrained=disc, generators={"x": ca.SX([1, 0, 0, 0])}),
        "planar_pose": dict(q=q),
        "load_system": dict(name="sled"),
        "Shape": dict(kind="box", size=(1.0, 1.0, 1.0), pose=lambda q: np.eye(4),
                      color=(0, 0, 0, 1.0), trail=False),
        "MidAxle": dict(track=1.0),
        "Forces": dict(vehicle=robot, mu=0.5),
        "Ghost": dict(vehicle=robot, trajectory=run, name="ghost", number=0),
        "ReferencePath": dict(vehicle=robot, path=path),
        "RotationCentre": dict(vehicle=robot),
        "save_report": dict(trajectory=run, file=folder / "report.html"),
        "show": dict(vehicle=robot, trajectory=run, height=460),
    }
    methods = {
        (Simulator(robot), "reset"): dict(pose=(0, 0, 0), joints=None, xi=None, q=None),
        (Simulator(robot), "run"): dict(duration=0.01, every=1, progress=None, save=None),
        (robot, "configuration"): dict(pose=None, joints=None, t=0.0),
        (robot, "with_parameters"): dict(changes=None, symbolic=None),
        (robot, "with_wrench"): dict(bodies="base_link"),
        (robot, "constraint_matrix"): dict(q=q, t=0.0),
        (robot, "constraint_error"): dict(t=0.0, q=q, v=v),
        (robot, "energy"): dict(t=0.0, q=q, v=v),
        (robot, "contact_points"): dict(q=q, t=0.0),
        (robot, "contact_directions"): dict(q=q, t=0.0),
        (robot, "joint_positions"): dict(q=q),
        (robot, "rechoose"): dict(q=q),
        (run, "column"): dict(name="forward_speed"),
        (run, "save"): dict(path=run_path),
        (run, "save_html"): dict(path=html),
        (path, "at"): dict(s=0.0),
        (path, "point"): dict(s=0.0),
        (path, "station"): dict(s=0.0),
        (path, "place"): dict(x=0.0, y=0.0, yaw=0.0),
        (path, "nearest"): dict(point=(0, 0), near=None),
        (motions, "find"): dict(q=still.q, xi=still.xi, u=None, conditions=None, t=0.0),
        (state, "angle"): dict(name="left_wheel_joint"),
    }
    table = {name: (resolve(name), words) for name, words in table.items()}
    for (owner, name), words in methods.items():
        if hasattr(owner, name):
            table[f"{type(owner).__name__}.{name}"] = getattr(owner, name), words
    table["Trajectory.load"] = nhmech.Trajectory.load, dict(path=run_path, system=None)
    return table


def resolve(name):
    home, _, last = name.rpartition(".")
    if home:
        return getattr(import_module(f"nhmech.{home}"), last)
    for package in PACKAGES:
        if last in dir(import_module(package)):
            return getattr(import_module(package), last)
    raise LookupError(name)


# what passes in any dress: numbers and rows of them as NumPy, pandas and the standard library have
# them, and what nobody means
DRESSED = (np.float32(0.5), np.int64(2), np.bool_(True), np.str_("x"), Fraction(1, 2),
           Decimal("0.5"), np.longdouble("1e4000"), np.timedelta64(1, "s"), np.zeros(0),
           np.zeros((0, 3)), np.zeros((3, 0)), np.zeros((1, 1, 1, 1)),
           np.broadcast_to(0.0, (10 ** 6,)), np.arange(3.0).view(Subclass),
           np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0]),
           np.array([Fraction(1, 2)] * 3, dtype=object), np.array([10 ** 400] * 3, dtype=object),
           np.array([1, 2, 3], dtype=">f8"), np.array([1, 2, 3], dtype=complex),
           np.array([(1, 2.0)], dtype=[("a", int), ("b", float)]), np.array([1, 2], dtype="m8[s]"),
           np.full(3, 1e308), np.full(3, 1e-320), pd.NA, pd.Series([1.0, 2.0, 3.0]),
           pd.DataFrame({"a": [1.0]}), pd.Index(["a", "b"]), OrderedDict(x=1.0),
           MappingProxyType({"x": 1.0}), ChainMap({"x": 1}), Path("."), Path("\0"), "a" * 5000,
           2 ** 63, 1e149, 1e-300, [1e149] * 3, [[1.0]], {"x": [1, 2]}, {"x": np.array(1)},
           {None: None}, slice(3), float, NotImplemented, (i for i in range(3)), ["a", "a"],
           range(0), frozenset("ab"), deque([1.0, 2.0, 3.0]), (0, 0, 1), np.array([0, 0, 1]),
           lambda *_: 1e300, lambda t, state: np.zeros(2), lambda s: s,
           np.random.default_rng(3).normal(size=7))


# what Python says of a wrong number of arguments, of ours or of a caller's function
ARITY = re.compile(r"(takes|missing) .*arguments?|expected at (most|least) \d arguments?")
PATIENCE = 20      # [s] of one call, of which the longest takes one


def call(function: Callable, words: dict):
    """By name, or by place where a parameter has no name for callers."""
    kinds = inspect.signature(function).parameters
    plain = {name for name in words if kinds[name].kind in (
        inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL)}
    return function(*[value for name, value in words.items() if name in plain],
                    **{name: value for name, value in words.items() if name not in plain})


def judge(name: str, function: Callable, words: dict, look: Callable | None = None) -> str:
    """ "served" or "refused"; anything else is raised. `look` sees the answer."""
    try:
        with at_most(PATIENCE):
            answer = call(function, words)
    except NhmechError as error:
        assert str(error).strip() and all(c.isprintable() or c == "\n" for c in str(error)), name
        return "refused"
    except RuntimeError as error:
        if error.args == ("broken",):       # the caller's own
            return "refused"
        raise
    except TypeError as error:
        if ARITY.search(str(error)):
            return "refused"
        raise
    if isinstance(answer, (Number, np.ndarray)):
        assert np.isfinite(answer).all(), f"{name} answers {answer}"
    if look is not None:
        look(answer)
    return "served"


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """In a folder of its own, for a name is a path where one is asked for."""
    folder = tmp_path_factory.mktemp("arguments")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        yield calls(folder)


def fresh(value):
    """An iterator that nobody has gone through."""
    return iter([1.0, 2.0, 3.0]) if hasattr(value, "__next__") else value


def sweep(table: dict, values: tuple, count: int | None) -> Counter:
    """Every value in the place of every argument, or so many of them at random."""
    tries = [(name, parameter, i) for name, (_, words) in table.items() for parameter in words
             for i in range(len(values))]
    if count is not None:
        tries = random.Random(count).sample(tries, count)
    ends: Counter = Counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, parameter, i in tries:
            function, words = table[name]
            value = fresh(values[i])
            try:
                ends[judge(name, function, {**words, parameter: value})] += 1
            except Exception as error:
                ends["raised"] += 1
                print(f"{name}: {parameter} = {value!r:.60}: {type(error).__name__} {error!s:.200}")
    return ends


def test_the_arguments_that_are_made_wrong_serve(table):
    """And what they give shows itself in three lines at most, not as an address in memory."""
    def look(answer):
        for part in answer if isinstance(answer, (tuple, list)) else (answer,):
            if type(part).__module__.startswith("nhmech"):
                text = repr(part)
                assert " at 0x" not in text and text.count("\n") < 3 and len(text) < 600, text

    for name, (function, words) in table.items():
        assert judge(name, function, words, look) == "served", name


@pytest.mark.parametrize("values, count", [
    (VALUES, 1000), (DRESSED, 500), pytest.param(VALUES, None, marks=pytest.mark.soak),
    pytest.param(DRESSED, None, marks=pytest.mark.soak)], ids=["1000", "500", "all", "all dressed"])
def test_wrong_arguments_are_refused_by_name(table, values, count):
    ends = sweep(table, values, count)
    print(dict(ends))
    assert not ends["raised"], "see above"
    assert ends["refused"] > 3 * ends["served"]


def test_a_system_takes_its_speeds_by_another_word_than_sliding_wheels():
    simulator = nhmech.Simulator(load_system("chaplygin_sleigh"))
    with pytest.raises(nhmech.InputError, match=r"reset\(v=\.\.\.\) is for vehicles.*reset\(xi="):
        simulator.reset(q=[0, 0, 0], v={"yaw_rate": 1.0})
