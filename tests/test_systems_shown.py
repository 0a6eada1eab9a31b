"""Every textbook system, by the commands: it runs, is saved, drawn and plotted."""

import pytest
from support import command_line, sampled

from nhmech.systems import system_names


@pytest.mark.parametrize("name", sampled(system_names(), 6))
def test_a_system_runs_and_is_seen(name, tmp_path):
    page, run, figure = tmp_path / "a.html", tmp_path / "a.npz", tmp_path / "a.png"
    done = command_line("systems", "run", name, "--duration", "0.2", "--html", str(page), "--save",
                        str(run))
    # an abstract one has nothing to draw, and says so; the run is kept all the same
    assert (done.exit_code, page.exists()) in [(0, True), (2, False)], done.output
    assert page.exists() or "shape" in done.output
    assert run.stat().st_size > 500
    plotted = command_line("plot", str(run), "-o", str(figure))
    assert plotted.exit_code == 0, plotted.output
    assert figure.read_bytes().startswith(b"\x89PNG")
