"""The frame of every report: one HTML file that needs no other file, no network and no script.

Text from data is escaped where it is written. A section without a body is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from csim.settings import Settings

_MOST_IN_A_ROW = 5  # headline figures


@dataclass(frozen=True)
class Figure:
    """Hold a figure and its meaning in one or two sentences.

    Parameters
    ----------
    name
        What it is called in the table of all figures.
    value
        The figure as text.
    meaning
        What it counts.
    headline
        A few words for the top of the page; without them the figure is in the table only.
    """

    name: str
    value: str
    meaning: str
    headline: str = ""


def assemble(title: str, lead: str, rows: Sequence[Figure], sections: Mapping[str, str]) -> str:
    """Return the page as HTML.

    Parameters
    ----------
    title
        The headline, as text.
    lead
        The sentences below it, as text.
    rows
        Figures; those with a headline are shown at the top.
    sections
        HTML by heading, in order.
    """
    shown = {heading: body for heading, body in sections.items() if body}
    links = "".join(f'<a href="#{_anchor(heading)}">{heading}</a>' for heading in shown)
    bodies = "".join(
        f'<section id="{_anchor(heading)}"><h2>{heading}</h2>{body}</section>'
        for heading, body in shown.items()
    )
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body>"
        f'<header><h1>{escape(title)}</h1><p class="lead">{escape(lead)}</p>{_headline(rows)}'
        f"<nav>{links}</nav></header><main>{bodies}</main></body></html>\n"
    )


def _headline(rows: Sequence[Figure]) -> str:
    tops = [
        f"<div><dt>{row.headline}</dt><dd>{escape(row.value)}</dd></div>"
        for row in rows
        if row.headline
    ]
    # Two full rows look better than a full one and a short one.
    columns = len(tops) if len(tops) <= _MOST_IN_A_ROW else -(-len(tops) // 2)
    return f'<dl class="tops" style="--columns: {columns}">{"".join(tops)}</dl>'


def count_of(count: int, noun: str) -> str:
    """Return a number with its noun.

    >>> count_of(1, "image"), count_of(1200, "image")
    ('1 image', '1,200 images')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _anchor(heading: str) -> str:
    return heading.lower().replace(" ", "-")


