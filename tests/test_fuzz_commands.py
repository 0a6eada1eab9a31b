"""Wrong command lines: done, or one clear error and exit code 2 or 3; nothing else."""

import os
import random
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from itertools import product
from unicodedata import category

import click
import pytest
from click.testing import CliRunner
from support import at_most, command_line

import nhmech
from nhmech import Simulator, Trajectory, cli, control, logs
from nhmech.cli.options import Positive

PATIENCE = 60      # [s] of one line, of which the longest takes three
LINES = [line.split() for line in (
    "run differential_drive --duration 0.05 --dt 0.001",
    "run robot.urdf --duration 0.05 --wheel joint=left_wheel_joint,kind=disc,radius=0.1",
    "run differential_drive --duration 0.05 --controller pure_pursuit --path circle:2 --speed 0.5 "
    "--set lookahead=0.6",
    "run differential_drive --duration 0.05 --controller mine.py:still --save new.npz",
    "run differential_drive --duration 0.05 --mu 0.8 --mu left_wheel_joint=0.5 --on-slip stop",
    "run trailers --duration 0.05 --on-limit warn --on-fall ignore --integrator dop853",
    "run carriage --duration 0.05 --html new.html --title page --overlay forces --no-follow",
    "run robot.urdf --duration 0.05 --lock left_wheel_joint=30deg --free right_wheel_joint "
    "--independent forward_speed --package robot=. --arg a:=b --repair --skid mid-axle",
    "controllers", "controllers twist",
    "inspect robot.urdf --json", "inspect trailers --tag", "inspect broken.urdf --repair",
    "limits differential_drive --mu 0.6 --radius 1.5 --speed 2 --json",
    "view run.npz --html new.html --ghost other.npz --overlay path --path circle:1 --mu 0.8",
    "view run.npz --playback 0.25 --robot differential_drive", "view sled.npz --html new.html",
    "plot run.npz -o new.svg --mu 0.8 --picture friction",
    "plot --eigenvalues bicycle --range 0.1 10 --points 3 -o new.pdf",
    "plot sled.npz -o new.png",
    "report run.npz -o new.html --path figure8:4 --mu 0.8 --robot differential_drive",
    "export run.npz -o new.csv --rate 100 --no-forces", "export run.npz -o new.parquet --forces",
    "export run.npz -o new.mcap --robot differential_drive",
    "systems list", "systems show sled", "systems check sled vertical_disk",
    "systems run sled --duration 0.1 --html new.html --save new.npz", "cache", "cache --clear")]
FILES = ("run.npz", "cut.npz", "other.npz", "sled.npz", "robot.urdf", "broken.urdf", "mine.py",
         "points.csv", "empty.csv", "odd.csv", "pipe", "folder", "folder.npz", "nowhere/new.html",
         "nothing.npz", "/dev/null", "/dev/full", "/proc/new.html", "/proc/self/mem", "/", ".",
         "..", "~", "new.npz.part", "\udcff.npz", "\udcff.urdf", "\udcff.html", "\udcff.svg",
         "\udcff.csv", "\udcff.mcap", "pipe.csv", "/dev/zero")
NUMBERS = ("0", "-1", "-0", "1", "2.5", "0.3", "3", "nan", "inf", "-inf", "1e-300", "1e300", 
           "1e400", "9" * 30, "1_0", "0x1", "1,5", "1 2", "٣", "90deg", "nandeg", "0.001")
WORDS = ("", " ", "-", "--", "-x", "--x", "-h", "--version", "=", "a=b", "a=", "=b", ":", ":=",
         ",", "x", "x" * 3000, "é", "\u202e", "\x1b[31m", "\n", "\udcff", "%s", "{}", "[red]",
         "$HOME", "*", "@x", "true", "None", "circle", "circle:0", "circle:nan", "circle:1e300",
         "joint=left_wheel_joint,kind=disc,radius=nan", "joint=,kind=", "joint=x,axis=0 0 0",
         "no.module:x", "mine.py:number", "mine.py:nobody", "broken.urdf:x", "differential_drive",
         "bicycle", "coin", "sled", *NUMBERS, *FILES)
