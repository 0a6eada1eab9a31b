"""The notebook of the examples runs, and what it shows displays in place."""

from __future__ import annotations

from html import unescape
from pathlib import Path

import numpy as np
import pytest

import nhmech
from nhmech.systems import load_system

NOTEBOOK = Path(__file__).resolve().parent.parent / "examples" / "first_run.ipynb"


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    nbformat = pytest.importorskip("nbformat", reason="the notebook needs nbformat")
    nbclient = pytest.importorskip("nbclient", reason="the notebook is run by nbclient")
    pytest.importorskip("ipykernel", reason="a notebook needs ipykernel")
    pytest.importorskip("matplotlib", reason="the extra `plot` is not installed")
    folder = tmp_path_factory.mktemp("notebook")
    book = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(book)
    place = {"metadata": {"path": str(folder)}}
    nbclient.NotebookClient(book, timeout=300, kernel_name="python3", resources=place).execute()
    return book, folder


def outputs(book, kind):
    return [output["data"][kind] for cell in book.cells if cell.cell_type == "code"
            for output in cell.outputs
            if output.output_type in ("display_data", "execute_result") and kind in output["data"]]


def test_it_is_stored_without_outputs():
    nbformat = pytest.importorskip("nbformat", reason="the notebook needs nbformat")
    for cell in nbformat.read(NOTEBOOK, as_version=4).cells:
        assert cell.cell_type != "code" or (cell.outputs == [] and cell.execution_count is None)


def test_it_runs_and_displays(executed):
    """The run in a frame, four figures, the verdict and the errors in words, and a report on
    disk."""
    book, folder = executed
    frames = [page for page in outputs(book, "text/html") if page.startswith("<iframe")]
    assert (
        len(frames) == 1
        and "<!DOCTYPE html>" in unescape(frames[0])
        and 'height="460"' in frames[0]
    )
    assert len(outputs(book, "image/png")) == 4
    said = "".join(output.text for cell in book.cells if cell.cell_type == "code"
                   for output in cell.outputs if output.output_type == "stream")
    assert (
        "ideal rolling was valid from t = 0 to 12 s" in said
        and "lateral error" in said
        and "mm RMS" in said
    )
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
