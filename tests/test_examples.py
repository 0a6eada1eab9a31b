"""Every script of `examples/`, run as a user would: short, into an empty folder; what it says it
writes is there."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent / "examples"
SCRIPTS = sorted(ROOT.glob("*.py"))
NEEDS = {"gym_random_search.py": "gymnasium"}
pytestmark = pytest.mark.skipif(not ROOT.is_dir(), reason="the examples are in the repository only")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_it_runs_and_writes(script, tmp_path):
    """`python examples/NAME.py --short OUT`: ends well, prints something, and every file of OUT/
    that its docstring names has a content."""
    pytest.importorskip(NEEDS.get(script.name, "matplotlib"))
    named = set(re.findall(r"OUT/([\w.]+\w)", script.read_text().split('"""')[1]))
    assert named, f"the docstring of {script.name} must say which files it writes, as OUT/name.png"
    environment = {**os.environ, "MPLBACKEND": "Agg",
                   "PYTHONWARNINGS": "error::DeprecationWarning:__main__"}
    done = subprocess.run(
        [sys.executable, str(script), "--short", str(tmp_path / "out")],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.strip()
    for name in named:
        assert (tmp_path / "out" / name).stat().st_size > 5000, name
    assert sorted(path.name
                  for path in tmp_path.iterdir()) == ["out"], "nothing is written elsewhere"


def test_the_gallery_shows_every_example():
    """Each script is linked with its picture, which is there and small;
    `python docs/example_pictures.py` makes them."""
    text = (ROOT / "README.md").read_text()
    for script in SCRIPTS:
        assert f"({script.name})" in text, f"examples/README.md does not link {script.name}"
        picture = f"../docs/images/examples/{script.stem}.png"
        assert f"]({picture})" in text and 5000 < (ROOT / picture).stat().st_size < 80_000, picture