def captioned(picture: str, caption: str) -> str:
    """Return a picture with a caption below it; both are HTML."""
    return f'<figure><div class="wide">{picture}</div><figcaption>{caption}</figcaption></figure>'


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, is_html: bool = False) -> str:
    """Return a table whose first column names its rows; cells are text unless `is_html`."""
    top = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head)
    body = ""
    for row in rows:
        first, *rest = row if is_html else [escape(cell) for cell in row]
        cells = "".join(f"<td>{cell}</td>" for cell in rest)
        body += f'<tr><th scope="row">{first}</th>{cells}</tr>'
    return (
        f'<div class="wide"><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def figure_table(rows: Sequence[Figure]) -> str:
    """Return a table of all figures with their meaning."""
    head = ("figure", "value", "what it means")
    return table(head, [(row.name, row.value, row.meaning) for row in rows])


def origin_table(settings: Settings, origin: Mapping[str, str]) -> str:
    """Return how a report was made, a row per entry, and the settings that are not the defaults."""
    defaults = Settings().to_dict()
    changed = [
        (name, str(value), str(defaults[name]))
        for name, value in settings.to_dict().items()
        if value != defaults[name]
    ]
    made = table(("what", "value"), list(origin.items())) if origin else ""
    differing = (
        table(("setting", "here", "default"), changed)
        if changed
        else "<p>All settings are the defaults.</p>"
    )
    return f"{made}<h3>Settings that differ from the defaults</h3>{differing}"


def percent(share: float) -> str:
    r"""Return a share that is given in percent as text.

    >>> percent(4.26)
    '4.3\xa0%'
    """
    return f"{share:.1f}\u00a0%"  # a space that does not break


STYLE = """
:root { color-scheme: light dark; --paper: #fff; --ink: #1b1f24; --soft: #59636e; --line: #d8dee4;
  --card: #f6f8fa;
  --accent: #0067a3; --warn: #b34700; }
@media (prefers-color-scheme: dark) { :root { --paper: #14181d; --ink: #e8ebee; --soft: #a2abb5;
  --line: #343b44;
  --card: #1c2128; --accent: #63b8ea; --warn: #ff9a52; } .chart { filter: brightness(1.3); } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2.5rem 1rem 4rem; max-width: 62rem; background: var(--paper);
  color: var(--ink);
  font: 1rem/1.55 system-ui, "Segoe UI", Roboto, "Liberation Sans", sans-serif; }
h1 { font-size: clamp(1.6rem, 5vw, 2.4rem); line-height: 1.15; margin: 0 0 .6rem;
  letter-spacing: -.02em; }
h2 { font-size: 1.4rem; margin: 3.2rem 0 .8rem; padding-top: 1rem;
  border-top: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.4rem 0 .4rem; }
.lead { font-size: 1.15rem; color: var(--soft); max-width: 46rem; margin: 0 0 1.6rem; }
.tops { display: grid; gap: .7rem; margin: 0; grid-template-columns: repeat(auto-fit,
  minmax(max(9.5rem, (100% - (var(--columns, 5) - 1) * .7rem) / var(--columns, 5)), 1fr)); }
.tops div { background: var(--card); border: 1px solid var(--line); border-radius: .6rem;
  padding: .9rem 1rem;
  display: flex; flex-direction: column-reverse; justify-content: flex-end; }
.tops dd { margin: 0; font-size: 1.9rem; font-weight: 650; color: var(--accent);
  letter-spacing: -.02em;
  font-variant-numeric: tabular-nums; line-height: 1.2; }
.tops dt { color: var(--soft); font-size: .88rem; line-height: 1.35; }
nav { margin-top: 1.2rem; font-size: .92rem; display: flex; flex-wrap: wrap; gap: .3rem 1.1rem; }
a { color: var(--accent); }
figure { margin: 0; }
figcaption, section > p { color: var(--soft); font-size: .95rem; max-width: 48rem;
  margin: .6rem 0 1rem; }
.wide { overflow-x: auto; }
.chart { display: block; width: 100%; min-width: 37rem; height: auto; }
.chart text { font-family: inherit !important; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums;
  font-size: .95rem; }
th, td { text-align: left; padding: .45rem .9rem .45rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; }
thead th { color: var(--soft); font-weight: 500; font-size: .85rem; }
tbody th { font-weight: 600; white-space: nowrap; }
td small { display: block; color: var(--soft); }
img { border-radius: 3px; background: #000; } .pixels { image-rendering: pixelated; }
code { background: var(--card); border: 1px solid var(--line); border-radius: .3rem;
  padding: .05rem .35rem; }
.face { display: flex; align-items: center; gap: .7rem; } .face img { width: 40px; }
.groups { display: grid; grid-template-columns: repeat(auto-fill, minmax(14.5rem, 1fr));
  gap: .8rem; }
.group { background: var(--card); border: 1px solid var(--line); border-radius: .6rem;
  padding: .8rem; }
.group.mixed { border-color: var(--warn); }
.asked { display: flex; gap: .8rem; } .asked > img { width: 80px; height: 80px;
  object-fit: contain; }
.group h3 { margin: 0; font-size: 1.15rem; line-height: 1.2; overflow-wrap: anywhere; }
.group p { margin: 0; font-size: .84rem; line-height: 1.4; color: var(--soft); }
.group p.wrong { color: var(--warn); }
.members { display: flex; flex-wrap: wrap; gap: 4px; margin-top: .7rem; }
.members:empty { display: none; }
.members img { width: 32px; height: 32px; object-fit: contain; }
.class .members img { width: 96px; height: 96px; }
.classes { grid-template-columns: repeat(auto-fill, minmax(21.5rem, 1fr)); }
.group .row { margin-top: .7rem; } .row + .members { margin-top: .2rem; }
.gone { color: var(--soft); font-size: .84rem; } .asked > .gone { width: 80px; }
.stranger { outline: 2px solid var(--warn); outline-offset: 1px; }
.more { align-self: center; color: var(--soft); font-size: .84rem; padding-left: .2rem; }
@media print { :root { color-scheme: light; --paper: #fff; --ink: #000; --soft: #444;
  --line: #ccc; --card: #fff;
  --accent: #00507f; --warn: #a04000; } .chart { filter: none; min-width: 0; } nav {
  display: none; }
  body { max-width: none; padding: 0; font-size: .85rem; } img { print-color-adjust: exact; }
  .members img { width: 26px; height: 26px; } .asked > img { width: 60px; height: 60px; }
  h2 { break-after: avoid; } figure, article, tr { break-inside: avoid; } }
"""
