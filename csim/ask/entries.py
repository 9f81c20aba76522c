"""Questions with their status, which say to what answers apply."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from csim.errors import QuestionError
from csim.messages import Answer, Correct, Junk, Named, Skip, Split, Undo
from csim.records import ClassId, Item, ItemId, Question, QuestionId

Status = Literal["open", "answered", "skipped", "split", "undone"]

SETTLED: tuple[Status, ...] = ("answered", "split")
_ALLOWED: dict[type[Answer], tuple[Status, ...]] = {  # the statuses that an answer applies to
    Named: ("open", "skipped", "undone"),
    Junk: ("open", "skipped", "undone"),
    Skip: ("open", "undone"),
    Split: ("open", "skipped", "undone"),
    Undo: ("answered", "skipped", "split"),
    Correct: ("answered",),
}


@dataclass
class Entry:
    """Hold a question, its status and the class of its answer."""

    question: Question
    status: Status = "open"
    class_id: ClassId | None = None
    excluded: frozenset[ItemId] = frozenset()  # members to which the answer no longer applies
    parts: tuple[QuestionId, ...] = ()  # the questions that a split made of it

    @cached_property
    def content(self) -> bytes:
        """Return what models see of the image that the question shows."""
        return self.question.representative.content.tobytes()

    def answered_members(self) -> list[Item]:
        """Return the members that the answer labels: all but the excluded ones."""
        return [item for item in self.question.members if item.id not in self.excluded]

    def check(self, answer: Answer) -> None:
        """Raise a `QuestionError` if the answer does not apply to the question now."""
        allowed = _ALLOWED[type(answer)]
        if self.status not in allowed:
            raise QuestionError(
                f"question {self.question.id} is {self.status}; "
                f"{type(answer).__name__.lower()} needs one that is {' or '.join(allowed)}"
            )
        if isinstance(answer, Split):
            _check_parts(self.question, answer)


def release(uses: Counter[object], items: Sequence[Item]) -> None:
    """Count one use less of each image."""
    for item in items:
        uses[item.id] -= 1
        if not uses[item.id]:
            del uses[item.id]


def _check_parts(question: Question, answer: Split) -> None:
    if len(question.members) < 2:
        raise QuestionError(
            f"question {question.id} has one image only and cannot be split; name or skip it"
        )
    if not answer.parts:
        return
    given = sorted(item_id for part in answer.parts for item_id in part)
    if (
        len(answer.parts) < 2
        or not all(answer.parts)
        or given != sorted(item.id for item in question.members)
    ):
        raise QuestionError(
            f"the parts of question {question.id} must be at least two, none empty, and hold each "
            f"of its {len(question.members)} images once; "
            f"got {len(answer.parts)} parts of {len(given)} images"
        )
