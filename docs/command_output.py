"""What commands print, in pages that show it: `python docs/command_output.py` writes it anew."""

import re
from pathlib import Path

from click.testing import CliRunner

from nhmech.cli import main
from nhmech.control import controller_class, controller_names

HERE = Path(__file__).parent


def outputs() -> dict[str, str]:
    """Mark in a page -> the text between `<!-- output: MARK -->` and `<!-- end -->`."""
    lines = ["| name | class | what it does |", "|---|---|---|"]
    for name in controller_names():
        kind = controller_class(name)
        summary = kind.__doc__.partition("\n")[0].replace("|", "\\|")
        lines.append(f"| `{name}` | `{kind.__name__}` | {summary} |")
    done = CliRunner().invoke(main, ["inspect", "differential_drive"], catch_exceptions=False)
    return {"controllers": "\n".join(lines),
            "inspect": f"```text\n{done.output.rstrip()}\n```"}


def fill(text: str) -> str:
    """A page with the outputs of today."""
    found = outputs()
    return re.sub(r"(<!-- output: (\w+) -->\n).*?(<!-- end -->)",
                  lambda place: f"{place[1]}\n{found[place[2]]}\n\n{place[3]}", text, flags=re.S)


if __name__ == "__main__":
    for page in HERE.glob("*.md"):
        text = page.read_text()
        if "<!-- output: " in text:
            page.write_text(fill(text))