# what some options take
TAKEN = {
    "--controller": ("twist", "mpc", "kanayama", "stanley", "polar", "lqr", "demo", "balance",
                     "pure_pursuit", "mine.py:still", "mine.py:broken", "math:sin", "os:getcwd"),
    "--path": ("circle", "circle:1", "circle:1e300", "figure8:-1", "line:2", "points.csv",
               "empty.csv", "odd.csv", "pipe.csv", "folder", "slalom"),
    "--mu": ("0.8", "0", "1e300", "left_wheel_joint=0.5", "left_wheel_joint=nan", "x=1"),
    "--set": ("lookahead=0.1", "effort=nan", "speed=2", "gain=1e300", "twist=1,2", "x=1",
              "preview=-1", "period=0", "stages=3"),
    "--overlay": ("forces", "path", "rotation-centre"),
    "--lock": ("left_wheel_joint=0.1", "left_wheel_joint=1e300", "base_link=1", "x=nan"),
    "--free": ("left_wheel_joint", "hitch_1_joint"),
    "--independent": ("forward_speed", "yaw_rate", "left_wheel_joint", "right_wheel_joint"),
    "--skid": ("mid-axle", "1.5", "0", "-1", "1e300", "left_wheel_joint,", "left_wheel_joint"),
    "--wheel": ("joint=left_wheel_joint,kind=sphere,radius=0.1", "joint=left_wheel_joint,mu=0.1",
                "link=base_link,kind=sphere,radius=0.05,point=0 0 0.05",
                "joint=right_wheel_joint,kind=disc,radius=1e-300"),
    "--robot": ("differential_drive", "trailers", "coin", "robot.urdf"),
    "--eigenvalues": ("differential_drive", "coin", "robot.urdf", "ball")}
CONTROLLERS = """
def still(t, state):
    return {}

def broken(t, state):
    raise RuntimeError("broken")

number = 3
"""
# what the commands say of a failure; click has a capital letter
ERROR = re.compile(r"^[Ee]rror: ", re.MULTILINE)


@cache
def options(home: tuple[str, ...] = ()) -> dict[tuple[str, ...], list[tuple[str, ...]]]:
    """Of each command below `home`, by its words, the words that may follow it: an option, with
    values that suit it."""
    command: click.Command = cli.main
    for name in home:
        command = command.get_command(click.Context(command), name)
    if isinstance(command, click.Group):
        found = {}
        for name in command.list_commands(click.Context(command)):
            found |= options((*home, name))
        return found
    return {home: [pair for parameter in command.params if isinstance(parameter, click.Option)
                   for pair in product(*_words(parameter))] or [("--help",)]}


