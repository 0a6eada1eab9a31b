"""`nhmech systems`: textbook systems, to be read, checked and run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..errors import MechanicsError
from .options import IntegratorType, OutputFile, Positive

if TYPE_CHECKING:
    from ..systems.example import Example


@click.group(short_help="List, show, check and run textbook systems.")
def systems() -> None:
    """Systems of geometric mechanics, each derived and compared with closed forms.

    \b
    nhmech systems list
    nhmech systems show carriage --latex
    nhmech systems check
    nhmech systems run falling_disc --html disc.html
    nhmech systems show my_system.py

    A system of your own is a Python file with a function example() that returns an
    nhmech.systems.Example. `show`, `check` and `run` take its path instead of a name, and execute
    it.
    """


@systems.command("list")
def list_systems() -> None:
    """List names, titles and sources."""
    from ..systems import load_system, system_names

    width = max(map(len, system_names()))
    for name in system_names():
        example = load_system(name)
        click.echo(f"{name:<{width}}  {example.title}  [{example.source}]")


@systems.command(short_help="Write out the equations of a system.")
@click.argument("name", metavar="NAME|FILE.py")
@click.option("--latex", is_flag=True, help="Write a LaTeX document.")
def show(name: str, latex: bool) -> None:
    """Write a system out: Lagrangian, forms, frame, Hamel symbols, Gibbs function, equations of
    motion, and what its reduction leaves."""
    from ..symbolic.document import to_latex, to_text
    from ..systems import load_system
    from ..systems.written import sections

    example = load_system(name)
    source = f"  [{example.source}]" if example.source else ""
    if latex:
        click.echo(to_latex(f"{example.title}{source}", sections(example, True)))
        return
    click.secho(f"{example.title}{source}\n", bold=True)
    click.echo(to_text(sections(example)))


@systems.command(short_help="Check systems against closed forms, with every method.")
@click.argument("names", nargs=-1, metavar="[NAME|FILE.py]...")
def check(names: tuple[str, ...]) -> None:
    """Derive each system by every method that applies and compare it with its references.

    The columns: largest disagreement between methods (accelerations and multipliers, relative, at
    random states); then each reference with its error and tolerance. Exit code 2 where one is not
    met.
    """
    from rich.console import Console
    from rich.table import Table

    from ..systems import load_system, system_names

    table = Table(box=None, header_style="bold")
    for title in ("system", "methods", "disagreement", "reference", "error", "tolerance", "source",
                  ""):
        table.add_column(title, overflow="fold")
    failed = []
    for name in names or system_names():
        for i, (what, is_met, cells) in enumerate(_check_rows(name, load_system(name))):
            if not is_met:
                failed.append(f"{name}: {what}")
            table.add_row(*(cells if i == 0 else ("", "", "", *cells[3:])),
                          "ok" if is_met else "FAILED", style=None if is_met else "red")
    console = Console(width=None if Console().is_terminal else 200)
    console.print(table)
    if failed:
        raise MechanicsError(f"{len(failed)} references are not met: {'; '.join(failed)}")


def _check_rows(name: str, example: Example) -> Iterator[tuple[str, bool, tuple[str, ...]]]:
    """(reference, whether it is met, cells of the table) of each reference of a system."""
    from ..systems.example import AGREEMENT, disagreement

    apart = disagreement(example)
    methods = f"{len(example.methods)} of 5" + (f" ({example.why_not})" if example.why_not else "")
    references = [(check.what, check.error(), check.tolerance, check.source)
                  for check in example.checks] or [("methods agree", apart, AGREEMENT, "")]
    for what, error, tolerance, source in references:
        yield (what, error <= tolerance and apart <= AGREEMENT,
               (name, methods, f"{apart:.1e}", what, f"{error:.1e}", f"{tolerance:.0e}", source))


@systems.command(short_help="Simulate a system, and show it if it has shapes.")
@click.argument("name", metavar="NAME|FILE.py")
@click.option("--duration", type=Positive(), default=10.0, show_default=True, metavar="SECONDS",
              help="Simulated time.")
@click.option("--dt", type=Positive(), default=1e-3, show_default=True, metavar="SECONDS",
              help="Time step.")
@click.option("--integrator", type=IntegratorType(), default="rk4", show_default=True,
              help="As in `nhmech run`.")
@click.option("--html", type=OutputFile(".html"),
              help="Write the run as one HTML file that plays by itself.")
@click.option("--save", type=OutputFile(".npz"),
              help="Write the run for `nhmech view`, `nhmech export` and `Trajectory.load`.")
def run(name: str, duration: float, dt: float, integrator: str, html: Path | None,
        save: Path | None) -> None:
    """Run a system from an instructive start; show it where it has shapes."""
    from ..simulation.simulator import Simulator
    from ..systems import load_system

    example = load_system(name)
    if html:
        from ..view.system_picture import SystemPicture

        SystemPicture(example)       # refuses a system without shapes, before the run
    simulator = Simulator(example, dt=dt, integrator=integrator)
    simulator.reset(**example.reset_arguments())
    trajectory = simulator.run(duration, every=10, save=save)
    energy = trajectory.energy
    click.echo(f"{example.title}: {trajectory.t[-1]:.4g} s, energy {energy[0]:.9g} at the start, "
               f"{energy[-1]:.9g} at the end, stopped by {trajectory.stop}")
    end = zip(trajectory.names["q"], trajectory.q[-1])
    click.echo("end      " + "  ".join(f"{key} {value:+.6g}" for key, value in end))
    if save:
        click.echo(f"saved    {save}")
    if html:
        from ..view.recording import save_html

        click.echo(f"html     {save_html(example, trajectory, html)}")
