"""Controllers from words: what of a class is filled by a run, set by a word, or missed."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from nhmech.control.registry import (
    controller_parameters,
    make_controller,
    one_line,
    settable_parameters,
)
from nhmech.errors import InputError


class Bare:
    """Takes one number.

    And more words.
    """

    def __init__(self, vehicle, gain=1.0, **others):
        self.given = vehicle, gain, others


class Tracks:
    def __init__(self, vehicle, path, *, speed=0.5, twist=None, gain=1.0):
        self.given = vehicle, path, speed, twist, gain


class Rides:
    """Whose path may be left out, and whose stiffness may not."""

    def __init__(self, vehicle, path=None, *, stiffness):
        self.given = vehicle, path, stiffness


class Nothing:
    pass


def test_what_a_class_takes_is_read_off_its_signature():
    assert list(controller_parameters(Bare)) == ["vehicle", "gain"]
    assert list(settable_parameters(Bare)) == ["gain"]
    assert list(settable_parameters(Tracks)) == ["gain"]
    assert list(settable_parameters(Rides)) == ["stiffness"]
    assert one_line(Bare) == "Takes one number." and one_line(Nothing) == ""


def test_a_class_gets_the_vehicle_and_what_is_given():
    assert make_controller(Bare, "robot", settings={"gain": "2"}).given == ("robot", 2.0, {})
    assert make_controller(Tracks, "robot", path="way", speed=0.1, settings={
        "twist": "1,2,3", "gain": "4"}).given == ("robot", "way", 0.1, (1.0, 2.0, 3.0), 4.0)
    assert make_controller(Rides, "robot", settings={"stiffness": "5"}).given == ("robot", None, 5)
    assert isinstance(make_controller(Nothing, "robot"), Nothing)
    still = SimpleNamespace()
    assert make_controller(still, "robot") is still
    assert make_controller(still, "robot", settings={}) is still


@pytest.mark.parametrize("controller, given, message", [
    (Bare, dict(settings={"twist": "1,0,0"}), "no parameter 'twist' to set; there are gain$"),
    (Bare, dict(settings={"gin": "1"}), r"there are gain; did you mean 'gain'\?$"),
    (Bare, dict(path="way"), "Bare follows no path: leave it out. It takes gain$"),
    (Bare, dict(speed=1.0), "Bare takes no speed. It takes gain$"),
    (Tracks, dict(settings={"gin": "1"}), "there are gain, twist"),
    (Tracks, dict(path="way"), r"Tracks needs a speed or a twist\. "),
    (Tracks, dict(), r"Tracks needs a path and a speed or a twist\. "),
    (Rides, dict(), "Rides needs stiffness$"),
    (SimpleNamespace(), dict(path="way"), r"is a function \(t, state\): it takes no path"),
    (SimpleNamespace(), dict(speed=0.0), r"is a function \(t, state\): it takes no speed"),
    (SimpleNamespace(), dict(settings={"a": "1"}), "SimpleNamespace is a .* it takes no settings")])
def test_what_does_not_fit_is_said(controller, given, message):
    with pytest.raises(InputError, match=message):
        make_controller(controller, "robot", **given)


@pytest.mark.parametrize("given, remedy", [(dict(), "Give path="), (dict(path="way"), "settings=")])
def test_what_is_missing_comes_with_what_gives_it(given, remedy):
    with pytest.raises(InputError) as caught:
        make_controller(Tracks, "robot", **given)
    assert remedy in caught.value.remedy.python
    with pytest.raises(InputError) as caught:
        make_controller(Rides, "robot")
    assert caught.value.remedy is None
