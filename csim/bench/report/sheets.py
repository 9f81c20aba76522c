"""The tables of a folder: which there are, which are not made yet, and what stands in each.

A table is read from the Markdown that `csim.bench.layout.table` writes: a title, a pipe table, and notes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from csim.bench.datasets.catalogue import NAMES
from csim.bench.plans.plan import ordinal
from csim.errors import InputError

# In the order of the page: the paper's tables and figures, then what the method's own choices rest on.
USUAL = {
    "data-sets": "the data sets and their sizes",
    "stream": "accuracy and labels of every method over streams",
    "novelty": "new images missed, and false alarms, of the same runs",
    "over-stream": "accuracy as the stream goes by",
    "label-curve": "accuracy against the share of labels",
    "convolution": "none, one or two convolution layers",
    "sensitivity": "how much the figures hang on the network's size and margin",
    "metric": "learned metrics, all classes known",
    "embedding": "images of all classes laid flat, as pixels and as vectors",
    "cohesion": "images that lie nearer to another class than to their own",
    "ablation": "what each addition of the default is worth",
    "tuning": "how the paper preset was tuned",
    "mining": "three readings of hard triplets",
    "beta": "the weight of the triplet loss",
    "closed-set": "accuracy with all classes known",
    "durability": "what it costs that nothing is lost",
    "speed": "what the fast loss, the joint loss and the engine cost",
}


@dataclass(frozen=True)
class Sheet:
    """What a Markdown file tells.

    Parameters
    ----------
    name
        What its files are called, without the ending.
    title
        What it shows.
    head, rows
        The table; every row has a cell for every word of the head.
    notes
        What to know to read it.
    """

    name: str
    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str]


@dataclass(frozen=True)
class Folder:
    """A folder of results: the tables in the page's order, what is damaged and why, and what is not made yet."""

    path: Path
    sheets: Sequence[Sheet]
    damaged: dict[str, str]
    missing: Sequence[str]


def find(path: Path) -> Folder:
    """Return what a folder holds; refuse one that holds no table."""
    if not path.is_dir():
        raise InputError(
            f"{path} must be a folder of results, there is none; make one: csim bench stream --quick"
        )
    sheets, damaged = [], {}
    for file in sorted(path.glob("*.md"), key=lambda file: place(file.stem)):
        try:
            sheets.append(parse(file.stem, file.read_text(encoding="utf-8")))
        except (InputError, OSError, UnicodeDecodeError) as error:
            damaged[file.name] = str(error)
    if not sheets:
        found = f"only {', '.join(damaged)}" if damaged else "none"
        raise InputError(
            f"{path} must hold a table of the bench, it holds {found}; make one: csim bench stream --quick"
        )
    present = {base(sheet.name) for sheet in sheets}
    return Folder(path, sheets, damaged, [name for name in USUAL if name not in present])


def base(name: str) -> str:
    """Return the usual table that a name stands for a variant of, else the name itself.

    >>> base("stream-r0.5-quick"), base("over-stream"), base("notes")
    ('stream', 'over-stream', 'notes')
    """
    return next((usual for usual in USUAL if name == usual or name.startswith(f"{usual}-")), name)


def variant(name: str) -> str:
    """Return in words what tells a table from the usual one of its kind.

    >>> variant("stream-r0.5-quick"), variant("novelty-whole"), variant("stream-thin3"), variant("stream")
    ('r = 0.5, a quick look', 'whole streams', 'every 3rd image', '')
    >>> variant("label-curve-emnist-47-quick")
    'emnist-47, a quick look'
    """
    rest = name.removeprefix(base(name)).removeprefix("-")
    data = next((own for own in NAMES if f"{rest}-".startswith(f"{own}-")), "")
    words = rest.removeprefix(data).strip("-").split("-")
    return ", ".join([*filter(None, [data]), *(_in_words(word) for word in words if word)])


def _in_words(word: str) -> str:
    if share := re.fullmatch(r"r([\d.]+)", word):
        return f"r = {share[1]}"
    if thin := re.fullmatch(r"thin(\d+)", word):
        return f"every {ordinal(int(thin[1]))} image"
    if seed := re.fullmatch(r"seed(\d+)", word):
        return f"seed {seed[1]}"
    return {"quick": "a quick look", "whole": "whole streams"}.get(word, word)


def place(name: str) -> tuple[int, str]:
    """Return where a table stands on the page: the usual ones in their order, a variant behind its own, then others."""
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
