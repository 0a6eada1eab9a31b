"""Every script of `examples/`, run as a user would: short, into an empty folder; what it says it
writes is there."""

import re
import runpy
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent / "examples"
SCRIPTS = sorted(ROOT.glob("*.py"))
NEEDS = {"gym_random_search.py": "gymnasium"}
pytestmark = pytest.mark.skipif(not ROOT.is_dir(), reason="the examples are in the repository only")


@pytest.fixture(autouse=True)
def shared_vehicles(built_once):
    with built_once():
        yield


def check(script: Path, folder: Path, printed: str) -> None:
    """It prints something, and every file of OUT/ that its docstring names has a content."""
    named = set(re.findall(r"OUT/([\w.]+\w)", script.read_text().split('"""')[1]))
    assert named, f"the docstring of {script.name} must say which files it writes, as OUT/name.png"
    assert printed.strip()
    for name in named:
        assert (folder / "out" / name).stat().st_size > 5000, name
    assert sorted(path.name for path in folder.iterdir()) == ["out"], (
        "nothing is written elsewhere"
    )


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_it_runs_and_writes(script, tmp_path, monkeypatch, capsys):
    """`python examples/NAME.py --short OUT` in this process, which has imported what it needs."""
    pytest.importorskip(NEEDS.get(script.name, "matplotlib"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.setattr(sys, "argv", [str(script), "--short", str(tmp_path / "out")])
    with warnings.catch_warnings():
        warnings.filterwarnings("error", category=DeprecationWarning, module="__main__")
        runpy.run_path(str(script), run_name="__main__")
    check(script, tmp_path, capsys.readouterr().out)


def test_one_runs_by_itself(tmp_path):
    """As a user runs it, in a process of its own."""
    pytest.importorskip("matplotlib")
    script = ROOT / "first_drive.py"
    done = subprocess.run([sys.executable, str(script), "--short", str(tmp_path / "out")],
                          cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    check(script, tmp_path, done.stdout)


def test_the_gallery_shows_every_example():
    """Each script is linked with its picture, which is there and small;
    `python docs/example_pictures.py` makes them."""
    text = (ROOT / "README.md").read_text()
    for script in SCRIPTS:
        assert f"({script.name})" in text, f"examples/README.md does not link {script.name}"
        picture = f"../docs/images/examples/{script.stem}.png"
        assert f"]({picture})" in text and 5000 < (ROOT / picture).stat().st_size < 80_000, picture
