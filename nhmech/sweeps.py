"""Many cases of one function over processes or machines, each result on disk as it arrives."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from .errors import InputError, NhmechError, OutputError

if TYPE_CHECKING:
    import pandas

Function = Callable[[dict[str, Any], np.random.Generator], Mapping[str, Any]]


def sweep(fn: Function, cases: Iterable[Mapping[str, Any]], out: str | Path, *,
          backend: str = "loky", seed: int = 0, workers: int = -1, retry: bool = False,
          progress: bool | None = None) -> pandas.DataFrame:
    """Calls `fn(case, rng)` for every case and returns a table with one row for each, in order.

    Columns: those of the case, those of the result, `error` (None, or type and text of what `fn`
    raised) and `seconds`.

    Parameters
    ----------
    fn
        Its result is a mapping of names to values that JSON can hold, arrays included.
    cases
        Mappings of names to JSON values; equal cases are run separately.
    out
        File of JSON lines to which each result is appended as it arrives; cases already in it are
        not run again.
    backend
        Of joblib: "loky" (processes here), "threading", "dask" (the cluster of the active
        `dask.distributed.Client`), or any that was registered.
    seed
        With the content of a case it determines `rng`, whatever the order, the backend, and however
        often a sweep was cut off.
    workers
        Number of workers; -1 takes one for each processor.
    retry
        Whether cases that ended in an error are run again.
    progress
        Whether a progress bar is drawn; None draws it if standard error is a terminal.

    Raises
    ------
    NhmechError
        If a case is no mapping of JSON values, `out` is in use or not a sweep's, joblib or
        pandas is missing, the backend does not exist, or a worker died; what was finished by then
        is kept.

    Examples
    --------
    >>> def double(case, rng):
    ...     return {"double": 2 * case["x"]}
    >>> table = nhmech.sweep(double, [{"x": 1}, {"x": 2}], tmp_path / "doubles.jsonl",
    ...                      backend="threading", progress=False)
    >>> table["double"].tolist()
    [2, 4]
    """
    joblib, pandas = _import_extras()
    plain = [_read_case(case, i) for i, case in enumerate(cases)]
    keys = _keys(plain, seed)
    with _open(Path(out)) as file:
        rows = {row["key"]: row for row in _rows(file) if not (retry and row["error"])}
        todo = [(key, case) for key, case in zip(keys, plain) if key not in rows]
        for row in _with_bar(_results(joblib, fn, todo, backend, workers), len(todo),
                             len(plain) - len(todo), progress):
            rows[row["key"]] = row
            file.write(json.dumps(row).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
    return pandas.DataFrame([{**case, **rows[key]["result"],
                              "error": rows[key]["error"], "seconds": rows[key]["seconds"]}
                             for key, case in zip(keys, plain)])


def _import_extras() -> tuple[Any, Any]:
    try:
        import joblib
        import pandas
    except ImportError as error:
        raise NhmechError(f"a sweep needs {error.name}: pip install joblib pandas") from error
    return joblib, pandas


def _one(fn: Function, key: str, case: dict[str, Any]) -> dict[str, Any]:
    """Runs one case: its row, with the error if it failed."""
    begun, result, error = time.perf_counter(), {}, None
    try:
        words = [int(key[i:i + 8], 16) for i in range(0, 64, 8)]
        rng = np.random.default_rng(np.random.SeedSequence(words))
        result = json.loads(json.dumps(dict(fn(dict(case), rng)), default=_json))
        if twice := sorted(set(result) & {*case, "error", "seconds"}):
            result = {}
            raise NhmechError(f"the result has {', '.join(twice)}, which the row already has; "
                              "rename it")
    except Exception as raised:
        error = f"{type(raised).__name__}: {raised}"
    return {"key": key, "case": case, "result": result, "error": error,
            "seconds": time.perf_counter() - begun}


def _results(joblib: Any, fn: Function, todo: list[tuple[str, dict]], backend: str,
             workers: int) -> Iterator[dict]:
    """Rows in the order in which they are finished."""
    if not todo:
        return
    try:
        with joblib.parallel_config(backend=backend, n_jobs=workers):
            parallel = joblib.Parallel(return_as="generator_unordered", batch_size=1)
            yield from parallel(joblib.delayed(_one)(fn, key, case) for key, case in todo)
    except NhmechError:
        raise
    except Exception as error:
        raise NhmechError(f"the sweep stopped on backend {backend!r}: {type(error).__name__}: "
                          f"{error}. Finished cases are kept; call it again to continue") from error


def _with_bar(rows: Iterator[dict], todo: int, finished: int,
              progress: bool | None) -> Iterator[dict]:
    if not (sys.stderr.isatty() if progress is None else progress):
        yield from rows
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (MofNCompleteColumn(), BarColumn(), TextColumn("{task.fields[failed]} failed"),
               TimeRemainingColumn())
    with Progress(*columns, console=Console(file=sys.stderr)) as bar:
        task, failed = bar.add_task("", total=finished + todo, completed=finished, failed=0), 0
        for row in rows:
            failed += row["error"] is not None
            bar.update(task, advance=1, failed=failed)
            yield row


def _read_case(case: Mapping[str, Any], i: int) -> dict[str, Any]:
    """A case after a round trip through JSON."""
    try:
        return json.loads(json.dumps(dict(case), default=_json))
    except (TypeError, ValueError) as error:
        what = f"case {i}, {case!r}, must be a mapping of names to values that JSON can hold"
        raise InputError(f"{what}: {error}") from error


def _json(value: Any) -> Any:
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is not a JSON value")


def _keys(cases: Sequence[dict], seed: int) -> list[str]:
    """SHA-256 of seed, content and number of earlier occurrences: the same case has the same key in
    every sweep."""
    seen: Counter[str] = Counter()
    keys = []
    for case in cases:
        text = json.dumps(case, sort_keys=True)
        keys.append(hashlib.sha256(json.dumps([seed, text, seen[text]]).encode()).hexdigest())
        seen[text] += 1
    return keys


@contextmanager
def _open(path: Path) -> Iterator[BinaryIO]:
    """The file, open at its end and locked against a second sweep, without a torn last line."""
    import fcntl

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = open(path, "a+b")            # noqa: SIM115 (the block below closes it)
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror}") from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise NhmechError(f"{path} is in use by another sweep") from error
        file.seek(0)
        whole = file.read().rfind(b"\n") + 1
        file.seek(0)
        if whole == 0 and file.read(1) not in (b"", b"{"):
            raise NhmechError(f"{path} is not a sweep's file; choose a name that does not exist")
        file.truncate(whole)
        yield file


def _rows(file: BinaryIO) -> Iterator[dict[str, Any]]:
    file.seek(0)
    for number, line in enumerate(file, 1):
        try:
            row = json.loads(line)
            if not {"key", "result", "error", "seconds"} <= set(row):
                raise ValueError("no key, result, error and seconds")
        except (ValueError, TypeError) as error:
            raise NhmechError(f"{file.name}:{number} is not a sweep's result: {error}") from error
        yield row
