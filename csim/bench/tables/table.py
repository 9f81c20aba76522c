"""A table: what was measured, once per setting and seed, and everything needed to measure it again."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from statistics import mean, stdev

from csim import __version__
from csim.settings import Settings

Value = str | int | float | None  # None: not to be had for this setting
Row = dict[str, Value]


@dataclass(frozen=True)
class Table:
    """Rows of figures, one per setting and seed; Markdown shows their mean over seeds.

    Parameters
    ----------
    name
        What its files are called, and the command that makes it: `csim bench NAME`.
    title
        What it shows, in a line.
    notes
        What a reader must know to read it: where images come from, what a column means.
    keys
        The columns that tell settings apart. A column named `seed` is averaged over.
    rows
        The figures, all rows with the same columns.
    settings
        What all rows share; a row's own columns name what differs. None if each run's file tells its own.
    command
        What makes the table again, if it is not `csim bench NAME` with the seeds.
    """

    name: str
    title: str
    notes: Sequence[str]
    keys: Sequence[str]
    rows: Sequence[Row]
    settings: Settings | None = None
    command: str = ""

    def __post_init__(self) -> None:
        made_by = " ".join([f"csim bench {self.name}", *(f"--seed {seed}" for seed in self.seeds)])
        object.__setattr__(self, "command", self.command.strip() or made_by)

    @property
    def seeds(self) -> list[str]:
        """The seeds, in order; none if nothing was drawn."""
        return list(dict.fromkeys(str(row["seed"]) for row in self.rows if "seed" in row))

    def markdown(self) -> str:
        """Return the title, the means as a table, and how they were made."""
        head = [column for column in self.rows[0] if column != "seed"]
        lines = [
            head,
            ["---"] * len(head),
            *([_cell(group, column) for column in head] for group in self._groups()),
        ]
        body = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        notes = "\n".join(f"- {note}" for note in [*self.notes, *self._origin()])
        return f"# {self.title}\n\n{body}\n\n{notes}\n"

    def csv(self) -> str:
        """Return the figures of every seed."""
        text = io.StringIO()
        writer = csv.DictWriter(text, list(self.rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows)
        return text.getvalue()

    def json(self) -> str:
        """Return the figures of every seed as one line."""
        return json.dumps(
            {"table": self.name, "command": self.command, "rows": list(self.rows)},
            ensure_ascii=False,
        )

    def write(self, folder: Path) -> list[Path]:
        """Write the Markdown and the figures of every seed beside each other; return what was written."""
        texts = {
            folder / f"{self.name}.md": self.markdown(),
            folder / f"{self.name}.csv": self.csv(),
        }
        for path, text in texts.items():
            path.write_text(text, encoding="utf-8")
        return list(texts)

    def _groups(self) -> list[list[Row]]:
        groups: dict[tuple[Value, ...], list[Row]] = {}
        for row in self.rows:
            groups.setdefault(tuple(row[key] for key in self.keys), []).append(row)
        return list(groups.values())

    def _origin(self) -> list[str]:
        averaged = [
            f"seeds {', '.join(self.seeds)}; several: mean ± standard deviation, each in {self.name}.csv"
        ]
        versions = ", ".join(
            f"{name} {version(name)}" for name in ("torch", "numpy", "scikit-learn")
        )
        shared = self.settings.to_dict() if self.settings else {}
        told = ", ".join(f"{name}={value}" for name, value in shared.items())
        return [
            f"command: `{self.command}`",
            *(averaged if self.seeds else []),
            f"versions: Python {platform.python_version()}, csim {__version__}, {versions}",
            f"machine: {platform.machine()}, {os.cpu_count()} cores; one torch thread per process",
            *([f"settings, but for what the columns name: {told}"] if told else []),
        ]


def _cell(group: Sequence[Row], column: str) -> str:
    values = [row[column] for row in group]
    measured = [value for value in values if value is not None]
    numbers = [value for value in measured if isinstance(value, float)]
    if not measured or len(numbers) < len(measured):
        return str(measured[0]) if measured else "–"
    lacking = "" if len(numbers) == len(values) else f" ({len(numbers)} of {len(values)})"
    return figure(numbers) + lacking


def figure(numbers: Sequence[float]) -> str:
    """Return the mean of one or more numbers with three digits that count, and their standard deviation.

    >>> figure([86.9, 87.32]), figure([0.01234]), figure([640.2])
    ('87.1 ± 0.3', '0.0123', '640')
    """
    middle = mean(numbers)
    places = 3 if not middle else min(4, max(0, 2 - math.floor(math.log10(abs(middle)))))
    spread = f" ± {stdev(numbers):.{places}f}" if len(numbers) > 1 else ""
    return f"{middle:.{places}f}{spread}"
