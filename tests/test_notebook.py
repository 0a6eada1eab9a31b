"""The notebooks of the examples run, and what they show displays in place."""

from __future__ import annotations

from html import unescape
from pathlib import Path

import numpy as np
import pytest

import nhmech
from nhmech.systems import load_system

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("notebook")


@pytest.fixture(scope="module")
def executed(folder):
    """Name -> its cells with their outputs. One kernel runs all notebooks, in one folder, for it
    takes two seconds to import what they need; between two of them it forgets all names."""
    nbformat = pytest.importorskip("nbformat", reason="the notebook needs nbformat")
    nbclient = pytest.importorskip("nbclient", reason="the notebook is run by nbclient")
    pytest.importorskip("ipykernel", reason="a notebook needs ipykernel")
    pytest.importorskip("matplotlib", reason="the extra `plot` is not installed")
    whole, found = nbformat.v4.new_notebook(), {}
    for file in NOTEBOOKS:
        book = nbformat.read(file, as_version=4)
        nbformat.validate(book)
        found[file.stem] = book.cells
        whole.cells += [*book.cells, nbformat.v4.new_code_cell("%reset -f")]
    nbclient.NotebookClient(whole, timeout=300, kernel_name="python3",
                            resources={"metadata": {"path": str(folder)}}).execute()
    return found


def outputs(cells, kind):
    return [output["data"][kind] for cell in cells if cell.cell_type == "code"
            for output in cell.outputs
            if output.output_type in ("display_data", "execute_result") and kind in output["data"]]


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_it_is_stored_without_outputs_and_linked(file):
    nbformat = pytest.importorskip("nbformat", reason="the notebook needs nbformat")
    assert f"({file.name})" in (EXAMPLES / "README.md").read_text()
    for cell in nbformat.read(file, as_version=4).cells:
        assert cell.cell_type != "code" or (cell.outputs == [] and cell.execution_count is None)


def said(cells):
    """What its cells print and return."""
    return "".join(output.get("text", "") or output.get("data", {}).get("text/plain", "")
                   for cell in cells if cell.cell_type == "code" for output in cell.outputs)


@pytest.mark.parametrize("name, pictures, words", [
    ("your_robot", 1, ["radius 0.1 m from the coaxial collision cylinder", "<wheel joint=",
                       "first lift-off", "<Mobility: 2 speeds", "mass"]),
    ("controller_design", 3, ["[4.29", "6.02", "pitch", "stands", "falls"]),
    ("optimal_control", 3, ["nx 11, nu 2", "Plan(20 intervals", "[1.0, 0.5, -0.0]",
                            "ideal rolling"]),
    ("geometry", 1, ["gibbs_appell", "growth vector (2, 3, 4, 5, 6)", "kept"])])
def test_it_runs_and_says(name, pictures, words, executed):
    cells = executed[name]
    assert len(outputs(cells, "image/png")) == pictures
    for word in words:
        assert word in said(cells), word


def test_it_runs_and_displays(executed, folder):
    """The run in a frame, four figures, the verdict and the errors in words, and a report on
    disk."""
    cells = executed["first_run"]
    frames = [page for page in outputs(cells, "text/html") if page.startswith("<iframe")]
    assert (len(frames) == 1 and "<!DOCTYPE html>" in unescape(frames[0])
            and 'height="460"' in frames[0])
    assert len(outputs(cells, "image/png")) == 4
    told = said(cells)
    assert ("ideal rolling was valid from t = 0 to 12 s" in told and "lateral error" in told
            and "mm RMS" in told)
    assert (folder / "first_run.html").read_text().startswith("<!DOCTYPE html>")


def test_a_textbook_system_shows_itself_too():
    from nhmech.view import show

    example = load_system("falling_disc")
    simulator = nhmech.Simulator(example)
    simulator.reset(q=np.asarray(example.start["q"], dtype=float), xi=example.start["xi"])
    shown = show(example, simulator.run(0.1), height=300)
    frame = shown._repr_html_()
    assert frame.count('"') == 10 and unescape(frame).count("<iframe") == 1, (
        "quotes inside the page are escaped"
    )
    assert "Falling disc" in frame or "falling_disc" in frame
    with pytest.raises(nhmech.NhmechError, match="positive number of pixels"):
        show(example, simulator.run(0.1), height=0)
