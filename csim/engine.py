"""The spine: the order of the stages, and the only state machine.

    source → embed → accept or reject → discover → ask → store → retrain

`observe` is the paper's Algorithm 1. A search begins its Algorithm 2, and `tell` ends it. The
caller answers, trains when `TrainingDue`, and calls `install`. `build.py` knows the concrete parts.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

import csim.records as r
from csim.errors import NotFittedError
from csim.messages import AddClass, Answer, Edit, Split

if TYPE_CHECKING:
    from csim.decide.head import Head
    from csim.dialogue import Dialogue
    from csim.discover.discovery import Discovery
    from csim.embed.gallery import Gallery
    from csim.retrain.evidence import Evidence
    from csim.retrain.schedule import Schedule
    from csim.second_look import SecondLook, Settle
    from csim.store.class_store import ClassStore

_PARTS = ("gallery", "head", "discovery", "dialogue", "store", "schedule")  # those with a state


@dataclass(kw_only=True, eq=False)
class Engine:
    """Classify a stream, find what is new, learn from answers; store scores above `store_score`."""

    open_gallery: Callable[[r.Model, Gallery | None], Gallery]
    head: Head
    evidence: Evidence
    discovery: Discovery
    second_look: SecondLook
    dialogue: Dialogue
    store: ClassStore
    store_score: float
    schedule: Schedule
    model: r.Model | None = field(default=None, init=False)
    position: int = field(default=0, init=False)
    _gallery: Gallery | None = field(default=None, init=False)
    _is_stale: bool = field(default=True, init=False)  # the thresholds must be fitted again

    def warm_up(self, items: Sequence[r.Item], names: Sequence[str]) -> list[r.Event]:
        """Store the first labelled items, the newest of each class; a model of all is due."""
        first = sorted(set(names))
        added = [event for name in first for event in self.dialogue.edit(AddClass(name), 0)]
        labels = [self.dialogue.class_id(name) for name in names]
        for item, class_id in zip(items, labels, strict=True):
            self.store.add(item, class_id, is_told=True)
        job = self.schedule.job(r.stack(items), np.array(labels), np.full(len(items), True))
        return [*added, r.TrainingDue(0, job)]

    def observe(self, items: Sequence[r.Item], views: r.GivenViews = ()) -> list[r.Event]:
        """Classify items; `views` made elsewhere are used if they are of the model in use."""
        scores = self.head.scores(self.gallery.vectors(items, views))  # (n, K)
        events: list[r.Event] = []
        taken = 0
        while taken < len(items):
            self.refresh()
            waiting = len(self.dialogue.ledger.open_ids)
            # Batch sizes change nothing.
            end = taken + self.discovery.until_due(self.position, waiting)
            decisions = self.head.decide(scores[taken:end])
            events += self._take(items[taken:end], decisions)
            taken += len(decisions)
            if self.discovery.is_due(self.position, waiting):  # this moves the thresholds
                events += self._search(self.second_look.settle_old, self.discovery.pool.ids)
        return events

    def ask_now(self) -> list[r.Event]:
        """Search for questions now; give items that still wait afterwards their best class."""
        return self._search(self.second_look.settle_all, waiting=())

    def tell(self, answers: Sequence[Answer]) -> list[r.Event]:
        """Take in answers, whenever they come and in any order: all or, if one is bad, none."""
        self.dialogue.check(answers)
        groups: dict[Split, list[r.Group]] = {}
        for split, members in self.dialogue.members(answers).items():
            groups[split] = self.discovery.split(members, split.parts, self.gallery)
        events = self.dialogue.take(answers, groups, self.head.guess, self.position)
        return self._apply(events) if answers else []

    def edit(self, change: Edit) -> list[r.Event]:
        """Change a class, label images, or undo several answers."""
        return self._apply(self.dialogue.edit(change, self.position))

    def install(self, model: r.Model) -> list[r.Event]:
        """Switch to a newly trained model, and decide recent items again."""
        self._use(model)
        self.schedule.done()
        retrained = r.Retrained(self.position, model.version, self.head.named_classes)
        self.refresh()
        revised = self.second_look.revise(self.gallery, self.position)
        return [retrained, *self.dialogue.audit.follow(revised), *self._training_due()]

    def refresh(self) -> None:
        """Fit the thresholds again if what they are fitted on has changed."""
        if self._is_stale and self.model is not None:
            self.head.calibrate(*self.evidence(self.model, self.gallery, self.store))
            self._is_stale = False

    @property
    def gallery(self) -> Gallery:
        """Return what views items with the model in use."""
        if self._gallery is None:
            raise NotFittedError("there is no model yet; give labelled images first")
        return self._gallery

    def state(self) -> r.State:
        """Return everything the engine knows but its model, as plain values and arrays."""
        parts = {name: getattr(self, name).state() for name in _PARTS}
        return {"position": self.position, "is_stale": self._is_stale, **parts}

    def restore(self, state: r.State, model: r.Model) -> None:
        """Load what `state` returned, and the model that was in use."""
        self.dialogue.restore(state["dialogue"])
        self._use(model)
        for name in _PARTS:
            getattr(self, name).restore(state[name])
        self.position = state["position"]
        self._is_stale = state["is_stale"]

    def _use(self, model: r.Model) -> None:
        self.model = model
        self._gallery = self.open_gallery(model, self._gallery)
        self.head.install(model, self.dialogue.catalogue.current)
        self._is_stale = True

    def _take(self, items: Sequence[r.Item], decisions: Sequence[r.Decision]) -> list[r.Event]:
        assert self.model is not None
        self.discovery.pool.add(items, decisions)
        self.dialogue.audit.draw(items, decisions)
        for item, decision in zip(items, decisions, strict=True):
            if decision.score > self.store_score and (c := decision.named_class) is not None:
                self.store.add(item, c, is_told=False)
        self.position = items[-1].position
        return r.arrivals(items, decisions, self.model.version)

    def _search(self, settle: Settle, waiting: Container[r.ItemId]) -> list[r.Event]:
        """Ask about what is new or in doubt; `settle` the rest; audit items not `waiting` then."""
        self.refresh()  # a new model may have come since the last item
        self._is_stale = True
        dialogue = self.dialogue
        most = dialogue.budget.left(self.position, kept=dialogue.audit.reserved)
        views = (self.gallery, self.head, self.store)
        asked_before = dialogue.ledger.asked_before()
        groups, joined = self.discovery.search(*views, most, self.position, *asked_before)
        asked = dialogue.ask(groups, self.head.guess, self.position, joined)
        happened = self.discovery.apply(asked) + settle(self.gallery, self.position)
        followed = dialogue.audit.follow(happened)
        drawn = dialogue.audit.due(waiting)
        asked = dialogue.ask(drawn, self.head.guess, self.position, is_audit=True)
        return followed + dialogue.audit.follow(self.discovery.apply(asked))

    def _apply(self, events: Sequence[r.Event]) -> list[r.Event]:
        """Apply events to pool and head; if classes came or went, decide recent items again."""
        applied = self.discovery.apply(events)
        self._is_stale = True
        known = self.head.class_ids
        if self.model is not None:
            self.head.install(self.model, self.dialogue.catalogue.current)
        if self.head.class_ids != known:
            self.refresh()
            applied += self.second_look.revise(self.gallery, self.position)
        return self.dialogue.audit.follow(applied) + self._training_due()

    def _training_due(self) -> list[r.Event]:
        job = self.schedule.due(self.store, self.head.class_ids, self.dialogue.told)
        return [r.TrainingDue(self.position, job)] if job else []
