"""`nhmech systems`: the textbook systems, shown, checked and run."""

from __future__ import annotations

import click

from ..errors import MechanicsError
from .options import OutputFile


@click.group()
def systems():
    """Systems of geometric mechanics, each derived and held against a closed form.

    \b
    nhmech systems list
    nhmech systems show carriage --latex
    nhmech systems check
    nhmech systems run falling_disc --html disc.html
    """


@systems.command("list")
def list_():
    """Names, titles and sources."""
    from ..systems import load_system, system_names

    for name in system_names():
        example = load_system(name)
        click.echo(f"{name:<24} {example.title}  [{example.source}]")


@systems.command()
@click.argument("name")
@click.option("--latex", is_flag=True, help="Write LaTeX (needs the extra 'latex').")
def show(name, latex):
    """Write a system out: Lagrangian, forms, frame, Hamel symbols, Gibbs function, reduced
    equations."""
    from ..systems import load_system
    from ..systems.written import paragraphs, writer

    example = load_system(name)
    click.secho(f"{example.title}  [{example.source}]", bold=True)
    for heading, lines in paragraphs(example, writer(latex)):
        click.secho(f"\n{heading}", bold=True)
        for line in lines:
            click.echo(f"  {line}")


@systems.command()
@click.argument("names", nargs=-1)
def check(names):
    """Derive each system by every method that applies and hold it against its references.

    The columns: largest disagreement between methods (accelerations and multipliers, relative, at
    random states); then each reference with its error and tolerance. Exit code 3 where one is not
    met.
    """
    from rich.console import Console
    from rich.table import Table

    from ..systems import load_system, system_names
    from ..systems.example import AGREEMENT, disagreement

    table = Table(box=None, header_style="bold")
    for title in ("system", "methods", "disagreement", "reference", "error", "tolerance", "source",
                  ""):
        table.add_column(title, overflow="fold")
    failed = []
    for name in names or system_names():
        example = load_system(name)
        apart = disagreement(example)
        methods = f"{len(example.methods)} of 5" + (f" ({example.why_not})" if example.why_not
                                                    else "")
        rows = [("methods agree", apart, AGREEMENT, "")] if not example.checks else []
        for check in example.checks:
            rows.append((check.what, check.error(), check.tolerance, check.source))
        for i, (what, error, tolerance, source) in enumerate(rows):
            good = error <= tolerance and apart <= AGREEMENT
            if not good:
                failed.append(f"{name}: {what}")
            of_all = (name, methods, f"{apart:.1e}") if i == 0 else ("", "", "")
            verdict, style = ("ok", None) if good else ("FAILED", "red")
            table.add_row(*of_all, what, f"{error:.1e}", f"{tolerance:.0e}", source, verdict,
                          style=style)
    console = Console(width=None if Console().is_terminal else 200)
    console.print(table)
    if failed:
        raise MechanicsError(f"{len(failed)} references are not met: {'; '.join(failed)}")


@systems.command()
@click.argument("name")
@click.option("--duration", default=10.0, show_default=True, metavar="SECONDS",
              help="Simulated time.")
@click.option("--html", type=OutputFile(".html"),
              help="Write the run as one HTML file that plays by itself.")
@click.option("--save", type=OutputFile(".npz"),
              help="Write the run, for `nhmech view`, `nhmech export` and `Trajectory.load`.")
def run(name, duration, html, save):
    """Run a system from its instructive start; show it where it has shapes."""
    import numpy as np

    from ..simulation.simulator import Simulator
    from ..systems import load_system

    example = load_system(name)
    simulator = Simulator(example)
    q, xi = np.asarray(example.start["q"], dtype=float), example.start["xi"]
    simulator.reset(q=q, xi=dict(zip(example.speeds, xi)) if example.speeds else xi)
    trajectory = simulator.run(duration, every=10, save=save)
    energy = trajectory.energy
    click.echo(f"{example.title}: {trajectory.t[-1]:.4g} s, energy {energy[0]:.9g} at the start, "
               f"{energy[-1]:.9g} at the end, stopped by {trajectory.stop}")
    click.echo(
        "end      "
        + "  ".join(
            f"{key} {value:+.6g}" for key, value in zip(trajectory.names["q"], trajectory.q[-1])
        )
    )
    if save:
        click.echo(f"saved    {save}")
    if html:
        from ..view.system_picture import save_system_html

        click.echo(f"html     {save_system_html(example, trajectory, html)}")
