"""Splits: a mixed group becomes several questions, and one again if the split is undone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from csim.ask.entries import SETTLED, Entry, Members, Shown
from csim.errors import QuestionError
from csim.records import Question, QuestionId


class Splits:
    """Remember the parts of split questions of a ledger, and take splits back.

    Parameters
    ----------
    entries
        The ledger's questions by id.
    open_ids
        The ids of the open questions.
    members
        Says which questions an image belongs to.
    shown
        The content that questions show.
    """

    def __init__(
        self,
        entries: dict[QuestionId, Entry],
        open_ids: dict[QuestionId, None],
        members: Members,
        shown: Shown,
    ) -> None:
        self._entries = entries
        self._open_ids = open_ids
        self._members = members
        self._shown = shown

    def divide(self, question_id: QuestionId, parts: Sequence[QuestionId]) -> None:
        """Record the questions that a split made, so that it can be undone."""
        if question_id in self._entries:  # its parts may have needed the room
            self._entries[question_id].parts = tuple(parts)

    def reunite(self, question_id: QuestionId) -> tuple[Question, Question, list[QuestionId]]:
        """Undo a split that has been checked: forget its parts and take their members back.

        Returns the question as it was and as it is now, and the parts.
        """
        entry = self._entries[question_id]
        before = entry.question
        parts = [self._entries[part].question for part in entry.parts]
        held = {item.id: item for part in parts for item in part.members}
        held.setdefault(before.representative.id, before.representative)
        stay = [item for item in before.members if item.id in held]
        known = {item.id for item in stay}
        members = (*stay, *(item for item in held.values() if item.id not in known))
        for question in (before, *parts):
            self._members.remove(question.id, question.members)
        for part in parts:
            self._shown.remove(self._entries.pop(part.id))
            self._open_ids.pop(part.id, None)
        self._members.add(question_id, members)
        entry.question = replace(before, members=members)
        entry.status = "undone"
        entry.parts = ()
        return before, entry.question, [part.id for part in parts]

    def check(self, entry: Entry) -> None:
        """Raise a `QuestionError` if a split can no longer be undone."""
        question = entry.question
        if not entry.parts or not self._entries.keys() >= set(entry.parts):
            raise QuestionError(
                f"question {question.id} was split, and csim no longer holds its parts; answer or "
                "skip the parts that are open"
            )
        for part in entry.parts:
            if self._entries[part].status in SETTLED:
                raise QuestionError(
                    f"question {question.id} was split, and its part, question {part}, is "
                    f"{self._entries[part].status}; undo question {part} first"
                )
        shown = question.representative
        for other in self._entries.values():
            is_free = other.status == "split" or other.question.id in entry.parts
            if other.question.representative == shown and not is_free:
                raise QuestionError(
                    f"question {other.question.id} shows the image of question {question.id} now; "
                    f"answer or skip the parts of question {question.id} instead"
                )
