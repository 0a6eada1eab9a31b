"""`nhmech inspect` on mobility and geometry: at most 60 lines for every robot, and the right things
in them."""

from __future__ import annotations

import json
from unicodedata import category, east_asian_width

import numpy as np
import own_robots
import pytest
from robot_table import FOLDER, fleet, real
from support import VARIED, command_line, sampled, shipped

from nhmech.cli.inspect import report, to_json
from nhmech.cli.inspect_text import (
    LINES,
    WIDTH,
    format_facts,
    format_table,
    group_evidence,
    report_lines,
)
from nhmech.urdf.description import Fact, Reason, Witness
from nhmech.urdf.notice import NoticeKind

TITLES = ("mobility", "geometry")


def shown(vehicle) -> dict[str, str]:
    """The texts of a report's sections; checks their size."""
    lines = report_lines(report(vehicle))
    assert 1 + sum(2 + len(text) for _, text in lines) <= LINES
    assert max(len(line) for _, text in lines for line in text) <= WIDTH
    return {title: " ".join(" ".join(text).split()) for title, text in lines}


@pytest.mark.parametrize("name", VARIED)
def test_sixty_lines_for_shipped_robots(name):
    sections = shown(shipped(name))
    assert all(sections[title] for title in TITLES)


@pytest.mark.parametrize("name", sampled(fleet(), 2))
def test_sixty_lines_for_real_robots(name):
    sections = shown(real(name))
    assert all(sections[title] for title in TITLES)


CONTENT = {
    "skid_steer": ("(2, 0), manoeuvrability 2", "mid-axle model",
                   "straight only: the axle of front_left_wheel_joint does not meet that of "
                   "rear_left_wheel_joint",
                   "rows of front_left_wheel_joint and front_right_wheel_joint or "
                   "rear_left_wheel_joint and rear_right_wheel_joint",
                   "the normal forces of 4 wheels: 1 dimension", "(2, 3) of 3: x, y, yaw",
                   "yes: the brackets span all 3"),
    "ackermann_car": ("(1, 1), manoeuvrability 2: car-like", "moves straight on until it steers",
                      "rear_right_wheel_joint/lateral = rear_left_wheel_joint/lateral",
                      "lateral forces of 4 wheels: 3 dimensions",
                      "(2, 3, 4) of 4: x, y, yaw, front_left_steering_joint",
                      "pitch, roll, height (frozen) and 5 joint angles",
                      "rear_left_wheel_joint 3040 N", "wheelbase 2.6 m, track 1.5 m",
                      "1240 kg, its centre 1.3 m ahead of the base's origin",
                      "turn 0.1231 rad/rad^2",
                      "0.32 (rear_right_wheel_joint - rear_left_wheel_joint) - 1.5 yaw is constant",
                      "SE(2): transverse"),
    "carriage": ("(2, 0), manoeuvrability 2",
                 "any point of the common axle, which passes at (0, 0) m of the base along (0, 1)",
                 "right_wheel_joint/lateral = left_wheel_joint/lateral",
                 "the lateral forces of 2 wheels: 1 dimension", "(2, 3) of 3: x, y, yaw",
                 "0.1 (right_wheel_joint - left_wheel_joint) - 0.5 yaw is constant",
                 "a small loop in left_wheel_joint and right_wheel_joint shifts the base: "
                 "sideways -0.02 m/rad^2", "SE(2): purely kinematic; SE(2) x T^2: general"),
}


@pytest.mark.parametrize("name", CONTENT)
def test_what_is_said(name):
    sections = shown(shipped(name))
    said = " ".join(sections[title] for title in ("size", *TITLES))
    for text in CONTENT[name]:
        assert text in said


def test_what_is_said_of_a_caster_robot():
    """Four swivels restrict nothing, and their angles are among what is steered."""
    carrier = real("mir100")
    sections = shown(carrier)
    assert "(2, 0), manoeuvrability 2" in sections["mobility"]
    assert "normal forces of 6 wheels and the lateral forces of 2 wheels" in sections["mobility"]
    assert "(2, 3, 5, 7) of 7, in the zero pose (2, 3, 5, 6, 7)" in sections["geometry"]
    left, right = (carrier.contact_points(carrier.configuration())[carrier.contact_names.index(
        f"{side}_wheel_joint")] for side in ("left", "right"))
    radius, track = carrier.description.wheels[0].radius, np.linalg.norm(left - right)
    assert (
        f"{radius:.6g} (right_wheel_joint - left_wheel_joint) - {track:.6g} yaw is constant"
        in sections["geometry"]
    )
    assert "yes: the brackets span all 7" in sections["geometry"]


