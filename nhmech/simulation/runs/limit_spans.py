"""The intervals of a run in which a joint was at one of its limits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from ...vehicle.joint_ranges import passive_joints
from ..simulated import Simulated

NEAR = 1e-3          # [rad, m] from a position limit, which a servo approaches exponentially
FAST = 0.99          # of a velocity limit, for the same reason
FULL = 1 - 1e-9      # of an effort limit, at which efforts are clipped: up to rounding
BEYOND = 1e-6        # relative, or [rad, m] for a position: a larger excess is not rounding
APART = 0.1          # [s] two moments at a limit that are closer belong to one span


class LimitKind(str, Enum):
    """The kinds of limits of a joint; the values are their names in messages.

    Examples
    --------
    >>> nhmech.simulation.LimitKind.EFFORT.value
    'effort limit'
    """

    LOWER = "lower position limit"
    UPPER = "upper position limit"
    VELOCITY = "velocity limit"
    EFFORT = "effort limit"


@dataclass(frozen=True)
class LimitSpan:
    """An interval in which a joint was at one of its limits.

    Attributes
    ----------
    joint
        Name of the joint.
    kind
        Kind of the limit.
    limit
        Value of the limit [rad, m, rad/s, m/s, N m, N].
    start, end
        First and last recorded moment at the limit [s]; for an effort, the end of its last control
        period.
    most
        The largest value in the interval, or for a lower limit the least; beyond `limit` if nothing
        stopped the joint.

    Examples
    --------
    >>> wheels = "left_wheel_joint", "right_wheel_joint"
    >>> hard = JointTorque(dict.fromkeys(wheels, 1e3))
    >>> simulator = Simulator(vehicle, lambda t, state: hard, on_lift="ignore")
    >>> str(simulator.run(0.1).limits[0])
    'left_wheel_joint at its effort limit (6) from t = 0 to 0.1 s'
    """

    joint: str
    kind: LimitKind
    limit: float
    start: float
    end: float
    most: float

    def __str__(self) -> str:
        sign = -1 if self.kind is LimitKind.LOWER else 1
        excess = sign * (self.most - self.limit)
        scale = 1.0 if self.kind in (LimitKind.LOWER, LimitKind.UPPER) else abs(self.limit)
        how = f"beyond its {self.kind.value}, by up to {excess:.3g}," if (
            excess > BEYOND * scale) else f"at its {self.kind.value} ({self.limit:.4g})"
        return f"{self.joint} {how} from t = {self.start:.6g} to {self.end:.6g} s"


@dataclass(frozen=True)
class _Watched:
    """A joint is at its limit where a column, or its absolute value, is at least `at`."""

    joint: str
    kind: LimitKind
    limit: float
    at: float


@dataclass(frozen=True, eq=False)
class LimitColumns:
    """The columns of a run that have limits: for each part, which columns are watched, with which
    sign, and against which values.

    Position limits apply to all joints except rolling ones; velocity and effort limits, at which
    commands are clipped, apply to driven joints.
    """

    parts: dict[str, tuple[list[_Watched], np.ndarray, np.ndarray, np.ndarray]]

    @classmethod
    def of(cls, simulated: Simulated, names: Mapping[str, Sequence[str]]) -> LimitColumns:
        """The watched columns of a run whose parts have columns with these names."""
        watched: dict[str, list[_Watched]] = {}
        driven = () if simulated.vehicle is None else simulated.vehicle.driven
        for joint, limit in simulated.limits.items():
            position = "q" if joint in names["q"] else "angles"
            for part, kind, bound, at in (
                    (position, LimitKind.LOWER, limit.lower, -limit.lower - NEAR),
                    (position, LimitKind.UPPER, limit.upper, limit.upper - NEAR),
                    ("v", LimitKind.VELOCITY, limit.velocity, FAST * limit.velocity),
                    ("u", LimitKind.EFFORT, limit.effort, FULL * limit.effort)):
                if np.isfinite(bound) and (part == position or joint in driven):
                    watched.setdefault(part, []).append(_Watched(joint, kind, bound, at))
        return cls({part: (found, np.array([names[part].index(one.joint) for one in found]),
                           np.array([[-1.0 if one.kind is LimitKind.LOWER else 1.0]
                                     for one in found]),
                           np.array([one.at for one in found]))
                    for part, found in watched.items()})

    def spans(self, blocks: Iterable[Mapping[str, np.ndarray]]
              ) -> tuple[tuple[LimitSpan, ...], float]:
        """The spans of a run, in the order of their starts; and its last moment [s]. `blocks`:
        parts of the run, one after the other: "t" -> (N,) [s], and "q", "angles", "v" and "u" ->
        (N, n)."""
        found: dict[tuple[str, LimitKind], list[LimitSpan]] = {}
        before: dict[str, np.ndarray] = {}
        for block in blocks:
            t = np.concatenate([before["t"], block["t"]]) if before else block["t"]
            for part, (watched, columns, signs, at) in self.parts.items():
                # joint by joint: NumPy reduces long rows six times as fast as long columns
                values = block[part].T.take(columns, axis=0)
                values = values * signs if part in ("q", "angles") else np.abs(values)
                if part in before:
                    # from the moment before on, which may belong to a span that continues
                    values = np.concatenate([before[part], values], axis=1)
                for i in (np.maximum.reduce(values, axis=1) >= at).nonzero()[0]:
                    spans = found.setdefault((watched[i].joint, watched[i].kind), [])
                    for span in _spans(watched[i], t, values[i], values[i] >= at[i]):
                        _join(spans, span)
                before[part] = values[:, -1:]
            before["t"] = t[-1:]
        joined = sum(found.values(), [])
        joined.sort(key=lambda span: (span.start, span.joint, span.kind.value))
        return tuple(joined), float(before["t"][0])


def _join(spans: list[LimitSpan], span: LimitSpan) -> None:
    """Appends a span, or merges it with the last one if that continues."""
    if not spans or span.start - spans[-1].end > APART:
        spans.append(span)
        return
    last, choose = spans[-1], min if span.kind is LimitKind.LOWER else max
    spans[-1] = replace(last, end=max(last.end, span.end), most=choose(last.most, span.most))


def _spans(one: _Watched, t: np.ndarray, values: np.ndarray, at: np.ndarray) -> Iterator[LimitSpan]:
    moments = at.nonzero()[0]
    # constant until the next moment
    after = np.minimum(moments + (one.kind is LimitKind.EFFORT), len(t) - 1)
    apart = (moments[1:] - moments[:-1] > 1) & (t[moments[1:]] - t[after[:-1]] > APART)
    ends = apart.nonzero()[0].tolist()
    sign = -1 if one.kind is LimitKind.LOWER else 1
    for first, last in zip([0, *(end + 1 for end in ends)], [*ends, len(moments) - 1]):
        most = values[moments[first]:moments[last] + 1].max()
        yield LimitSpan(one.joint, one.kind, one.limit, float(t[moments[first]]),
                        float(t[after[last]]), sign * float(most))


def span_events(simulated: Simulated, spans: Sequence[LimitSpan],
                end: float) -> list[tuple[float, str]]:
    """(time [s], name) of the beginnings and ends of spans before the `end` of a run, except
    position limits of undriven joints, which have their own events."""
    found = []
    passive = passive_joints(simulated.vehicle) if spans and simulated.vehicle is not None else ()
    for span in spans:
        if span.joint in passive and span.kind in (LimitKind.LOWER, LimitKind.UPPER):
            continue
        found.append((span.start, f"{span.joint} at its {span.kind.value}"))
        if span.end < end:
            found.append((span.end, f"{span.joint} off its {span.kind.value}"))
    return found
