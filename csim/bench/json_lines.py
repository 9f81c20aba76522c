"""JSON-lines files: one named entry per line, sorted by name, safe for several writers at once.

A writer locks the folder, reads the file, and replaces it in one atomic step. A killed writer
leaves the old file or the new one, and several writers do not lose each other's entries. csim
keeps a damaged line and reports it with its number.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from csim.atomic import remove_leftovers, write_file
from csim.errors import InputError

Content = dict[str, Any]  # of an entry, without its name


@dataclass(frozen=True)
class Entry:
    """Hold the content of a line, and the line's number."""

    number: int
    content: Content


@dataclass(frozen=True)
class Lines:
    """Hold the entries of a file by name, and every damaged line by its number.

    Parameters
    ----------
    path
        The file.
    entries
        By name. If two lines have the same name, the later one counts.
    damaged
        From the number of a line to what is wrong with it.
    """

    path: Path
    entries: dict[str, Entry] = field(default_factory=dict)
    damaged: dict[int, str] = field(default_factory=dict)

    def refuse_damage(self) -> None:
        """Raise an error that names the first damaged line, if there is one."""
        for number, why in self.damaged.items():
            raise InputError(
                f"{self.path}, line {number} is damaged ({why}); delete that line, and csim makes "
                "again what is missing"
            )

    def refuse(self, name: str, kind: str, error: Exception) -> InputError:
        """Return the error to raise for an entry that does not hold what it must.

        Parameters
        ----------
        name
            Of the entry.
        kind
            What the entry should be.
        error
            What was found: a ValueError that says it, or a KeyError that names what is missing.
        """
        why = f"it has no {error}" if isinstance(error, KeyError) else error
        return InputError(
            f"{self.path}, line {self.entries[name].number} is not {kind} ({why}); delete that "
            "line, and csim makes it again"
        )


def read_lines(path: Path) -> Lines:
    """Return what a file holds; nothing if there is no file."""
    lines = Lines(path)
    for number, line in enumerate(_raw_lines(path), start=1):
        if not line.strip():
            continue
        try:
            name, content = _parse(line)
        except ValueError as error:
            lines.damaged[number] = str(error)
        else:
            lines.entries[name] = Entry(number, content)
    return lines


def put(path: Path, name: str, content: Content) -> None:
    """Write an entry into a file; it replaces an earlier one of that name."""
    text = json.dumps({"name": name, **content}, ensure_ascii=False, separators=(",", ":"))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _lock(path.parent):
            remove_leftovers(path.parent)
            lines = _merged(path, name, text.encode())
            write_file(path, b"".join(line + b"\n" for line in lines))
    except OSError as error:
        raise InputError(
            f"{path} could not be written ({error.strerror}); fix that and start again"
        ) from error


def _merged(path: Path, name: str, line: bytes) -> list[bytes]:
    """Return the lines of a file with one more, sorted by name; damaged lines come last."""
    named: dict[str, bytes] = {}
    damaged: list[bytes] = []
    for old in filter(bytes.strip, _raw_lines(path)):
        try:
            named[_parse(old)[0]] = old
        except ValueError:
            damaged.append(old)
    named[name] = line
    return [named[key] for key in sorted(named)] + damaged


@contextmanager
def _lock(folder: Path) -> Iterator[None]:
    """Let one process at a time into the block. The lock ends with the process that holds it."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # some network file systems have no locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _raw_lines(path: Path) -> list[bytes]:
    try:
        return path.read_bytes().splitlines()
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise InputError(
            f"{path} cannot be read ({error.strerror}); fix that, or choose another folder"
        ) from error


def _parse(line: bytes) -> tuple[str, Content]:
    """Return the name and the content of a line; raise ValueError if it has none."""
    content = json.loads(line)
    if not isinstance(content, dict) or not isinstance(name := content.pop("name", None), str):
        raise ValueError("it must be a JSON object with a name")
    return name, content
