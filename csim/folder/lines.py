"""Prediction lines: one for each image at its arrival, and one whenever its class changes later."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from heapq import merge
from typing import Any

from csim.folder.database import read_transaction
from csim.records import JUNK, ClassId
from csim.utc import utc

FIELDS = ("line", "item", "decision", "class", "score", "model", "question", "position", "time")
# A row per step. Before each row, this thread would wait for Python's global lock.
_ARRIVALS = (
    "SELECT step, (SELECT time FROM steps WHERE steps.step = items.step),"
    " json_group_array(json_array(place, id, is_accepted, nearest, score, model))"
    " FROM items WHERE step > ? GROUP BY step"  # the warm-up's images have step 0
)
_CHANGES = (
    "SELECT step, position, number, kind, body,"
    " (SELECT time FROM steps WHERE steps.step = events.step) FROM events"
    " WHERE step > ? AND kind IN ('Labelled', 'Revised') ORDER BY step, number"
)
_MODEL_AT = "SELECT body FROM steps WHERE kind = 'install' AND step <= ? ORDER BY step DESC LIMIT 1"

Line = dict[str, Any]
_Key = tuple[int, int, int]  # step, position, number of the event


def lines(connection: sqlite3.Connection, after: int = 0) -> Iterator[tuple[int, Line]]:
    """Yield each line of the steps after `after`, in order, with its step.

    A line's number is its position; for a later change, the number of the event follows. It is the
    same whenever you read the lines.
    """
    with read_transaction(connection):
        names = dict(connection.execute("SELECT id, name FROM current_classes"))
        arrivals = _arrivals(connection, after, names)
        changes = _changes(connection, after, names)
        for (step, _, _), line in merge(arrivals, changes, key=lambda entry: entry[0]):
            yield step, line


def lines_after(
    connection: sqlite3.Connection, position: int, number: int
) -> Iterator[tuple[int, int, int, Line]]:
    """Yield the lines after one of them, each with its step, position and event number.

    The number is 0 for the line of an arrival. Pairs of position and number only grow.
    """
    row = connection.execute("SELECT step FROM items WHERE place = ?", (position,)).fetchone()
    for step, line in lines(connection, 0 if row is None else row[0] - 1):
        place, _, event = line["line"].partition(".")
        if (int(place), int(event or 0)) > (position, number):
            yield step, int(place), int(event or 0), line


def _arrivals(
    connection: sqlite3.Connection, after: int, names: Mapping[ClassId, str]
) -> Iterator[tuple[_Key, Line]]:
    for step, seconds, images in connection.execute(_ARRIVALS, (after,)):
        time = utc(seconds)
        for place, item_id, is_accepted, nearest, score, model in sorted(json.loads(images)):
            decision = "accepted" if is_accepted else "rejected"
            name = names.get(nearest) if is_accepted else None
            rounded = None if score is None else round(score, 6)
            values = (f"{place}", item_id, decision, name, rounded, model, None, place, time)
            yield (step, place, 0), dict(zip(FIELDS, values, strict=True))


def _changes(
    connection: sqlite3.Connection, after: int, names: Mapping[ClassId, str]
) -> Iterator[tuple[_Key, Line]]:
    last_step = model = 0
    for step, position, number, kind, body, time in connection.execute(_CHANGES, (after,)):
        if step != last_step:
            last_step = step
            model = _model_at(connection, step)
        item, decision, name, question = _change(json.loads(body), kind, names)
        start = (f"{position}.{number}", item, decision, name)
        values = (*start, None, model, question, position, utc(time))
        yield (step, position, number), dict(zip(FIELDS, values, strict=True))


def _model_at(connection: sqlite3.Connection, step: int) -> int:
    """Return the model version in use at a step."""
    row = connection.execute(_MODEL_AT, (step,)).fetchone()
    return 1 if row is None else int(row[0])


def _change(
    body: Mapping[str, Any], kind: str, names: Mapping[ClassId, str]
) -> tuple[str, str, str | None, int | None]:
    """Return the item of a change, the decision, the class and the question."""
    if kind == "Revised":
        decision = "junk" if body["after"] == JUNK else "revised"
        return body["item_id"], decision, names.get(body["after"]), None
    decision = "told" if body["is_told"] else "labelled"
    if body["class_id"] == JUNK:
        decision = "junk"
    return body["item_id"], decision, names.get(body["class_id"]), body["question_id"]
