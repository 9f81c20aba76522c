"""Read what csim decided about images, by their ids: at arrival, and today."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from csim.folder.query import Query
from csim.records import JUNK, ClassId, ItemId, QuestionId

_IDS_PER_QUERY = 500
_DECISIONS = (
    "SELECT i.place, i.id, s.time, i.is_accepted, i.nearest, c.name, i.score, i.model,"  # noqa: S608
    " (SELECT max(question_id) FROM members WHERE members.place = i.place),"
    f" i.current_id, i.class_name, i.class_id IS {JUNK}, i.is_told, i.question_id,"
    " i.picture IS NOT NULL, i.fingerprint"
    " FROM current_items i LEFT JOIN steps s ON s.step = i.step"
    " LEFT JOIN classes c ON c.id = i.nearest WHERE i.id IN "
)


@dataclass(frozen=True, slots=True)
class DecisionRow:
    """Describe an image: what csim decided at arrival, and the class that it has today.

    Its place is its position, or negative if it is one of the labelled images of the start.
    """

    place: int
    id: ItemId
    time: float | None  # when csim took it: seconds since 1970, in UTC
    is_accepted: bool  # at arrival
    nearest: ClassId | None  # the class with the best score at arrival
    nearest_name: str | None
    score: float | None
    model: int | None
    asked_in: QuestionId | None  # the newest question whose group it is in
    class_id: ClassId | None  # today
    class_name: str | None
    is_junk: bool  # today
    is_told: bool
    answered_by: QuestionId | None  # the question whose answer gave it its class
    has_picture: bool
    fingerprint: bytes | None  # of the bytes that a client sent


class Decisions:
    """Read decisions of a stream folder.

    Parameters
    ----------
    query
        The folder's database.
    """

    def __init__(self, query: Query) -> None:
        self._query = query

    def of(self, item_ids: Sequence[ItemId]) -> dict[ItemId, DecisionRow]:
        """Return the decisions about those images that csim has taken."""
        found: dict[ItemId, DecisionRow] = {}
        for start in range(0, len(item_ids), _IDS_PER_QUERY):
            some = item_ids[start : start + _IDS_PER_QUERY]
            marks = ", ".join("?" * len(some))
            for row in self._query.rows(f"{_DECISIONS}({marks})", *some):
                found[row[1]] = _decision(row)
        return found


def _decision(row: tuple[object, ...]) -> DecisionRow:
    values = list(row)
    for index in (3, 11, 12, 14):  # SQLite has no truth values
        values[index] = bool(values[index])
    return DecisionRow(*values)  # type: ignore[arg-type]
