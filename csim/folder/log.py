"""The log: each change of the engine is a step, written in one transaction with what happened."""

from __future__ import annotations

import hashlib
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import csim.records as r
from csim.errors import CsimError, FolderError
from csim.folder import timeline
from csim.folder.codec import event_to_text
from csim.folder.database import insert_many, transaction
from csim.folder.inputs import inputs_to_bytes
from csim.folder.layout import Layout
from csim.folder.tables import update_tables
from csim.folder.views import views_to_bytes
from csim.sources.arrival import Trouble

_NOT_LISTED = (r.Accepted, r.Rejected, r.TrainingDue)  # among events: items and models have them


@dataclass(frozen=True, slots=True)
class Step:
    """Hold what the engine was given to do."""

    kind: str  # warm-up, observe, inbox, install, ask
    body: int | None = None  # how many images, which message, which model
    items: Sequence[r.Item] = ()
    views: r.GivenViews = ()  # that came with the images
    # One per image, or empty if no image has any.
    files: Sequence[bytes | None] = ()  # pictures
    fingerprints: Sequence[bytes | None] = ()
    sources: Sequence[str | None] = ()  # names of cameras


@dataclass(frozen=True, slots=True)
class Change:
    """Hold a step, the events that followed, and more rows to write in the same transaction."""

    step: Step
    events: Sequence[r.Event]
    write_more: Callable[[], None] | None = None


@dataclass(frozen=True, slots=True)
class LastStep:
    """Hold the number, kind and position of the newest step in the log."""

    number: int
    kind: str
    position: int


class Log:
    """Write steps in order, and refuse to go on after one that could not be written.

    Parameters
    ----------
    connection
        The one that the engine writes to.
    layout
        The folder's files.
    last
        The newest step in the log.
    clock
        Returns the seconds since 1970, in UTC. csim records them and never decides by them.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        layout: Layout,
        last: LastStep,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.last = last
        self.is_behind = False  # the engine has changed, and the step is not written yet
        self._connection = connection
        self._layout = layout
        self._clock = clock
        self._troubles: list[Trouble] = []

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Mark the log as behind the engine until `write`; a CsimError has changed nothing."""
        if self.is_behind:
            raise FolderError(
                f"{self._layout.root} must be written before the stream goes on, which failed; "
                "open the folder again to continue from its last step"
            )
        self.is_behind = True
        try:
            yield
        except CsimError:
            self.is_behind = False
            raise

    def write(
        self,
        changes: Sequence[Change],
        position: int,
        write_more: Callable[[], None] = lambda: None,
    ) -> None:
        """Write steps that end at a position in one transaction, with the rows of `write_more`."""
        last = self.last
        with transaction(self._connection):
            for change in changes:
                number = write_step(
                    self._connection, change.step, position, change.events, self._clock()
                )
                last = LastStep(number, change.step.kind, position)
                if change.write_more is not None:
                    change.write_more()
            write_more()
        self.last = last
        self.is_behind = False

    def note(self, trouble: Trouble) -> None:
        """Remember an image that cannot be taken, until `write_troubles`."""
        self._troubles.append(trouble)

    def write_troubles(self) -> None:
        """Write the images that could not be taken."""
        if self._troubles:
            rows = [(trouble.id, trouble.kind, trouble.reason) for trouble in self._troubles]
            with transaction(self._connection):
                self._connection.executemany(
                    "INSERT OR REPLACE INTO troubles VALUES (?, ?, ?)", rows
                )
            self._troubles = []


def write_step(
    connection: sqlite3.Connection,
    step: Step,
    position: int,
    events: Sequence[r.Event],
    seconds: float,
) -> int:
    """Write a step and its events inside a transaction, and return the step's number.

    Parameters
    ----------
    connection
        In a transaction.
    step
        What the engine was given to do.
    position
        Of the stream, after the step. Higher is later.
    events
        What happened.
    seconds
        Since 1970, in UTC. Higher is later.
    """
    inputs = inputs_to_bytes(step.items)
    number = connection.execute(
        "INSERT INTO steps (kind, position, body, pixels, views, time) VALUES (?, ?, ?, ?, ?, ?)",
        (step.kind, position, step.body, inputs, views_to_bytes(step.views), seconds),
    ).lastrowid
    assert number is not None
    if step.items:
        _write_items(connection, step, number, events)
    others = [event for event in events if not isinstance(event, _NOT_LISTED)]
    connection.executemany(
        "INSERT INTO events (step, position, kind, body) VALUES (?, ?, ?, ?)",
        [(number, event.position, *event_to_text(event)) for event in others],
    )
    update_tables(connection, others, seconds)
    timeline.add(connection, events, seconds)
    return number


def _write_items(
    connection: sqlite3.Connection, step: Step, number: int, events: Sequence[r.Event]
) -> None:
    none = [None] * len(step.items)
    files = step.files or none
    sha256 = [None if file is None else hashlib.sha256(file).digest() for file in files]
    pictures = [row for row in zip(sha256, files, strict=True) if row[0] is not None]
    insert_many(connection, "INSERT OR IGNORE INTO pictures", pictures)
    insert_many(
        connection,
        "INSERT INTO items"
        " (place, id, step, is_accepted, nearest, score, model, class_id, picture,"
        " fingerprint, source)",
        [
            (event.position, event.item_id, number, *_decision(event), digest, mark, source)
            for event, digest, mark, source in zip(
                (event for event in events if isinstance(event, r.Accepted | r.Rejected)),
                sha256,
                step.fingerprints or none,
                step.sources or none,
                strict=True,
            )
        ],
    )
    # An image that could not be read before may have been repaired.
    connection.execute(
        "DELETE FROM troubles WHERE id IN (SELECT id FROM items WHERE step = ?)", (number,)
    )


def _decision(event: r.Accepted | r.Rejected) -> tuple[int, int | None, float, int, int | None]:
    if isinstance(event, r.Accepted):
        return 1, event.class_id, event.score, event.model, event.class_id
    return 0, event.nearest, event.score, event.model, None
