"""Corrections of message stamps: order, repetitions, gaps, and clocks that jump."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from ..errors import InputError
from .findings import Finding, FindingKind, at
from .samples import JointSamples, PoseSamples, Samples

FEW = 4             # messages below which nothing can be judged
REGULAR = 0.8       # of the intervals near their median: a stream of one rate
NEAR = 0.25         # of the median interval: as near
LONG = 5.0          # median intervals that are a gap in a stream of no one rate
JUMP = 5.0          # median intervals by which a clock has to jump
LEAST_JUMP = 0.03   # [s] likewise
AROUND = 8          # messages beside a gap from which the speed is read
CROWDED = 1.5       # of the messages expected in a time that clocks went over twice

Stream = TypeVar("Stream", JointSamples, PoseSamples)


def clean(samples: Stream) -> tuple[Stream, list[Finding]]:
    """The messages with rising stamps, and findings about them.

    Clocks that jump are set right from there on, so that time goes on by one interval.
    """
    found: list[Finding] = []
    samples = _finite(_fill_stamps(samples), found)
    if len(samples) < FEW:
        raise InputError(f"{samples.topic} has {len(samples)} messages with numbers in them; "
                         f"{FEW} or more are needed")
    samples = _unjump(samples, found)
    order = np.argsort(samples.t, kind="stable")
    late = np.flatnonzero(samples.t < np.maximum.accumulate(samples.t))
    if len(late):
        found.append(Finding(
            FindingKind.UNORDERED, f"{len(late)} of {len(samples)} messages of {samples.topic} "
            f"come after later ones, the first with stamp {at(samples.t[late[0]])} s; sorted"))
    samples = _distinct(samples.take(order), found)
    _note_gaps(samples, found)
    return samples, found


def interval(t: np.ndarray) -> float:
    """Median time between messages [s]."""
    steps = np.diff(np.sort(t))
    return float(np.median(steps[steps > 0])) if (steps > 0).any() else 0.0


def _values(samples: Samples) -> np.ndarray:
    if isinstance(samples, PoseSamples):
        return samples.planar
    assert isinstance(samples, JointSamples)
    return np.where(np.isfinite(samples.position), samples.position, 0.0)


def _fill_stamps(samples: Stream) -> Stream:
    """Replaces zero stamps, those of headers that were not filled, by the recorder's."""
    if samples.received is not None and not samples.t.any():
        return samples.take(np.arange(len(samples)), samples.received)
    return samples


def _finite(samples: Stream, found: list[Finding]) -> Stream:
    """The samples without messages that have no numbers."""
    good = np.isfinite(samples.t)
    if isinstance(samples, PoseSamples):
        size = np.linalg.norm(samples.rotation, axis=1)
        good &= np.isfinite(samples.position).all(1) & (np.abs(size - 1) < 0.1)
    else:
        good &= (np.isfinite(samples.position) | np.isfinite(samples.velocity)).any(1)
    if not good.all():
        bad = np.flatnonzero(~good)
        found.append(Finding(
            FindingKind.NOT_FINITE, f"{len(bad)} of {len(samples)} messages of {samples.topic} "
            f"have no finite numbers, or no unit quaternion, message {bad[0] + 1} first; left out"))
    return samples.take(np.flatnonzero(good))


def _unjump(samples: Stream, found: list[Finding]) -> Stream:
    """The samples with clock jumps corrected."""
    t, step = samples.t.copy(), interval(samples.t)
    least = max(JUMP * step, LEAST_JUMP)
    recorded = samples.received
    if recorded is not None and np.abs(np.diff(t - recorded)).max(initial=0.0) < 1e-6:
        recorded = None                      # the recorder only repeats the stamps
    values = _values(samples)
    for k in range(1, len(t)):
        change = t[k] - t[k - 1]
        if abs(change) < least or not _is_regular(t, k, step):
            continue
        if change < -least and _is_set_back(t, k, step, recorded):
            by = t[k] - t[:k].max() - step
        elif change > least + step and _is_set_forward(t, values, k, step, recorded):
            by = change - step
        else:
            continue
        found.append(Finding(
            FindingKind.CLOCK_JUMP, f"the stamps of {samples.topic} jump by {by:+.4g} s at "
            f"{at(t[k - 1])} s, message {k + 1}; later ones are set right", float(t[k - 1])))
        t[k:] -= by
    return samples.take(np.arange(len(t)), t)


