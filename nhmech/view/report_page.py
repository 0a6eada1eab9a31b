"""The frame of a report: one page with its style inside, made for paper too."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from string import Template

from .static import escape, read_static


def page(title: str, under: str, body: Sequence[str], footer: str) -> str:
    """A self-contained document; the parts of `body` are HTML already."""
    return Template(read_static("report.html")).substitute(
        title=escape(title), under=escape(under), footer=escape(footer),
        style=read_static("report.css"), body="\n".join(filter(None, body)))


def verdict_box(kind: str, headline: str, details: str) -> str:
    """The verdict in a coloured box; `kind` is good, doubt, bad or none."""
    return (f'<div class="verdict {kind}"><b>{escape(headline)}</b>'
            f"<span>{escape(details)}</span></div>")


def facts(items: Iterable[tuple[str, str]]) -> str:
    """A row of (number, what it is), the numbers in large type."""
    entries = (f"<li><b>{escape(number)}</b><span>{escape(what)}</span></li>"
               for number, what in items)
    return f'<ul class="facts">{"".join(entries)}</ul>'


def figure(svg: str, heading: str, caption: str, wide: bool = False) -> str:
    """A picture with its heading above and its caption below."""
    return (f'<figure class="{"wide" if wide else "half"}"><h2>{escape(heading)}</h2>{svg}'
            f"<figcaption>{escape(caption)}</figcaption></figure>")


def columns(items: Iterable[str]) -> str:
    """Pictures and sections in two columns of the same length."""
    return f'<div class="columns">{"".join(items)}</div>'


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], swatches: Sequence[str],
          numbers: Sequence[int]) -> str:
    """A table; `swatches` are the colours of its rows, `numbers` its right-aligned columns."""
    kinds = ['class="n"' if i in numbers else "" for i in range(len(columns))]
    head = "".join(f"<th {kind}>{escape(column)}</th>" for kind, column in zip(kinds, columns))
    body = ""
    for swatch, (first, *others) in zip(swatches, rows):
        dot = f'<i class="dot" style="background:{swatch}"></i>'
        cells = (dot + escape(first), *map(escape, others))
        body += "".join(["<tr>", *(f"<td {kind}>{cell}</td>" for kind, cell in zip(kinds, cells)),
                         "</tr>"])
    return (f'<div class="scroll"><table><thead><tr>{head}</tr></thead>'
            f"<tbody>{body}</tbody></table></div>")


def pairs(items: Mapping[str, str]) -> str:
    """Names and values."""
    rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>"
                   for name, value in items.items())
    return f"<dl>{rows}</dl>"


def notes(items: Iterable[str]) -> str:
    """A list of sentences."""
    return '<ul class="notes">' + "".join(f"<li>{escape(item)}</li>" for item in items) + "</ul>"


def section(heading: str, *content: str) -> str:
    """A part of the page with its heading."""
    return f"<section><h2>{escape(heading)}</h2>{''.join(content)}</section>"
