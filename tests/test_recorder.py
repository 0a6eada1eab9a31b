"""The rows of a run in memory and in its file, of a moment of three numbers."""

from __future__ import annotations

import ctypes
import errno
import os
from types import SimpleNamespace

import numpy as np
import pytest

from nhmech import InputError, SimulationError
from nhmech.errors import OutputError
from nhmech.simulation.runs import recorder, run_file
from nhmech.simulation.runs.recorder import Recorder, check_size, part_path
from nhmech.simulation.runs.run_file import ALIGN, RunFile, read_run_file, split_events

WIDTH, EVENTS = 3, ["fell", "far"]


class Moment:
    """A block of memory whose numbers 4, 0 and 2 are recorded; number 4 is t."""

    def __init__(self):
        self.block = np.zeros(6)

    def set(self, k: float) -> None:
        self.block[...] = k / 7, -9, 3 * k, -9, k / 10, -9

    t = property(lambda self: self.block[4])


def rows(*moments: float) -> np.ndarray:
    return np.array([(k / 10, k / 7, 3 * k) for k in moments]).reshape(-1, WIDTH)


@pytest.fixture
def ends(monkeypatch):
    """A trajectory is what a recorder makes it from."""
    def save_rows(path, whole, blocks, info, stop, events, notices):
        return whole, stop, [block.copy() for block in blocks()]
    monkeypatch.setattr(recorder, "Trajectory", SimpleNamespace(
        of_rows=lambda whole, info, stop, events, notices: (whole, stop, events),
        save_rows=save_rows))


@pytest.fixture
def now(monkeypatch):
    """The time of a clock that stands still."""
    time = [100.0]
    monkeypatch.setattr(recorder, "time", SimpleNamespace(monotonic=lambda: time[0]))
    return time


def made(capacity: int = 4, every: int = 1, **options) -> tuple[Recorder, Moment]:
    moment = Moment()
    info = SimpleNamespace(layout=SimpleNamespace(width=WIDTH, places=np.array([4, 0, 2])),
                           events=EVENTS, header=lambda: {"events": EVENTS})
    return Recorder(moment, info, capacity, every, **options), moment


def written(held: Recorder, *moments: float) -> None:
    """As compiled code writes rows."""
    address, data = held.room(len(moments)), rows(*moments).ravel()
    ctypes.memmove(address, data.ctypes.data, data.nbytes)
    held.extend(len(moments))


@pytest.mark.parametrize("every", [1, 3])
def test_each_so_many_th_state_is_recorded_once(every, ends):
    held, moment = made(every=every)
    for k in range(11):
        moment.set(k)
        held.note(k)
        held.note(k)
    moment.set(10.5)
    held.add()
    moment.block[0] = 44.0       # the same time with other numbers: the last ones count
    held.add()
    found, stop, _ = held.trajectory("end")
    expected = rows(*range(0, 11, every), 10.5)
    expected[-1, 1] = 44.0
    np.testing.assert_array_equal(found, expected)
    assert stop == "end"


@pytest.mark.parametrize("capacity", [1, 6, 1000])
def test_memory_grows_as_it_is_needed(capacity, ends):
    """Rows of both kinds, one after the other."""
    held, moment = made(capacity)
    for first in range(0, 60, 6):
        written(held, *range(first, first + 5))
        moment.set(first + 5)
        held.add()
    written(held)
    found, _, _ = held.trajectory("end")
    np.testing.assert_array_equal(found, rows(*range(60)))
    # memory that is mostly empty is given back
    assert np.shares_memory(found, held.rows) == (capacity < 1000)
    assert len(held.rows) == {1: 64, 6: 96, 1000: 1000}[capacity]


def test_half_full_memory_is_kept(ends):
    for count, is_kept in ((5, True), (4, False)):
        held, _ = made(10)
        written(held, *range(count))
        assert np.shares_memory(held.trajectory("end")[0], held.rows) == is_kept


def test_a_record_that_no_memory_holds_is_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(recorder, "MEMORY", 2 * 8 * WIDTH)
    made(2)
    made(3, save=tmp_path / "run")
    with pytest.raises(InputError, match=r"has 3 rows and .*every=100\) or keep them on disk"):
        made(3)
    monkeypatch.setattr(recorder, "MEMORY", 1 << 30)
    with pytest.raises(InputError, match=r"takes 2 GiB of memory, .* machine has 1:.*100\)$"):
        check_size(2, 1 << 30)
    check_size(1, 1 << 30)


