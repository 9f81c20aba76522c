"""The audit: images drawn at random, to estimate how many labels are right without the truth.

Of every n images csim draws one, and each of the n is equally likely. What the model says about an
image plays no part, so the drawn images stand for all of them. csim keeps two classes of each: the
one at arrival, and the one it has just before a person says what it is. The share of them that
agree with the answers estimates the accuracy at arrival and today.

A later model may still revise an image in the recent window. So csim asks about a drawn image when
it has left the window, or when the stream ends: an earlier question would miss those revisions.
If an ordinary question shows a drawn image first, its answer counts, and the audit asks nothing.
A drawn image without an answer does not count.
"""

from __future__ import annotations

import math
from collections.abc import Container, KeysView, Sequence
from dataclasses import dataclass

import numpy as np

from csim.errors import SettingsError
from csim.packing import pack, unpack
from csim.records import (
    Asked,
    Audited,
    ClassId,
    Corrected,
    Decision,
    Divided,
    Event,
    Expired,
    Group,
    Item,
    ItemId,
    Labelled,
    QuestionId,
    Revised,
    State,
    Undone,
)

LATEST = 500  # answers that an estimate uses: more would hide that the model has become worse
_OWN_STREAM = 21  # keeps the draws apart from those of the other random generators
_NO_VECTOR = np.zeros(0)  # csim makes no guesses about these images
_ROUNDING = 1e-9  # 1 / 0.005 may come out just above 200


@dataclass(slots=True)
class _Drawn:
    """Hold a drawn image that has no answer yet."""

    item: Item
    at_arrival: ClassId | None
    today: ClassId | None
    question_id: QuestionId | None = None
    is_own: bool = False  # the audit asked the question


