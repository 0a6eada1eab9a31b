"""Whether ideal rolling held along a run, in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..analysis.rolling_limits import RunValidity, run_validity
from ..analysis.validity import Verdict
from ..errors import InputError, MechanicsError
from ..simulation.contact.coulomb import SLIP
from ..simulation.contact.phases import ContactSpan, Phase
from ..simulation.runs.trajectory import Trajectory
from ..vehicle.vehicle import Vehicle
from .drawing import as_words

STATES = 200  # at which friction is judged at most, besides those of events: below a second
NOTHING = 1e-12     # [J] that sliding takes: less is rounding
OPEN = ("whether it holds depends on the distribution of the load, which rigid bodies do not "
        "determine")


@dataclass(frozen=True)
class Judgement:
    """Whether ideal rolling held along a run."""

    kind: Literal["good", "doubt", "bad", "none"]
    # headline, details: the verdict, and what else there is to say
    headline: str
    details: str
    along: RunValidity | None = None  # the verdicts of the states, where there are any


def judgement(trajectory: Trajectory, vehicle: Vehicle | None,
              mu: float | Mapping[str, float] | None = None) -> Judgement:
    """Whether ideal rolling held along a run, in words.

    For example, "Ideal rolling held with mu = 0.8; most used 0.31 by left wheel at t = 2.1 s".
    """
    if vehicle is None:
        return Judgement("none", "No wheels, no verdict on friction",
                         "A textbook system has constraints, but nothing that says what holds "
                         "them.")
    if trajectory.kinematic:
        return Judgement("none", "Speeds were commanded: no forces, no verdict on friction",
                         "A kinematic run says where the vehicle goes, not what the ground must "
                         "hold. Run it with efforts for a verdict.")
    if not trajectory.rolled.all():
        return _describe_sliding(trajectory)
    try:
        found = run_validity(trajectory, mu, every=max(1, len(trajectory) // STATES))
    except (InputError, MechanicsError) as error:
        return Judgement("none", "No verdict on friction", str(error))
    where = f"judged at {len(found)} of {len(trajectory)} states"
    if failure := found.failure(as_words):
        return _judge_failure(found, failure, where)
    hardest = found.hardest
    worst, doubted = hardest.worst, found.first(Verdict.POSSIBLE)
    by = f"by {as_words(worst.wheel)} at t = {hardest.t:.4g} s"
    if not np.isfinite(worst.mu):
        return Judgement("none",
                         f"Every wheel stays down; ideal rolling needs mu ≥ {worst.kindest:.2g}",
                         f"{by}. No friction coefficient is known, so nothing is judged; {where}",
                         found)
    known = sorted({one.mu for one in found.states[0].wheels if np.isfinite(one.mu)})
    limits = " and ".join(f"{value:g}" for value in known)
    used = f"most used {worst.kindest:.2g} {by}"
    if doubted is not None:
        return Judgement("doubt", f"Ideal rolling possible with mu = {limits}; {used}",
                         f"First at t = {doubted.t:.4g} s, {OPEN}; {where}", found)
    return Judgement("good", f"Ideal rolling held with mu = {limits}; {used}",
                     f"However the wheels share the load, none lifts off and none slips; {where}",
                     found)


def _describe_sliding(trajectory: Trajectory) -> Judgement:
    """The phases of the wheels in a run with Coulomb friction in which some did not roll."""
    left = next((t for t, name in trajectory.events if name == SLIP), trajectory.t[0])
    moved = next((span.start for span in trajectory.phases if _is_off(span)), None)
    ends = [(wheel, way[-1], trajectory.friction_loss[wheel][-1])
            for wheel, way in trajectory.slid.items()]
    ways = [f"{as_words(wheel)} slid {way:.3g} m and lost {lost:.4g} J"
            for wheel, way, lost in ends if way > 0 or lost > NOTHING]
    again = " and rolled again at the end" if trajectory.rolled[-1] else ""
    if moved is not None and f"{moved:.4g}" != f"{left:.4g}":
        ways.insert(0, f"friction decides from then on; it held every wheel until {moved:.4g} s")
    return Judgement("doubt", f"Wheels left ideal rolling at t = {left:.4g} s{again}",
                     _capitalise("; ".join(ways) or "no wheel slid"))


def _is_off(span: ContactSpan) -> bool:
    """Whether a wheel slid or was in the air, or a body on the ground."""
    return any(phase is not (Phase.AIRBORNE if name in span.bodies else Phase.ROLLING)
               for name, phase in span.wheels.items())


def _judge_failure(found: RunValidity, failure: str, where: str) -> Judgement:
    """The verdict on a run in which a wheel slipped or lifted off."""
    doubted = found.first(Verdict.POSSIBLE)
    details = ("" if found.remedy is None else
               "The exact moment is found by nhmech run --mu --on-slip warn; ")
    if doubted is not None and doubted.t < (found.until or 0.0):
        details += f"from t = {doubted.t:.4g} s on, {OPEN}; "
    return Judgement("bad", _capitalise(failure), _capitalise(details + where), found)


def _capitalise(text: str) -> str:
    return text[:1].upper() + text[1:]
