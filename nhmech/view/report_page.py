"""The frame of a report: one page, its style inside, made for paper too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

STYLE = """
:root { --ink: #1c2530; --soft: #5d6976; --line: #dfe4e9;
  --good: #1a7f4b; --doubt: #b7791f; --bad: #b3261e; --none: #5d6976; }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 30px 34px 22px; max-width: 980px; background: #fff; color: var(--ink);
       font: 13.5px/1.45 "Helvetica Neue", Helvetica, Arial, "Liberation Sans", sans-serif; }
h1 { margin: 0; font-size: 27px; font-weight: 600; letter-spacing: -.01em; }
h2 { margin: 0 0 6px; font-size: 13px; font-weight: 600; }
.under { margin: 2px 0 16px; color: var(--soft); }
.verdict { margin: 0 0 14px; padding: 10px 16px 11px; border-left: 5px solid var(--none); background: #f5f7f9; }
.verdict b { display: block; font-size: 17px; font-weight: 600; }
.verdict span { color: var(--soft); }
.good { border-color: var(--good); background: #eef7f1; } .good b { color: var(--good); }
.doubt { border-color: var(--doubt); background: #fcf6e9; } .doubt b { color: var(--doubt); }
.bad { border-color: var(--bad); background: #fcefed; } .bad b { color: var(--bad); }
.facts { display: grid; grid-template-columns: repeat(5, minmax(0, max-content)); gap: 4px 34px;
         margin: 0 0 16px; padding: 0; list-style: none; }
.facts b { display: block; font-size: 19px; font-weight: 600; font-variant-numeric: tabular-nums; }
.facts span { color: var(--soft); font-size: 12px; }
.columns { columns: 2; column-gap: 26px; margin-bottom: 6px; }
figure { margin: 0 0 14px; break-inside: avoid; }
figure.wide { column-span: all; margin-top: 16px; }
figcaption { color: var(--soft); font-size: 12px; margin: 1px 0 0; }
figure svg { display: block; width: 100%; height: auto; }
section { margin: 0 0 14px; break-inside: avoid; }
table { border-collapse: collapse; width: 100%; font-size: 12.5px; font-variant-numeric: tabular-nums; }
th { color: var(--soft); font-weight: 400; text-align: left; border-bottom: 1px solid var(--line); }
th, td { padding: 3px 12px 3px 0; vertical-align: top; }
td { border-bottom: 1px solid #eef1f4; }
th.n, td.n { text-align: right; }
td i.dot { display: inline-block; width: 9px; height: 9px; border-radius: 50%; margin-right: 7px; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 16px; margin: 0; font-size: 12.5px; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
ul.notes { margin: 7px 0 0; padding-left: 17px; font-size: 12.5px; }
footer { margin-top: 6px; padding-top: 7px; border-top: 1px solid var(--line); color: var(--soft); font-size: 11.5px; }
@media (max-width: 700px) {
  .columns { columns: 1; } .facts { grid-template-columns: 1fr 1fr; } body { padding: 18px; } }
@media print { @page { size: A4; margin: 11mm 12mm; }
  body { padding: 0; max-width: none; font-size: 10.5px; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  h1 { font-size: 20px; } .under { margin-bottom: 9px; }
  .verdict b { font-size: 13.5px; } .facts b { font-size: 14.5px; }
  table, dl, ul.notes { font-size: 9.5px; } figcaption, .facts span { font-size: 9.5px; } h2 { font-size: 10.5px; }
  .verdict, .facts, section { margin-bottom: 9px; } figure { margin-bottom: 7px; }
  th, td { padding: 1.5px 10px 1.5px 0; } }
"""


def page(title: str, under: str, body: Sequence[str], footer: str) -> str:
    """A self-contained document of `body`, which is HTML already."""
    return ('<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width">'
            f'<title>{escape(title)}</title><style>{STYLE}</style></head>\n<body>\n<header><h1>{escape(title)}</h1>'
            f'<p class="under">{escape(under)}</p></header>\n'
            + "\n".join(part for part in body if part)
            + f"\n<footer>{escape(footer)}</footer>\n</body></html>\n")


def verdict_box(kind: str, headline: str, details: str) -> str:
    """kind: good, doubt, bad or none."""
    return (
        f'<div class="verdict {kind}"><b>{escape(headline)}</b><span>{escape(details)}</span></div>'
    )


def facts(items: Sequence[tuple[str, str]]) -> str:
    """A row of numbers in large type, (number, what it is)."""
    listed = (f"<li><b>{escape(number)}</b><span>{escape(what)}</span></li>" for number,
              what in items)
    return f'<ul class="facts">{"".join(listed)}</ul>'


def figure(svg: str, heading: str, caption: str, wide: bool = False) -> str:
    """A picture with its heading above and what is to be seen below."""
    return (f'<figure class="{"wide" if wide else "half"}"><h2>{escape(heading)}</h2>{svg}'
            f"<figcaption>{escape(caption)}</figcaption></figure>")


def columns(items: Sequence[str]) -> str:
    """Pictures and sections in two columns of the same length."""
    return f'<div class="columns">{"".join(items)}</div>'


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], swatches: Sequence[str],
          numbers: Sequence[int]) -> str:
    """`swatches` colours the rows, `numbers` are the columns set to the right."""
    kind = ['class="n"' if i in numbers else "" for i in range(len(columns))]
    head = "".join(f"<th {k}>{escape(column)}</th>" for k, column in zip(kind, columns))
    body = ""
    for swatch, row in zip(swatches, rows):
        dot = f'<i class="dot" style="background:{swatch}"></i>'
        cells = (f"<td {k}>{'' if i else dot}{escape(cell)}</td>" for i,
                 (k, cell) in enumerate(zip(kind, row)))
        body += f"<tr>{''.join(cells)}</tr>"
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def pairs(items: Mapping[str, str]) -> str:
    """Names and values."""
    rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name,
                   value in items.items())
    return f"<dl>{rows}</dl>"


def notes(items: Sequence[str]) -> str:
    """A list of sentences."""
    return '<ul class="notes">' + "".join(f"<li>{escape(item)}</li>" for item in items) + "</ul>"


def section(heading: str, *content: str) -> str:
    """A part of the page with its heading."""
    return f"<section><h2>{escape(heading)}</h2>{''.join(content)}</section>"