@pytest.mark.parametrize("block", [1, 8 * (WIDTH + 1), 3 * 8 * (WIDTH + 1), 1 << 20])
def test_a_run_that_goes_to_its_file_is_the_same(block, ends, monkeypatch, tmp_path):
    """Memory holds a window of it; events are rows of their own, which no state is."""
    monkeypatch.setattr(recorder, "WINDOW", 8 * WIDTH * 5)
    monkeypatch.setattr(run_file, "BLOCK", block)
    held, moment = made(99, save=tmp_path / "run")
    assert len(held.rows) == 5
    for k in range(23):
        moment.set(k)
        held.add()
        if k in (1, 8, 15):      # before the first rows go to the file, too
            held.events.append((k / 10 - 0.05, EVENTS[k % 2]))
    assert len(held.rows) == 5
    header, seen, events = read_run_file(part_path(tmp_path / "run"))
    assert header == {"events": EVENTS, "width": WIDTH} and 12 < len(seen) < 23
    np.testing.assert_array_equal(seen, rows(*range(len(seen))))
    assert events == held.events[:len(events)] and len(events) >= 2
    whole, stop, blocks = held.trajectory("end")
    np.testing.assert_array_equal(whole, rows(*range(23)))
    np.testing.assert_array_equal(np.concatenate(blocks), whole)
    assert stop == "end" and not part_path(tmp_path / "run").exists()


def test_rows_go_to_the_file_twice_a_second(now, ends, tmp_path):
    """All but the last, which may be overwritten."""
    held, moment = made(999, save=tmp_path / "run.npz")
    path = tmp_path / "run.npz.part"
    begin = path.stat().st_size
    for k, (after, kept) in enumerate([(0.0, 0), (0.0, 0), (0.0, 0), (0.499, 0), (0.002, 3),
                                          (0.499, 3), (0.002, 5), (0.6, 6)]):
        now[0] += after
        moment.set(k)
        held.add()
        assert path.stat().st_size == begin + kept * 8 * (WIDTH + 1)
        moment.block[0] = k
        held.add()
    whole, _, blocks = held.trajectory("end")
    expected = rows(*range(8))
    expected[:, 1] = range(8)
    np.testing.assert_array_equal(whole, expected)
    np.testing.assert_array_equal(np.concatenate(blocks), expected)


def test_a_run_that_cannot_be_saved_stays_in_its_file(ends, monkeypatch, tmp_path):
    held, moment = made(save=tmp_path / "run")
    moment.set(1)
    held.add()

    def refuse(*of):
        raise OutputError("the disk is full")

    monkeypatch.setattr(recorder.Trajectory, "save_rows", refuse)
    with pytest.raises(SimulationError, match=r"the disk is full; the run is in .*run\.npz\.part"
                       ) as caught:
        held.trajectory("end")
    whole, stop, _ = caught.value.trajectory
    np.testing.assert_array_equal(whole, rows(1))
    assert stop == "end" and part_path(tmp_path / "run").exists()


@pytest.mark.parametrize("noted", [0, 1])
@pytest.mark.parametrize("at_end", [False, True])
def test_a_full_disk_leaves_the_rows_that_are_not_written_in_memory(at_end, noted, now, ends,
                                                                    monkeypatch, tmp_path):
    """With those that are; and from there on the run can go on without its file."""
    held, moment = made(999, save=tmp_path / "run.npz")
    held.events += [(0.05, "far")] * noted
    for k in range(7):
        moment.set(k)
        now[0] += 0.6 * (k == 4)
        held.add()

    def refuse(file, offset, data):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(RunFile, "write", refuse)
    moment.set(7)
    now[0] += 0.6 * (not at_end)
    words = r"run\.npz\.part cannot be written: No space left on device; what it holds so far"
    with pytest.raises(SimulationError, match=words) as caught:
        held.trajectory("end") if at_end else held.add()
    whole, stop, _ = caught.value.trajectory
    np.testing.assert_array_equal(whole, rows(*range(7)))
    assert stop == "end" if at_end else "cannot be written" in stop
    held.add()
    whole, stop, events = held.trajectory("end")
    np.testing.assert_array_equal(whole, rows(*range(8)))
    assert stop == "end" and part_path(tmp_path / "run").exists() and len(events) == noted


# -- the file itself -------------------------------------------------------------------------------
def new_file(tmp_path, header=None) -> RunFile:
    return RunFile(tmp_path / "run.part", header or {"events": EVENTS}, WIDTH)


@pytest.mark.parametrize("note", ["", *("x" * n for n in range(1, ALIGN + 1, 7))])
def test_rows_begin_at_a_multiple_of_64(note, tmp_path):
    file = new_file(tmp_path, {"events": EVENTS, "note": note})
    assert file.begin % ALIGN == 0
    end = file.write(file.begin, rows(1, 2, 3))
    assert end == file.begin + 3 * 8 * (WIDTH + 1) == file.path.stat().st_size
    np.testing.assert_array_equal(file.rows(end), rows(1, 2, 3))
    np.testing.assert_array_equal(file.rows(end - 8 * (WIDTH + 1)), rows(1, 2))
    assert file.row(1.0, 2.0).tolist() == [[1.0, 2.0, 0.0]]
    file.close()
    file.close()
    assert file.path.exists()


