"""Random logs with every kind of event, in an order that the engine could have produced.

Answers are late, images join open questions, and classes are renamed, merged and removed. Labels
also change without an answer. Positions never decrease.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from csim.records import (
    Accepted,
    Asked,
    Audited,
    ClassAdded,
    ClassesMerged,
    ClassRemoved,
    ClassRenamed,
    ClassRestored,
    Corrected,
    Divided,
    Event,
    Expired,
    Item,
    Job,
    Joined,
    Labelled,
    Left,
    Question,
    Rejected,
    Retrained,
    Revised,
    Skipped,
    Told,
    TrainingDue,
    Undone,
)

PIXELS = np.zeros((2, 2), np.uint8)

RATES = {  # probability of each action after each image
    "ask": 0.5,
    "join": 0.1,
    "leave": 0.1,
    "learn": 0.1,
    "answer": 0.5,
    "correct": 0.2,
    "undo": 0.2,
    "divide": 0.1,
    "skip": 0.1,
    "expire": 0.05,
    "revise": 0.2,
    "retrain": 0.1,
    "rename": 0.05,
    "merge": 0.05,
    "remove": 0.05,
    "restore": 0.05,
}


def random_log(
    seed: int,
    images: int = 60,
    *,
    kinds: int = 6,
    known: int = 2,
    rates: Mapping[str, float] = RATES,
) -> tuple[list[Event], dict[str, str]]:
    """Return a log and the truth.

    The first model knows `known` of the `kinds`. One more kind may appear every 5 images.
    """
    stream = _Stream(
        np.random.default_rng(seed), [f"kind {number}" for number in range(kinds)], known
    )
    for position in range(1, images + 1):
        stream.arrive(position)
        actions = [action for action, rate in rates.items() if stream.rng.random() < rate]
        for action in stream.rng.permutation(actions):
            getattr(stream, action)()
    return stream.events, stream.truth


def asked(position: int, question_id: int, *ids: str) -> Asked:
    """Return a question about the images of some ids; the first is the representative."""
    members = tuple(map(_item, ids))
    return Asked(position, Question(question_id, position, members[0], members))


def _item(item_id: str) -> Item:
    return Item(item_id, int(item_id), PIXELS)


class _Base:
    """Keep the state of a stream, and let images arrive and models train."""

    def __init__(self, rng: np.random.Generator, kinds: list[str], known: int) -> None:
        self.rng = rng
        self.kinds = kinds
        self.position = 0
        self.events: list[Event] = []
        self.truth: dict[str, str] = {}
        self.living: dict[int, str] = {}
        self.removed: list[tuple[int, str, int | None]] = []  # id, name, model that knew it
        self.labels: dict[str, int | None] = {}
        self.ids: list[str] = []
        self.waiting: list[str] = []
        self.open: list[Question] = []
        self.answered: list[Question] = []
        self.classes = 0
        self.questions = 0
        self.models = 0
        for name in kinds[:known]:
            self._class(name)
        self.retrain()

    def arrive(self, position):
        self.position = position
        item_id = str(position)
        name = self._pick(self.kinds[: 1 + position // 5])
        self.truth[item_id] = name
        self.ids.append(item_id)
        right = [class_id for class_id in self.learned if self.living[class_id] == name]
        if not self.learned or self.rng.random() < 0.4:
            self.labels[item_id] = None
            self._log(Rejected, item_id, None, 0.1, self.models)
            self.waiting.append(item_id)
        else:
            self.labels[item_id] = self._pick(
                right if right and self.rng.random() < 0.7 else self.learned
            )
            self._log(Accepted, item_id, self.labels[item_id], 0.9, self.models)

    def retrain(self):
        self.models += 1
        self.learned = tuple(self.living)
        self._log(
            TrainingDue, Job(self.models, 0, PIXELS[:0], np.zeros(0, np.int64), np.zeros(0, bool))
        )
        self._log(Retrained, self.models, self.learned)

    def _log(self, kind, *fields):
        self.events.append(kind(self.position, *fields))

    def _pick(self, choices):
        return choices[int(self.rng.integers(len(choices)))]

    def _take(self, questions):
        return questions.pop(int(self.rng.integers(len(questions)))) if questions else None

    def _open(self, ids):
        self.questions += 1
        self._log(lambda position, question_id: asked(position, question_id, *ids), self.questions)
        self.open.append(self.events[-1].question)

    def _name_for(self, question):
        return (
            self.truth[question.representative.id]
            if self.rng.random() < 0.7
            else self._pick(self.kinds)
        )

    def _class(self, name):
        for class_id, living_name in self.living.items():
            if living_name == name:
                return class_id
        self.living[self.classes] = name
        self._log(ClassAdded, self.classes, name)
        self.classes += 1
        return self.classes - 1

    def _revise_all(self, question, after):
        for item in question.members:
            self._log(Revised, item.id, self.labels[item.id], after)
            self.labels[item.id] = after


class _Questions(_Base):
    """Ask questions and answer them."""

    def ask(self):
        """Ask about images that wait, or about one that was accepted."""
        if self.rng.random() < 0.2:
            self._open([self._pick(self.ids[-20:])])
        elif self.waiting:
            count = int(self.rng.integers(1, 5))
            self._open(self.waiting[:count])
            del self.waiting[:count]

    def join(self):
        """Add recent images to an open question, whether they wait or not."""
        if question := self._take(self.open):
            here = {item.id for item in question.members}
            if later := [item_id for item_id in self.ids[-3:] if item_id not in here]:
                self._log(Joined, question.id, tuple(later))
                question = replace(question, members=(*question.members, *map(_item, later)))
            self.open.append(question)

    def leave(self):
        """Remove the last member of an open question."""
        several = [question for question in self.open[-30:] if len(question.members) > 1]
        if several:
            question = self._pick(several)
            self.open.remove(question)
            self._log(Left, question.id, (question.members[-1].id,))
            self.open.append(replace(question, members=question.members[:-1]))

    def learn(self):
        """Tell the name of an image that keeps its label."""
        if question := self._take(self.open):
            class_id = self._class(self._name_for(question))
            self._log(Told, question.representative.id, class_id, question.id)

    def answer(self):
        if question := self._take(self.open):
            class_id = self._class(self._name_for(question))
            for item in question.members:
                is_told = item.id == question.representative.id
                before = self.labels.get(item.id)
                self._log(Labelled, item.id, class_id, question.id, is_told)
                self.labels[item.id] = class_id
                if is_told and self.rng.random() < 0.3:
                    self._log(Audited, item.id, question.id, before, before, class_id)
            self.answered.append(question)

    def correct(self):
        if self.answered:
            question = self._pick(self.answered)
            class_id = self._class(self._name_for(question))
            self._log(Corrected, question.id, class_id)
            self._revise_all(question, class_id)

    def undo(self):
        if question := self._take(self.answered):
            self._log(Undone, question.id)
            self._revise_all(question, None)
            self.open.append(question)

    def divide(self):
        several = [question for question in self.open[-30:] if len(question.members) > 1]
        if several:
            question = self._pick(several)
            self.open.remove(question)
            ids = [item.id for item in question.members]
            self._log(Divided, question.id, (self.questions + 1, self.questions + 2))
            self._open(ids[:1])
            self._open(ids[1:])

    def skip(self):
        if self.open:
            self._log(Skipped, self._pick(self.open).id)

    def expire(self):
        if question := self._take(self.open):
            self._log(Expired, question.id)


class _Stream(_Questions):
    """Change labels and classes without questions."""

    def revise(self):
        """Change a label without an answer; images of the warm-up are revised too."""
        item_id = self._pick(self.ids[-40:]) if self.rng.random() < 0.9 else "warm-up 1"
        after = self._pick([*self.living, None])
        self._log(Revised, item_id, self.labels.get(item_id), after)
        self.labels[item_id] = after

    def rename(self):
        """Give a class the name of a kind without a class, or a wrong name."""
        free = [name for name in [*self.kinds, "no such kind"] if name not in self.living.values()]
        if free and self.living:
            class_id = self._pick(list(self.living))
            self.living[class_id] = self._pick(free)
            self._log(ClassRenamed, class_id, self.living[class_id])

    def merge(self):
        if len(self.living) > 2:
            chosen = self.rng.choice(list(self.living), 2, replace=False)
            source, target = (int(class_id) for class_id in chosen)
            del self.living[source]
            self.learned = tuple(
                {target if learned == source else learned: None for learned in self.learned}
            )
            self._log(ClassesMerged, source, target)

    def remove(self):
        if len(self.living) > 2:
            class_id = self._pick(list(self.living))
            learned_by = self.models if class_id in self.learned else None
            self.removed.append((class_id, self.living.pop(class_id), learned_by))
            self.learned = tuple(learned for learned in self.learned if learned != class_id)
            self._log(ClassRemoved, class_id)

    def restore(self):
        """Bring the class removed last back, if its name is free."""
        if not self.removed or self.removed[-1][1] in self.living.values():
            return
        class_id, name, learned_by = self.removed.pop()
        self.living[class_id] = name
        if learned_by == self.models:  # no new model has come without it
            self.learned = (*self.learned, class_id)
        self._log(ClassRestored, class_id, name, ())
