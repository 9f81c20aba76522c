"""A stream folder at a glance."""

from __future__ import annotations

import stat
from dataclasses import dataclass
from pathlib import Path

from csim.folder.lock import holder
from csim.folder.reader import ClassRow, Reader

_TOLD = "SELECT count(*) FROM inbox WHERE kind IN ('Named', 'Split', 'Correct') AND step IS NOT NULL AND refusal IS NULL"  # noqa: E501
_WAITING = "SELECT count(*) FROM items i LEFT JOIN classes c ON c.id = i.class_id WHERE c.today IS NULL AND i.place > 0"


@dataclass(frozen=True)
class Status:
    """What an operator wants to know first."""

    position: int  # images taken
    engine: int | None  # the process that runs the stream
    model: int
    training: int | None  # the model under way
    classes: tuple[ClassRow, ...]
    questions: dict[str, int]  # by status
    told: int  # labels spent: names, splits and corrections, those taken back included
    budget: float
    waiting: int  # images without a class
    messages: int  # in the inbox, not yet taken
    refusals: tuple[str, ...]  # messages that could not be taken, newest last
    troubles: dict[str, int]  # images that could not be taken, by kind
    picture_bytes: int
    bytes: int  # of the whole folder


def read_status(reader: Reader) -> Status:
    """Return how a stream is doing."""
    layout = reader.layout
    return Status(
        position=reader.value("SELECT coalesce(max(position), 0) FROM steps"),
        engine=holder(layout.lock),
        model=reader.value("SELECT max(version) FROM models WHERE installed_at IS NOT NULL"),
        training=reader.value("SELECT max(version) FROM models WHERE installed_at IS NULL"),
        classes=tuple(reader.classes()),
        questions=dict(
            reader.rows("SELECT status, count(*) FROM questions GROUP BY status ORDER BY status")
        ),
        told=reader.value(_TOLD),
        budget=reader.config.settings.budget,
        waiting=reader.value(_WAITING),
        messages=reader.value("SELECT count(*) FROM inbox WHERE step IS NULL"),
        refusals=tuple(
            words for (words,) in reader.rows("SELECT refusal FROM inbox WHERE refusal NOTNULL")
        ),
        troubles=dict(
            reader.rows("SELECT kind, count(*) FROM troubles GROUP BY kind ORDER BY kind")
        ),
        picture_bytes=reader.value("SELECT coalesce(sum(length(file)), 0) FROM pictures"),
        bytes=sum(_size(file) for file in layout.root.rglob("*")),
    )


def _size(file: Path) -> int:
    try:
        found = file.stat()
    except FileNotFoundError:  # the engine has just deleted it
        return 0
    return found.st_size if stat.S_ISREG(found.st_mode) else 0
