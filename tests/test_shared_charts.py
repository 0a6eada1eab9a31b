"""What simulators of one vehicle share: made once, in any thread, and never mixed up."""

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from threading import Barrier
from time import sleep

import numpy as np
import pytest

import nhmech
from nhmech.once import cached_property, once
from nhmech.simulation import atlas

NAME = "differential_drive"
SETTINGS = list(product(("rk4", "gauss4", "dop853"), ("dynamic", "kinematic"), ("stop", "ignore")))


def run(vehicle, setting=("rk4", "dynamic", "stop"), push=0.1):
    integrator, mode, on_fall = setting
    simulator = nhmech.Simulator(vehicle, lambda t, state: [push, 0.3], dt=1e-2, mode=mode,
                                 integrator=integrator, on_fall=on_fall)
    return simulator.run(0.2)


def fresh():
    return nhmech.load(nhmech.urdf_path(NAME))


def test_settings_of_one_vehicle_do_not_mix():
    """Each as on a vehicle of its own, whatever was asked of this one before."""
    vehicle = fresh()
    for setting in SETTINGS + SETTINGS[::-1]:
        here = run(vehicle, setting)
        if setting[2] == "stop":
            assert np.array_equal(here.q, run(fresh(), setting).q), setting


def test_threads_make_one_and_use_it(monkeypatch):
    made, source, ready = [], atlas.loop_source, Barrier(8)
    monkeypatch.setattr(atlas, "loop_source", lambda *words, **named:
                        made.append(1) or source(*words, **named))

    def start(push):
        ready.wait()
        return run(vehicle, push=push)

    vehicle, pushes = fresh(), [0.05 * k for k in range(8)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(start, pushes))
    assert len(made) == 1
    for push, one in zip(pushes, found, strict=True):
        assert np.array_equal(one.q, run(fresh(), push=push).q)


def test_parameters_are_another_vehicle():
    vehicle = fresh()
    light, heavy = run(vehicle), run(vehicle.with_parameters({"payload.mass": 30.0}))
    assert not np.allclose(light.q[-1], heavy.q[-1]) and np.array_equal(light.q, run(vehicle).q)


def test_nothing_is_kept_of_a_vehicle_that_is_gone():
    vehicle = fresh()
    run(vehicle)
    gone = weakref.ref(vehicle.equations)
    del vehicle
    gc.collect()
    assert gone() is None


def test_a_property_is_made_once_in_any_thread():
    """`functools.cached_property` has no lock since Python 3.12."""
    made, ready = [], Barrier(8)

    class Thing:
        @cached_property
        def part(self):
            made.append(1)
            sleep(0.05)
            return object()

    def ask(thing):
        ready.wait()
        return thing.part

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(ask, [Thing()] * 8))
    assert len(made) == 1 and len({*found}) == 1


def test_what_fails_is_tried_again():
    class Thing:
        pass

    @once
    def make(thing, number):
        calls.append(number)
        if len(calls) == 1:
            raise ValueError
        return object()

    thing, calls = Thing(), []
    with pytest.raises(ValueError):
        make(thing, 1)
    assert make(thing, 1) is make(thing, 1) and make(thing, 2) is not make(thing, 1)
    assert calls == [1, 1, 2]