def mass(vehicle) -> float:
    return sum(inertia.mass for inertia in vehicle.model.inertias)


def test_json_has_all_of_it():
    result = command_line("inspect", "skid_steer", "--json")
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert found["mobility"]["class"] == [2, 0] and found["mobility"]["undetermined_dimension"] == 1
    assert len(found["mobility"]["to_free"]) == 2
    assert (
        abs(sum(found["mobility"]["normals_at_rest"].values()) - 9.81 * mass(shipped("skid_steer")))
        < 1e-9
    )
    assert found["geometry"]["curvature"][0]["loop"] == ["front_left_wheel_joint",
                                                         "front_right_wheel_joint"]
    assert (found["geometry"]["growth"] == [2, 3] and found["geometry"]["controllable"] is True
            and len(found["geometry"]["integrable"]) == 3)
    assert json.loads(json.dumps(to_json(report(shipped("skid_steer"))))) == found


def test_a_robot_that_cannot_turn_without_slip_says_so_first(tmp_path):
    path = FOLDER / "clearpath_a200.urdf"
    if not path.is_file():
        path = tmp_path / "ours.urdf"
        path.write_text(own_robots.text("clearpath_a200"))
    result = command_line("inspect", path)
    said = " ".join(result.stdout.split())
    assert result.exit_code == 0 and "taken as skid steer" in said
    assert "kind=mecanum" in said and "--skid 1.5" in said


def test_notices_keep_their_kind_and_wheels_their_evidence():
    """What programs read is typed: kinds of notices, facts of wheels, numbers of the size."""
    found = json.loads(json.dumps(to_json(report(shipped("carriage")))))
    notices = {notice["kind"]: notice for notice in found["notices"]}
    assert set(notices) <= {kind.value for kind in NoticeKind}
    assert notices[NoticeKind.DRIVEN_FROM.value]["text"] == "driven joints from <nhmech>"
    facts = [fact for wheel in found["wheels"] for fact in wheel["evidence"]]
    assert {fact["witness"] for fact in facts} <= {witness.value for witness in Witness}
    assert found["size"]["track"] == 0.5 and found["size"]["wheelbase"] is None
    assert found["wheels"][0]["mu"] == 0.6 and set(found["size"]["tip_angles"]) == {
        "forward", "backward", "left", "right"}


def test_evidence_is_said_in_a_clause():
    """Once for the wheels of which all sources say the same."""
    facts = (Fact(Witness.PRIMITIVE, True, 0.1), Fact(Witness.PLANE, False))
    reasons = {"a": Reason("as {}", ("a",), facts), "b": Reason("as {}", ("b",), facts),
               "c": Reason("given")}
    assert [entry.lead + entry.text for entry in group_evidence(reasons)] == [
        "  a and 1 more  agree: collision primitive 0.1 m; not: common plane"]


def test_a_part_that_is_not_found_hides_nothing_else():
    found = report(shipped("carriage")) | {"mobility": {"error": "axles coincide"}}
    assert ("mobility", ["  not found  axles coincide"]) in report_lines(found)


@pytest.mark.parametrize("name", ["wheel", "左輪", "ล้อ", "колесо"])
def test_columns_are_aligned_in_any_script(name):
    """Where a terminal begins the second one: letters of some scripts take two places there, marks
    above them none."""
    rows = format_table([["joint", "kind"], [name, "disc"], ["a longer one", "ball"]])
    facts = format_facts({name: "disc", "a longer one": "ball"})
    starts = [terminal_width(entry.text[:entry.text.index(word)])
              for entry, word in zip(rows, ("kind", "disc", "ball"))]
    assert starts == [len("a longer one  ")] * 3
    assert [terminal_width(entry.lead) for entry in facts] == [len("  a longer one  ")] * 2


def terminal_width(text: str) -> int:
    return sum(0 if category(c) == "Mn" else 2 if east_asian_width(c) in "WF" else 1 for c in text)
