"""Checks the arguments of a simulator before anything runs."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence

from ..checks import as_number, is_finite, read_array, read_count, read_number, read_time, show
from ..errors import InputError, did_you_mean, listed
from .callbacks import check_callable

# steps of one run, at most: a year and a half at a microsecond each; beyond 2^53 the clock would
# stop
MOST_STEPS = 5e13


def read_period(dt: object, control_period: float | None) -> tuple[float, int]:
    """The step [s], and the number of steps in a control period. Raises `InputError` for invalid or
    inconsistent times."""
    step = read_time("dt", dt)
    period = step if control_period is None else as_number(control_period) or math.nan
    ratio = period / step
    every = round(ratio) if is_finite(ratio) else 0
    if every < 1 or abs(every * step - period) > 1e-9 * period:
        raise InputError(f"control_period = {show(control_period)} s must be a multiple of dt = "
                         f"{step} s")
    return step, every


def read_speeds(xi: object, names: Sequence[str], v_names: Sequence[str]) -> dict[str, float]:
    """Speeds by name: a mapping to some of `v_names`, or a number for each of `names`. Raises
    `InputError` for anything else."""
    if xi is None:
        return {}
    if not isinstance(xi, Mapping):
        what = f"{len(names)} finite numbers: {', '.join(names)}; or speeds by name"
        return dict(zip(names, read_array("xi", xi, (len(names),), what).tolist()))
    for name, value in xi.items():
        if name not in v_names or not is_finite(as_number(value)):
            near = "" if name in v_names else did_you_mean(name, v_names)
            raise InputError(f"speed {name!r} = {show(value)}: give finite numbers for some of "
                             f"{listed(v_names)}{near}")
    return {name: float(value) for name, value in xi.items()}


def check_save(save: object) -> None:
    """Raises `InputError` for what is no path of a file."""
    path = os.fspath(save) if isinstance(save, (str, os.PathLike)) else None
    if not (isinstance(path, str) and path):
        raise InputError(f"save = {save!r} must be the path of a file")


def check_run(duration: object, dt: float, every: object, progress: object, save: object) -> None:
    """Raises `InputError` for invalid arguments of `Simulator.run`."""
    steps = read_number("duration", duration, "a time in seconds, 0 or more",
                        least=0.0) / dt
    if steps > MOST_STEPS:
        raise InputError(f"duration = {duration!r} takes {steps:.3g} steps of {dt:g} s, and a run "
                         f"has at most {MOST_STEPS:.0e}: take a longer dt or a shorter duration")
    read_count("every", every)
    if progress is not None:
        check_callable("progress", progress, "(t, state)")
    if save is not None:
        check_save(save)
