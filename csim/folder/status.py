"""A stream folder at a glance."""

from __future__ import annotations

from dataclasses import dataclass

from csim.folder.lock import holder
from csim.folder.reader import ClassRow, Reader


@dataclass(frozen=True)
class Status:
    """What an operator wants to know first."""

    position: int  # images taken
    engine: int | None  # the process that runs the stream
    model: int
    training: int | None  # the model under way
    classes: tuple[ClassRow, ...]
    questions: dict[str, int]  # by status
    told: int  # answers that named a class
    budget: float
    waiting: int  # images without a class
    messages: int  # in the inbox, not yet taken
    refusals: tuple[str, ...]  # messages that could not be taken, newest last
    troubles: dict[str, int]  # images that could not be taken, by kind
    picture_bytes: int
    bytes: int  # of the whole folder


def look(reader: Reader) -> Status:
    """Return how a stream is doing."""
    layout = reader.layout
    return Status(
        position=reader.value("SELECT coalesce(max(position), 0) FROM steps"),
        engine=holder(layout.lock),
        model=reader.value("SELECT max(version) FROM models WHERE installed_at IS NOT NULL"),
        training=reader.value("SELECT max(version) FROM models WHERE installed_at IS NULL"),
        classes=tuple(reader.classes()),
        questions=dict(reader.rows("SELECT status, count(*) FROM questions GROUP BY status ORDER BY status")),
        told=reader.value("SELECT count(*) FROM items WHERE is_told AND place > 0"),
        budget=reader.config.settings.budget,
        waiting=reader.value("SELECT count(*) FROM items WHERE class_id IS NULL"),
        messages=reader.value("SELECT count(*) FROM inbox WHERE step IS NULL"),
        refusals=tuple(words for (words,) in reader.rows("SELECT refusal FROM inbox WHERE refusal NOTNULL")),
        troubles=dict(reader.rows("SELECT kind, count(*) FROM troubles GROUP BY kind ORDER BY kind")),
        picture_bytes=reader.value("SELECT coalesce(sum(length(file)), 0) FROM pictures"),
        bytes=sum(file.stat().st_size for file in layout.root.rglob("*") if file.is_file()),
    )
