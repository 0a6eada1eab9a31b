"""Equations that are kept between runs: the same to the last bit, and made anew where in doubt."""

import hashlib
import importlib
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from support import command_line

import nhmech
from nhmech.mechanics import (
    constrain,
    euclidean,
    gibbs_appell,
    herglotz,
    kept_equations,
    lagrangian_system,
)
from nhmech.mechanics.kept_equations import FUNCTIONS

NAME = "ackermann_car"
former = importlib.import_module("nhmech.mechanics.gibbs_appell")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A cache folder of this test's own."""
    monkeypatch.setenv("NHMECH_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def formed(monkeypatch):
    """Frames whose equations were formed rather than read."""
    frames, form = [], former._form
    monkeypatch.setattr(former, "_form",
                        lambda frame, *parts: frames.append(frame) or form(frame, *parts))
    return frames


def car(**parameters):
    vehicle = nhmech.load(nhmech.urdf_path(NAME), ground=nhmech.Ground(normal=(0.1, 0, 1)))
    return vehicle.with_parameters(parameters) if parameters else vehicle


def values(equations):
    """All functions at random states."""
    random, found = np.random.default_rng(0), []
    for name in FUNCTIONS:
        function = getattr(equations, name)
        inputs = [random.normal(size=function.size1_in(i)) for i in range(function.n_in())]
        found += [out.full() for out in function.call(inputs)]
    return found


def same(one, other):
    return (one.names, one.units, one.method) == (other.names, other.units, other.method) and all(
        np.array_equal(a, b) for a, b in zip(values(one), values(other), strict=True))


def test_what_is_read_is_what_was_formed(folder, formed):
    first = car().equations
    second = car().equations
    assert len(formed) == 1 and same(first, second)
    assert [path.suffix for path in folder.iterdir()] == [".equations"]
    assert {path.stat().st_mode & 0o077 for path in folder.iterdir()} == {0}


def test_runs_are_the_same_to_the_last_bit(folder, formed):
    first, second = (nhmech.Simulator(car(), lambda t, state: [0.1, 0.3, 0.3][:len(state.u)])
                     .run(0.05) for _ in range(2))
    assert len(formed) == 1 and np.array_equal(first.q, second.q)
    # one step, one library: the code in C is the same too
    assert len(list(folder.glob("*.so"))) <= 1


def test_another_number_is_another_entry(folder, formed, monkeypatch):
    wheel = next(name for name in car().parameters.values if name.endswith(".radius"))
    heavy, level = car(**{"payload.mass": 20.0}), nhmech.load(nhmech.urdf_path(NAME))
    for vehicle in (car(), heavy, level, car(**{wheel: 0.31})):
        _ = vehicle.equations
    assert len(formed) == len(list(folder.iterdir())) == 4
    # so is another source of this package, and another version
    for name, value in (("_source", lambda: "changed"), ("__version__", "0.0")):
        monkeypatch.setattr(kept_equations, name, value)
        _ = car().equations
    assert len(formed) == 6


@pytest.mark.parametrize("damage", [
    lambda text: "", lambda text: text[:-1], lambda text: text.replace("4", "5", 200),
    lambda text: hashlib.sha256(b"foreign").hexdigest() + "\nforeign",
    lambda text: hashlib.sha256(b"").hexdigest() + "\n",
], ids=["empty", "cut off", "changed", "foreign", "sealed and empty"])
def test_what_is_damaged_is_formed_anew(folder, formed, damage):
    first = car().equations
    (path,) = folder.iterdir()
    whole = path.read_text()
    path.write_text(damage(whole))
    assert same(first, car().equations) and len(formed) == 2
    assert path.read_text() == whole


def test_bytes_that_are_no_text(folder, formed):
    first = car().equations
    (path,) = folder.iterdir()
    path.write_bytes(b"\xff\xfe" * 100)
    assert same(first, car().equations) and len(formed) == 2


def bead():
    """A bead on a wire in z, whose action is a coordinate, with a parameter and a second row."""
    made = herglotz(constrain(lagrangian_system(
        euclidean("x", "y", "z", "s"), lambda s: s.p.m * (
            s.v.x ** 2 + s.v.y ** 2 + s.v.z ** 2) / 2 - s.q.z - 0.1 * s.q.s,
        parameters=("m",)), {"m": 2.0}, rows={"wire": lambda s: s.v.z - s.q.x * s.v.x}), "s")
    return replace(made, samples=made.configurations, friction=ca.SX(4, 2))


def rubbing(size):
    friction = ca.SX(4, 2)
    friction[1, 0] = size
    return friction


CHANGES = {
    "samples": lambda one: replace(one, samples=one.samples + 0.1),
    "parameters": lambda one: replace(one, parameters=np.array([3.0])),
    "moment": lambda one: replace(one, moment=0.5),
    "flow": lambda one: replace(one, distribution=replace(
        one.distribution, flow=2 * one.distribution.flow)),
    "friction": lambda one: replace(one, friction=rubbing(0.2)),
    "more friction": lambda one: replace(one, friction=rubbing(0.3)),
    "affine part": lambda one: replace(one, distribution=replace(
        one.distribution, b=one.distribution.b + ca.DM([0.1, 0]))),
    "force": lambda one: replace(one, system=replace(one.system, force=ca.SX(4, 1) + 0.1)),
}


def test_whatever_changes_the_equations_is_another_entry(folder, formed, monkeypatch):
    monkeypatch.setattr(kept_equations, "WORTH_KEEPING", 0)
    one = bead()
    same_again = replace(one, samples=one.samples.copy())
    for system in (one, *(change(one) for change in CHANGES.values()), same_again):
        gibbs_appell(system, ("x'", "y'"))
    assert len(formed) == len(list(folder.iterdir())) == 1 + len(CHANGES)
    gibbs_appell(one, ("y'", "x'"))
    assert len(formed) == 2 + len(CHANGES)


def test_another_meaning_of_an_auxiliary_variable_is_another_entry(folder, formed, monkeypatch):
    """Same expressions, with other functions of the configuration in them, or in another order."""
    monkeypatch.setattr(kept_equations, "WORTH_KEEPING", 0)
    one = nhmech.load(nhmech.urdf_path("differential_drive")).reduced
    short = one.system.auxiliaries
    larger, turned = (replace(one, system=replace(one.system, auxiliaries=replace(
        short, **changes))) for changes in (
            {"meanings": 1.1 * short.meanings}, {"symbols": short.symbols[::-1]}))
    for system in (one, larger, turned, one, larger, turned):
        gibbs_appell(system)
    assert len(formed) == len(list(folder.iterdir())) == 3


def test_small_ones_are_not_kept(folder):
    _ = nhmech.load(nhmech.urdf_path("differential_drive")).equations
    assert not folder.exists() or not list(folder.iterdir())


def test_a_disk_that_refuses_costs_time_alone(folder, monkeypatch, formed):
    def refuses(path, functions):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(kept_equations, "_write", refuses)
    assert same(car().equations, car().equations) and len(formed) == 2


def test_the_command_counts_and_clears_them(folder, formed):
    _ = car().equations
    shown = command_line("cache").output
    assert "code      0, 0.00 MB\nequations 1, 0.1" in shown
    assert "removed   1 entries" in command_line("cache", "--clear").output
    assert list(folder.iterdir()) == []
    _ = car().equations
    assert len(formed) == 2
