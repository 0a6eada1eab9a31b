"""The documentation builds without a warning, its Python and its commands run as typed, and the gallery says what the vehicles are."""

import importlib.util
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import nhmech

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
INCLUDED = "notation.md", "references.md", "changes.md"
PAGES = sorted(page for folder in (DOCS, DOCS / "theory") for page in folder.glob("*.md") if page.name not in INCLUDED)


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(), re.M | re.S)


def gallery():
    spec = importlib.util.spec_from_file_location("docs_vehicles", DOCS / "vehicles.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")], ids=lambda page: str(page.relative_to(DOCS)))
def test_python_of_a_page_runs(page, tmp_path, monkeypatch):
    """Each block stands alone, in an empty folder; what it states is in its own assertions."""
    monkeypatch.chdir(tmp_path)
    for code in blocks(page, "python"):
        exec(compile(code, str(page), "exec"), {})


def commands(page: Path) -> list[str]:
    return [line.split("#")[0].strip() for block in blocks(page, "sh") for line in block.splitlines() if line.startswith("nhmech ")]


def test_commands_of_the_tutorial_run(tmp_path, monkeypatch):
    """One after the other in one folder, as somebody would type them; the module of section 5 is the block printed there."""
    from click.testing import CliRunner

    from nhmech.cli import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    page = DOCS / "tutorial.md"
    (tmp_path / "my_controllers.py").write_text(next(code for code in blocks(page, "python") if "def circle" in code))
    typed = commands(page)
    assert len(typed) >= 7
    for line in typed:
        done = CliRunner().invoke(main, shlex.split(line)[1:])
        assert done.exit_code == 0, f"{line}\n{done.output}"
    for file in ("run.html", "run.npz", "figure8.svg", "figure8.csv", "figure8.html", "circle.npz"):
        assert (tmp_path / file).stat().st_size > 1000, file
    run = nhmech.Trajectory.load(tmp_path / "circle.npz")
    assert run.column("left_wheel_joint")[-1] == pytest.approx(4.0, rel=1e-3) and run.t[-1] == pytest.approx(5.0, rel=1e-9)


OTHERS = [page for page in (*PAGES, *sorted((DOCS / "gallery").glob("*.md"))) if page.name != "tutorial.md" and commands(page)]


@pytest.mark.parametrize("page", OTHERS,
                         ids=lambda page: str(page.relative_to(DOCS)))
def test_commands_of_other_pages_parse(page, tmp_path, monkeypatch):
    from nhmech.cli import main

    monkeypatch.chdir(tmp_path)
    for line in commands(page):
        _, name, *words = shlex.split(line)
        command = main.get_command(None, name)
        assert command is not None, f"no command {name!r}"
        command.make_context(name, words)


def test_every_shipped_vehicle_is_in_the_gallery():
    module = gallery()
    assert set(module.NAMES) == set(nhmech.urdf_names())
    assert (DOCS / "gallery.md").read_text() == module.index()
    for name in module.NAMES:
        assert 10_000 < (DOCS / "gallery" / "images" / f"{name}.webp").stat().st_size < 150_000


@pytest.mark.parametrize("name", nhmech.urdf_names())
def test_gallery_pages_are_up_to_date(name):
    """A page is derived from its vehicle; where this fails, `python docs/vehicles.py` writes it anew."""
    assert (DOCS / "gallery" / f"{name}.md").read_text() == gallery().page(name)


def test_builds_without_a_warning(tmp_path):
    for package in ("sphinx", "furo", "myst_parser"):
        pytest.importorskip(package, reason=f"the documentation needs {package}: pip install 'nhmech[docs]'")
    done = subprocess.run([sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", str(DOCS), str(tmp_path)],
                          capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}, timeout=600)
    assert done.returncode == 0, done.stderr
    front = (tmp_path / "index.html").read_text()
    assert "tutorial.html" in front and "theory/index.html" in front
    assert "Phi dv/dt = [dxi/dt; -gamma]" in (tmp_path / "api" / "mechanics.html").read_text()          # docstrings came through
    for image in re.findall(r'src="([^":]+\.(?:svg|webp|gif|png))"', (tmp_path / "wheels.html").read_text()):
        assert (tmp_path / image).is_file(), image
