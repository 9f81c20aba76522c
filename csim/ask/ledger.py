"""The ledger of questions: what was asked, what became of it.

    open ──► answered ──► undone ──► answered …
      │  └─► skipped ───► answered
      └────► split          (its parts are questions of their own)

Answers come at any time, in any order, by the question's id; one answer settles all members of the group. A
settled question stays, with its images, so that its answer can be undone or corrected, until room is needed:
then the oldest settled questions are forgotten first, and after them the oldest that still wait expire.

An image belongs to one open question at most: it leaves the first when another takes it, unless the first shows it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress, islice
from typing import Literal

from csim.errors import QuestionError, SettingsError
from csim.packing import pack, unpack
from csim.records import (
    Answer,
    ClassId,
    Correct,
    Group,
    Guesses,
    Item,
    ItemId,
    Named,
    Question,
    QuestionId,
    Skip,
    Split,
    State,
    Undo,
)

Status = Literal["open", "answered", "skipped", "split", "undone"]

_SETTLED: tuple[Status, ...] = ("answered", "split")
_FROM: dict[type[Answer], tuple[Status, ...]] = {
    Named: ("open", "skipped", "undone"),
    Skip: ("open", "undone"),
    Split: ("open", "skipped", "undone"),
    Undo: ("answered",),
    Correct: ("answered",),
}


@dataclass
class _Entry:
    question: Question
    status: Status = "open"
    class_id: ClassId | None = None
    freed: frozenset[ItemId] = frozenset()  # members that a later model saw otherwise


class Ledger:
    """Questions by id.

    Parameters
    ----------
    size
        Images kept for all questions together. Raising it lets answers and undos come later, for memory.
    """

    def __init__(self, size: int) -> None:
        if size < 1:
            raise SettingsError(f"size must be at least 1, got {size}")
        self.size = size
        self._entries: dict[QuestionId, _Entry] = {}
        self._held: Counter[object] = (
            Counter()
        )  # item ids; a split question and its parts share theirs
        self._last_id = 0

    def __contains__(self, item_id: object) -> bool:
        return self._held[item_id] > 0

    def open(
        self, groups: Sequence[Group], guesses: Sequence[Guesses], position: int
    ) -> list[Question]:
        """Ask about each group; `guesses` are the model's own for each representative."""
        questions = []
        for group, guess in zip(groups, guesses, strict=True):
            self._last_id += 1
            question = Question(self._last_id, position, group.representative, group.members, guess)
            self._entries[question.id] = _Entry(question)
            self._held.update(item.id for item in question.members)
            questions.append(question)
        return questions

    def join(self, question_id: QuestionId, items: Sequence[Item]) -> None:
        """Make images members of an open question."""
        entry = self._entry(question_id)
        entry.question = replace(entry.question, members=(*entry.question.members, *items))
        self._held.update(item.id for item in items)

    def strangers(
        self, joined: Mapping[QuestionId, Sequence[Item]]
    ) -> dict[QuestionId, list[Item]]:
        """Return which images may join questions: those that are not yet members, and that no question shows."""
        shown, may = self.shown(), {}
        for question_id, items in joined.items():
            there = {item.id for item in self.question(question_id).members}
            may[question_id] = [
                item for item in items if item.id not in there and item.id not in shown
            ]
        return may

    def call_away(self, items: Iterable[Item]) -> list[tuple[QuestionId, list[Item]]]:
        """Take images from the open questions whose members they are, but for those that show them; tell who left."""
        called, left = {item.id for item in items}, []
        for question in self.questions():
            is_gone = [
                item.id in called and item != question.representative for item in question.members
            ]
            if any(is_gone):
                gone = list(compress(question.members, is_gone))
                stay = tuple(
                    item
                    for item, is_away in zip(question.members, is_gone, strict=True)
                    if not is_away
                )
                self._entries[question.id].question = replace(question, members=stay)
                self._release(gone)
                left.append((question.id, gone))
        return left

    def expire(self) -> list[QuestionId]:
        """Forget the oldest questions until the images fit; return those that were still unanswered."""
        expired = []
        surplus = self._held.total() - self.size
        for question_id in sorted(
            self._entries, key=lambda q: (self._entries[q].status not in _SETTLED, q)
        ):
            if surplus <= 0:
                break
            entry = self._entries.pop(question_id)
            surplus -= len(entry.question.members)
            self._release(entry.question.members)
            if entry.status not in _SETTLED:
                expired.append(question_id)
        return expired

    def questions(self, status: Status = "open") -> list[Question]:
        """Return the questions of a status, oldest first."""
        return [entry.question for entry in self._entries.values() if entry.status == status]

    def status(self, question_id: QuestionId) -> Status:
        """Return what became of a question."""
        return self._entry(question_id).status

    def question(self, question_id: QuestionId) -> Question:
        """Return a question."""
        return self._entry(question_id).question

    def check(self, answers: Sequence[Answer]) -> None:
        """Refuse answers to questions that do not exist, cannot be answered so now, or come twice."""
        seen: set[QuestionId] = set()
        for answer in answers:
            entry, allowed = self._entry(answer.question_id), _FROM[type(answer)]
            if answer.question_id in seen:
                raise QuestionError(
                    f"question {answer.question_id} comes twice; give one answer per question"
                )
            if entry.status not in allowed:
                raise QuestionError(
                    f"question {answer.question_id} is {entry.status}; {type(answer).__name__.lower()} needs one "
                    f"that is {' or '.join(allowed)}"
                )
            if isinstance(answer, Split):
                _check_parts(entry.question, answer)
            seen.add(answer.question_id)

    def shown(self, besides: QuestionId | None = None) -> set[ItemId]:
        """Return the images that questions show, but for one question; those that were split show none any more."""
        return {
            entry.question.representative.id
            for question_id, entry in self._entries.items()
            if entry.status != "split" and question_id != besides
        }

    def settle(self, question_id: QuestionId, class_id: ClassId) -> Question:
        """Note a question's class and return it."""
        entry = self._entry(question_id)
        entry.status, entry.class_id = "answered", class_id
        return entry.question

    def free(self, item_ids: Iterable[ItemId]) -> None:
        """Note that a model sees images otherwise than the answers that were spread to them."""
        freed = frozenset(item_ids)
        for entry in self._entries.values() if freed else ():
            if entry.status == "answered":
                entry.freed |= freed.intersection(item.id for item in entry.question.members)

    def bound(self, question_id: QuestionId) -> list[Item]:
        """Return the members that an answer to a question is about: not those that a model has seen otherwise since."""
        entry = self._entry(question_id)
        return [item for item in entry.question.members if item.id not in entry.freed]

    def mark(self, question_id: QuestionId, status: Status) -> tuple[Question, ClassId | None]:
        """Note what became of a question; return it and the class it had been given."""
        entry = self._entry(question_id)
        before, entry.status, entry.class_id = entry.class_id, status, None
        return entry.question, before

    def state(self) -> State:
        """Return all questions, by column: there may be thousands."""
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
            "status": [entry.status for entry in entries],
            "class_id": [entry.class_id for entry in entries],
            "freed": {
                str(entry.question.id): sorted(entry.freed) for entry in entries if entry.freed
            },
        }

    def restore(self, state: State) -> None:
        """Take back what `state` returned."""
        self._last_id, self._entries = state["last_id"], {}
        self._held = Counter(state["items"]["ids"])
        items = iter(unpack(state["items"]))
        guess = zip(state["guess"]["class_id"], state["guess"]["score"], strict=True)
        columns = ("id", "position", "members", "representative", "guesses", "status", "class_id")
        for own, position, size, shown, sure, status, class_id in zip(
            *(state[c] for c in columns), strict=True
        ):
            members, guesses = tuple(islice(items, size)), tuple(islice(guess, sure))
            freed = frozenset(state["freed"].get(str(own), ()))
            self._entries[own] = _Entry(
                Question(own, position, members[shown], members, guesses), status, class_id, freed
            )

    def _release(self, items: Sequence[Item]) -> None:
        for item in items:
            self._held[item.id] -= 1
            if not self._held[item.id]:
                del self._held[item.id]

    def _entry(self, question_id: QuestionId) -> _Entry:
        if question_id not in self._entries:
            raise QuestionError(
                f"no question has the id {question_id!r}; it was never asked, or was forgotten to make room. "
                f"{len(self.questions())} are open"
            )
        return self._entries[question_id]


def _check_parts(question: Question, answer: Split) -> None:
    if len(question.members) < 2:
        raise QuestionError(f"question {question.id} has one image only and cannot be split")
    if not answer.parts:
        return
    given = sorted(item_id for part in answer.parts for item_id in part)
    if (
        len(answer.parts) < 2
        or not all(answer.parts)
        or given != sorted(item.id for item in question.members)
    ):
        raise QuestionError(
            f"the parts of question {question.id} must be at least two, none empty, and hold each of its "
            f"{len(question.members)} images once; got {len(answer.parts)} parts of {len(given)} images"
        )
