"""What answers and edits do to questions, classes and stored items, which change together.

The engine asks and takes answers through it. Everything is checked before anything changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from types import MappingProxyType

import numpy as np

import csim.records as r
from csim.ask.audit import Audit
from csim.ask.budget import Budget
from csim.ask.catalogue import Catalogue
from csim.ask.ledger import Ledger
from csim.errors import ClassError, InputError
from csim.messages import (
    AddClass,
    Answer,
    Correct,
    Edit,
    Junk,
    LabelImages,
    MergeClasses,
    Named,
    RemoveClass,
    RenameClass,
    RestoreClass,
    Skip,
    Split,
    Undo,
    UndoAnswers,
)
from csim.store.class_store import ClassStore


class Dialogue:
    """Keep the ledger, the catalogue and the store in step, and count what was asked and told.

    `find_recent` returns an image of the recent window or buffer by its id, or None.
    """

    def __init__(
        self,
        ledger: Ledger,
        catalogue: Catalogue,
        store: ClassStore,
        budget: Budget,
        audit: Audit,
        find_recent: Callable[[r.ItemId], r.Item | None],
    ) -> None:
        self.ledger = ledger
        self.catalogue = catalogue
        self.store = store
        self.budget = budget
        self.audit = audit
        self._find_recent = find_recent
        self.told = 0  # answers that named a class or said junk, corrections included

    def class_id(self, name: str) -> r.ClassId:
        """Return the id of a class by its name."""
        class_id = self.catalogue.find(name)
        if class_id is None:
            names = ", ".join(self.catalogue.names().values())
            raise ClassError(f"no class is called {name!r}; choose one of {names}")
        return class_id

    def members(self, answers: Sequence[Answer]) -> dict[Split, list[r.Item]]:
        """Return the items that splits among answers are about, each once.

        csim does not ask again about an item that it showed for another question.
        """
        taken: set[r.ItemId] = set()
        found: dict[Split, list[r.Item]] = {}
        for answer in answers:
            if isinstance(answer, Split):
                others = taken.union(self.ledger.shown(besides=answer.question_id))
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
        groups: Sequence[r.Group],
        guess: Callable[[r.Floats], r.Guesses],
        position: int,
        joined: Mapping[r.QuestionId, Sequence[r.Item]] = MappingProxyType({}),
        *,
        is_audit: bool = False,
        is_given: bool = False,
    ) -> list[r.Event]:
        """Open a question for each group, with the model's `guess` for its representative.

        `joined` items become members of questions that are open already. The audit asks within the
        budget and without guesses. It takes no items from other questions, because it must not
        change what it measures. A question that `is_given` by a person costs no budget.
        """
        if is_audit:
            groups = groups[: self.budget.left(position)]
        guesses = [() if is_audit else guess(group.vector) for group in groups]
        self.budget.spend(0 if is_given else len(groups))
        new = {
            question_id: items
            for question_id, items in self.ledger.select_joinable(joined).items()
            if items
        }
        left = self.ledger.remove_members(
            chain(*new.values(), *(group.members for group in groups if not is_audit))
        )
        events: list[r.Event] = [
            r.Left(position, question_id, _ids(items)) for question_id, items in left
        ]
        for question_id, items in new.items():
            self.ledger.join(question_id, items)
            events.append(r.Joined(position, question_id, _ids(items)))
        events += [
            r.Asked(position, question)
            for question in self.ledger.open(
                groups, guesses, position, is_audit=is_audit, is_given=is_given
            )
        ]
        return events + [r.Expired(position, question_id) for question_id in self.ledger.expire()]

    def check(self, answers: Sequence[Answer]) -> None:
        """Raise an error if one of the answers is not possible."""
        self.ledger.check(answers)
        for answer in answers:
            if isinstance(answer, Named | Correct) and answer.name is not None:
                self.catalogue.find(answer.name)

    def take(
        self,
        answers: Sequence[Answer],
        parts: Mapping[Split, Sequence[r.Group]],
        guess: Callable[[r.Floats], r.Guesses],
        position: int,
    ) -> list[r.Event]:
        """Carry out checked answers in order; `parts` are the groups that each split asks about."""
        events: list[r.Event] = []
        for answer in answers:
            if isinstance(answer, Split):
                self.ledger.mark(answer.question_id, "split")
                asked = self.ask(parts[answer], guess, position)
                into = tuple(event.question.id for event in asked if isinstance(event, r.Asked))
                self.ledger.splits.divide(answer.question_id, into)
                events += [r.Divided(position, answer.question_id, into), *asked]
            else:
                events += self.hear(answer, position)
        return events

    def hear(self, answer: Named | Junk | Correct | Undo | Skip, position: int) -> list[r.Event]:
        """Carry out an answer that has been checked."""
        match answer:
            case Named(question_id, name):
                return self._answer(question_id, name, position)
            case Junk(question_id):
                return self._answer(question_id, None, position)
            case Correct(question_id, name):
                class_id, events = _class_of(self.catalogue, name, position)
                _, given = self.ledger.mark(question_id, "undone")
                _, members = self._label(question_id, class_id)
                before = self.catalogue.current(given)
                events.append(r.Corrected(position, question_id, class_id))
                events += [r.Revised(position, item.id, before, class_id) for item in members]
                return events + _withdraw(self.catalogue, self.store, given, position)
            case Undo(question_id) if self.ledger.entry(question_id).status == "split":
                return _reunite(self.ledger, question_id, position)
            case Undo(question_id):
                question, given = self.ledger.mark(question_id, "undone")
                before = self.catalogue.current(given)
                events = [r.Undone(position, question_id)]
                if given is None:  # it was skipped
                    return events
                members = _answered(question, self.ledger, self.store)
                self.store.remove(item.id for item in members)
                self.store.aside.forget(item.id for item in members)
                if before is not None:  # the class may be gone already
                    events += [r.Revised(position, item.id, before, None) for item in members]
                return events + _withdraw(self.catalogue, self.store, given, position)
            case Skip(question_id):
                self.ledger.mark(question_id, "skipped")
                return [r.Skipped(position, question_id)]

    def release(self, item_ids: Iterable[r.ItemId]) -> None:
        """Take items that a new model decided differently out of the store and their groups."""
        released = list(item_ids)
        self.store.remove(released)
        self.ledger.members.exclude(released)

    def edit(self, change: Edit, position: int) -> list[r.Event]:
        """Change a class, label images, or undo several answers."""
        match change:
            case LabelImages(item_ids, name):
                return self._label_images(item_ids, name, position)
            case UndoAnswers(question_ids):
                undos = [Undo(question_id) for question_id in question_ids]
                self.check(undos)
                return [event for undo in undos for event in self.hear(undo, position)]
            case AddClass(name):
                class_id = self.catalogue.add(name, is_lasting=True)
                return [r.ClassAdded(position, class_id, self.catalogue.names()[class_id])]
            case RenameClass(class_id, name):
                self.catalogue.rename(class_id, name)
                return [r.ClassRenamed(position, class_id, self.catalogue.names()[class_id])]
            case MergeClasses(source, target):
                self.catalogue.merge(source, target)
                self.store.merge(source, target)
                return [r.ClassesMerged(position, source, target)]
            case RemoveClass(class_id):
                events, dropped = _remove(self.catalogue, self.store, class_id, position)
                self.store.aside.keep(class_id, dropped)
                return events
            case RestoreClass(class_id):
                return self._restore_class(class_id, position)

    def state(self) -> r.State:
        """Return questions, classes and counts; the engine saves the store."""
        parts = {
            "ledger": self.ledger.state(),
            "catalogue": self.catalogue.state(),
            "budget": self.budget.state(),
            "audit": self.audit.state(),
        }
        return {**parts, "told": self.told}

    def restore(self, state: r.State) -> None:
        """Load what `state` returned."""
        self.ledger.restore(state["ledger"])
        self.catalogue.restore(state["catalogue"])
        self.budget.restore(state["budget"])
        self.audit.restore(state["audit"])
        self.told = state["told"]

    def _answer(
        self, question_id: r.QuestionId, name: str | r.ClassId | None, position: int
    ) -> list[r.Event]:
        class_id, events = _class_of(self.catalogue, name, position)
        question, members = self._label(question_id, class_id)
        told = question.representative.id
        return events + [
            r.Labelled(position, item.id, class_id, question_id, is_told=item.id == told)
            for item in members
        ]

    def _label_images(
        self, item_ids: Sequence[r.ItemId], name: str | r.ClassId | None, position: int
    ) -> list[r.Event]:
        """Answer the question that shows each image alone; make one for an image without any."""
        if name is not None:
            self.catalogue.find(name)
        if not item_ids or len(set(item_ids)) < len(item_ids):
            raise InputError(
                f"the images must be at least one and all different, got {len(item_ids)} ids of "
                f"{len(set(item_ids))} images; name each image once"
            )
        shown = {item_id: entry.question for item_id, entry in self.ledger.shown().items()}
        items = {
            item_id: _labelable(
                item_id, self._find_recent(item_id) or self.store.find(item_id), shown.get(item_id)
            )
            for item_id in item_ids
        }
        events: list[r.Event] = []
        # Those that questions show come first: a new question may make an old one expire.
        for item_id in sorted(items, key=lambda item_id: item_id not in shown):
            question = shown.get(item_id)
            if question is None:
                self.ledger.members.exclude([item_id])  # an earlier answer no longer labels it
                group = r.Group((items[item_id],), items[item_id], np.zeros(0))
                asked = self.ask([group], lambda _: (), position, is_given=True)
                events += asked
                question = next(event.question for event in asked if isinstance(event, r.Asked))
            is_answered = self.ledger.entry(question.id).status == "answered"
            events += (
                self.hear(Correct(question.id, name), position)
                if is_answered
                else self._answer(question.id, name, position)
            )
        return events

    def _label(
        self, question_id: r.QuestionId, class_id: r.ClassId
    ) -> tuple[r.Question, list[r.Item]]:
        question, _ = self.ledger.mark(question_id, "answered", class_id)
        self.catalogue.support(class_id)
        self.told += 1
        members = _answered(question, self.ledger, self.store)
        self.store.aside.forget(item.id for item in members)
        for item in members:
            self.store.add(item, class_id, is_told=item.id == question.representative.id)
        return question, members

    def _restore_class(self, class_id: r.ClassId, position: int) -> list[r.Event]:
        merged = self.catalogue.restore_class(class_id)
        name = self.catalogue.names()[class_id]
        question_of = {
            item.id: question.id
            for question in self.ledger.questions("answered")
            if self.catalogue.current(self.ledger.entry(question.id).class_id) == class_id
            for item in self.ledger.entry(question.id).answered_members()
        }
        events: list[r.Event] = [r.ClassRestored(position, class_id, name, merged)]
        for item, is_told in self.store.aside.take(class_id):
            if item.id in self.store.ids:  # under another class by now
                continue
            self.store.add(item, class_id, is_told=is_told)
            question_id = question_of.get(item.id)
            if question_id is None or is_told:  # told again, it would count
                events.append(r.Revised(position, item.id, None, class_id))
            else:
                events.append(r.Labelled(position, item.id, class_id, question_id, is_told=False))
        return events


def _remove(
    catalogue: Catalogue, store: ClassStore, class_id: r.ClassId, position: int
) -> tuple[list[r.Event], list[tuple[r.Item, bool]]]:
    """Remove a class; return what happened, and its stored images with whether each is told."""
    catalogue.remove(class_id)
    dropped = store.drop(class_id)
    revised = [r.Revised(position, item.id, class_id, None) for item, _ in dropped]
    return [r.ClassRemoved(position, class_id), *revised], dropped


def _class_of(
    catalogue: Catalogue, name: str | r.ClassId | None, position: int
) -> tuple[r.ClassId, list[r.Event]]:
    """Return the class with a name, or `JUNK` for None; add the class if it is new."""
    if name is None:
        return r.JUNK, []
    class_id = catalogue.find(name)
    if class_id is not None:
        return class_id, []
    assert isinstance(name, str)
    class_id = catalogue.add(name, is_lasting=False)
    return class_id, [r.ClassAdded(position, class_id, catalogue.names()[class_id])]


def _withdraw(
    catalogue: Catalogue, store: ClassStore, given: r.ClassId | None, position: int
) -> list[r.Event]:
    """Withdraw an answer from the class it gave; remove that if it has no other answer."""
    class_id = None if given is None else catalogue.withdraw(given)
    return [] if class_id is None else _remove(catalogue, store, class_id, position)[0]


def _reunite(ledger: Ledger, question_id: r.QuestionId, position: int) -> list[r.Event]:
    """Undo a split; return what happened to the question and its parts."""
    before, question, parts = ledger.splits.reunite(question_id)
    events: list[r.Event] = [r.Undone(position, question_id)]
    if gone := [item for item in before.members if item not in question.members]:
        events.append(r.Left(position, question_id, _ids(gone)))
    if new := [item for item in question.members if item not in before.members]:
        events.append(r.Joined(position, question_id, _ids(new)))
    return events + [r.Expired(position, part) for part in parts]


def _labelable(item_id: r.ItemId, held: r.Item | None, question: r.Question | None) -> r.Item:
    """Return the image to label, or raise why it cannot be: `question` shows it, if any does."""
    if question is not None and len(question.members) > 1:
        raise InputError(
            f"question {question.id} shows the image {item_id!r} for its group of "
            f"{len(question.members)}; answer or correct that question"
        )
    found = held if question is None else question.representative
    if found is None:
        raise InputError(
            f"csim holds no image {item_id!r} now: it must be recent, stored or shown by a "
            "question; leave it out and label newer images"
        )
    return found


def _answered(question: r.Question, ledger: Ledger, store: ClassStore) -> list[r.Item]:
    """Return the items that the answer to a question labels.

    An item that a person was shown for another question keeps that answer.
    """
    shown = question.representative.id
    members = ledger.entry(question.id).answered_members()
    return [item for item in members if item.id == shown or not store.is_told(item.id)]


def _ids(items: Sequence[r.Item]) -> tuple[r.ItemId, ...]:
    return tuple(item.id for item in items)
