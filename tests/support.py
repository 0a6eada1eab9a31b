"""What several test files share: loaded vehicles, random states on the constraint manifold, small
robots as text."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import xml.etree.ElementTree as ET
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import nhmech
from nhmech.compile.compiler import find_compiler
from nhmech.vehicle.vehicle import Vehicle

SHIPPED = nhmech.urdf_names()


REFERENCE = Path(__file__).with_name("reference")


def reference_case(name: str) -> dict:
    """Numbers that were published, or derived by somebody else, with their source."""
    return json.loads((REFERENCE / f"{name}.json").read_text())


# they have between them what the shipped robots have: lean, crowned and rolling wheels, an attitude
# that moves, steering that is coupled, hitches
_VARIED = ("bicycle", "coin", "differential_drive", "mecanum", "pendulum", "rover", "trailers")
def at_length(*cases) -> list:
    """Parameters of a test that are left to `make soak`."""
    return [pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.soak)
            for case in cases]


def sampled(cases, count: int) -> list:
    """Parameters of a test: so many of the cases, spread over the list; the others are left to
    `make soak`."""
    cases = list(cases)
    kept = set(np.linspace(0, len(cases) - 1, count).round().astype(int).tolist())
    return [case if i in kept else at_length(case)[0] for i, case in enumerate(cases)]


VARIED = [name if name in _VARIED else at_length(name)[0] for name in SHIPPED]


needs_compiler = pytest.mark.skipif(find_compiler() is None,
                                    reason="there is no C compiler here, or CC=none")


def run_in_node(script: str) -> object:
    """What a script in JavaScript prints as JSON, in Node; skips the test where there is none."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs Node.js, or another program `node`, on PATH")
    done = subprocess.run([node, "-"], input=script, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def command_line(*words):
    """`nhmech WORDS ...` in this process, as click's `Result`; what is no exit code is raised."""
    from click.testing import CliRunner

    from nhmech import cli

    result = CliRunner().invoke(cli.main, [str(word) for word in words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def mcap_messages(path) -> tuple[dict[str, list], dict]:
    """Topic -> [(log time [ns], message)], and topic -> channel, by a reader that shares nothing
    with the package; skips the test where there is none."""
    reader, decoder = (pytest.importorskip(name) for name in ("mcap.reader", "mcap_ros2.decoder"))
    messages: dict[str, list] = {}
    with open(path, "rb") as file:
        found = reader.make_reader(file, validate_crcs=True,
                                   decoder_factories=[decoder.DecoderFactory()])
        for _, channel, message, decoded in found.iter_decoded_messages():
            messages.setdefault(channel.topic, []).append((message.log_time, decoded))
        channels = {channel.topic: channel for channel in found.get_summary().channels.values()}
    return messages, channels


@cache
def shipped(name: str, ground: nhmech.Ground = nhmech.Ground(),
            speeds: tuple[str, ...] | None = None, **options) -> Vehicle:
    """A robot of this package, loaded once for all tests (a `Vehicle` does not change); options of
    `load` that can be hashed."""
    return nhmech.load(nhmech.urdf_path(name), ground=ground, speeds=speeds, **options)


@cache
def askew(name: str) -> Vehicle:
    """`askew_text` of a shipped robot, with a yaw of 0.4 rad."""
    return nhmech.load(askew_text(nhmech.urdf_path(name).read_text(), (0, 0, 0.4)))


def askew_text(text: str, rpy: tuple[float, float, float]) -> str:
    """A robot whose base frame stands 0.3 m behind and 0.07 m beside its own, turned: its own
    stands at (0.3, 0.07, 0.02) m with this attitude in it."""
    root = ET.fromstring(text)
    children = {e.find("child").get("link") for e in root.iter("joint")}
    first = next(e.get("name") for e in root.iter("link") if e.get("name") not in children)
    root.append(ET.fromstring('<link name="askew"/>'))
    root.append(ET.fromstring(joint("turn", "askew", first, (0.3, 0.07, 0.02), rpy,
                                    kind="fixed")))
    return ET.tostring(root, encoding="unicode")


def margin(vehicle: Vehicle, t: float, q: np.ndarray) -> float:
    """How well the vehicle's frame serves at q: near zero where the choice of speeds is a bad
    one."""
    s = vehicle.constrained.system
    return abs(float(ca.Function("margin", [s.t, s.q, s.theta],
                                 [vehicle.frame.margin])(t, q, vehicle.theta)))


def serving(vehicle: Vehicle, q: np.ndarray) -> Vehicle:
    """The vehicle, with rows and speeds chosen again where its own serve badly at q; what a run
    does."""
    return vehicle if margin(vehicle, 0.0, q) > 0.05 else vehicle.rechoose(q)


def velocity(vehicle: Vehicle, t: float, q: np.ndarray, xi: np.ndarray) -> np.ndarray:
    """v = E xi + e0."""
    return vehicle.equations.velocity(t, q, xi, vehicle.theta).full().ravel()


def random_states(vehicle: Vehicle, count: int, seed: int, t: float = 0.0):
    """(vehicle serving there, q, xi, u) with q on the holonomic manifold and all speeds about 1
    m/s.

    q are the poses at which the vehicle decided on its rows: neutral, straight, at steering limits
    and random ones.
    """
    rng = np.random.default_rng(seed)
    samples = vehicle.constrained.samples
    order = np.r_[0, 1 + rng.permutation(len(samples) - 1)][:count]
    for q in samples[order]:
        chosen = serving(vehicle, q)
        scales = chosen.constrained.scales[list(chosen.frame.speeds)]
        xi = rng.normal(size=chosen.frame.nxi) / scales
        u = rng.normal(size=chosen.constrained.system.u.numel()) * 3
        yield chosen, q, xi, u


def kinematics(vehicle: Vehicle, q: np.ndarray) -> pin.Data:
    """Pinocchio's data with all joint placements at q."""
    data = vehicle.model.createData()
    pin.forwardKinematics(vehicle.model, data, np.asarray(q, dtype=float))
    return data


def moved(q: np.ndarray, x: float, y: float, yaw: float, about=(0.0, 0.0, 0.0)) -> np.ndarray:
    """q with the vehicle turned by `yaw` about the vertical through `about`, then shifted."""
    q, turn = q.copy(), pin.SE3(pin.rpy.rpyToMatrix(0, 0, yaw), np.zeros(3))
    about = np.asarray(about, dtype=float)
    q[:3] = about + turn.rotation @ (q[:3] - about) + (x, y, 0)
    q[3:7] = (pin.Quaternion(turn.rotation) * pin.Quaternion(q[3:7])).normalized().coeffs()
    return q


def link(name: str, mass: float = 1.0, inertia=(0.02, 0.03, 0.025), com=(0.0, 0.0, 0.0),
         body: str = "") -> str:
    """A link of a URDF."""
    ixx, iyy, izz = inertia
    return (f'<link name="{name}"><inertial><origin xyz="{com[0]} {com[1]} {com[2]}"/><mass '
            f'value="{mass}"/>'
            f'<inertia ixx="{ixx}" iyy="{iyy}" izz="{izz}" ixy="0" ixz="0" '
            f'iyz="0"/></inertial>{body}</link>')


def joint(name: str, parent: str, child: str, xyz=(0, 0, 0), rpy=(0, 0, 0), axis=(0, 1, 0),
          kind: str = "continuous", more: str = "") -> str:
    """A joint of a URDF."""
    def text(values):
        return " ".join(str(value) for value in values)

    return (f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
            f'<origin xyz="{text(xyz)}" rpy="{text(rpy)}"/><axis xyz="{text(axis)}"/>{more}'
            '</joint>')


def robot(*parts: str) -> str:
    """A URDF."""
    return f'<robot name="rig">{"".join(parts)}</robot>'


@contextmanager
def at_most(seconds: int):
    """Ends in a `TimeoutError` what takes more of the processor, or ten times as long by the clock:
    the computer may be busy."""
    def stop(*_):
        raise TimeoutError(f"it took more than {seconds} s")

    before = {one: signal.signal(one, stop) for one in (signal.SIGPROF, signal.SIGALRM)}
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, 10 * seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        for one, handler in before.items():
            signal.signal(one, handler)