def _words(parameter: click.Option) -> Iterator[tuple[str, ...]]:
    """Its flags; then, for each value that it takes, words of that kind."""
    yield (*parameter.opts, *parameter.secondary_opts)
    for _ in range(0 if parameter.is_flag else parameter.nargs):
        kind = parameter.type
        yield TAKEN.get(parameter.opts[0]) or (
            kind.choices if isinstance(kind, click.Choice) else NUMBERS
            if isinstance(kind, (Positive, click.IntRange)) else FILES
            if isinstance(kind, click.Path) else WORDS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files to be named, good ones and others."""
    folder = tmp_path_factory.mktemp("commands")
    robot = nhmech.load(nhmech.urdf_path("differential_drive"))
    run = Simulator(robot).run(0.02)
    for name in ("run.npz", "other.npz", "\udcff.npz"):
        run.save(folder / name)
    command_line("systems", "run", "sled", "--duration", 0.02, "--save", folder / "sled.npz")
    whole = (folder / "run.npz").read_bytes()
    (folder / "cut.npz").write_bytes(whole[:len(whole) // 2])
    text = nhmech.urdf_path("differential_drive").read_text()
    for name in ("robot.urdf", "\udcff.urdf"):
        (folder / name).write_text(text)
    (folder / "broken.urdf").write_text(text[:len(text) // 2])
    (folder / "mine.py").write_text(CONTROLLERS)
    (folder / "points.csv").write_text("x,y\n0,0\n1,0\n2,1\n")
    (folder / "empty.csv").write_text("")
    (folder / "odd.csv").write_bytes(b"x,y\n0,nan\n\xff\0,1\n")
    return folder


@pytest.fixture
def here(folder, tmp_path, monkeypatch):
    """In a copy of that folder, without a browser, with a cache of its own for `cache --clear`;
    a robot is derived once for all lines that ask for the same."""
    for file in folder.iterdir():
        if file.is_file():
            shutil.copy(file, tmp_path)
    for name in ("pipe", "pipe.csv"):
        os.mkfifo(tmp_path / name)
    for name in ("folder", "folder.npz"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path)
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    load = import_module("nhmech.vehicle.load")
    loaded, plain = {}, load.load

    def once(source, **given):
        key = f"{source} {given}"
        if key not in loaded:
            loaded[key] = plain(source, **given)
        return loaded[key]

    monkeypatch.setattr(load, "load", once)
    return tmp_path


def damage(rng: random.Random, words: list[str]) -> list[str]:
    """One random change."""
    i, kind = rng.randrange(len(words)), rng.randrange(5, 20)
    if kind > 11:
        more = options().get(tuple(words[:1])) or options().get(tuple(words[:2])) or [("--help",)]
        return [*words, *rng.choice(more)]
    if kind == 5:        # often a number for a number
        kin = NUMBERS if words[i][:1].isdigit() else FILES if "." in words[i] else WORDS
        return [*words[:i], rng.choice(kin), *words[i + 1:]]
    if kind < 8:
        return [*words[:i], rng.choice(WORDS), *words[i + 1:]]
    if kind == 8:
        return [*words[:i], *words[i + 1:]] or words
    if kind == 9:
        return [*words[:i], words[i], *words[i:]]
    if kind == 10:
        return [*words[:i], rng.choice(rng.choice(LINES)), *words[i + 1:]]
    word = list(words[i])
    if word:
        word[rng.randrange(len(word))] = chr(rng.randrange(1, 256))
    return [*words[:i], "".join(word), *words[i + 1:]]


def check(code: int, output: str, errors: str) -> str:
    """How it ended."""
    assert "Traceback" not in output + errors
    assert not [c for c in errors if category(c) in ("Cc", "Cf") and c not in "\n\t\r"], errors
    if code == 0:
        assert not ERROR.search(errors)
        return "done"
    assert code in (2, 3)
    assert ERROR.search(errors) or errors.startswith("Usage: "), "an exit code without a reason"
    return "refused" if code == 2 else "stopped"


def is_long(words: list[str]) -> bool:
    """Whether it asks for what takes minutes and is sound: all systems checked."""
    return words[:2] == ["systems", "check"] and not words[2:]


def fuzz(count: int, seed: int) -> Counter:
    """How many wrong lines ended how."""
    rng, ends = random.Random(seed), Counter()
    while ends.total() < count:
        words = rng.choice(LINES)
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            words = damage(rng, words)
        if is_long(words):
            continue
        try:
            with at_most(PATIENCE):
                result = CliRunner().invoke(cli.main, words)
            if result.exception is not None and not isinstance(result.exception, SystemExit):
                raise result.exception
            ends[check(result.exit_code, result.stdout, result.stderr)] += 1
        except BaseException:
            print(words)                     # what pytest shows of a test that fails
            raise
    return ends


@pytest.mark.parametrize("read", [
    nhmech.load, nhmech.Trajectory.load, logs.read_csv, logs.read_parquet, logs.read_mcap,
    lambda path: control.read_path(path, 1.0),
    lambda path: nhmech.load(f'<robot xmlns:xacro="http://wiki.ros.org/xacro" name="x">'
                             f'<xacro:include filename="{path}"/></robot>')])
def test_pipes_and_devices_are_no_files(here, read):
    """A pipe never begins, and a device may never end."""
    (here / "endless.csv").symlink_to("/dev/zero")
    for name in ("pipe.csv", "endless.csv"):
        with at_most(PATIENCE), pytest.raises(nhmech.NhmechError, match="pipe or a device"):
            read(str(here / name))


@pytest.mark.parametrize("write", [Trajectory.save_html, logs.write_csv])
def test_no_file_takes_the_place_of_a_device(here, write):
    """As /dev/null would be replaced, for a user who may."""
    run = Trajectory.load("run.npz")
    (here / "link").symlink_to("pipe")
    for name in ("pipe", "link", "folder"):
        with pytest.raises(nhmech.OutputError, match="pipe or a device"):
            write(run, name)
    assert (here / "pipe").is_fifo()


def test_wrong_command_lines_of_a_terminal(here):
    """In a process each, with an encoding that has no escapes of its own."""
    lines = [["report", "\udcff.npz", "-o", "\udcff.html"], ["inspect", "pipe"],
             ["run", "\udcff.urdf", "--duration", "0.01", "--save", "\udcff.npz"],
             ["view", "cut.npz", "--html", "\u202e"], ["controllers", "é"], []]
    ends = Counter()
    for words in lines:
        child = subprocess.run([sys.executable, "-m", "nhmech", *words], capture_output=True,
                               text=True, timeout=PATIENCE,
                               env=os.environ | {"PYTHONIOENCODING": "ascii:strict"})
        ends[check(child.returncode, child.stdout, child.stderr)] += 1
    assert ends == {"done": 2, "refused": 4}


@pytest.mark.parametrize("count", [100, pytest.param(10_000, marks=pytest.mark.soak)])
def test_wrong_command_lines(here, monkeypatch, count):
    monkeypatch.setenv("NHMECH_CACHE", str(here / "cache"))
    ends = fuzz(count, seed=count)
    print(dict(ends))
    assert ends["refused"] > ends["done"] > count / 20
