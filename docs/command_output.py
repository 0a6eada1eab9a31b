"""What commands print, for the pages, as it is at the time of the build."""

from pathlib import Path

from click.testing import CliRunner

from nhmech.cli import main
from nhmech.control import controller_class, controller_names


def write_output(folder: Path) -> None:
    """Writes the files that pages include; those that would not change are left alone."""
    folder.mkdir(exist_ok=True)
    _write(folder / "inspect.txt", _printed("inspect", "differential_drive"))
    lines = ["| name | class | what it does |", "|---|---|---|"]
    for name in controller_names():
        kind = controller_class(name)
        summary = kind.__doc__.partition("\n")[0].replace("|", "\\|")
        lines.append(f"| `{name}` | {{py:obj}}`{kind.__name__}` | {summary} |")
    _write(folder / "controllers.md", "\n".join([*lines, ""]))


def _printed(*words: str) -> str:
    done = CliRunner().invoke(main, words, catch_exceptions=False)
    if done.exit_code:
        raise RuntimeError(f"nhmech {' '.join(words)}: {done.output}")
    return done.output


def _write(file: Path, text: str) -> None:
    if not file.is_file() or file.read_text() != text:
        file.write_text(text)
