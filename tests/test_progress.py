"""The line that says how far a run is."""

import io
import re
import time
from types import SimpleNamespace

import numpy as np
import pytest
from support import shipped

from nhmech import Simulator
from nhmech.cli.progress import Progress

CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    """time.perf_counter under our hand."""
    now = SimpleNamespace(t=100.0)
    monkeypatch.setattr(time, "perf_counter", lambda: now.t)
    return now


def drawn(progress, monkeypatch):
    """What the bar is told, call by call."""
    told = []
    monkeypatch.setattr(progress.bar, "update", lambda task, **words: told.append(words))
    return told


def test_nothing_is_worked_out_without_a_terminal():
    vehicle = SimpleNamespace(energy=lambda *_: pytest.fail("nobody sees it"))
    stream = io.StringIO()
    with Progress(1.0, stream, vehicle) as progress:
        progress(0.5, SimpleNamespace(q=0, v=0))
    assert stream.getvalue() == ""


def test_the_line_shows_both_times_the_factor_and_the_energy(clock, monkeypatch):
    """3 s simulated in 1.5 s are twice real time; the energy went from 10 J to 10.25 J."""
    energies = iter([10.0, 10.25])
    with Progress(5.0, Terminal(),
                  SimpleNamespace(energy=lambda t, q, v: next(energies))) as progress:
        told, state = drawn(progress, monkeypatch), SimpleNamespace(q=0, v=0)
        clock.t += 0.5
        progress(1.0, state)
        clock.t += 0.05
        # too soon after the last
        progress(2.0, state)
        clock.t += 0.95
        progress(3.0, state)
    assert [words["completed"] for words in told] == [1.0, 3.0]
    assert told[0] == {"completed": 1.0, "real": "0.5", "factor": "2.0",
                       "energy": "10 J (+0.0e+00)"}
    assert told[1] == {"completed": 3.0, "real": "1.5", "factor": "2.0",
                       "energy": "10.25 J (+2.5e-01)"}


def test_the_line_of_a_real_run(monkeypatch):
    """A disc that nothing drives keeps its energy, and the line says by how much it does not."""
    monkeypatch.setenv("COLUMNS", "120")
    vehicle, stream = shipped("disc"), Terminal()
    simulator = Simulator(vehicle, dt=1e-3)
    simulator.reset(pose=(0, 0, 0, 0.2, 0, 0), xi={"spin_joint": 8.0})
    with Progress(2.0, stream, vehicle) as progress:
        progress.next = 0.0
        run = simulator.run(2.0, progress=lambda t,
                            state: (setattr(progress, "next", 0.0), progress(t, state)))
        progress.bar.refresh()
        text = CODES.sub("", stream.getvalue())
    shown = re.findall(
        r"(\d+\.\d+) of 2 s [^a-z]*in (\d+\.\d) s, (\d+\.\d) x energy (\S+) J \((\S+)\)", text
    )
    assert shown and float(shown[-1][0]) == 2.0
    assert float(shown[-1][3]) == pytest.approx(run.energy[-1], rel=1e-3)
    assert (abs(float(shown[-1][4])) <= 1.1 * np.ptp(run.energy) + 1e-15
            and np.ptp(run.energy) < 1e-8 * run.energy[0])


def test_a_run_that_fails_leaves_the_terminal_as_it_was():
    with pytest.raises(RuntimeError), Progress(1.0, Terminal()) as progress:
        raise RuntimeError
    assert not progress.bar.live.is_started
