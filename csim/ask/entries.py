"""Questions with their status, which say to what answers apply."""

from __future__ import annotations

from collections.abc import Iterable, KeysView, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

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


class Shown:
    """Tell whether any question shows an image of some content; a split one no longer does."""

    def __init__(self) -> None:
        self._entries: dict[bytes, list[Entry]] = {}

    def __contains__(self, content: object) -> bool:
        return any(entry.status != "split" for entry in self._entries.get(content, ()))  # type: ignore[call-overload]

    def add(self, entry: Entry) -> None:
        """Take in a question."""
        self._entries.setdefault(entry.content, []).append(entry)

    def remove(self, entry: Entry) -> None:
        """Forget a question."""
        left = [other for other in self._entries[entry.content] if other is not entry]
        self._entries[entry.content] = left
        if not left:
            del self._entries[entry.content]

    def clear(self) -> None:
        """Forget all questions."""
        self._entries.clear()


class Members:
    """Say which questions an image belongs to: a split question and its parts share their images.

    Parameters
    ----------
    entries
        The ledger's questions by id.
    """

    def __init__(self, entries: Mapping[QuestionId, Entry]) -> None:
        self.total = 0  # of the members of all questions
        self.open: set[ItemId] = set()  # the members of open questions
        self._entries = entries
        self._questions_of: dict[ItemId, tuple[QuestionId, ...]] = {}

    @property
    def ids(self) -> KeysView[ItemId]:
        """Return the ids of all images."""
        return self._questions_of.keys()

    def add(self, question_id: QuestionId, items: Sequence[Item]) -> None:
        """Take in images of a question."""
        self.total += len(items)
        for item in items:
            self._questions_of[item.id] = (*self._questions_of.get(item.id, ()), question_id)
        if self._entries[question_id].status == "open":
            self.open.update(item.id for item in items)

    def remove(self, question_id: QuestionId, items: Sequence[Item]) -> None:
        """Forget images of a question."""
        self.total -= len(items)
        for item in items:
            left = tuple(other for other in self._questions_of[item.id] if other != question_id)
            if left:
                self._questions_of[item.id] = left
                self.close([item])
            else:
                del self._questions_of[item.id]
                self.open.discard(item.id)

    def close(self, items: Sequence[Item]) -> None:
        """Forget that images belong to an open question, unless another one has them."""
        for item in items:
            if not self.entries_of(item.id, "open"):
                self.open.discard(item.id)

    def clear(self) -> None:
        """Forget all images."""
        self.total = 0
        self.open.clear()
        self._questions_of.clear()

    def entries_of(self, item_id: ItemId, status: Status) -> list[Entry]:
        """Return the questions of a status that an image belongs to."""
        of_image = self._questions_of.get(item_id, ())
        return [entry for q in of_image if (entry := self._entries[q]).status == status]

    def exclude(self, item_ids: Iterable[ItemId]) -> None:
        """Exclude images from the answers that labelled them, because a model disagrees now."""
        for item_id in item_ids:
            for entry in self.entries_of(item_id, "answered"):
                entry.excluded |= {item_id}


class AskedBefore(NamedTuple):
    """Hold what a search must know of earlier questions."""

    pending: list[Question]  # the open ones, oldest first
    shown: Shown  # the content that questions show
    covered: Set[ItemId]  # the members of open questions


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