@pytest.mark.parametrize("word", range(WIDTH + 1))
@pytest.mark.parametrize("row", range(4))
def test_a_changed_word_ends_what_is_read(row, word, tmp_path, caplog):
    """In a state, in its checksum, and in a row of zeros."""
    file = new_file(tmp_path)
    file.write(file.begin, np.vstack([rows(1), np.zeros((1, WIDTH)), rows(2, 3)]))
    file.close()
    data = bytearray(file.path.read_bytes())
    at = file.begin + 8 * (row * (WIDTH + 1) + word) + 5
    data[at] ^= 16
    file.path.write_bytes(data)
    if row == 0:
        with pytest.raises(ValueError, match="no whole row"):
            read_run_file(file.path)
        return
    _, found, _ = read_run_file(file.path)
    np.testing.assert_array_equal(found, np.vstack([rows(1), np.zeros((1, WIDTH)), rows(2)])[:row])
    assert f"row {row} of 4 is damaged" in caplog.text


@pytest.mark.parametrize("cut, count", [(0, 2), (1, 1), (31, 1), (32, 1), (33, 0), (64, 0)])
def test_whole_rows_are_read_and_a_file_without_any_is_none(cut, count, tmp_path):
    file = new_file(tmp_path)
    end = file.write(file.begin, rows(1, 2))
    os.truncate(file.path, end - cut)
    if not count:
        with pytest.raises(ValueError, match="no whole row"):
            read_run_file(file.path)
        return
    np.testing.assert_array_equal(read_run_file(file.path)[1], rows(1, 2)[:count])


@pytest.mark.parametrize("old, new, words", [
    (b'"version": 2', b'"version": 1', "its format has version 1, this program reads 2"),
    (b'"far"', b'"fat"', "the checksum of its header is wrong"),
    (b'"note": Infinity', b'"note":      NaN', "its header has a NaN"),
    (b'"width"', b'"width ', "Invalid control character")])
def test_a_header_that_no_run_wrote_is_refused(old, new, words, tmp_path):
    """One with infinite numbers is read."""
    file = new_file(tmp_path, {"events": EVENTS, "note": np.inf})
    file.write(file.begin, rows(1, 2))
    header, found, _ = read_run_file(file.path)
    assert header == {"events": EVENTS, "note": np.inf, "width": WIDTH} and len(found) == 2
    data = file.path.read_bytes()
    assert data.count(old) == 1 and len(old) == len(new)
    file.path.write_bytes(data.replace(old, new))
    with pytest.raises(ValueError, match=words):
        read_run_file(file.path)


def test_a_file_in_a_folder_that_is_not_there_says_so(tmp_path):
    with pytest.raises(SimulationError, match="run.part cannot be written: No such file or direct"):
        RunFile(tmp_path / "nowhere" / "run.part", {"events": EVENTS}, WIDTH)


def test_rows_without_a_time_are_events():
    mixed = np.array([[0.0, 1, 2], [np.nan, 0.05, 1], [0.1, 3, 4], [np.nan, 0.3, 0]])
    states, events = split_events(mixed, EVENTS)
    assert states.tolist() == [[0.0, 1, 2], [0.1, 3, 4]]
    assert events == [(0.05, "far"), (0.3, "fell")]
    states, events = split_events(mixed[::2], EVENTS)
    assert states.tolist() == mixed[::2].tolist() and events == []


def test_a_file_of_another_run_is_not_removed(tmp_path):
    file = new_file(tmp_path)
    file.path.unlink()
    file.path.write_text("of another run")
    file.close(remove=True)
    assert file.path.read_text() == "of another run"
    other = RunFile(tmp_path / "b.part", {"events": []}, WIDTH)
    other.close(remove=True)
    assert not other.path.exists()
    gone = RunFile(tmp_path / "c.part", {"events": []}, WIDTH)
    gone.path.unlink()
    gone.close(remove=True)


def test_a_file_that_is_there_is_kept_and_one_in_use_is_refused(tmp_path):
    first = new_file(tmp_path)
    with pytest.raises(SimulationError, match="another run is being written to it"):
        new_file(tmp_path)
    first.close()
    size = first.path.stat().st_size
    second = new_file(tmp_path)
    assert (tmp_path / "run.part~").stat().st_size == size and second.path.exists()
    with pytest.raises(SimulationError, match="cannot be written: .*no JSON"):
        RunFile(tmp_path / "d.part", {"events": object()}, WIDTH)
