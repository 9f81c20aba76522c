"""Predictions to a file or to standard output, as JSON lines or CSV.

csim writes a prediction after it is safe in the folder. The folder remembers how far a file has
been written. After a crash csim cuts the file there and writes the rest again from the log, so
every line is there once. Standard output cannot be cut: its last lines may come twice, with the
same line numbers.

A path may hold another stream's file by now, so the folder also remembers the head and the inode of
its own file. It records the head before it writes it, so a crash in between does no harm.
"""

from __future__ import annotations

import csv
import io
import json
import os
import sqlite3
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from csim.errors import InputError, StorageError
from csim.folder.database import open_for_messages, transaction
from csim.folder.lines import FIELDS, Line, lines

_RECORD_SECONDS = 1.0  # between two records of how far the file is; a crash repeats what came after
_to_json = json.JSONEncoder(ensure_ascii=False).encode  # json.dumps would make one for each line
_HEAD_BYTES = 1024  # of a file, to know it again; more than the header and the first line of a CSV


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
        self._is_cuttable = path is not None
        self._file = stream
        self._step = 0
        self._size = 0
        self._head = b""
        self._inode: int | None = None
        if path is not None:
            try:
                self._open(path)
            except OSError as error:
                raise StorageError(
                    f"{path} cannot be written ({error.strerror}); choose another file"
                ) from error
        elif record := self._recorded():
            self._step = record.step
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
        text = out.getvalue().encode()
        if self._is_cuttable and text and len(self._head) < _HEAD_BYTES:
            self._head = (self._head + text)[:_HEAD_BYTES]
            self._record()
        try:
            self._file.write(text)
            self._file.flush()
        except BrokenPipeError:  # the reader of standard output has ended
            raise
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
            out.write(_to_json(line) + "\n")

    def _open(self, path: Path) -> None:
        """Open the stream's own file, cut to what the folder knows of; refuse a file of others."""
        record = self._recorded()
        if path.is_file() and path.stat().st_size and not (record and record.is_of(path)):
            raise InputError(
                f"{path} must be written by this stream alone, something else is in it; "
                "give a new name"
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("r+b" if path.exists() else "w+b")
        self._inode = os.fstat(self._file.fileno()).st_ino
        found = self._file.seek(0, io.SEEK_END)
        if record and found >= record.size:  # else it is new or shortened: write all again
            self._step = record.step
            self._size = record.size
        self._file.truncate(self._size)
        self._file.seek(0)
        self._head = self._file.read(min(_HEAD_BYTES, self._size))
        self._file.seek(self._size)

    def _recorded(self) -> _Record | None:
        row = self._connection.execute(
            "SELECT step, size, head, inode FROM outputs WHERE path = ?", (self._key,)
        ).fetchone()
        return row and _Record(*row)

    def _record(self) -> None:
        if self._is_cuttable:  # after a power failure the file holds what the record says
            os.fsync(self._file.fileno())
        with transaction(self._connection):
            self._connection.execute(
                "INSERT OR REPLACE INTO outputs (path, step, size, head, inode)"
                " VALUES (?, ?, ?, ?, ?)",  # not the size that a failed write left
                (self._key, self._step, self._size, self._head, self._inode),
            )
        self._recorded_at = time.monotonic()


def record_step(connection: sqlite3.Connection, name: str, step: int) -> None:
    """Record how far predictions that go elsewhere are written: older images may be folded."""
    with transaction(connection):
        connection.execute(
            "INSERT OR REPLACE INTO outputs (path, step, size) VALUES (?, ?, 0)", (name, step)
        )


@dataclass(frozen=True)
class _Record:
    """Hold what the folder knows of a file that it writes."""

    step: int
    size: int
    head: bytes | None  # None: an older csim wrote the file and knew only its path
    inode: int | None

    def is_of(self, path: Path) -> bool:
        """Return whether a file that is not empty is the one that the stream wrote.

        A crash may have cut it inside its head, or left more than was recorded. A copy of it has
        another inode, and then only the recorded size will do: a restored copy of this stream
        writes the same head.
        """
        if self.head is None:
            return True
        found = path.stat()
        if found.st_ino != self.inode and found.st_size != self.size:
            return False
        with path.open("rb") as file:
            return bool(self.head) and self.head.startswith(file.read(len(self.head)))
