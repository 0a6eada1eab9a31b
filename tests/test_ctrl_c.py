"""Ctrl-C is heard within a moment, also where C code clears it."""

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from nhmech.ctrl_c import forget_ctrl_c, hear_ctrl_c

LOADING = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from nhmech import Simulator, load, urdf_path
load(urdf_path("coin"))
print("ready", flush=True)
try:
    while True:
        vehicle = load(urdf_path("trailers"))
        vehicle.equations
        Simulator(vehicle)
except KeyboardInterrupt:
    sys.exit(7)
"""


def press():
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.01)


def wait():
    """Until the press is raised again: a hundred times as long as that takes."""
    for _ in range(500):
        time.sleep(0.01)


def test_a_press_that_was_cleared_is_raised_again():
    after = []
    with pytest.raises(KeyboardInterrupt), hear_ctrl_c():
        try:
            press()
        except KeyboardInterrupt:
            after.append("cleared")
        wait()
        after.append("too late")
    assert after == ["cleared"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("consequence", [AttributeError("None has no attribute"), None])
def test_what_the_clearing_leads_to_is_a_press_too(consequence):
    with pytest.raises(KeyboardInterrupt), hear_ctrl_c(), hear_ctrl_c():
        with suppress(KeyboardInterrupt):
            press()
        if consequence is not None:
            raise consequence


def test_what_cleans_up_after_a_press_is_left_alone():
    cleaned = []
    with pytest.raises(KeyboardInterrupt), hear_ctrl_c():
        try:
            press()
        finally:
            for _ in range(20):
                time.sleep(0.01)
            cleaned.append(True)
    assert cleaned


def test_a_press_that_is_dealt_with_is_over():
    with hear_ctrl_c():
        try:
            press()
        except KeyboardInterrupt:
            forget_ctrl_c()
        for _ in range(20):
            time.sleep(0.01)
    with hear_ctrl_c():
        pass


def test_handlers_of_others_are_left_alone():
    heard = []
    before = signal.signal(signal.SIGINT, lambda *_: heard.append(True))
    try:
        with hear_ctrl_c():
            press()
    finally:
        signal.signal(signal.SIGINT, before)
    assert heard == [True]


@pytest.mark.parametrize("count", [2, pytest.param(60, marks=pytest.mark.soak)])
def test_ctrl_c_ends_loading_and_deriving(count):
    """At random moments of a process that does nothing else."""
    rng, root = random.Random(count), Path(__file__).resolve().parent.parent
    for _ in range(count):
        child = subprocess.Popen([sys.executable, "-c", LOADING], stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True,
                                 env={**os.environ, "PYTHONPATH": str(root)})
        assert child.stdout is not None and child.stdout.readline() == "ready\n"
        time.sleep(rng.uniform(0.0, 1.5))
        child.send_signal(signal.SIGINT)
        _, said = child.communicate(timeout=120)
        assert child.returncode == 7, said
