"""Damaged files: refused with an error of this package, or a sound description; nothing else.

`make soak` damages ten times as many, and published robots where they are at hand.
"""

import json
import math
import random
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from own_robots import DESIGNS, text
from support import at_most
from test_repair import cart, steered
from test_xacro import CART as XACRO

import nhmech
from nhmech.errors import ModelError, NhmechError
from nhmech.urdf.describe import describe

ROBOTS = Path(__file__).resolve().parents[2] / "shared" / "robots"
PATIENCE = 60      # seconds for one file, of which a slow and busy machine needs one
VALUES = ("nan", "inf", "-inf", "1e400", "1e300", "-1", "0", "", "abc", "1 2", "0 0 0", "0, 0, 1",
          "1,5", "0x10", "1_0", "root_joint", "base", "floating", "fixed", "continuous", "wheel",
          "٣", "a" * 3000, "package://x/y.stl", "file:///dev/null", "/etc", "&", "<", '"', "é",
          "true", "-0", "1e-320", "90deg")
ATTRIBUTE = re.compile(r'\s([\w:]+)="([^"]*)"')
ELEMENT = re.compile(r"<(\w+)\b[^<>]*(?:/>|>[^<>]*</\1>)")
CHILD = """
import json, sys, xacro
from nhmech.urdf.text.xacro_file import expand
parse = xacro.parse
for text in json.load(sys.stdin):
    xacro.parse = parse
    print(json.dumps(sorted(expand(text, None, {}, {}))))
"""


def damage(rng: random.Random, text: str) -> str | bytes:
    """One random change."""
    attributes, elements = list(ATTRIBUTE.finditer(text)), list(ELEMENT.finditer(text))
    kind = rng.randrange(11)
    if kind < 6 and attributes:
        spot = rng.choice(attributes)
        name, value = spot.groups()
        other = rng.choice(attributes)
        new = (f' {name}="{rng.choice(VALUES)}"', f' {name}="{rng.choice(VALUES)}"', "",
               spot[0] * 2, f' {other[1]}="{value}"', f' {name}="{other[2]}"')[kind]
        return text[:spot.start()] + new + text[spot.end():]
    if kind < 9 and elements:
        spot = rng.choice(elements)
        new = ("", spot[0] * 2, spot[0].replace(spot[1], rng.choice(elements)[1]))[kind - 6]
        return text[:spot.start()] + new + text[spot.end():]
    if kind == 9:
        return text[:rng.randrange(len(text))]
    content = bytearray(text.encode())
    for _ in range(rng.choice((1, 1, 3))):
        content[rng.randrange(len(content))] = rng.randrange(256)
    return bytes(content)


def check(description) -> None:
    """All its numbers are numbers, and Pinocchio reads the text as it was understood."""
    for wheel in description.wheels:
        numbers = (wheel.radius, wheel.crown, *(wheel.axis or ()), *(wheel.point or ()))
        assert all(map(math.isfinite, numbers)), wheel
    for limit in description.limits.values():
        assert not any(map(math.isnan, vars(limit).values())), limit
    assert all(map(math.isfinite, (*description.damping.values(), *description.locked.values())))
    model = pin.buildModelFromXML(description.xml, pin.JointModelFreeFlyer())
    assert all(map(model.existJointName, (*description.rolling, *description.steering)))
    for inertia, placement in zip(model.inertias, model.jointPlacements):
        assert np.isfinite(inertia.toDynamicParameters()).all()
        assert np.isfinite(placement.homogeneous).all()


def fuzz(texts: list[str], count: int, seed: int) -> Counter:
    """How many damaged files ended how."""
    rng, ends = random.Random(seed), Counter()
    for _ in range(count):
        text = rng.choice(texts)
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            text = damage(rng, text)
            if isinstance(text, bytes):
                break
        repair = rng.random() < 0.5
        try:
            with at_most(PATIENCE):
                description = describe(text, repair=repair)
                check(description)
            ends["repaired" if repair else "described"] += 1
        except NhmechError as error:
            assert error.text and "Traceback" not in str(error)
            ends["refused"] += 1
        except BaseException:
            print(f"repair={repair}\n{text!r}")       # what pytest shows of a test that fails
            raise
    return ends


@pytest.fixture
def no_xacro(monkeypatch):
    """Damage that looks like xacro is refused at once; its process takes too long for so many."""
    def refuse(*_):
        raise ModelError("xacro")

    monkeypatch.setattr("nhmech.urdf.text.source.expand_xacro", refuse)


@pytest.mark.parametrize("count", [300, pytest.param(10_000, marks=pytest.mark.soak)])
def test_damaged_files(no_xacro, count):
    texts = [cart(), steered('<link name="{name}"/>'), nhmech.urdf_path("carriage").read_text()]
    ends = fuzz(texts, count, seed=count)
    print(dict(ends))
    assert sum(ends.values()) == count and min(ends.values()) > count / 20


@pytest.mark.soak
def test_damaged_published_robots(no_xacro):
    texts = [file.read_text() for file in sorted(ROBOTS.rglob("*.urdf"))
             if file.stat().st_size < 50_000] or [text(name) for name in DESIGNS]
    print(dict(fuzz(texts, 1000, seed=7)))


@pytest.mark.parametrize("count", [100, pytest.param(1000, marks=pytest.mark.soak)])
def test_damaged_xacro(count):
    rng = random.Random(count)
    texts = [damage(rng, XACRO) for _ in range(count)]
    texts = [text if isinstance(text, str) else text.decode("latin-1") for text in texts]
    child = subprocess.run([sys.executable, "-c", CHILD], input=json.dumps(texts), text=True,
                           capture_output=True, timeout=count * PATIENCE / 10)
    assert child.returncode == 0, child.stderr
    ends = Counter(child.stdout.splitlines())
    assert set(ends) <= {'["text"]', '["error"]', '["packages"]'} and sum(ends.values()) == count
    assert min(ends['["text"]'], ends['["error"]']) > count / 20
