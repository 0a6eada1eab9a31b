"""Sweeps: nothing is run twice, nothing depends on who runs it, and a failure is a row."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
from support import at_length, shipped

import nhmech
from nhmech import NhmechError
from nhmech.sweeps import sweep

pytest.importorskip("joblib", reason="joblib is not installed (extra 'sweep')")
pytest.importorskip("pandas", reason="pandas is not installed (extra 'sweep')")
needs_dask = pytest.mark.skipif(importlib.util.find_spec("distributed") is None,
                                reason="dask.distributed is not installed (extra 'sweep')")

CASES = [{"a": a, "b": b} for a in range(4) for b in (0.5, 2.0)]


def product(case, rng):
    return {"product": case["a"] * case["b"], "noise": rng.normal(),
            "vector": np.arange(3) * case["b"]}


def rows_in(path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_one_row_for_each_case_in_their_order(tmp_path):
    frame = sweep(product, CASES, tmp_path / "out.jsonl", workers=2)
    assert list(frame.columns) == ["a", "b", "product", "noise", "vector", "error", "seconds"]
    assert [(a, b) for a, b in zip(frame.a, frame.b)] == [(case["a"], case["b"]) for case in CASES]
    np.testing.assert_array_equal(frame["product"], frame.a * frame.b)
    assert frame.vector[1] == [0.0, 2.0,
                               4.0] and frame.error.isna().all() and (frame.seconds >= 0).all()


def test_finished_cases_are_not_run_again(tmp_path):
    calls = []

    def noted(case, rng):
        calls.append(case["a"])
        return {"square": case["a"] ** 2}

    for n, new in ((3, [0, 1, 2]), (5, [3, 4]), (5, [])):
        calls.clear()
        frame = sweep(noted, [{"a": a} for a in range(n)], tmp_path / "out", backend="threading",
                      workers=1)
        assert calls == new and list(frame.square) == [a * a for a in range(n)]
    calls.clear()
    sweep(noted, [{"a": 0}], tmp_path / "out", backend="threading", seed=1)
    assert calls == [0], "another seed is another case"


def test_noise_depends_on_the_case_and_the_seed_alone(tmp_path):
    first = sweep(product, CASES, tmp_path / "1", workers=2)
    order = np.random.default_rng(0).permutation(len(CASES))
    second = sweep(product, [CASES[i] for i in order], tmp_path / "2", backend="threading",
                   workers=3)
    np.testing.assert_array_equal(second.noise, first.noise[order])
    other = sweep(product, CASES, tmp_path / "3", backend="threading", seed=1)
    assert not np.isin(other.noise, first.noise).any()
    same = sweep(product, [CASES[0]] * 3, tmp_path / "4", backend="threading")
    assert len(set(same.noise)) == 3 and same.noise[0] == first.noise[0]


def test_an_exception_is_a_row(tmp_path):
    def fragile(case, rng):
        if case["a"] == 1 and not (tmp_path / "mended").exists():
            raise ValueError("one is not allowed")
        return {"inverse": 1 / case["a"]} if case["a"] < 3 else {"a": 2}

    def run(**arguments):
        return sweep(fragile, [{"a": a} for a in range(4)], tmp_path / "out", backend="threading",
                     **arguments)

    frame = run()
    assert list(frame.error.fillna("")) == ["ZeroDivisionError: division by zero",
                                            "ValueError: one is not allowed", "",
                                            "NhmechError: the result has a, which the row "
                                           "already has; rename it"]
    assert frame.inverse[2] == 0.5 and frame.inverse.isna().sum() == 3
    (tmp_path / "mended").touch()
    assert run().error[1] == "ValueError: one is not allowed", "an error is a finished case"
    assert run(retry=True).inverse[1] == 1.0
    assert run().inverse[1] == 1.0


def test_numbers_that_are_not_finite_come_back(tmp_path):
    for _ in range(2):
        frame = sweep(lambda case, rng: {"y": np.inf, "z": np.nan}, [{"x": np.float64(1.5)}],
                      tmp_path / "out", backend="threading")
        assert frame.x[0] == 1.5 and frame.y[0] == np.inf and np.isnan(frame.z[0])


PROGRAM = textwrap.dedent("""
    import pathlib, sys, time
    from nhmech.sweeps import sweep
    folder = pathlib.Path(sys.argv[1])

    def slow(case, rng):
        with open(folder / "calls", "a") as file:
            file.write(f"{case['a']}\\n")
        while case["a"] >= 8 and not (folder / "again").exists():
            time.sleep(0.01)
        return {"noise": rng.normal()}

    sweep(slow, [{"a": a} for a in range(20)], folder / "out", workers=2, backend=sys.argv[2])
