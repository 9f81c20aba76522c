"""The ledger of questions: what csim asked, and the status of each question.

    open ──► answered ──► undone ──► answered …
      │  └─► skipped ───► answered, undone
      └────► split ─────► undone    (its parts are new questions until then)

Answers may come at any time and in any order. Each names the question's id and labels all members
of the group. The ledger keeps an answered question with its images, so that you can undo or correct
the answer. When it needs room, it forgets the oldest answered and split questions first. After them
the oldest unanswered questions expire.

An image belongs to at most one open question. If another question takes it, it leaves the first,
unless it is the image that the first question shows. A question of the audit takes no image away:
the audit must not change what it measures.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from csim.ask.entries import SETTLED, AskedBefore, Entry, Members, Shown, Status
from csim.ask.splits import Splits
from csim.errors import QuestionError, SettingsError
from csim.messages import Answer, Undo
from csim.packing import pack, unpack
from csim.records import (
    ClassId,
    Group,
    Guesses,
    Item,
    ItemId,
    Question,
    QuestionId,
    State,
)

_COLUMNS = (
    "id", "position", "members", "representative", "guesses", "is_audit", "is_given", "status",
    "class_id",
)  # fmt: skip


class Ledger:
    """Keep questions by id.

    Parameters
    ----------
    size
        Images to keep for all questions together. Higher accepts later answers and undos, but uses
        more memory.
    """

    def __init__(self, size: int) -> None:
        if size < 1:
            raise SettingsError(f"size must be at least 1, got {size}")
        self.size = size
        self._entries: dict[QuestionId, Entry] = {}
        self.open_ids: dict[QuestionId, None] = {}  # in order: those of the open questions
        self.members = Members(self._entries)
        self._last_id = 0
        self._shown = Shown()  # the content of all questions: csim does not ask about it again
        self.splits = Splits(self._entries, self.open_ids, self.members, self._shown)

    def open(
        self,
        groups: Sequence[Group],
        guesses: Sequence[Guesses],
        position: int,
        *,
        is_audit: bool = False,
        is_given: bool = False,
    ) -> list[Question]:
        """Open a question for each group; `guesses` are the model's for each representative."""
        questions = []
        for group, guess in zip(groups, guesses, strict=True):
            self._last_id += 1
            question = Question(
                self._last_id,
                position,
                group.representative,
                group.members,
                guess,
                is_audit,
                is_given,
            )
            entry = Entry(question)
            self._entries[question.id] = entry
            self._shown.add(entry)
            self.open_ids[question.id] = None
            self.members.add(question.id, question.members)
            questions.append(question)
        return questions

    def join(self, question_id: QuestionId, items: Sequence[Item]) -> None:
        """Add images to the members of an open question."""
        entry = self.entry(question_id)
        entry.question = replace(entry.question, members=(*entry.question.members, *items))
        self.members.add(question_id, items)

    def select_joinable(
        self, joined: Mapping[QuestionId, Sequence[Item]]
    ) -> dict[QuestionId, list[Item]]:
        """Return the images that may join each question.

        Leaves out images that are members already, and images that any question shows.
        """
        used = {
            item.id for items in joined.values() for item in items if item.id in self.members.ids
        }
        if not used:  # as nearly always
            return {question_id: [*items] for question_id, items in joined.items()}
        shown = self.shown()
        joinable = {}
        for question_id, items in joined.items():
            members = {item.id for item in self.entry(question_id).question.members}
            joinable[question_id] = [
                item for item in items if item.id not in members and item.id not in shown
            ]
        return joinable

    def remove_members(self, items: Iterable[Item]) -> list[tuple[QuestionId, list[Item]]]:
        """Remove images from the open questions that they are members of.

        A question keeps the image that it shows. Returns the questions that lost members, and
        which.
        """
        ids = {item.id for item in items if item.id in self.members.ids}
        holders = {
            entry.question.id: entry
            for item_id in ids
            for entry in self.members.entries_of(item_id, "open")
        }
        removed = []
        for question_id, entry in sorted(holders.items()):
            question = entry.question
            shown = question.representative
            gone = [item for item in question.members if item.id in ids and item != shown]
            if gone:
                stay = tuple(
                    item for item in question.members if item.id not in ids or item == shown
                )
                entry.question = replace(question, members=stay)
                self.members.remove(question_id, gone)
                removed.append((question_id, gone))
        return removed

    def expire(self) -> list[QuestionId]:
        """Forget the oldest questions until the images fit; return those that were unanswered."""
        expired = []
        surplus = self.members.total - self.size
        if surplus <= 0:
            return []
        for question_id in _least_needed(self._entries):
            if surplus <= 0:
                break
            entry = self._entries.pop(question_id)
            self.open_ids.pop(question_id, None)
            self._shown.remove(entry)
            surplus -= len(entry.question.members)
            self.members.remove(question_id, entry.question.members)
            if entry.status not in SETTLED:
                expired.append(question_id)
        return expired

    def questions(self, status: Status = "open") -> list[Question]:
        """Return the questions with a status, oldest first."""
        if status == "open":
            return [self._entries[question_id].question for question_id in self.open_ids]
        return [entry.question for entry in self._entries.values() if entry.status == status]

    def asked_before(self) -> AskedBefore:
        """Return what a search must know of earlier questions."""
        return AskedBefore(self.questions(), self._shown, self.members.open)

    def entry(self, question_id: QuestionId) -> Entry:
        """Return the entry of a question, or raise a `QuestionError` if there is none."""
        if not isinstance(question_id, Hashable) or question_id not in self._entries:
            raise QuestionError(
                f"no question has the id {question_id!r}: it was never asked, or csim forgot it to "
                f"make room; answer one of the {len(self.questions())} open questions"
            )
        return self._entries[question_id]

    def check(self, answers: Sequence[Answer]) -> None:
        """Raise a `QuestionError` unless each answer applies now and names a different question."""
        seen: set[QuestionId] = set()
        for answer in answers:
            entry = self.entry(answer.question_id)
            if answer.question_id in seen:
                raise QuestionError(
                    f"question {answer.question_id} comes twice; give one answer per question"
                )
            entry.check(answer)
            if isinstance(answer, Undo) and entry.status == "split":
                self.splits.check(entry)
            seen.add(answer.question_id)

    def shown(self, besides: QuestionId | None = None) -> dict[ItemId, Entry]:
        """Return the entries that show an image, by the image's id, `besides` one question.

        A question that was split no longer shows an image.
        """
        return {
            entry.question.representative.id: entry
            for question_id, entry in self._entries.items()
            if entry.status != "split" and question_id != besides
        }

    def mark(
        self, question_id: QuestionId, status: Status, class_id: ClassId | None = None
    ) -> tuple[Question, ClassId | None]:
        """Set the status and the class of a question; return it and the class it had before."""
        entry = self.entry(question_id)
        before = entry.class_id
        entry.status = status
        entry.class_id = class_id
        self.open_ids.pop(question_id, None)  # no question becomes open again
        self.members.close(entry.question.members)
        return entry.question, before

    def state(self) -> State:
        """Return all questions, column by column because there may be thousands."""
        entries = list(self._entries.values())
        questions = [entry.question for entry in entries]
        guesses = [guess for question in questions for guess in question.guesses]
        return {
            "last_id": self._last_id,
            "items": pack([item for question in questions for item in question.members]),
            "id": [question.id for question in questions],
            "position": [question.position for question in questions],
            "members": [len(question.members) for question in questions],
            "representative": [
                question.members.index(question.representative) for question in questions
            ],
            "guesses": [len(question.guesses) for question in questions],
            "guess": {
                "class_id": [class_id for class_id, _ in guesses],
                "score": [score for _, score in guesses],
            },
            "is_audit": [question.is_audit for question in questions],
            "is_given": [question.is_given for question in questions],
            "status": [entry.status for entry in entries],
            "class_id": [entry.class_id for entry in entries],
            "freed": {
                str(entry.question.id): sorted(entry.excluded)
                for entry in entries
                if entry.excluded
            },
            "parts": {
                str(entry.question.id): list(entry.parts) for entry in entries if entry.parts
            },
        }

    def restore(self, state: State) -> None:
        """Load what `state` returned."""
        self._last_id = state["last_id"]
        self._entries.clear()
        self.open_ids.clear()
        self._shown.clear()
        self.members.clear()
        items = iter(unpack(state["items"]))
        all_guesses = zip(state["guess"]["class_id"], state["guess"]["score"], strict=True)
        rows = zip(*(state[column] for column in _COLUMNS), strict=True)
        for question_id, position, size, shown, guess_count, *flags, status, class_id in rows:
            members = tuple(islice(items, size))
            guesses = tuple(islice(all_guesses, guess_count))
            question = Question(question_id, position, members[shown], members, guesses, *flags)
            excluded = frozenset(state["freed"].get(str(question_id), ()))
            parts = tuple(state.get("parts", {}).get(str(question_id), ()))
            entry = Entry(question, status, class_id, excluded, parts)
            self._entries[question_id] = entry
            self.members.add(question_id, members)
            self._shown.add(entry)
        self.open_ids.update((q, None) for q, e in self._entries.items() if e.status == "open")


def _least_needed(entries: Mapping[QuestionId, Entry]) -> Iterator[QuestionId]:
    """Yield the ids of settled questions, and then of those that are left, the oldest first."""
    yield from [question_id for question_id, entry in entries.items() if entry.status in SETTLED]
    yield from [*entries]