class Audit:
    """Draw images, say which of them to ask about, and report the answers as `Audited` events.

    Parameters
    ----------
    share
        Images to draw per image of the stream, between 0 and 1. Higher estimates more closely, and
        leaves fewer questions to learn from; 0 draws none.
    seed
        Of the draws.

    Examples
    --------
    >>> audit = Audit(0.25, seed=0)
    >>> for position in range(1, 9):
    ...     audit.draw([Item(str(position), position, None)], [Decision(0, 0.9, is_accepted=True)])
    >>> len(audit.due(waiting=()))
    2
    """

    def __init__(self, share: float, seed: int) -> None:
        if not 0 <= share <= 1:
            raise SettingsError(f"share must lie between 0 and 1, got {share}")
        self._every = math.ceil(1 / share - _ROUNDING) if share else 0
        self._rng = np.random.default_rng([seed, _OWN_STREAM])
        self._next = 0  # the position that is drawn next
        self._drawn: dict[ItemId, _Drawn] = {}
        self._answered: dict[QuestionId, tuple[Audited, bool]] = {}  # with `is_own`

    @property
    def ids(self) -> KeysView[ItemId]:
        """Return the ids of the drawn images that have no answer yet."""
        return self._drawn.keys()

    def draw(self, items: Sequence[Item], decisions: Sequence[Decision]) -> None:
        """Draw some of the images that arrive."""
        if not self._every:
            return
        for item, decision in zip(items, decisions, strict=True):
            if (item.position - 1) % self._every == 0:
                self._next = item.position + int(self._rng.integers(self._every))
            if item.position == self._next:
                class_id = decision.class_id if decision.is_accepted else None
                self._drawn[item.id] = _Drawn(item, class_id, class_id)

    def items(self) -> list[Item]:
        """Return the drawn images that have no answer yet."""
        return [drawn.item for drawn in self._drawn.values()]

    @property
    def reserved(self) -> int:
        """Return how many questions of the budget are kept for drawn images."""
        return sum(drawn.question_id is None for drawn in self._drawn.values())

    def due(self, waiting: Container[ItemId]) -> list[Group]:
        """Return the drawn images to ask about now: those without a question and not `waiting`."""
        return [
            Group((drawn.item,), drawn.item, _NO_VECTOR)
            for drawn in self._drawn.values()
            if drawn.question_id is None and drawn.item.id not in waiting
        ]

    def follow(self, events: Sequence[Event]) -> list[Event]:
        """Bring the drawn images up to date; return the events with `Audited` ones added."""
        followed: list[Event] = []
        for event in events:
            followed.append(event)
            audited = self._follow(event)
            if audited is not None:
                followed.append(audited)
        return followed

    def answered(self) -> list[Audited]:
        """Return the latest drawn images that have an answer."""
        return [audited for audited, _ in self._answered.values() if audited.answer is not None]

    def state(self) -> State:
        """Return the drawn images, the answers, and the state of the random generator."""
        drawn = list(self._drawn.values())
        answered = [audited for audited, _ in self._answered.values()]
        return {
            "rng": self._rng.bit_generator.state,
            "next": self._next,
            "items": pack([entry.item for entry in drawn]),
            "drawn": {name: [getattr(entry, name) for entry in drawn] for name in _DRAWN},
            "answered": {name: [getattr(entry, name) for entry in answered] for name in _AUDITED},
            "is_own": [is_own for _, is_own in self._answered.values()],
        }

    def restore(self, state: State) -> None:
        """Load what `state` returned."""
        self._rng.bit_generator.state = state["rng"]
        self._next = state["next"]
        drawn = zip(*(state["drawn"][name] for name in _DRAWN), strict=True)
        self._drawn = {
            item.id: _Drawn(item, *values)
            for item, values in zip(unpack(state["items"]), drawn, strict=True)
        }
        answered = zip(*(state["answered"][name] for name in _AUDITED), strict=True)
        audited = [Audited(*values) for values in answered]
        self._answered = {
            event.question_id: (event, is_own)
            for event, is_own in zip(audited, state["is_own"], strict=True)
        }

    def _follow(self, event: Event) -> Audited | None:
        match event:
            case Asked(_, question):
                if drawn := self._drawn.get(question.representative.id):
                    drawn.question_id = question.id
                    drawn.is_own = question.is_audit
            case Labelled(position, item_id, class_id, question_id, is_told):
                if is_told:
                    return self._hear(position, item_id, question_id, class_id)
                self._revise(item_id, class_id)
            case Revised(_, item_id, _, after):
                self._revise(item_id, after)
            case Corrected(position, question_id, class_id):
                return self._change(position, question_id, class_id)
            case Undone(position, question_id):
                return self._change(position, question_id, None)
            case Divided(_, question_id) | Expired(_, question_id):
                self._forget(question_id)
            case _:
                pass
        return None

    def _revise(self, item_id: ItemId, class_id: ClassId | None) -> None:
        if drawn := self._drawn.get(item_id):
            drawn.today = class_id

    def _hear(
        self, position: int, item_id: ItemId, question_id: QuestionId, class_id: ClassId
    ) -> Audited | None:
        """Record the first answer about a drawn image, or another one after an undo."""
        drawn = self._drawn.pop(item_id, None)
        if drawn is None:
            return self._change(position, question_id, class_id)
        today = drawn.today if drawn.is_own else class_id  # an ordinary answer is its label now
        audited = Audited(position, item_id, question_id, drawn.at_arrival, today, class_id)
        self._answered[question_id] = (audited, drawn.is_own)
        if len(self._answered) > LATEST:
            del self._answered[min(self._answered)]
        return audited

    def _change(
        self, position: int, question_id: QuestionId, class_id: ClassId | None
    ) -> Audited | None:
        if question_id not in self._answered:
            return None
        before, is_own = self._answered[question_id]
        audited = Audited(
            position,
            before.item_id,
            question_id,
            before.at_arrival,
            before.today if is_own else class_id,
            class_id,
        )
        self._answered[question_id] = (audited, is_own)
        return audited

    def _forget(self, question_id: QuestionId) -> None:
        """Unlink a question that no longer shows its image; the audit asks if it has not yet."""
        for drawn in list(self._drawn.values()):
            if drawn.question_id == question_id:
                drawn.question_id = None
                if drawn.is_own:
                    del self._drawn[drawn.item.id]


_DRAWN = ("at_arrival", "today", "question_id", "is_own")
_AUDITED = ("position", "item_id", "question_id", "at_arrival", "today", "answer")
