"""Loaded robots against what they are: 44 published ones by `wheels.json`, and any other by a
`Truth` of its own.

`python tests/robot_table.py [NAME ...]` prints the table.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from own_robots import DESIGNS, own

import nhmech
from nhmech.analysis.mobility import mobility
from nhmech.errors import NhmechError, Remedy
from nhmech.urdf.description import Description
from nhmech.urdf.notice import NoticeKind
from nhmech.urdf.wheel import Wheel
from nhmech.vehicle.vehicle import Vehicle

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "robots"
PACKAGES = {folder.name: folder for folder in (FOLDER / "meshes").glob("*/")}
ABSENT = f"the real robots' URDFs are not in {FOLDER}"

RADIUS = 0.01      # relative: how near an accepted radius a found one must be
ROLLER = 1.0       # degrees: likewise of a roller's angle
# a level wheel on an axle rolls alike, whichever of these shapes its tread has
_ROUND = ("disc", "torus", "sphere")
_ROUTINE = (NoticeKind.DRIVEN_FROM,)      # said of every robot


@dataclass(frozen=True)
class Contact:
    """One contact of a robot as it is; radii: all that are accepted [m], none where none is known.

    A contact that rolls on no joint and drives nothing, such as a fixed caster, may be left out.
    """

    joint: str | None
    link: str
    kind: str = "disc"
    radii: tuple[float, ...] = ()
    driven: bool = True
    steered_by: str | None = None
    swivel: bool = False
    roller_deg: tuple[float, ...] = ()

    @property
    def is_optional(self) -> bool:
        return self.joint is None and not self.driven and self.steered_by is None

    @property
    def name(self) -> str:
        return self.joint or self.link


@dataclass(frozen=True)
class Truth:
    """A robot as it is.

    Attributes
    ----------
    drive
        "differential", "skid-steer", "mecanum", "balancing", ...
    contacts
        Where it touches the ground.
    mobility
        Degree of mobility and of steerability; None where they are not told.
    loads
        Whether the file holds enough for a model.
    either_driven
        Whether the file says something else of who is driven than the machine does.
    either_kind
        Whether nothing in the file tells mecanum wheels from others: it may pass for skid steer
        where a notice has the line for mecanum wheels.
    """

    drive: str
    contacts: tuple[Contact, ...]
    mobility: tuple[int, int] | None = None
    loads: bool = True
    either_driven: bool = False
    either_kind: bool = False

    @property
    def rolling(self) -> tuple[str, ...]:
        return tuple(c.joint for c in self.contacts if c.joint is not None)

    @property
    def steering(self) -> dict[str, bool]:
        """Steering joint -> whether it is driven."""
        return {c.steered_by: not c.swivel for c in self.contacts if c.steered_by is not None}


@cache
def published() -> dict[str, Truth]:
    """File below `FOLDER` -> the robot, of all that are there; nothing where the folder is not."""
    file = FOLDER / "wheels.json"
    return {r["file"]: _read(r) for r in json.loads(file.read_text())} if file.is_file() else {}


def _read(robot: Mapping[str, Any]) -> Truth:
    contacts = tuple(
        Contact(c["joint"], c["link"], c["kind"], tuple(c["radius"]), c["driven"], c["steered_by"],
                c.get("swivel", False), tuple(c.get("roller_deg", ())))
        for c in robot["contacts"])
    unsure = " ".join(c.get("unsure", "") for c in robot["contacts"])
    pair = robot["mobility"]
    return Truth(robot["drive"], contacts, None if pair is None else (pair[0], pair[1]),
                 loads=robot["expect"] != "refuse",
                 either_driven="transmission" in unsure,
                 either_kind=robot["drive"] == "mecanum" and "skid" in robot.get("unsure", ""))


# --- comparison -----------------------------------------------------------------------------


def faults(truth: Truth, found: Vehicle | Description) -> list[str]:
    """In what a robot is another one than the true one; empty where it is right."""
    d = found if isinstance(found, Description) else found.description
    freedom = () if found is d else _freedom_faults(truth, found)
    return [*_wheel_faults(truth, d), *_role_faults(truth, d), *freedom]


def _wheel_faults(truth: Truth, d: Description) -> Iterator[str]:
    found = {(w.joint, w.link if w.joint is None else None): w for w in d.wheels}
    for contact in truth.contacts:
        wheel = found.pop((contact.joint, contact.link if contact.joint is None else None), None)
        if wheel is not None:
            yield from _contact_faults(contact, wheel)
        elif not contact.is_optional:
            yield f"{contact.name} is missing"
    for wheel in found.values():
        yield f"{wheel.name} is no {wheel.kind}"


def _contact_faults(contact: Contact, wheel: Wheel) -> Iterator[str]:
    kinds = _ROUND if contact.kind in _ROUND else (contact.kind,)
    if contact.joint is None:
        # what cannot roll slides: freely, or along a blade where it is steered
        kinds = ("caster_ball",) if contact.is_optional else ("blade",)
    if wheel.kind not in kinds:
        yield f"{wheel.name} is {contact.kind}, not {wheel.kind}"
    if wheel.radius and contact.radii and not any(
            abs(wheel.radius / r - 1) <= RADIUS for r in contact.radii) and not contact.is_optional:
        yield f"{wheel.name} has radius {contact.radii[0]:.4g}, not {wheel.radius:.4g}"
    if wheel.roller_angle is not None and contact.roller_deg and not any(
            abs(57.29578 * wheel.roller_angle - a) <= ROLLER for a in contact.roller_deg):
        yield f"{wheel.name} has rollers at {contact.roller_deg[0]:g} degrees, not " \
              f"{57.29578 * wheel.roller_angle:.1f}"


def _role_faults(truth: Truth, d: Description) -> Iterator[str]:
    for name in sorted(set(truth.steering) ^ set(d.steering)):
        yield f"{name} {'does not steer' if name in d.steering else 'steers'}"
    for name in d.free:
        yield f"{name} is not free"
    if truth.drive != "any" and (d.skid is None) == (truth.drive == "skid-steer"):
        yield f"{'no ' if d.skid is None else ''}skid steer"
    if truth.drive not in ("any", "balancing") and any(
            notice.kind is NoticeKind.FREE_PITCH for notice in d.notices):
        yield "its pitch is free"
    if truth.either_driven:
        return
    driven = {c.joint for c in truth.contacts if c.joint is not None and c.driven}
    driven |= {name for name, is_driven in truth.steering.items() if is_driven}
    for name in sorted(driven ^ set(d.driven)):
        yield f"{name} is {'not ' if name in d.driven else ''}driven"


def _freedom_faults(truth: Truth, vehicle: Vehicle) -> Iterator[str]:
    balances = truth.drive == "balancing"
    expected = (2, 0) if truth.drive == "skid-steer" else truth.mobility
    if expected is None:
        return
    try:
        pair = mobility(vehicle).type
    except NhmechError as error:
        yield f"mobility: {error.text}"
        return
    # swivels follow, and pitching is not counted in the class
    if len(vehicle.speeds) != sum(expected) + balances:
        yield f"{len(vehicle.speeds)} independent speeds: {', '.join(vehicle.speeds)}"
    if pair != expected:
        yield f"mobility {expected}, not {pair}"


# --- what a remedy says ---------------------------------------------------------------------


_KEYWORD = re.compile(r"\b(wheels|skid|locked|free|packages|arguments|repair)=")
_FLAG = re.compile(r"--(wheel|skid|lock|free|package|arg|repair)\b")
_CLOSING = {"[": "]", "(": ")", "{": "}"}


def python_lines(remedy: Remedy) -> Iterator[dict[str, Any]]:
    """The keywords for `load` that a remedy offers: each group, such as `repair=True,
    wheels=[...]`, is one choice."""
    text, at, choice = remedy.python, 0, {}
    for match in _KEYWORD.finditer(text):
        if match.start() < at:
            continue                       # inside the value before
        if choice and text[at:match.start()].strip(" ,") != "":
            yield choice
            choice = {}
        at = _end_of_value(text, match.end())
        choice[match[1]] = eval(text[match.end():at], {"Wheel": Wheel})
    if choice:
        yield choice


def _end_of_value(text: str, start: int) -> int:
    if text[start] in _CLOSING:
        depth, quote = [], ""
        for i, c in enumerate(text[start:], start):
            if quote:
                quote = "" if c == quote else quote
            elif c in "'\"":
                quote = c
            elif c in _CLOSING:
                depth.append(_CLOSING[c])
            elif depth and c == depth[-1]:
                depth.pop()
                if not depth:
                    return i + 1
    word = re.compile(r"'[^']*'|\"[^\"]*\"|[\w+-]+(\.\d+)?").match(text, start)
    assert word is not None, f"no value in {text[start:start + 40]!r}"
    return word.end()


def command_lines(remedy: Remedy) -> Iterator[list[str]]:
    """The words for the command line that a remedy offers, each choice as a list."""
    text, at, choice = remedy.command, 0, []
    for match in _FLAG.finditer(text):
        if match.start() < at:
            continue
        if choice and text[at:match.start()].strip() != "":
            yield choice
            choice = []
        at, word = match.end(), re.compile(r"\s+('[^']*'(\"'\"'[^']*')*|[^\s,;)]+(,[^\s,;)]+)*)")
        choice.append(match[0])
        if match[1] != "repair" and (value := word.match(text, at)) is not None:
            choice += shlex.split(value[1])
            at = value.end()
    if choice:
        yield choice


# --- verdicts -------------------------------------------------------------------------------


class Verdict(Enum):
    """What came of loading a robot; the value is how the table has it."""

    RIGHT = "right"
    NOTICED = "right, with notice"
    CURED = "refused, its line loads right"
    TRUE = "refused for a true reason"
    STUCK = "refused, no line loads right"
    MISLED = "refused, its line loads WRONG"
    WRONG = "WRONG"


@dataclass(frozen=True)
class Judged:
    """A verdict, the vehicle if one could be had, why, and how long the first load took [s]."""

    verdict: Verdict
    vehicle: Vehicle | Description | None
    why: str
    seconds: float


def judge(truth: Truth, source: str | Path, packages: Mapping[str, Path] = PACKAGES,
          load: Callable[..., Vehicle | Description] = nhmech.load, **arguments: Any) -> Judged:
    """Load a robot as a new user does, and say what came of it; `load` may also be `describe`."""
    start = time.perf_counter()
    try:
        vehicle = load(source, packages=packages, **arguments)
    except NhmechError as error:
        return _judge_refusal(truth, source, packages, arguments, error, load,
                              time.perf_counter() - start)
    seconds = time.perf_counter() - start
    notices = [n for n in vehicle.notices if n.kind not in _ROUTINE]
    verdict = Verdict.NOTICED if notices else Verdict.RIGHT
    wrong = faults(truth, vehicle)
    if wrong and truth.either_kind and not faults(_as_skid(truth), vehicle):
        lines = [line for note in notices if note.remedy is not None
                 for line in python_lines(note.remedy) if "wheels" in line]
        if any(not faults(truth, load(source, packages=packages, **arguments | line))
               for line in lines):
            wrong = []
    if wrong:
        return Judged(Verdict.WRONG, vehicle, "; ".join(wrong), seconds)
    return Judged(verdict, vehicle, "; ".join(n.kind.value for n in notices), seconds)


def _judge_refusal(truth: Truth, source: str | Path, packages: Mapping[str, Path],
                   arguments: dict[str, Any], error: NhmechError,
                   load: Callable[..., Vehicle | Description], seconds: float) -> Judged:
    text = error.text
    if error.remedy is None:
        return Judged(Verdict.STUCK if truth.loads else Verdict.TRUE, None, text, seconds)
    tried = []
    verdict = Verdict.STUCK if truth.loads else Verdict.TRUE
    try:
        for line in python_lines(error.remedy):
            try:
                vehicle = load(source, **({"packages": packages} | arguments | line))
            except NhmechError as again:
                tried.append(f"{', '.join(line)}: {again.text}")
                continue
            wrong = faults(truth, vehicle)
            if not wrong:
                return Judged(Verdict.CURED, vehicle, text, seconds)
            verdict = Verdict.MISLED
            tried.append(f"{', '.join(line)}: {'; '.join(wrong)}")
    except (NameError, SyntaxError) as blank:      # RADIUS, FOLDER, HEIGHT
        tried.append(str(blank))
    return Judged(verdict, None, " | ".join([text, *tried]), seconds)


def _as_skid(truth: Truth) -> Truth:
    """The same robot if its mecanum wheels were plain ones."""
    contacts = tuple(Contact(c.joint, c.link, "disc", c.radii, c.driven) for c in truth.contacts)
    return Truth("skid-steer", contacts)


@cache
def judged(file: str) -> Judged:
    """The verdict about a published robot."""
    return judge(published()[file], FOLDER / file)


def real(name: str) -> Vehicle:
    """A published robot by the stem of its file; where it is not at hand, ours with its traits."""
    file = next((f for f in published() if Path(f).stem == name), None)
    if file is None:
        return own(name)
    found = judged(file)
    if found.vehicle is None:
        pytest.skip(f"{name}: {found.verdict.value}: {found.why}")
    return found.vehicle


def fleet() -> list[str]:
    """Names for `real`: of all published robots, or of ours where they are not at hand."""
    return [Path(file).stem for file in published()] or list(DESIGNS)


def main(names: list[str]) -> None:
    """Prints the table."""
    if not published():
        sys.exit(ABSENT)
    robots = {f: t for f, t in published().items() if not names or Path(f).stem in names}
    counts: Counter[Verdict] = Counter()
    for file, truth in robots.items():
        found = judged(file)
        counts[found.verdict] += 1
        why = found.why if names else found.why[:100]
        print(f"{Path(file).stem:21s} {truth.drive:12s} {found.seconds:5.2f} s  "
              f"{found.verdict.value:29s} {why}", flush=True)
    print(", ".join(f"{counts[v]} {v.value}" for v in Verdict if counts[v]),
          f"of {len(robots)} robots")


if __name__ == "__main__":
    main(sys.argv[1:])
