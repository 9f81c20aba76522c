"""Read what people said, newest first: each message, its outcome, and what it taught."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from csim.folder.codec import Message, message_from_text
from csim.folder.query import Query
from csim.folder.schema import CLASS_EVENTS
from csim.messages import Correct, Junk, Named, Skip, Split
from csim.records import JUNK, ClassId, QuestionId

_MESSAGES = (
    "SELECT m.number, m.time, m.kind, m.body, m.step, m.refusal, q.id, q.status,"  # noqa: S608
    " q.representative, (SELECT count(*) FROM members WHERE question_id = q.id),"
    f" iif(q.class_id = {JUNK}, {JUNK}, c.current_id), c.name"
    " FROM inbox m LEFT JOIN questions q ON q.id = json_extract(m.body, '$.question_id')"
    " LEFT JOIN current_classes c ON c.id = q.class_id"
    " WHERE m.number < ? ORDER BY m.number DESC LIMIT ?"
)
_CHANGES = (
    "SELECT kind, body, step FROM events"
    " WHERE step >= ? AND kind IN ('Labelled', 'Revised') LIMIT ?"
)
_CLASS_EVENTS = (
    "SELECT e.kind, e.body, s.time FROM events e JOIN steps s ON s.step = e.step"  # noqa: S608
    f" WHERE e.{CLASS_EVENTS} ORDER BY e.number DESC"
)
_MOST_CHANGES = 20_000  # events to look at for what answers taught
_NO_LIMIT = 2**62
_STATUS_AFTER: dict[type[Message], str] = {
    Named: "answered",
    Junk: "answered",
    Correct: "answered",
    Skip: "skipped",
    Split: "split",
}


@dataclass(frozen=True, slots=True)
class AskedAbout:
    """Describe the question that a message is about, as it is today."""

    id: QuestionId
    status: str
    representative: int  # its place
    size: int  # images in its group
    class_id: ClassId | None  # its answer, or `JUNK`
    class_name: str | None


@dataclass(frozen=True, slots=True)
class SaidRow:
    """Hold a message and what became of it."""

    number: int
    time: float | None  # seconds since 1970, in UTC
    message: Message
    step: int | None  # that took it; None if it waits
    refusal: str | None  # the reason, if the engine refused it
    question: AskedAbout | None

    @property
    def can_undo(self) -> bool:
        """Return whether the question is still as the message left it."""
        return (
            self.refusal is None
            and self.step is not None
            and self.question is not None
            and self.question.status == _STATUS_AFTER.get(type(self.message))
        )


@dataclass(frozen=True, slots=True)
class ClassChange:
    """Hold an event that made or changed a class."""

    kind: str
    body: dict[str, object]
    time: float | None


class Said:
    """Read the messages of a stream folder.

    Parameters
    ----------
    query
        The folder's database.
    """

    def __init__(self, query: Query) -> None:
        self._query = query

    def newest(self, most: int, *, before: int | None = None) -> list[SaidRow]:
        """Return messages, newest first.

        Parameters
        ----------
        most
            How many. Higher returns more.
        before
            Only messages with a lower number; None for no limit. Higher starts with newer ones.
        """
        rows = self._query.rows(_MESSAGES, _NO_LIMIT if before is None else before, most)
        return [
            SaidRow(
                number=number,
                time=time,
                message=message_from_text(kind, body),
                step=step,
                refusal=refusal,
                question=None if question[0] is None else AskedAbout(*question),
            )
            for number, time, kind, body, step, refusal, *question in rows
        ]

    def answers_since(self, seconds: float) -> int:
        """Return how many questions people answered since a time.

        Parameters
        ----------
        seconds
            Since 1970, in UTC. Higher counts fewer.
        """
        return int(
            self._query.value(
                "SELECT count(*) FROM inbox WHERE time >= ?"
                " AND kind IN ('Named', 'Junk', 'Correct', 'LabelImages')",
                seconds,
            )
        )

    def taught(self, answers: Sequence[SaidRow]) -> dict[int, int]:
        """Return how many images got the class of each answer since it was taken, by its number.

        An image counts for the latest of these answers with its class.
        """
        taken = sorted(
            (answer for answer in answers if _teaches(answer)), key=lambda answer: answer.number
        )
        found = {answer.number: 0 for answer in taken}
        if not taken:
            return found
        for kind, body, step in self._query.rows(_CHANGES, taken[0].step, _MOST_CHANGES):
            values = json.loads(body)
            class_id = values["class_id"] if kind == "Labelled" else values["after"]
            for answer in reversed(taken):
                assert answer.step is not None
                assert answer.question is not None
                if answer.question.class_id == class_id and answer.step <= step:
                    found[answer.number] += 1
                    break
        return found

    def given(self, step: int) -> list[QuestionId]:
        """Return the questions that a step made for images labelled unasked, if still answered."""
        rows = self._query.rows(
            "SELECT q.id FROM events e"
            " JOIN questions q ON q.id = json_extract(body, '$.question_id')"
            " WHERE e.step = ? AND e.kind = 'Asked' AND q.given AND q.status = 'answered'"
            " ORDER BY q.id",
            step,
        )
        return [question_id for (question_id,) in rows]

    def class_changes(self) -> list[ClassChange]:
        """Return every event that made or changed a class, newest first."""
        rows = self._query.rows(_CLASS_EVENTS)
        return [ClassChange(kind, json.loads(body), time) for kind, body, time in rows]


def _teaches(answer: SaidRow) -> bool:
    """Return whether an answer gave a class that its question still has."""
    return (
        isinstance(answer.message, Named | Junk | Correct)
        and answer.refusal is None
        and answer.step is not None
        and answer.question is not None
        and answer.question.class_id is not None
    )