def _is_regular(t: np.ndarray, k: int, step: float) -> bool:
    """Whether messages before k and from k on follow each other as usual."""
    beside = np.concatenate([np.diff(t[max(k - AROUND, 0):k]), np.diff(t[k:k + AROUND])])
    return bool(len(beside) and np.mean((beside > 0) & (beside < LONG * step)) >= REGULAR)


def _is_set_back(t: np.ndarray, k: int, step: float, recorded: np.ndarray | None) -> bool:
    """Whether time is gone over twice after k, rather than a few messages being late."""
    top = t[:k].max()
    if recorded is not None and k + 2 < len(t):
        return _shift(t - recorded, k) < -step
    inside = ((t >= t[k]) & (t <= top)).sum()
    return bool(inside > CROWDED * ((top - t[k]) / step + 1)) or k == len(t) - 1


def _is_set_forward(t: np.ndarray, values: np.ndarray, k: int, step: float,
                    recorded: np.ndarray | None) -> bool:
    """Whether only the clock jumped, and no messages are missing, by the recorder's clock and the
    distance travelled. On a busy computer messages are delayed, which looks the same on the
    recorder's clock."""
    gap = t[k] - t[k - 1]
    ratio = _way_made(values, k)         # 1 of a jump, gap / step of a gap
    if recorded is not None:
        return _shift(t - recorded, k) > gap / 2 and not ratio >= np.sqrt(gap / step)
    if (t[k:] < t[k - 1]).any():         # one message from the future: unordered
        return False
    return ratio < np.sqrt(gap / step)


def _way_made(values: np.ndarray, k: int) -> float:
    """The way from message k - 1 to k over the usual one around; NaN where nothing moves."""
    first = max(k - AROUND, 1)
    steps = np.abs(np.diff(values[first - 1:k + AROUND], axis=0))
    made, beside = steps[k - first], np.delete(steps, k - first, axis=0)
    if not len(beside):
        return np.nan
    usual = np.median(beside, axis=0)
    moving = usual > 1e-9 + 1e-3 * usual.max()
    if not moving.any() or not usual.max() > 1e-9:
        return np.nan
    return float(np.median(made[moving] / usual[moving]))


def _shift(ahead: np.ndarray, k: int) -> float:
    """How much further ahead of the recorder's clock stamps are from k on than before [s]: the
    median of several, because a late message says nothing of the clock."""
    return float(np.median(ahead[k:k + 2 * AROUND]) - np.median(ahead[max(k - 2 * AROUND, 0):k]))


def _distinct(samples: Stream, found: list[Finding]) -> Stream:
    """The first of messages with equal stamps."""
    same = np.flatnonzero(np.diff(samples.t) <= 0)
    if not len(same):
        return samples
    values = _values(samples)
    differ = int((np.abs(values[same + 1] - values[same]).max(1) > 0).sum())
    found.append(Finding(
        FindingKind.DUPLICATE, f"{len(same)} messages of {samples.topic} have the stamp of another"
        f"{f', {differ} with other numbers' if differ else ''}, at {at(samples.t[same[0]])} s "
        "first; the first of each is kept"))
    return samples.take(np.delete(np.arange(len(samples)), same + 1))


def _note_gaps(samples: Stream, found: list[Finding]) -> None:
    """Notes missing messages."""
    step, steps = interval(samples.t), np.diff(samples.t)
    regular = np.mean(np.abs(steps - step) < NEAR * step) >= REGULAR
    many = np.round(steps / step) if regular else np.where(steps > LONG * step, steps / step, 1.0)
    gaps = np.flatnonzero(many > 1)
    if len(gaps):
        worst = gaps[np.argmax(steps[gaps])]
        found.append(Finding(
            FindingKind.MISSING, f"some {int((many[gaps] - 1).sum())} messages of {samples.topic} "
            f"are missing in {len(gaps)} gaps, the longest of {steps[worst]:.4g} s at "
            f"{at(samples.t[worst])} s", float(samples.t[gaps[0]]), float(samples.t[gaps[-1] + 1])))


def gaps(t: np.ndarray) -> np.ndarray:
    """Begin and end of the gaps in rising stamps, (n, 2) [s]."""
    wide = np.flatnonzero(np.diff(t) > LONG * interval(t))
    return np.column_stack([t[wide], t[wide + 1]])
