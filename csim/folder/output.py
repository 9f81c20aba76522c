"""Predictions to a file or to standard output, as JSON lines or CSV, after they are safe in the folder.

The folder remembers how far a file has been written. A run that goes on after a crash cuts the file there and writes
the rest again from the log: every line is there once. Standard output cannot be cut: its last lines may come twice,
with the same line numbers.
"""

from __future__ import annotations

import csv
import io
import json
import time
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from csim.errors import InputError, StorageError
from csim.folder.database import open_for_messages, transaction
from csim.folder.lines import FIELDS, Line, lines

_OFTEN = 1.0  # seconds between two notes of how far the file is: what came after one is written again after a crash


class Output:
    """A place for predictions; `catch_up` brings it to where the folder is.

    Parameters
    ----------
    database
        The folder's.
    path
        A file that ends in `.jsonl` or `.csv`; None for `stream`.
    stream
        Where JSON lines go without a file.
    """

    def __init__(self, database: Path, path: Path | None, stream: BinaryIO) -> None:
        if path is not None and path.suffix not in (".jsonl", ".csv"):
            raise InputError(
                f"predictions must go to a file that ends in .jsonl or .csv, got {path}"
            )
        self._connection = open_for_messages(database)
        self._is_csv = path is not None and path.suffix == ".csv"
        self._key = "-" if path is None else str(path.resolve())
        self._step, size = self._written(path)
        try:
            self._file = stream if path is None else _cut(path, size)
        except OSError as error:
            raise StorageError(
                f"{path} cannot be written ({error.strerror}); choose another file"
            ) from error
        self._is_cuttable = path is not None
        if (
            self._is_cuttable and self._file.tell() < size
        ):  # somebody has shortened it: write it anew
            self._file.truncate(0)
            self._file.seek(0)
            self._step = 0
        self._size = self._file.tell() if self._is_cuttable else 0
        self._remember()  # the file is ours from here on

    def catch_up(self) -> int:
        """Write what has happened since; return how many lines that were."""
        written, last = 0, self._step
        out = io.StringIO()
        if self._is_csv and self._is_cuttable and not self._file.tell():
            csv.writer(out).writerow(FIELDS)
        for step, line in lines(self._connection, self._step):
            self._put(out, line)
            written, last = written + 1, step
        try:
            self._file.write(out.getvalue().encode())
            self._file.flush()
        except OSError as error:
            raise StorageError(
                f"predictions cannot be written ({error.strerror}); make room, then run again"
            ) from error
        self._step, self._size = last, self._file.tell() if self._is_cuttable else 0
        if written and time.monotonic() - self._since > _OFTEN:
            self._remember()
        return written

    def close(self) -> None:
        """Let the file go."""
        self._remember()
        if self._is_cuttable:
            with suppress(OSError):  # a write that failed has been told of, and is tried again here
                self._file.close()
        self._connection.close()

    def _put(self, out: io.StringIO, line: Line) -> None:
        if self._is_csv:
            csv.writer(out).writerow(line.values())
        else:
            out.write(json.dumps(line, ensure_ascii=False) + "\n")

    def _written(self, path: Path | None) -> tuple[int, int]:
        """Return how far the predictions have been written; a file that is not ours is left alone."""
        row = self._connection.execute(
            "SELECT step, size FROM outputs WHERE path = ?", (self._key,)
        ).fetchone()
        if row is None and path is not None and path.is_file() and path.stat().st_size:
            raise InputError(
                f"{path} must be written by this stream alone, something else is in it; give a new name"
            )
        return row or (0, 0)

    def _remember(self) -> None:
        row = (self._key, self._step, self._size)  # not where a write that failed has left the file
        with transaction(self._connection):
            self._connection.execute("INSERT OR REPLACE INTO outputs VALUES (?, ?, ?)", row)
        self._since = time.monotonic()


def _cut(path: Path, size: int) -> BinaryIO:
    path.parent.mkdir(parents=True, exist_ok=True)
    file = path.open("r+b" if path.exists() else "w+b")
    file.truncate(min(size, path.stat().st_size))
    file.seek(0, io.SEEK_END)
    return file
