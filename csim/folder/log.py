"""The log: what happened in one step, written in one transaction, with all that follows from it.

Images, questions and classes are kept as they are today beside the events, so that readers need not go through those.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import csim.records as r
from csim.folder.codec import event_to_text
from csim.folder.database import insert_many


@dataclass(frozen=True, slots=True)
class Step:
    """What was done, and what happened by it."""

    kind: str  # observe, inbox, install, ask
    position: int
    body: int | None = None
    events: Sequence[r.Event] = ()
    items: Sequence[r.Item] = ()
    kept: Mapping[r.ItemId, bytes] = field(default_factory=dict)  # files by image


def write(connection: sqlite3.Connection, step: Step) -> int:
    """Write a step inside a transaction and return its number."""
    pixels = b"".join(item.image.tobytes() for item in step.items) or None
    row = (step.kind, step.position, step.body, pixels)
    number = connection.execute(
        "INSERT INTO steps (kind, position, body, pixels) VALUES (?, ?, ?, ?)", row
    ).lastrowid
    assert number is not None
    arrivals = {e.item_id: e for e in step.events if isinstance(e, r.Accepted | r.Rejected)}
    pictures = {item_id: hashlib.sha256(file).digest() for item_id, file in step.kept.items()}
    files = [(pictures[item_id], file) for item_id, file in step.kept.items()]
    insert_many(connection, "INSERT OR IGNORE INTO pictures", files)
    insert_many(
        connection,
        "INSERT INTO items (place, id, step, is_accepted, nearest, score, model, class_id, picture)",
        [
            (item.position, item.id, number, *_arrival(arrivals[item.id]), pictures.get(item.id))
            for item in step.items
        ],
    )
    if step.items:  # some may have been mended
        connection.execute(
            "DELETE FROM troubles WHERE id IN (SELECT id FROM items WHERE step = ?)", (number,)
        )
    for event in step.events:
        if not isinstance(event, r.Accepted | r.Rejected | r.TrainingDue):
            connection.execute(
                "INSERT INTO events (step, position, kind, body) VALUES (?, ?, ?, ?)",
                (number, event.position, *event_to_text(event)),
            )
            _follow(connection, event)
    _follow_corrections(connection, step.events)
    return number


def add_labelled(
    connection: sqlite3.Connection,
    items: Sequence[r.Item],
    class_ids: Sequence[r.ClassId],
    kept: Sequence[bytes],
) -> None:
    """Write the labelled images of the warm-up, inside a transaction."""
    for place, (item, class_id, file) in enumerate(
        zip(items, class_ids, kept, strict=True), start=1
    ):
        sha256 = hashlib.sha256(file).digest()
        connection.execute("INSERT OR IGNORE INTO pictures VALUES (?, ?)", (sha256, file))
        connection.execute(
            "INSERT INTO items (place, id, step, is_accepted, class_id, is_told, picture) VALUES (?, ?, 0, 1, ?, 1, ?)",
            (-place, item.id, class_id, sha256),
        )


def _arrival(event: r.Accepted | r.Rejected) -> tuple[int, int | None, float, int, int | None]:
    if isinstance(event, r.Accepted):
        return 1, event.class_id, event.score, event.model, event.class_id
    return 0, event.nearest, event.score, event.model, None


def _follow(connection: sqlite3.Connection, event: r.Event) -> None:
    """Bring images, questions and classes to where an event has taken them."""
    match event:
        case r.Asked(position, question):
            connection.execute(
                "INSERT INTO questions SELECT ?, ?, place, ?, 'open', NULL FROM items WHERE id = ?",
                (question.id, position, json.dumps(question.guesses), question.representative.id),
            )
            _join(connection, question.id, [item.id for item in question.members])
        case r.Joined(_, question_id, item_ids):
            _join(connection, question_id, item_ids)
        case r.Left(_, question_id, item_ids):
            connection.executemany(
                "DELETE FROM members WHERE question_id = ? AND place = (SELECT place FROM items WHERE id = ?)",
                [(question_id, item_id) for item_id in item_ids],
            )
        case r.Labelled(_, item_id, class_id, question_id, is_told):
            connection.execute(
                "UPDATE items SET class_id = ?, question_id = ?, is_told = ? WHERE id = ?",
                (class_id, question_id, is_told, item_id),
            )
            if is_told:
                connection.execute(
                    "UPDATE questions SET status = 'answered', class_id = ? WHERE id = ?",
                    (class_id, question_id),
                )
        case r.Revised(_, item_id, _, after):
            connection.execute(
                "UPDATE items SET class_id = ?, question_id = iif(is_told, question_id, NULL) WHERE id = ?",
                (after, item_id),
            )
        case r.Undone(_, question_id):
            _mark(connection, question_id, "undone")
            connection.execute(
                "UPDATE items SET is_told = 0, question_id = NULL WHERE question_id = ?",
                (question_id,),
            )
        case r.Skipped(_, question_id):
            _mark(connection, question_id, "skipped")
        case r.Divided(_, question_id):
            _mark(connection, question_id, "split")
        case r.Expired(_, question_id):
            _mark(connection, question_id, "expired")
        case _:
            _follow_classes(connection, event)


def _follow_corrections(connection: sqlite3.Connection, events: Sequence[r.Event]) -> None:
    """Note whose answer gave images the class that a correction has just given them."""
    for event in events:
        if isinstance(event, r.Corrected):
            values = (event.class_id, event.question_id)
            connection.execute("UPDATE questions SET class_id = ? WHERE id = ?", values)
            revised = [
                own.item_id
                for own in events
                if isinstance(own, r.Revised) and own.after == event.class_id
            ]
            connection.executemany(
                "UPDATE items SET question_id = ? WHERE id = ? AND place IN"
                " (SELECT place FROM members WHERE question_id = ?)",
                [(event.question_id, item_id, event.question_id) for item_id in revised],
            )


def _follow_classes(connection: sqlite3.Connection, event: r.Event) -> None:
    match event:
        case r.ClassAdded(_, class_id, name):
            connection.execute("INSERT INTO classes VALUES (?, ?, ?)", (class_id, name, class_id))
        case r.ClassRenamed(_, class_id, name):
            connection.execute("UPDATE classes SET name = ? WHERE id = ?", (name, class_id))
        case r.ClassesMerged(_, source, target):
            connection.execute("UPDATE classes SET today = ? WHERE today = ?", (target, source))
        case r.ClassRemoved(_, class_id):
            connection.execute("UPDATE classes SET today = NULL WHERE today = ?", (class_id,))
        case r.Retrained(position, version, class_ids):
            connection.execute(
                "UPDATE models SET installed_at = ?, class_ids = ? WHERE version = ?",
                (position, json.dumps(class_ids), version),
            )


def _join(
    connection: sqlite3.Connection, question_id: r.QuestionId, item_ids: Sequence[r.ItemId]
) -> None:
    connection.executemany(
        "INSERT OR IGNORE INTO members SELECT ?, place FROM items WHERE id = ?",
        [(question_id, item_id) for item_id in item_ids],
    )


def _mark(connection: sqlite3.Connection, question_id: r.QuestionId, status: str) -> None:
    connection.execute(
        "UPDATE questions SET status = ?, class_id = NULL WHERE id = ?", (status, question_id)
    )
