"""Rows as CSV or JSON lines, whichever a file's name ends in.

Every value is written as it is. A text that begins with `=` is therefore a formula to a spreadsheet that opens the CSV:
a mark put before it would be a change of the data to every program that reads the file.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TextIO

from csim.errors import InputError
from csim.export.whole import whole

Row = dict[str, Any]
Follow = Callable[[int], None]  # called now and then with how many images are done

_OFTEN = 1000  # rows between two calls


def write_rows(
    path: Path,
    fields: Sequence[str],
    rows: Iterable[Row],
    *,
    outside: Path,
    overwrite: bool = False,
    follow: Follow = lambda _: None,
) -> int:
    """Write rows one by one, and return how many they were.

    Parameters
    ----------
    path
        Ends in `.csv` or `.jsonl`.
    fields
        The names of a row's values, in order.
    rows
        Each with all fields.
    outside
        The stream folder.
    overwrite
        Whether a file may already be there.
    follow
        Called with the number of rows written so far.
    """
    if path.suffix not in (".csv", ".jsonl"):
        raise InputError(f"the file must end in .csv or .jsonl, got {path}")
    with whole(path, outside=outside, overwrite=overwrite) as beside:
        with beside.open("x", encoding="utf-8", newline="") as file:
            put = _csv(file, fields) if path.suffix == ".csv" else _json(file)
            written = 0
            for written, row in enumerate(rows, start=1):
                put(row)
                if not written % _OFTEN:
                    follow(written)
        return written


def _csv(file: TextIO, fields: Sequence[str]) -> Callable[[Row], object]:
    writer = csv.writer(file)
    writer.writerow(fields)
    return lambda row: writer.writerow(row.values())


def _json(file: TextIO) -> Callable[[Row], object]:
    return lambda row: file.write(json.dumps(row, ensure_ascii=False) + "\n")
