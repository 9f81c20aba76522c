"""What became of each image, line by line: at arrival, and whenever its class changed later."""

from __future__ import annotations

import json
import sqlite3
from bisect import bisect_right
from collections.abc import Iterator
from heapq import merge
from typing import Any

from csim.folder.database import read_transaction

FIELDS = ("line", "item", "decision", "class", "score", "model", "question", "position")
_ARRIVALS = (
    "SELECT i.step, i.place, i.id, i.is_accepted, c.name, i.score, i.model"
    " FROM items i LEFT JOIN classes n ON n.id = iif(i.is_accepted, i.nearest, NULL)"
    " LEFT JOIN classes c ON c.id = n.today WHERE i.step > ? AND i.place > 0 ORDER BY i.step, i.place"
)
_CHANGES = (
    "SELECT step, position, number, kind, body FROM events"
    " WHERE step > ? AND kind IN ('Labelled', 'Revised') ORDER BY number"
)

Line = dict[str, Any]


def lines(connection: sqlite3.Connection, after: int = 0) -> Iterator[tuple[int, Line]]:
    """Yield each line of the steps after one, in order, with its step.

    A line's number is made of the position at which it was written and a count of later changes: it is the same
    whenever the lines are read.
    """
    with read_transaction(connection):
        yield from _lines(connection, after)


def _lines(connection: sqlite3.Connection, after: int) -> Iterator[tuple[int, Line]]:
    names = dict(
        connection.execute(
            "SELECT c.id, t.name FROM classes c LEFT JOIN classes t ON t.id = c.today"
        )
    )
    arrivals = (
        ((step, place, 0), _arrival(place, item_id, is_accepted, name, score, model))
        for step, place, item_id, is_accepted, name, score, model in connection.execute(
            _ARRIVALS, (after,)
        )
    )
    installs = connection.execute(
        "SELECT step, body FROM steps WHERE kind = 'install' ORDER BY step"
    ).fetchall()

    def model_at(step: int) -> int:
        place = bisect_right(installs, step, key=lambda install: install[0])
        return int(installs[place - 1][1]) if place else 1

    changes = (
        (
            (step, position, number),
            _change(f"{position}.{number}", json.loads(body), kind, names, model_at(step)),
        )
        for step, position, number, kind, body in connection.execute(_CHANGES, (after,))
    )
    for (step, _, _), line in merge(arrivals, changes, key=lambda entry: entry[0]):
        yield step, line


def _arrival(
    place: int, item_id: str, is_accepted: int, name: str | None, score: float, model: int
) -> Line:
    decision = "accepted" if is_accepted else "rejected"
    return _line(f"{place}", item_id, decision, name, position=place, score=score, model=model)


def _change(line: str, body: dict[str, Any], kind: str, names: dict[int, str], model: int) -> Line:
    item, position = body["item_id"], body["position"]
    if kind == "Revised":
        name = None if body["after"] is None else names[body["after"]]
        return _line(line, item, "revised", name, position=position, model=model)
    decision, name = "told" if body["is_told"] else "labelled", names[body["class_id"]]
    return _line(
        line, item, decision, name, position=position, model=model, question=body["question_id"]
    )


def _line(
    line: str,
    item: str,
    decision: str,
    name: str | None,
    *,
    position: int,
    score: float | None = None,
    model: int | None = None,
    question: int | None = None,
) -> Line:
    rounded = None if score is None else round(score, 6)
    values = (line, item, decision, name, rounded, model, question, position)
    return dict(zip(FIELDS, values, strict=True))
