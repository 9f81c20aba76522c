"""Predictions to a file or to standard output, as JSON lines or CSV.

csim writes a prediction after it is safe in the folder. The folder remembers how far a file has
been written. After a crash csim cuts the file there and writes the rest again from the log, so
every line is there once. Standard output cannot be cut: its last lines may come twice, with the
same line numbers.
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

_RECORD_SECONDS = 1.0  # between two records of how far the file is; a crash repeats what came after


class Output:
    """Write predictions; `catch_up` writes those that are new in the folder.

    Parameters
    ----------
    database
        The folder's database.
    path
        A file that ends in `.jsonl` or `.csv`; None for `stream`.
    stream
        Where JSON lines go without a file.
    """

    def __init__(self, database: Path, path: Path | None, stream: BinaryIO) -> None:
        if path is not None and path.suffix not in (".jsonl", ".csv"):
            raise InputError(
                f"predictions must go to a file that ends in .jsonl or .csv, got {path}; rename it"
            )
        self._connection = open_for_messages(database)
        self._is_csv = path is not None and path.suffix == ".csv"
        self._key = "-" if path is None else str(path.resolve())
        self._step, size = self._recorded(path)
        try:
            self._file = stream if path is None else _open_cut(path, size)
        except OSError as error:
            raise StorageError(
                f"{path} cannot be written ({error.strerror}); choose another file"
            ) from error
        self._is_cuttable = path is not None
        if self._is_cuttable and self._file.tell() < size:  # somebody shortened it: write all again
            self._file.truncate(0)
            self._file.seek(0)
            self._step = 0
        self._size = self._file.tell() if self._is_cuttable else 0
        self._record()  # from now on the file belongs to this stream

    def catch_up(self) -> int:
        """Write what has happened since the last call and return the number of lines."""
        written = 0
        last = self._step
        out = io.StringIO()
        if self._is_csv and self._is_cuttable and not self._file.tell():
            csv.writer(out).writerow(FIELDS)
        for step, line in lines(self._connection, self._step):
            self._put(out, line)
            written += 1
            last = step
        try:
            self._file.write(out.getvalue().encode())
            self._file.flush()
        except OSError as error:
            raise StorageError(
                f"predictions cannot be written ({error.strerror}); make room, then run again"
            ) from error
        self._step = last
        self._size = self._file.tell() if self._is_cuttable else 0
        if written and time.monotonic() - self._recorded_at > _RECORD_SECONDS:
            self._record()
        return written

    def close(self) -> None:
        """Record how far the file is, and close it."""
        self._record()
        if self._is_cuttable:
            with suppress(OSError):  # closing repeats a failed write, which was reported already
                self._file.close()
        self._connection.close()

    def _put(self, out: io.StringIO, line: Line) -> None:
        if self._is_csv:
            csv.writer(out).writerow(line.values())
        else:
            out.write(json.dumps(line, ensure_ascii=False) + "\n")

    def _recorded(self, path: Path | None) -> tuple[int, int]:
        """Return the step and size up to which the file is written; refuse a file of others."""
        row = self._connection.execute(
            "SELECT step, size FROM outputs WHERE path = ?", (self._key,)
        ).fetchone()
        if row is None and path is not None and path.is_file() and path.stat().st_size:
            raise InputError(
                f"{path} must be written by this stream alone, something else is in it; "
                "give a new name"
            )
        return row or (0, 0)

    def _record(self) -> None:
        row = (self._key, self._step, self._size)  # not the size that a failed write left
        with transaction(self._connection):
            self._connection.execute("INSERT OR REPLACE INTO outputs VALUES (?, ?, ?)", row)
        self._recorded_at = time.monotonic()


def _open_cut(path: Path, size: int) -> BinaryIO:
    """Open a file for appending, cut to a size."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file = path.open("r+b" if path.exists() else "w+b")
    file.truncate(min(size, path.stat().st_size))
    file.seek(0, io.SEEK_END)
    return file
