"""The status of a stream folder, as `csim status` shows it."""

from __future__ import annotations

import stat
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from csim.folder.lock import holder
from csim.folder.reader import ClassRow, Reader
from csim.folder.workers import Workers, workers_from
from csim.metrics.audit import AuditFigures, Estimate
from csim.utc import utc


@dataclass(frozen=True)
class Status:
    """Sum up a stream folder for its operator."""

    position: int  # images observed
    engine: int | None  # the process that runs the stream
    model: int  # the model version in use
    training: int | None  # the model version in training
    due: int | None  # the model version that the next run trains, as no engine runs
    trained: int  # models that took over since the start
    revised: int  # labels that csim changed later
    classes: tuple[ClassRow, ...]
    questions: dict[str, int]  # by status
    audit: AuditFigures | None  # the estimated accuracy; None without answers to the audit
    open_audit: int  # questions of the audit without an answer
    told: int  # labels spent: names, splits and corrections, those taken back included
    budget: float
    waiting: int  # images without a class
    junk: int  # images that are junk
    messages: int  # in the inbox, not yet taken
    refusals: tuple[str, ...]  # why messages were refused, newest last
    troubles: dict[str, int]  # files that could not be used, by kind
    picture_bytes: int
    bytes: int  # of all files in the folder
    last_image: str | None  # when it came, in UTC
    images_per_second: float | None  # in the minute before the last image
    seconds_to_answer: float | None  # median between question and answer, of the newest answers
    workers: Workers | None  # those of the run; None if it has none


def read_status(reader: Reader) -> Status:
    """Return the status of a stream folder at one moment."""
    with reader.transaction():
        engine = holder(reader.layout.lock)
        not_in_use = reader.models.in_training()
        return Status(
            position=reader.history.position(),
            engine=engine,
            model=reader.models.in_use(),
            training=None if engine is None else not_in_use,
            due=not_in_use if engine is None else None,
            trained=reader.counts.models_trained(),
            revised=reader.counts.labels_revised(),
            classes=tuple(reader.classes()),
            questions=reader.counts.questions(),
            audit=reader.counts.audited(),
            open_audit=reader.counts.open_audit_questions(),
            told=len(reader.history.labels_spent()),
            budget=reader.config.settings.budget,
            waiting=reader.counts.without_class(),
            junk=reader.counts.junk(),
            messages=reader.counts.waiting_messages(),
            refusals=tuple(reader.history.refusals()),
            troubles=reader.counts.troubles(),
            picture_bytes=reader.counts.picture_bytes(),
            bytes=sum(_size(file) for file in reader.layout.root.rglob("*")),
            last_image=utc(reader.times.last_image()),
            images_per_second=reader.times.images_per_second(),
            seconds_to_answer=reader.times.seconds_to_answer(),
            workers=reader.workers.of(engine),
        )


def status_from(values: Mapping[str, Any]) -> Status:
    """Return the status that `dataclasses.asdict` turned into plain values; others are ignored."""
    own = {field.name: values[field.name] for field in fields(Status)}
    audit = own["audit"]
    if audit is not None:
        estimates = {name: Estimate(**audit[name]) for name in ("at_arrival", "today")}
        audit = AuditFigures(**{**audit, **estimates})
    parts = {
        "audit": audit,
        "classes": tuple(ClassRow(**row) for row in own["classes"]),
        "refusals": (*own["refusals"],),
        "workers": None if own["workers"] is None else workers_from(own["workers"]),
    }
    return Status(**{**own, **parts})


def _size(file: Path) -> int:
    try:
        found = file.stat()
    except FileNotFoundError:  # the engine deleted it after it was listed
        return 0
    return found.st_size if stat.S_ISREG(found.st_mode) else 0
