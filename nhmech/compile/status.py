"""The status of a step or of a run: one vocabulary for Python and for all compiled code."""

from __future__ import annotations

from enum import IntEnum, unique


@unique
class Status(IntEnum):
    """Code of an ending, with its sentence. DONE is 0; where several apply, the highest counts."""

    sentence: str

    DONE = 0, "ran to the end"
    SINGULAR = 1, ("the independent speeds no longer determine the motion; "
                   "a Simulator changes them during the run, a batch does not")
    FALLEN = 2, "a wheel lies down: its axle became parallel to the ground's normal"
    OFF = 3, "a step violated the constraints: try a smaller dt"
    NOT_FINITE = 4, ("a step gave numbers that are not finite, or beyond 1e10: try a smaller dt, "
                     "and check masses and efforts")
    TOO_SMALL = 5, "the step of the adaptive method became too small"
    LIMIT = 6, "an undriven joint reached its limit"
    GROUNDED = 7, "it fell: a part of it touched the ground"
    COARSE = 8, "a step was so long that its result has no correct digit: try a smaller dt"
    UNSOLVED = 9, "the equations of an implicit step were not solved: try a smaller dt"
    LIFTED = 10, "the ground would have to pull a wheel: it lifts off"
    UNJUDGED = 11, "an observation or the reward is not finite: check observe= and reward="
    UNCOMMANDED = 12, "the policy returned inputs that are not finite"
    WORKED = 13, "forces did work, and the integrator conserves energy: take integrator='gauss'"

    def __new__(cls, code: int, sentence: str = "") -> Status:
        member = int.__new__(cls, code)
        member._value_ = code
        member.sentence = sentence
        return member


# The codes as C texts name them.
CODES = {status.name: int(status) for status in Status}
