"""What answers and edits do to questions, classes and stored items, which change together.

The engine asks and takes answers through it. Everything is checked before anything changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from types import MappingProxyType

from csim.ask.budget import Budget
from csim.ask.catalogue import Catalogue
from csim.ask.ledger import Ledger
from csim.errors import ClassError
from csim.records import (
    AddClass,
    Answer,
    Asked,
    ClassAdded,
    ClassesMerged,
    ClassId,
    ClassRemoved,
    ClassRenamed,
    Correct,
    Corrected,
    Divided,
    Edit,
    Event,
    Expired,
    Floats,
    Group,
    Guesses,
    Item,
    ItemId,
    Joined,
    Labelled,
    Left,
    MergeClasses,
    Named,
    Question,
    QuestionId,
    RemoveClass,
    RenameClass,
    Revised,
    Skip,
    Skipped,
    Split,
    State,
    Undo,
    Undone,
)
from csim.store.class_store import ClassStore


class Dialogue:
    """Keep the ledger, the catalogue and the store in step, and count what was asked and told."""

    def __init__(
        self, ledger: Ledger, catalogue: Catalogue, store: ClassStore, budget: Budget
    ) -> None:
        self.ledger = ledger
        self.catalogue = catalogue
        self.store = store
        self.budget = budget
        self.told = 0  # answers that named a class, corrections included

    def class_id(self, name: str) -> ClassId:
        """Return the id of a class by its name."""
        class_id = self.catalogue.find(name)
        if class_id is None:
            names = ", ".join(self.catalogue.names().values())
            raise ClassError(f"no class is called {name!r}; choose one of {names}")
        return class_id

    def members(self, answers: Sequence[Answer]) -> dict[Split, list[Item]]:
        """Return the items that splits among answers are about, each once.

        csim does not ask again about an item that it showed for another question.
        """
        taken: set[ItemId] = set()
        found: dict[Split, list[Item]] = {}
        for answer in answers:
            if isinstance(answer, Split):
                others = taken | self.ledger.representative_ids(besides=answer.question_id)
                members = self.ledger.entry(answer.question_id).question.members
                found[answer] = [
                    item
                    for item in members
                    if item.id not in others and not self.store.is_told(item.id)
                ]
                taken.update(item.id for item in found[answer])
        return found

    def ask(
        self,
        groups: Sequence[Group],
        guess: Callable[[Floats], Guesses],
        position: int,
        joined: Mapping[QuestionId, Sequence[Item]] = MappingProxyType({}),
    ) -> list[Event]:
        """Open a question for each group, with the model's `guess` for its representative.

        `joined` items become members of questions that are open already.
        """
        guesses = [guess(group.vector) for group in groups]
        self.budget.spend(len(groups))
        new = {
            question_id: items
            for question_id, items in self.ledger.select_joinable(joined).items()
            if items
        }
        left = self.ledger.remove_members(
            chain(*new.values(), *(group.members for group in groups))
        )
        events: list[Event] = [
            Left(position, question_id, _ids(items)) for question_id, items in left
        ]
        for question_id, items in new.items():
            self.ledger.join(question_id, items)
            events.append(Joined(position, question_id, _ids(items)))
        events += [
            Asked(position, question) for question in self.ledger.open(groups, guesses, position)
        ]
        return events + [Expired(position, question_id) for question_id in self.ledger.expire()]

    def check(self, answers: Sequence[Answer]) -> None:
        """Raise an error if one of the answers is not possible."""
        self.ledger.check(answers)
        for answer in answers:
            if isinstance(answer, Named | Correct):
                self.catalogue.find(answer.name)

    def take(
        self,
        answers: Sequence[Answer],
        parts: Mapping[Split, Sequence[Group]],
        guess: Callable[[Floats], Guesses],
        position: int,
    ) -> list[Event]:
        """Carry out checked answers in order; `parts` are the groups that each split asks about."""
        events: list[Event] = []
        for answer in answers:
            if isinstance(answer, Split):
                self.ledger.mark(answer.question_id, "split")
                asked = self.ask(parts[answer], guess, position)
                into = tuple(event.question.id for event in asked if isinstance(event, Asked))
                events += [Divided(position, answer.question_id, into), *asked]
            else:
                events += self.hear(answer, position)
        return events

    def hear(self, answer: Named | Correct | Undo | Skip, position: int) -> list[Event]:
        """Carry out an answer that has been checked."""
        match answer:
            case Named(question_id, name):
                class_id, events = self._class_of(name, position)
                question, members = self._label(question_id, class_id)
                told = question.representative.id
                return events + [
                    Labelled(position, item.id, class_id, question_id, is_told=item.id == told)
                    for item in members
                ]
            case Correct(question_id, name):
                class_id, events = self._class_of(name, position)
                _, given = self.ledger.mark(question_id, "undone")
                _, members = self._label(question_id, class_id)
                before = self.catalogue.current(given)
                events.append(Corrected(position, question_id, class_id))
                events += [Revised(position, item.id, before, class_id) for item in members]
                return events + self._withdraw(before, position)
            case Undo(question_id):
                question, given = self.ledger.mark(question_id, "undone")
                before = self.catalogue.current(given)
                members = _answered(question, self.ledger, self.store)
                self.store.remove(item.id for item in members)
                events = [Undone(position, question_id)]
                if before is not None:  # the class may be gone already
                    events += [Revised(position, item.id, before, None) for item in members]
                return events + self._withdraw(before, position)
            case Skip(question_id):
                self.ledger.mark(question_id, "skipped")
                return [Skipped(position, question_id)]

    def release(self, item_ids: Iterable[ItemId]) -> None:
        """Take items that a new model decided differently out of the store and their groups."""
        released = list(item_ids)
        self.store.remove(released)
        self.ledger.exclude(released)

    def edit(self, change: Edit, position: int) -> list[Event]:
        """Add, rename, merge or remove a class."""
        match change:
            case AddClass(name):
                class_id = self.catalogue.add(name, is_lasting=True)
                return [ClassAdded(position, class_id, self.catalogue.names()[class_id])]
            case RenameClass(class_id, name):
                self.catalogue.rename(class_id, name)
                return [ClassRenamed(position, class_id, self.catalogue.names()[class_id])]
            case MergeClasses(source, target):
                self.catalogue.merge(source, target)
                self.store.merge(source, target)
                return [ClassesMerged(position, source, target)]
            case RemoveClass(class_id):
                return self._remove(class_id, position)

    def state(self) -> State:
        """Return questions, classes and counts; the engine saves the store."""
        parts = {
            "ledger": self.ledger.state(),
            "catalogue": self.catalogue.state(),
            "budget": self.budget.state(),
        }
        return {**parts, "told": self.told}

    def restore(self, state: State) -> None:
        """Load what `state` returned."""
        self.ledger.restore(state["ledger"])
        self.catalogue.restore(state["catalogue"])
        self.budget.restore(state["budget"])
        self.told = state["told"]

    def _class_of(self, name: str, position: int) -> tuple[ClassId, list[Event]]:
        class_id = self.catalogue.find(name)
        if class_id is not None:
            return class_id, []
        class_id = self.catalogue.add(name, is_lasting=False)
        return class_id, [ClassAdded(position, class_id, self.catalogue.names()[class_id])]

    def _label(self, question_id: QuestionId, class_id: ClassId) -> tuple[Question, list[Item]]:
        question, _ = self.ledger.mark(question_id, "answered", class_id)
        self.catalogue.support(class_id)
        self.told += 1
        members = _answered(question, self.ledger, self.store)
        for item in members:
            self.store.add(item, class_id, is_told=item.id == question.representative.id)
        return question, members

    def _withdraw(self, class_id: ClassId | None, position: int) -> list[Event]:
        """Withdraw an answer from a class; remove the class if it has no other answer."""
        if class_id is None or not self.catalogue.withdraw(class_id):
            return []
        return self._remove(class_id, position)

    def _remove(self, class_id: ClassId, position: int) -> list[Event]:
        self.catalogue.remove(class_id)
        items = self.store.items(class_id)
        self.store.drop(class_id)
        revised: list[Event] = [Revised(position, item.id, class_id, None) for item in items]
        return [ClassRemoved(position, class_id), *revised]


def _answered(question: Question, ledger: Ledger, store: ClassStore) -> list[Item]:
    """Return the items that the answer to a question labels.

    An item that a person was shown for another question keeps that answer.
    """
    shown = question.representative.id
    members = ledger.entry(question.id).answered_members()
    return [item for item in members if item.id == shown or not store.is_told(item.id)]


def _ids(items: Sequence[Item]) -> tuple[ItemId, ...]:
    return tuple(item.id for item in items)
