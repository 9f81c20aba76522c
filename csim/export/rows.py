"""Write rows as CSV or JSON lines, depending on the file's extension.

Values are written unchanged. A spreadsheet therefore reads a text that begins with `=` as a
formula. An escape character would change the data for every other program.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TextIO

from csim.errors import InputError
from csim.export.destination import atomic_output

Row = dict[str, Any]
Follow = Callable[[int], None]  # called with the number of images done so far

_ROWS_BETWEEN_CALLS = 1000  # of `follow`


def write_rows(
    path: Path,
    fields: Sequence[str],
    rows: Iterable[Row],
    *,
    outside: Path,
    overwrite: bool = False,
    follow: Follow = lambda _: None,
) -> int:
    """Write rows one by one; return how many there were.

    Parameters
    ----------
    path
        Ends in `.csv` or `.jsonl`.
    fields
        The keys of a row, in order.
    rows
        Each with all fields.
    outside
        The stream folder, in which no file may be written.
    overwrite
        Whether to replace an existing file.
    follow
        Called with the number of rows written so far.
    """
    if path.suffix not in (".csv", ".jsonl"):
        raise InputError(f"the file must end in .csv or .jsonl, got {path}")
    with atomic_output(path, outside=outside, overwrite=overwrite) as temporary:
        with temporary.open("x", encoding="utf-8", newline="") as file:
            put = _csv(file, fields) if path.suffix == ".csv" else _json(file)
            written = 0
            for written, row in enumerate(rows, start=1):
                put(row)
                if not written % _ROWS_BETWEEN_CALLS:
                    follow(written)
        return written


def _csv(file: TextIO, fields: Sequence[str]) -> Callable[[Row], object]:
    writer = csv.writer(file)
    writer.writerow(fields)
    return lambda row: writer.writerow(row.values())


def _json(file: TextIO) -> Callable[[Row], object]:
    return lambda row: file.write(json.dumps(row, ensure_ascii=False) + "\n")
