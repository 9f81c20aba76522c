"""Prediction lines: one for each image at its arrival, and one whenever its class changes later."""

from __future__ import annotations

import json
import sqlite3
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from heapq import merge
from typing import Any

from csim.folder.database import read_transaction
from csim.records import ClassId

FIELDS = ("line", "item", "decision", "class", "score", "model", "question", "position")
_ARRIVALS = (
    "SELECT i.step, i.place, i.id, i.is_accepted, c.name, i.score, i.model"
    " FROM items i LEFT JOIN current_classes c ON c.id = iif(i.is_accepted, i.nearest, NULL)"
    " WHERE i.step > ? AND i.place > 0 ORDER BY i.step, i.place"
)
_CHANGES = (
    "SELECT step, position, number, kind, body FROM events"
    " WHERE step > ? AND kind IN ('Labelled', 'Revised') ORDER BY number"
)

Line = dict[str, Any]
_Key = tuple[int, int, int]  # step, position, number of the event


def lines(connection: sqlite3.Connection, after: int = 0) -> Iterator[tuple[int, Line]]:
    """Yield each line of the steps after `after`, in order, with its step.

    A line's number is its position; for a later change, the number of the event follows. It is the
    same whenever you read the lines.
    """
    with read_transaction(connection):
        arrivals = _arrivals(connection, after)
        changes = _changes(connection, after)
        for (step, _, _), line in merge(arrivals, changes, key=lambda entry: entry[0]):
            yield step, line


def _arrivals(connection: sqlite3.Connection, after: int) -> Iterator[tuple[_Key, Line]]:
    rows = connection.execute(_ARRIVALS, (after,))
    for step, place, item_id, is_accepted, name, score, model in rows:
        decision = "accepted" if is_accepted else "rejected"
        line = _line(f"{place}", item_id, decision, name, position=place, score=score, model=model)
        yield (step, place, 0), line


def _changes(connection: sqlite3.Connection, after: int) -> Iterator[tuple[_Key, Line]]:
    names = dict(connection.execute("SELECT id, name FROM current_classes"))
    installs = connection.execute(
        "SELECT step, body FROM steps WHERE kind = 'install' ORDER BY step"
    ).fetchall()
    for step, position, number, kind, body in connection.execute(_CHANGES, (after,)):
        line = _change(
            f"{position}.{number}", json.loads(body), kind, names, _model_at(installs, step)
        )
        yield (step, position, number), line


def _model_at(installs: Sequence[tuple[int, int]], step: int) -> int:
    """Return the model version in use at a step; `installs` are the steps that installed one."""
    index = bisect_right(installs, step, key=lambda install: install[0])
    return int(installs[index - 1][1]) if index else 1


def _change(
    line: str, body: Mapping[str, Any], kind: str, names: Mapping[ClassId, str], model: int
) -> Line:
    item = body["item_id"]
    position = body["position"]
    if kind == "Revised":
        name = names.get(body["after"])
        return _line(line, item, "revised", name, position=position, model=model)
    decision = "told" if body["is_told"] else "labelled"
    name = names.get(body["class_id"])
    question = body["question_id"]
    return _line(line, item, decision, name, position=position, model=model, question=question)


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
