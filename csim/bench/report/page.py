"""The page: a summary, the contents, every table with its picture, and what is still missing.

The page needs no other file, no network and no script. All text from files is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from pathlib import Path

from csim.bench.layout.sheet import DPI
from csim.bench.report import runs, sheets
from csim.bench.report.pictures import inline
from csim.bench.report.runs import Runs
from csim.bench.report.sheets import USUAL, Folder, Sheet
from csim.errors import InputError
from csim.report.frame import STYLE

FILE = "report.html"
TITLE = "Measurements of csim"


def write(path: Path) -> tuple[Folder, Runs]:
    """Write the page of a folder of results into that folder; return its tables and runs."""
    folder = sheets.find(path)
    done = runs.read(path)
    text = render(folder, done)
    try:
        (path / FILE).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"{path / FILE} must be a file that csim can write ({error.strerror}); move it away"
        ) from error
    return folder, done


def render(folder: Folder, done: Runs) -> str:
    """Return the page as HTML."""
    bodies = [_section(sheet, folder.path) for sheet in folder.sheets]
    bodies += [_damage(folder, done), _missing(folder.missing), _origin(done)]
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{TITLE}</title><style>{STYLE}{_PAGE_STYLE}</style></head><body>"
        f"<header><h1>{TITLE}</h1>{_summary(folder, done)}{_contents(folder, done)}</header>"
        f"<main>{''.join(bodies)}</main></body></html>\n"
    )


def _summary(folder: Folder, done: Runs) -> str:
    tables = f"{_count(len(folder.sheets), 'table')}, {_pictures(folder)} of them with a picture"
    if not len(done):
        return f'<p class="lead">{tables}. The folder has no runs of streams.</p>'
    words = (
        f"{tables}, made from {_count(len(done), 'run')}: {_listed(done.methods, 'method')} on "
        f"{_listed(done.data, 'data set')}, {_listed(list(map(str, done.seeds)), 'seed')}. The "
        f"methods classified {done.images:,} images in all. A simulated person answered their "
        "questions; they saw no other truth."
    )
    tops = {
        "tables": f"{len(folder.sheets)}",
        "runs": f"{len(done):,}",
        "images in all streams": f"{done.images:,}",
        "hours of one core": f"{done.hours:.1f}",
    }
    cards = "".join(f"<div><dt>{word}</dt><dd>{value}</dd></div>" for word, value in tops.items())
    quick = [sheet.name for sheet in folder.sheets if "quick" in sheet.name.split("-")]
    warning = (
        f"<p>Quick tables, of few images and one seed: {', '.join(map(escape, quick))}.</p>"
        if quick
        else ""
    )
    return f'<p class="lead">{words}</p><dl class="tops">{cards}</dl>{warning}'


def _contents(folder: Folder, done: Runs) -> str:
    entries = [(_anchor(sheet.name), _heading(sheet)) for sheet in folder.sheets]
    entries += [("damaged", "Damaged files")] * bool(folder.damaged or done.damaged)
    entries += [("missing", "Not made yet")] * bool(folder.missing) + [
        ("origin", "How this was made")
    ]
    links = "".join(f'<li><a href="#{anchor}">{words}</a></li>' for anchor, words in entries)
    return f'<nav aria-label="Contents"><ol>{links}</ol></nav>'


def _section(sheet: Sheet, path: Path) -> str:
    notes = "".join(f"<li>{_marked(note)}</li>" for note in sheet.notes)
    files = [
        file for ending in ("csv", "png") if (file := path / f"{sheet.name}.{ending}").is_file()
    ]
    links = ", ".join(f'<a href="{escape(file.name)}">{escape(file.name)}</a>' for file in files)
    return (
        f'<section id="{_anchor(sheet.name)}"><h2>{_heading(sheet)}</h2>{_picture(sheet, path)}'
        f"{_table(sheet.head, sheet.rows)}<details><summary>Notes and command</summary>"
        f"<ul>{notes}</ul></details>{f'<p>Files: {links}</p>' if links else ''}</section>"
    )


def _heading(sheet: Sheet) -> str:
    variant = sheets.variant(sheet.name)
    return escape(sheet.title) + (f" <small>{escape(variant)}</small>" if variant else "")


def _picture(sheet: Sheet, path: Path) -> str:
    file = path / f"{sheet.name}.png"
    try:
        image = inline(file.read_bytes(), dpi=DPI, description=f"Picture of: {sheet.title}")
    except FileNotFoundError:
        return ""
    except (InputError, OSError) as error:
        return f'<p class="wrong">{escape(file.name)} is damaged: {escape(str(error))}.</p>'
    return f'<figure class="wide picture">{image}</figure>'


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table whose first column heads its rows; columns of figures are right-aligned."""
    is_numeric = [all(is_figure(row[index]) for row in rows) for index in range(len(head))]
    styles = [' class="figure"' if numeric else "" for numeric in is_numeric]
    top = "".join(
        f'<th scope="col"{style}>{escape(cell)}</th>'
        for cell, style in zip(head, styles, strict=True)
    )
    body = ""
    for first, *rest in rows:
        cells = "".join(
            f"<td{style}>{escape(cell)}</td>" for cell, style in zip(rest, styles[1:], strict=True)
        )
        body += f'<tr><th scope="row"{styles[0]}><div>{escape(first)}</div></th>{cells}</tr>'
    return (
        f'<div class="wide"><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def is_figure(cell: str) -> bool:
    """Tell whether a cell is a figure, or empty where a figure would be.

    >>> is_figure("80.5 ± 0.7"), is_figure("28×28")
    (True, False)
    """
    return cell in ("", "–") or re.match(r"[-+]?[\d.,]+( |$)", cell) is not None


def _damage(folder: Folder, done: Runs) -> str:
    found = {
        **folder.damaged,
        **{f"runs/{name}": why for name, why in done.damaged.items()},
    }
    if not found:
        return ""
    lines = "".join(
        f"<li><code>{escape(name)}</code>: {escape(why)}</li>" for name, why in found.items()
    )
    return (
        '<section id="damaged"><h2>Damaged files</h2><p>csim could not read these.</p>'
        f"<ul>{lines}</ul></section>"
    )


def _missing(names: Sequence[str]) -> str:
    if not names:
        return ""
    lines = "".join(
        f"<li>{USUAL[name]}: not made yet: <code>csim bench {name}</code></li>" for name in names
    )
    return f'<section id="missing"><h2>Not made yet</h2><ul>{lines}</ul></section>'


def _origin(done: Runs) -> str:
    rows = [
        [name, ", ".join(values)]
        for name, key in (
            ("commit", "commit"),
            ("machine", "machine"),
            ("Python", "python"),
            ("torch", "torch"),
        )
        if (values := done.origins(key))
    ]
    times = sorted(time[:16].replace("T", " ") for time in done.origins("time"))
    rows += [["time (UTC)", f"{times[0]} to {times[-1]}"]] if times else []
    words = (
        _table(["origin of the runs", "value"], rows)
        if rows
        else "<p>There are no runs in runs/.</p>"
    )
    counts = [
        [method, *(str(done.count(method, data)) for data in done.data)] for method in done.methods
    ]
    runs_table = f"<h3>Runs</h3>{_table(['method', *done.data], counts)}" if counts else ""
    plus = (
        "<p>A + after a commit: files differed from it.</p>"
        if any("+" in c for c in done.origins("commit"))
        else ""
    )
    return (
        '<section id="origin"><h2>How this was made</h2><p><code>csim bench report</code> makes '
        "this page. The notes of each table give its command.</p>"
        f"{words}{plus}{runs_table}</section>"
    )


def _marked(text: str) -> str:
    """Escape a note, and turn backticks into code elements.

    >>> _marked("command: `a < b`")
    'command: <code>a &lt; b</code>'
    """
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def _anchor(name: str) -> str:
    """Return a table's name as an id.

    >>> _anchor("stream-r0.5")
    'table-stream-r0_2e_5'
    """
    return "table-" + re.sub(r"[^\w-]", lambda found: f"_{ord(found[0]):x}_", name)


def _pictures(folder: Folder) -> int:
    return sum((folder.path / f"{sheet.name}.png").is_file() for sheet in folder.sheets)


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def _listed(words: Sequence[str], kind: str) -> str:
    """Return how many, and which they are.

    >>> _listed(["paper", "default"], "method"), _listed(["0"], "seed")
    ('2 methods (paper, default)', '1 seed (0)')
    """
    return escape(f"{_count(len(words), kind)} ({', '.join(words)})")


_PAGE_STYLE = """
nav ol { margin: 0; padding: 0 0 0 1.4rem; columns: 20rem; flex: 1; }
nav li { break-inside: avoid; }
h2 small { color: var(--soft); font-weight: 400; font-size: 1rem; }
.picture { background: #fff; border-radius: .4rem; margin-bottom: 1rem; }
.picture img { display: block; width: 100%; height: auto; margin: 0 auto; }
@media (prefers-color-scheme: dark) { .picture { padding: .6rem; } }
table { font-size: .88rem; }
th, td { padding: .3rem .8rem .3rem 0; } td { white-space: nowrap; } .figure { text-align: right; }
tbody th { position: sticky; left: 0; background: var(--paper); }
details { margin: .8rem 0; } summary { cursor: pointer; color: var(--accent); }
details ul { font-size: .9rem; color: var(--soft); padding-left: 1.2rem; }
li, code { overflow-wrap: anywhere; } code { font-size: .92em; }
.wrong { color: var(--warn); }
@media (max-width: 40rem) { tbody th div { width: max-content; max-width: 9rem; white-space: normal;
  overflow-wrap: anywhere; } }
@media print {
  :root { color-scheme: light; --paper: #fff; --ink: #000; --soft: #444; --line: #bbb;
    --card: #fff; --accent: #000; }
  body { padding: 0; max-width: none; font-size: 10pt; }
  .wide { overflow: visible; } .picture img { min-width: 0 !important; }
  table, thead th { font-size: 7.5pt; } tbody th { position: static; }
  th, td { padding: .2rem .4rem .2rem 0; white-space: normal; }
  figure, tr, li { break-inside: avoid; } h2, h3, thead { break-after: avoid; }
  details::details-content { content-visibility: visible; block-size: auto; }
  summary { display: none; }
}
"""
