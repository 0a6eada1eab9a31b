"""The file of a run of a few numbers: what is written comes back, by our reader and by NumPy's, and
what no run can be is refused by name."""

from __future__ import annotations

import json
import os
import zipfile
from functools import partial
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

from nhmech import InputError, SimulationError
from nhmech.simulation.runs import archive
from nhmech.simulation.runs.archive import (
    blocks_of,
    describe_damage,
    npz_path,
    read_archive,
    write_archive,
)
from nhmech.simulation.runs.run_file import RunFile

NAMES = {"q": ("x", "y"), "v": ("a", "b", "c"), "xi": ("c", "a"), "u": (), "angles": ("wheel",)}
BESIDE = {"commanded_twist": ("forward",), "contact": ("force.n", "phase.n")}
HEADER = {"stop": "duration", "events": [[0.2, "fell"]], "source": {"system": "disc"},
          "kinematic": True, "settings": {"dt": 0.1}}


def arrays_of(names, count=11) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    return {"t": np.cumsum(rng.uniform(0, 0.1, count)) - 0.02,
            **{part: rng.normal(size=(count, len(columns))) for part, columns in names.items()}}


def save(path: Path, header: dict, arrays: dict) -> None:
    """By NumPy alone."""
    np.savez(path, header=np.array(json.dumps(header)), **arrays)


def refused(path: Path, words: str) -> None:
    with pytest.raises(SimulationError, match=words):
        read_archive(path)


# -- what is written comes back --------------------------------------------------------------------
@pytest.mark.parametrize("beside", [(), ("contact",), ("commanded_twist", "contact")])
def test_a_file_has_all_rows_of_all_blocks(beside, tmp_path, monkeypatch):
    """Numbers beside the others may be missing, or be no number."""
    monkeypatch.setattr(archive, "ROWS", 4)
    names = NAMES | {part: BESIDE[part] for part in beside}
    arrays = arrays_of(names)
    for part in beside:
        arrays[part][2] = np.nan
    assert [len(block["t"]) for block in blocks_of(arrays)] == [4, 4, 3]
    write_archive(tmp_path / "run.npz", HEADER | {"names": names, "more": object()}, 11,
                  partial(blocks_of, arrays))
    found = read_archive(tmp_path / "run.npz")
    assert found.pop("events") == ((0.2, "fell"),) and found.pop("names") == names
    with np.load(tmp_path / "run.npz") as file:
        assert json.loads(str(file["header"])).keys() == {*HEADER, "names"}
        assert {*file.files} == {*arrays, "header"}
        for part, array in arrays.items():
            np.testing.assert_array_equal(found.pop(part), array)
            np.testing.assert_array_equal(file[part], array)
    assert found == {name: HEADER[name] for name in ("stop", "source", "kinematic", "settings")}


def test_an_array_may_be_larger_than_zip_files_once_could_be(tmp_path, monkeypatch):
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 100)
    arrays = arrays_of(NAMES, 50)
    write_archive(tmp_path / "run.npz", HEADER | {"names": NAMES}, 50, partial(blocks_of, arrays))
    np.testing.assert_array_equal(read_archive(tmp_path / "run.npz")["v"], arrays["v"])


def test_a_file_gets_its_name_when_the_disk_has_it(tmp_path, monkeypatch):
    done = []

    def told(name, work):
        return lambda *words: (done.append(name), work(*words))

    for name in ("fsync", "replace"):
        monkeypatch.setattr(os, name, told(name, getattr(os, name)))
    write_archive(tmp_path / "run.npz", HEADER | {"names": NAMES}, 11,
                  partial(blocks_of, arrays_of(NAMES)))
    assert done == ["fsync", "replace"]


def test_columns_may_lie_one_after_the_other(tmp_path):
    """As NumPy writes an array in Fortran's order; times may be equal."""
    arrays = arrays_of(NAMES)
    arrays["t"][3] = arrays["t"][4]
    save(tmp_path / "run.npz", HEADER | {"names": NAMES},
         arrays | {"v": np.asfortranarray(arrays["v"])})
    np.testing.assert_array_equal(read_archive(tmp_path / "run.npz")["v"], arrays["v"])


def test_settings_and_mode_may_be_older_than_their_fields(tmp_path):
    save(tmp_path / "run.npz", {name: value for name, value in (HEADER | {"names": NAMES}).items()
                                if name not in ("kinematic", "settings")}, arrays_of(NAMES))
    found = read_archive(tmp_path / "run.npz")
    assert found["kinematic"] is False and found["settings"] == {}


@pytest.mark.parametrize("beside", [(), ("commanded_twist",), ("commanded_twist", "contact")])
def test_the_rows_of_a_run_that_goes_on_are_read_by_their_widths(beside, tmp_path):
    """Independent speeds are among the velocities; events are in the order of time."""
    names = NAMES | {part: BESIDE[part] for part in beside}
    arrays = arrays_of(names, 5)
    arrays["xi"] = arrays["v"][:, [2, 0]]
    order = "t", "q", "v", "u", *beside, "angles"
    rows = np.column_stack([arrays[part] for part in order])
    widths = [1, *(len(names[part]) for part in order[1:])]
    file = RunFile(tmp_path / "run.npz.part", {
        "names": names, "speeds": [2, 0], "events": ["fell", "far"], "widths": widths,
        "source": {"system": "disc"}, "kinematic": True, "settings": {"dt": 0.1}}, sum(widths))
    end = file.write(file.begin, rows)
    for moment, index in ((0.3, 0), (0.1, 1)):
        end = file.write(end, file.row(np.nan, moment, index))
    file.close()
    found = read_archive(file.path)
    for part, array in arrays.items():
        np.testing.assert_array_equal(found.pop(part), array)
    assert found == {"names": names, "source": {"system": "disc"}, "kinematic": True, "settings":
                     {"dt": 0.1}, "events": ((0.1, "far"), (0.3, "fell")), "stop": "cut off"}


