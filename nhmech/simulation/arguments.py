"""Checks of what a user gives: clear errors before anything runs."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from ..errors import SimulationError
from .events import Event


def finite(value) -> bool:
    """Whether it is a finite number."""
    try:
        return math.isfinite(value)
    except (TypeError, ValueError, OverflowError):
        return False


def steps_of(dt: float, control_period: float | None) -> int:
    """Steps in a control period. Raises `SimulationError` for times that are none, or do not go
    together."""
    if not (finite(dt) and dt > 0):
        raise SimulationError(f"dt = {dt!r} must be a positive time in seconds")
    period = dt if control_period is None else control_period
    ratio = period / dt if finite(period) else math.nan
    every = round(ratio) if finite(ratio) else 0
    if every < 1 or abs(every * dt - period) > 1e-9 * period:
        raise SimulationError(f"control_period = {period!r} s must be a multiple of dt = {dt} s")
    return every


def one_of(name: str, value, known: Iterable[str]) -> str:
    """One of some words. Raises `SimulationError` with them."""
    known = tuple(known)
    if not isinstance(value, str) or value not in known:
        raise SimulationError(f"{name} {value!r} does not exist; there are {', '.join(known)}")
    return value


def events_of(events) -> tuple[Event, ...]:
    """Events, as a tuple. Raises `SimulationError` for what is none."""
    try:
        found = (*events,)
    except TypeError:
        found = (events,)
    for event in found:
        if not isinstance(event, Event):
            raise SimulationError(f"events = {events!r} must be a list of Event(name, function), "
                                  f"and {event!r} is none")
    return found


def wrenches_of(wrench) -> dict:
    """Wrenches by link. Raises `SimulationError` for what is no mapping."""
    if wrench is not None and not (
        isinstance(wrench, Mapping) and all(isinstance(link, str) for link in wrench)
    ):
        raise SimulationError(f"wrench = {wrench!r} must be a mapping, link name -> callable (t, "
                              "state) -> 6 numbers (force, torque) in W")
    return dict(wrench or {})


def called(name: str, value, how: str) -> None:
    """Raises `SimulationError` for what is neither None nor a callable."""
    if value is not None and not callable(value):
        raise SimulationError(f"{name} = {value!r} must be a callable {how}")


def wrench_on(body: str, given, t: float) -> np.ndarray:
    """A wrench (6,). Raises `SimulationError` for what is none."""
    try:
        value = np.asarray(given, dtype=float)
    except (TypeError, ValueError, OverflowError):
        value = np.zeros(0)
    if value.shape != (6,) or not np.all(np.isfinite(value)):
        raise SimulationError(f"wrench on {body!r} at t = {t:.6g} s is {given!r}; expected 6 "
                              "finite numbers (force, torque) in W")
    return value


def positions_of(joints) -> dict:
    """Joint positions by name. Raises `SimulationError` for what is no mapping."""
    if joints is not None and not isinstance(joints, Mapping):
        raise SimulationError(f"joints = {joints!r} must be a mapping, joint name -> position")
    return dict(joints or {})


def speeds_of(xi, names: Sequence[str], v_names: Sequence[str]) -> dict[str, float]:
    """Speeds by name: a mapping to some of `v_names`, or a number for each of `names`; else
    `SimulationError`."""
    if isinstance(xi, Mapping):
        for name, value in xi.items():
            if name not in v_names or not isinstance(value,
                                                     (int, float, np.number)) or not finite(value):
                raise SimulationError(f"speed {name!r} = {value}: give finite numbers for some of "
                                      f"{', '.join(v_names)}")
        return {name: float(value) for name, value in xi.items()}
    try:
        value = np.asarray(xi, dtype=float)
    except (TypeError, ValueError, OverflowError):
        value = np.zeros(0)
    if value.shape != (len(names),) or not np.all(np.isfinite(value)):
        raise SimulationError(f"xi = {xi!r} must be {len(names)} finite numbers: "
                              f"{', '.join(names)}; or speeds by name")
    return dict(zip(names, value))


def run_of(duration: float, every: int, progress, save) -> None:
    """Raises `SimulationError` for arguments of `Simulator.run` that it cannot take."""
    if not (finite(duration) and duration >= 0):
        raise SimulationError(f"duration = {duration!r} must be a time in seconds")
    if not isinstance(every, (int, np.integer)) or every < 1:
        raise SimulationError(f"every = {every!r} must be a whole number of steps, 1 or more")
    called("progress", progress, "(t, state)")
    if save is None:
        return
    path = os.fspath(save) if isinstance(save, (str, os.PathLike)) else None
    if not (isinstance(path, str) and path):
        raise SimulationError(f"save = {save!r} must be the path of a file")
