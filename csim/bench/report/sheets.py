"""The tables of a folder: what each holds, and which are not made yet.

A table is read from the Markdown that `csim.bench.layout.table` writes: a title, a pipe table, and
notes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from csim.bench.datasets.catalogue import NAMES
from csim.bench.plans.plan import ordinal
from csim.errors import InputError

# In the order of the page: the paper's tables and figures, then those that justify csim's choices.
USUAL = {
    "data-sets": "the data sets and their sizes",
    "reproduced": "the paper's own method, reported and reproduced",
    "stream": "accuracy and labels of every method over streams",
    "novelty": "new images missed, and false alarms, of the same runs",
    "over-stream": "accuracy over the course of the stream",
    "label-curve": "accuracy against the share of labels",
    "convolution": "none, one or two convolution layers",
    "sensitivity": "how much the figures depend on the network's size and margin",
    "metric": "learned metrics, all classes known",
    "embedding": "t-SNE projections of all classes, as pixels and as vectors",
    "cohesion": "images that are nearer to another class than to their own",
    "ablation": "what each addition of the default preset gains",
    "tuning": "how the paper preset was tuned",
    "photos": "encoders and methods on photographs",
    "mining": "three readings of hard triplets",
    "beta": "the weight of the triplet loss",
    "closed-set": "accuracy with all classes known",
    "durability": "what durability costs",
    "service": "the service under load, and killed",
    "page": "how fast the labelling page answers",
    "year": "a year on disk",
    "speed": "what the fast loss, the joint loss and the engine cost",
}


@dataclass(frozen=True)
class Sheet:
    """Hold a table as its Markdown file shows it.

    Parameters
    ----------
    name
        The name of its files, without the ending.
    title
        What it shows.
    head, rows
        The table; every row has a cell for every cell of the head.
    notes
        What you must know to read it.
    """

    name: str
    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str]


@dataclass(frozen=True)
class Folder:
    """Hold a folder's tables in the page's order, its damaged files, and what is not made yet."""

    path: Path
    sheets: Sequence[Sheet]
    damaged: dict[str, str]
    missing: Sequence[str]


def find(path: Path) -> Folder:
    """Return what a folder holds; raise an error if it holds no table."""
    if not path.is_dir():
        raise InputError(
            f"{path} must be a folder of results, but is no folder; make one: csim bench stream "
            "--quick"
        )
    sheets: list[Sheet] = []
    damaged: dict[str, str] = {}
    for file in sorted(path.glob("*.md"), key=lambda file: rank(file.stem)):
        try:
            sheets.append(parse(file.stem, file.read_text(encoding="utf-8")))
        except (InputError, OSError, UnicodeDecodeError) as error:
            damaged[file.name] = str(error)
    if not sheets:
        found = f"only {', '.join(damaged)}" if damaged else "none"
        raise InputError(
            f"{path} must hold a table of the bench, it holds {found}; make one: csim bench stream "
            "--quick"
        )
    present = {base(sheet.name) for sheet in sheets}
    return Folder(path, sheets, damaged, [name for name in USUAL if name not in present])


def base(name: str) -> str:
    """Return the table that a name is a variant of, or the name itself.

    >>> base("stream-r0.5-quick"), base("over-stream"), base("notes")
    ('stream', 'over-stream', 'notes')
    """
    return next((usual for usual in USUAL if name == usual or name.startswith(f"{usual}-")), name)


def variant(name: str) -> str:
    """Return in words how a table differs from the usual one of its kind.

    >>> variant("stream-r0.5-quick"), variant("novelty-whole"), variant("stream-thin3")
    ('r = 0.5, quick', 'whole streams', 'every 3rd image')
    >>> variant("label-curve-emnist-47-quick"), variant("stream")
    ('emnist-47, quick', '')
    """
    rest = name.removeprefix(base(name)).removeprefix("-")
    data = next((name for name in NAMES if f"{rest}-".startswith(f"{name}-")), "")
    words = rest.removeprefix(data).strip("-").split("-")
    return ", ".join([*filter(None, [data]), *(_in_words(word) for word in words if word)])


def _in_words(word: str) -> str:
    if share := re.fullmatch(r"r([\d.]+)", word):
        return f"r = {share[1]}"
    if thin := re.fullmatch(r"thin(\d+)", word):
        return f"every {ordinal(int(thin[1]))} image"
    if seed := re.fullmatch(r"seed(\d+)", word):
        return f"seed {seed[1]}"
    return {"whole": "whole streams"}.get(word, word)


def rank(name: str) -> tuple[int, str]:
    """Return a sort key for the page: the usual tables, each before its variants, then others."""
    order = list(USUAL)
    return (order.index(base(name)) if base(name) in order else len(order), name)


def parse(name: str, text: str) -> Sheet:
    r"""Read a table's Markdown.

    >>> sheet = parse("few", "# A title\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n- one note\n")
    >>> sheet.title, sheet.head, sheet.rows, sheet.notes
    ('A title', ['a', 'b'], [['1', '2']], ['one note'])
    """
    lines = [line.rstrip() for line in text.splitlines()]
    if not lines or not lines[0].startswith("# "):
        raise InputError("it must begin with a title: # …")
    table = [_cells(line) for line in lines if line.startswith("|")]
    if len(table) < 3 or set("".join(table[1])) - set("-: "):
        raise InputError("it must have a table: a head, a line of dashes and a row or more")
    head, _, *rows = table
    for number, row in enumerate(rows, start=1):
        if len(row) != len(head):
            raise InputError(f"every row must have {len(head)} cells, row {number} has {len(row)}")
    notes = [line[2:].strip() for line in lines if line.startswith("- ")]
    return Sheet(name, lines[0][2:].strip(), head, rows, notes)


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().removeprefix("|").removesuffix("|").split("|")]