@pytest.mark.parametrize("given, path", [
    ("run", "run.npz"), ("run.npz", "run.npz"), ("a/run.v2", "a/run.v2.npz"),
    ("run.npz.part", "run.npz.part.npz")])
def test_a_run_is_saved_with_the_ending_of_its_format(given, path):
    assert npz_path(given) == Path(path)


@pytest.mark.parametrize("given", ["", ".", "/"])
def test_a_folder_is_no_name_for_a_run(given):
    with pytest.raises(InputError, match="must be the path of a file, and is a folder"):
        npz_path(given)


# -- what is no run --------------------------------------------------------------------------------
@pytest.mark.parametrize("part, change, words", [
    ("t", lambda t: np.r_[t[:-1], t[0]], "'t' is not a sequence"),
    ("t", lambda t: np.arange(len(t)), "'t' is not a sequence"),
    ("t", lambda t: t[:, None], "'t' is not a sequence"),
    ("t", lambda t: t[:0], "'t' is not a sequence"),
    ("t", lambda t: t * np.nan, "'t' is not a sequence"),
    ("v", lambda v: v.astype(np.float32), "'v' has shape .* of float32, expected .* of float64"),
    ("xi", lambda xi: xi[:, 1:], r"'xi' has shape \(11, 1\) of float64, expected \(11, 2\)"),
    ("angles", lambda a: a[1:], r"'angles' has shape \(10, 1\)"),
    ("q", lambda q: np.r_[q[:-1], [[0, np.inf]]], "'q' has numbers that are not finite"),
    ("q", lambda q: q.astype(object), "'q' does not have its 22 numbers"),
])
def test_arrays_that_no_run_has_are_named(part, change, words, tmp_path):
    arrays = arrays_of(NAMES)
    save(tmp_path / "run.npz", HEADER | {"names": NAMES}, arrays | {part: change(arrays[part])})
    refused(tmp_path / "run.npz", words)


@pytest.mark.parametrize("change, words", [
    ({"names": NAMES | {"w": ()}}, "names of angles, q, u, v, w, xi, expected q, v, xi, u, angles"),
    ({"names": {name: NAMES[name] for name in "qvu"}}, "names of q, u, v, expected"),
    ({"events": [[0.1, "a"], [float("inf"), "b"]]}, "'events' has the time inf"),
    ({"kinematic": 1}, "'kinematic' is 1"), ({"source": []}, r"'source' is \[\]"),
    ({"settings": []}, r"'settings' is \[\]"), ({"stop": None}, "'stop' is None"),
    ({"stop": "a\x1bb"}, r"'a\\x1bb' is not a printable name"),
    ({"events": [[0.1, "\u202e"]]}, r"'\\u202e' is not a printable name"),
    ({"events": [[0.1, 7]]}, "7 is not a printable name"),
    ({"names": NAMES | {"q": ("x", "y\t")}}, r"'y\\t' is not a printable name"),
    ({"names": NAMES | {"angles": (3,)}}, "3 is not a printable name"),
])
def test_fields_that_no_run_has_are_named(change, words, tmp_path):
    save(tmp_path / "run.npz", HEADER | {"names": NAMES} | change, arrays_of(NAMES))
    refused(tmp_path / "run.npz", words)


def test_the_message_of_a_failure_may_have_lines(tmp_path):
    save(tmp_path / "run.npz", HEADER | {"names": NAMES, "stop": "it fell\nat once"},
         arrays_of(NAMES))
    assert read_archive(tmp_path / "run.npz")["stop"] == "it fell\nat once"


@pytest.mark.parametrize("cut, version, words", [
    (0, (2, 0), "'v' is no array of NumPy's format 1.0"),
    (8, (1, 0), "'v' does not have its 33 numbers"),
    (None, (1, 0), r"there is no 'v'\)$")])
def test_an_array_is_whole_and_of_one_format(cut, version, words, tmp_path):
    arrays = arrays_of(NAMES)
    whole = BytesIO()
    np.lib.format.write_array(whole, arrays.pop("v"), version)
    save(tmp_path / "run.npz", HEADER | {"names": NAMES}, arrays)
    if cut is not None:
        with zipfile.ZipFile(tmp_path / "run.npz", "a") as file:
            file.writestr("v.npy", whole.getvalue()[:len(whole.getvalue()) - cut])
    refused(tmp_path / "run.npz", words)


@pytest.mark.parametrize("error, words", [
    (KeyError("q"), "there is no 'q'"), (ValueError("too long"), "too long"),
    (MemoryError(), "MemoryError")])
def test_damage_is_told_in_words(error, words):
    assert describe_damage(error) == words


def test_what_is_no_file_is_not_read():
    refused("/dev/null", "it is no file, but a folder, a pipe or a device")
