"""The status of a stream folder, as `csim status` shows it."""

from __future__ import annotations

import stat
from dataclasses import dataclass
from pathlib import Path

from csim.folder.lock import holder
from csim.folder.reader import ClassRow, Reader


@dataclass(frozen=True)
class Status:
    """Sum up a stream folder for its operator."""

    position: int  # images observed
    engine: int | None  # the process that runs the stream
    model: int  # the model version in use
    training: int | None  # the model version in training
    classes: tuple[ClassRow, ...]
    questions: dict[str, int]  # by status
    told: int  # labels spent: names, splits and corrections, those taken back included
    budget: float
    waiting: int  # images without a class
    messages: int  # in the inbox, not yet taken
    refusals: tuple[str, ...]  # why messages were refused, newest last
    troubles: dict[str, int]  # files that could not be used, by kind
    picture_bytes: int
    bytes: int  # of all files in the folder


def read_status(reader: Reader) -> Status:
    """Return the status of a stream folder at one moment."""
    with reader.transaction():
        return Status(
            position=reader.history.position(),
            engine=holder(reader.layout.lock),
            model=reader.models.in_use(),
            training=reader.models.in_training(),
            classes=tuple(reader.classes()),
            questions=reader.counts.questions(),
            told=len(reader.history.labels_spent()),
            budget=reader.config.settings.budget,
            waiting=reader.counts.without_class(),
            messages=reader.counts.waiting_messages(),
            refusals=tuple(reader.history.refusals()),
            troubles=reader.counts.troubles(),
            picture_bytes=reader.counts.picture_bytes(),
            bytes=sum(_size(file) for file in reader.layout.root.rglob("*")),
        )


def _size(file: Path) -> int:
    try:
        found = file.stat()
    except FileNotFoundError:  # the engine deleted it after it was listed
        return 0
    return found.st_size if stat.S_ISREG(found.st_mode) else 0