""")


@pytest.mark.parametrize("backend", ["loky", *at_length("threading")])
def test_after_a_kill_it_goes_on(tmp_path, backend):
    """SIGKILL in the middle, a torn last line; only what was under way then is run a second
    time."""
    out, words = tmp_path / "out", [sys.executable, "-c", PROGRAM, str(tmp_path), backend]
    process = subprocess.Popen(words, start_new_session=True)
    limit = time.monotonic() + 60
    while not (out.exists() and len(out.read_bytes().splitlines()) == 8):
        assert time.monotonic() < limit and process.poll() is None
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    finished = {row["case"]["a"] for row in rows_in(out)}
    assert finished == set(range(8))
    (tmp_path / "again").touch()
    with open(out, "ab") as file:
        file.write(b'{"key": "ab')
    subprocess.run(words, check=True)
    calls = [int(line) for line in (tmp_path / "calls").read_text().split()]
    assert sorted(set(calls)) == list(range(20))
    assert all(calls.count(a) == 1 for a in finished) and len(calls) <= 20 + 4
    rows = rows_in(out)
    assert sorted(row["case"]["a"] for row in rows) == list(range(20))
    whole = sweep(lambda case, rng: {"noise": rng.normal()}, [{"a": a} for a in range(20)],
                  tmp_path / "uncut", backend="threading")
    assert {row["case"]["a"]: row["result"]["noise"] for row in rows} == dict(
        zip(whole.a, whole.noise)
    )


def test_a_worker_that_dies_is_told_and_what_was_done_is_kept(tmp_path):
    def deadly(case, rng):
        if case["a"] == 5 and not (tmp_path / "again").exists():
            time.sleep(0.5)
            os._exit(1)
        return {"y": case["a"]}

    cases = [{"a": a} for a in range(6)]
    with pytest.raises(NhmechError, match="kept; call it again"):
        sweep(deadly, cases, tmp_path / "out", workers=2)
    (tmp_path / "again").touch()
    assert list(sweep(deadly, cases, tmp_path / "out", workers=2).y) == list(range(6))


def test_wrong_input_is_named(tmp_path):
    with pytest.raises(NhmechError, match="case 1, .*JSON"):
        sweep(product, [CASES[0], {"a": object()}], tmp_path / "out")
    with pytest.raises(NhmechError, match="nowhere"):
        sweep(product, CASES, tmp_path / "out", backend="nowhere")
    (tmp_path / "notes").write_text("something else\n")
    with pytest.raises(NhmechError, match="notes:1 is not a sweep.s result"):
        sweep(product, CASES, tmp_path / "notes")
    (tmp_path / "line").write_text("something else")
    with pytest.raises(NhmechError, match="not a sweep.s file"):
        sweep(product, CASES, tmp_path / "line")
    assert (tmp_path / "line").read_text() == "something else"


def test_two_sweeps_do_not_share_a_file(tmp_path):
    def inner(case, rng):
        sweep(product, CASES, tmp_path / "out", backend="threading")

    (error,) = sweep(inner, [{}], tmp_path / "out", backend="threading").error
    assert "in use by another sweep" in error


def test_without_joblib_it_is_said_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "joblib", None)
    with pytest.raises(NhmechError, match="joblib: pip install joblib pandas"):
        sweep(product, CASES, tmp_path / "out")


def test_bar(tmp_path, capsys):
    sweep(product, CASES, tmp_path / "out", backend="threading", progress=True)
    assert "8/8" in capsys.readouterr().err


def test_public_name():
    assert nhmech.sweep is sweep


def robot(case, rng):
    """A run whose noise is the case's own."""
    vehicle = shipped("differential_drive").with_parameters({"payload.mass": case["payload"]})
    simulator = nhmech.Simulator(vehicle, lambda t, state: 0.1 + 0.05 * rng.normal(size=2), dt=1e-2)
    simulator.compile()      # else the last digit depends on when the compiler is done
    run = simulator.run(0.2)
    return {"x": run.q[-1, 0], "y": run.q[-1, 1]}


def test_runs_of_a_vehicle(tmp_path):
    cases = [{"payload": payload} for payload in (0.0, 1.0, 2.0)]
    first, second = (sweep(robot, cases, tmp_path / name, backend=name,
                           workers=2) for name in ("loky", "threading"))
    assert first.error.isna().all() and first.x.is_monotonic_decreasing
    np.testing.assert_array_equal(first[["x", "y"]], second[["x", "y"]])


@needs_dask
@pytest.mark.filterwarnings("ignore")
def test_dask_cluster_that_loses_a_worker(tmp_path):
    """Two worker processes; one ends as if it were killed as soon as something that it found is on
    disk; every case ends up there once."""
    from distributed import Client, LocalCluster

    out, dead = tmp_path / "out", tmp_path / "dead"

    def deadly(case, rng):
        mine = f'"pid": {os.getpid()}}}'
        while case["a"] >= 4 and not dead.exists():
            if out.exists() and mine in out.read_text():
                dead.write_text(str(os.getpid()))
                os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(0.01)
        return {"noise": rng.normal(), "pid": os.getpid()}

    cases = [{"a": a} for a in range(24)]
    with LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1",
                      dashboard_address=None) as cluster, Client(cluster):
        frame = sweep(deadly, cases, out, backend="dask")
    killed = int(dead.read_text())
    assert frame.error.isna().all() and len(rows_in(out)) == 24
    assert killed in set(frame.pid) and len(set(frame.pid)) >= 2
    assert frame.pid[frame.pid == killed].size < 20, "the other worker went on"
    alone = sweep(lambda case, rng: {"noise": rng.normal()}, cases, tmp_path / "alone",
                  backend="threading")
    np.testing.assert_array_equal(frame.noise, alone.noise)


@needs_dask
def test_dask_without_a_client_is_told(tmp_path):
    with pytest.raises(NhmechError, match="Client"):
        sweep(product, CASES, tmp_path / "out", backend="dask")
