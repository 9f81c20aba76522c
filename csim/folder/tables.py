"""Tables that say how things are now: items, questions, members, classes, models.

They follow from the steps and events, and csim keeps them in the same transaction. So readers need
not go through the whole log.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Sequence
from itertools import groupby

import csim.records as r

_STATUS: dict[type[r.Event], str] = {
    r.Skipped: "skipped",
    r.Divided: "split",
    r.Expired: "expired",
}


def add_labelled(
    connection: sqlite3.Connection,
    items: Sequence[r.Item],
    class_ids: Sequence[r.ClassId],
    files: Sequence[bytes],
) -> None:
    """Write the labelled images of the warm-up, inside a transaction."""
    labelled = zip(items, class_ids, files, strict=True)
    for number, (item, class_id, file) in enumerate(labelled, start=1):
        sha256 = hashlib.sha256(file).digest()
        connection.execute("INSERT OR IGNORE INTO pictures VALUES (?, ?)", (sha256, file))
        connection.execute(
            "INSERT INTO items (place, id, step, is_accepted, class_id, is_told, picture)"
            " VALUES (?, ?, 0, 1, ?, 1, ?)",
            (-number, item.id, class_id, sha256),
        )


def update_tables(connection: sqlite3.Connection, events: Sequence[r.Event], time: float) -> None:
    """Apply the events of a step, which happened at a time, to the tables, in a transaction."""
    for kind, alike in groupby(events, type):
        if kind is r.Joined:  # often thousands, while nobody answers
            joined = [event for event in alike if isinstance(event, r.Joined)]
            _add_members(connection, [(e.question_id, i) for e in joined for i in e.item_ids])
            continue
        for event in alike:
            _apply(connection, event, time)
    for event in events:
        if isinstance(event, r.Corrected):
            _apply_correction(connection, event, events)


def _apply(connection: sqlite3.Connection, event: r.Event, time: float) -> None:
    match event:
        case r.Asked():
            _add_question(connection, event, time)
        case r.Left(_, question_id, item_ids):
            connection.executemany(
                "DELETE FROM members"
                " WHERE question_id = ? AND place = (SELECT place FROM items WHERE id = ?)",
                [(question_id, item_id) for item_id in item_ids],
            )
        case r.Labelled():
            _apply_label(connection, event)
        case r.Revised(_, item_id, _, after):
            connection.execute(
                "UPDATE items SET class_id = ?, question_id = iif(is_told, question_id, NULL)"
                " WHERE id = ?",
                (after, item_id),
            )
        case r.Undone(_, question_id):
            _set_status(connection, question_id, "undone")
            connection.execute(
                "UPDATE items SET is_told = 0, question_id = NULL WHERE question_id = ?",
                (question_id,),
            )
        case r.Audited(_, _, question_id, at_arrival, today, answer):
            connection.execute(
                "INSERT OR REPLACE INTO audited VALUES (?, ?, ?, ?)",
                (question_id, at_arrival, today, answer),
            )
        case r.Skipped() | r.Divided() | r.Expired():
            _set_status(connection, event.question_id, _STATUS[type(event)])
        case _:
            _apply_to_classes(connection, event)


def _add_question(connection: sqlite3.Connection, asked: r.Asked, time: float) -> None:
    question = asked.question
    connection.execute(
        "INSERT INTO questions"
        " (id, position, representative, guesses, status, class_id, audit, given, time)"
        " SELECT ?, ?, place, ?, 'open', NULL, ?, ?, ? FROM items WHERE id = ?",
        (
            question.id,
            asked.position,
            json.dumps(question.guesses),
            question.is_audit,
            question.is_given,
            time,
            question.representative.id,
        ),
    )
    _add_members(connection, [(question.id, item.id) for item in question.members])


def _apply_label(connection: sqlite3.Connection, event: r.Labelled) -> None:
    connection.execute(
        "UPDATE items SET class_id = ?, question_id = ?, is_told = ? WHERE id = ?",
        (event.class_id, event.question_id, event.is_told, event.item_id),
    )
    if event.is_told:
        connection.execute(
            "UPDATE questions SET status = 'answered', class_id = ? WHERE id = ?",
            (event.class_id, event.question_id),
        )


def _apply_correction(
    connection: sqlite3.Connection, corrected: r.Corrected, events: Sequence[r.Event]
) -> None:
    """Record that the images that a correction revised have their class from its question."""
    connection.execute(
        "UPDATE questions SET class_id = ? WHERE id = ?",
        (corrected.class_id, corrected.question_id),
    )
    revised = [
        event.item_id
        for event in events
        if isinstance(event, r.Revised) and event.after == corrected.class_id
    ]
    connection.executemany(
        "UPDATE items SET question_id = ? WHERE id = ? AND place IN"
        " (SELECT place FROM members WHERE question_id = ?)",
        [(corrected.question_id, item_id, corrected.question_id) for item_id in revised],
    )


def _apply_to_classes(connection: sqlite3.Connection, event: r.Event) -> None:
    match event:
        case r.ClassAdded(_, class_id, name):
            connection.execute("INSERT INTO classes VALUES (?, ?, ?)", (class_id, name, class_id))
        case r.ClassRenamed(_, class_id, name):
            connection.execute("UPDATE classes SET name = ? WHERE id = ?", (name, class_id))
        case r.ClassesMerged(_, source, target):
            connection.execute("UPDATE classes SET today = ? WHERE today = ?", (target, source))
        case r.ClassRemoved(_, class_id):
            connection.execute("UPDATE classes SET today = NULL WHERE today = ?", (class_id,))
        case r.ClassRestored(_, class_id, _, merged):
            connection.executemany(
                "UPDATE classes SET today = ? WHERE id = ?",
                [(class_id, old_id) for old_id in (class_id, *merged)],
            )
        case r.Retrained(position, version, class_ids):
            connection.execute(
                "UPDATE models SET installed_at = ?, class_ids = ? WHERE version = ?",
                (position, json.dumps(class_ids), version),
            )


def _add_members(
    connection: sqlite3.Connection, members: Sequence[tuple[r.QuestionId, r.ItemId]]
) -> None:
    connection.executemany(
        "INSERT OR IGNORE INTO members SELECT ?, place FROM items WHERE id = ?", members
    )


def _set_status(connection: sqlite3.Connection, question_id: r.QuestionId, status: str) -> None:
    connection.execute(
        "UPDATE questions SET status = ?, class_id = NULL WHERE id = ?", (status, question_id)
    )
