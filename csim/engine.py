"""The spine: the order of the stages, and the only state machine.

    source → embed → accept or reject → discover → ask → store → retrain

`observe` is the paper's Algorithm 1; a look begins its Algorithm 2 and `tell` ends it. The engine asks, and says
`TrainingDue`: whoever drives it answers with `tell`, trains, and calls `install`. `build.py` knows who its parts are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

import csim.records as r
from csim.errors import NotFittedError

if TYPE_CHECKING:
    from csim.decide.head import Head
    from csim.dialogue import Dialogue
    from csim.discover.discovery import Discovery
    from csim.embed.gallery import Gallery
    from csim.retrain.evidence import Evidence
    from csim.retrain.schedule import Schedule
    from csim.second_look import SecondLook
    from csim.store.class_store import ClassStore


class Engine:
    """Classifies a stream, finds what is new, learns from answers; a score above `store_score` (T_D) is stored."""

    def __init__(
        self,
        *,
        open_gallery: Callable[[r.Model], Gallery],
        head: Head,
        evidence: Evidence,
        discovery: Discovery,
        second_look: SecondLook,
        dialogue: Dialogue,
        store: ClassStore,
        store_score: float,
        schedule: Schedule,
    ) -> None:
        self.head, self.discovery, self.second_look = head, discovery, second_look
        self.dialogue, self.store, self.schedule = dialogue, store, schedule
        self.model: r.Model | None = None
        self.position = 0
        self._open_gallery, self._evidence, self._store_score = open_gallery, evidence, store_score
        self._gallery: Gallery | None = None
        self.is_stale = True  # the thresholds must be fitted anew before the next decision

    def warm_up(self, items: Sequence[r.Item], names: Sequence[str]) -> list[r.Event]:
        """Take the first labelled images: the newest enter the store, the first model learns from all."""
        added = [
            event
            for name in sorted(set(names))
            for event in self.dialogue.edit(r.AddClass(name), 0)
        ]
        labels = [self.dialogue.class_id(name) for name in names]
        for item, class_id in zip(items, labels, strict=True):
            self.store.add(item, class_id, is_told=True)
        job = self.schedule.job(
            r.stack(items), np.array(labels, np.int64), np.ones(len(items), bool)
        )
        return [*added, r.TrainingDue(self.position, job)]

    def observe(self, items: Sequence[r.Item]) -> list[r.Event]:
        """Classify a batch of images; those that fit no class wait as candidates."""
        events: list[r.Event] = []
        scores = self.head.scores(self.gallery.embed(r.stack(items)))  # (n, K)
        taken = 0
        while taken < len(items):
            self.refresh()
            for item, decision in zip(items[taken:], self.head.decide(scores[taken:]), strict=True):
                events.append(self._take(item, decision))
                taken += 1
                if self.discovery.pool.is_due(
                    item.position
                ):  # per item: batch sizes change nothing
                    events += self._look() + self.second_look.let_go(self.gallery, item.position)
                    break  # the thresholds have moved: decide the rest anew
        return events

    def ask_now(self) -> list[r.Event]:
        """Look for questions now; what waits and is not asked about gets its best class."""
        return self._look() + self.second_look.settle(self.gallery, self.position)

    def tell(self, answers: Sequence[r.Answer]) -> list[r.Event]:
        """Take in answers, whenever they come and in whatever order; all of them or, if one is bad, none."""
        self.dialogue.check(answers)
        splits = self.dialogue.members(answers)
        parts = {
            split: self.discovery.split(own, split.parts, self.gallery)
            for split, own in splits.items()
        }
        events: list[r.Event] = []
        for answer in answers:
            if isinstance(answer, r.Split):
                events += self.dialogue.divide(
                    answer, parts[answer], self.head.guess, self.position
                )
            else:
                events += self.dialogue.hear(answer, self.position)
        return self._follow(events) if answers else []

    def edit(self, change: r.Edit) -> list[r.Event]:
        """Add, rename, merge or remove a class."""
        return self._follow(self.dialogue.edit(change, self.position))

    def install(self, model: r.Model) -> list[r.Event]:
        """Go on with a newly trained model, and look a second time at the recent images."""
        self._gallery, self.model = self._open_gallery(model), model
        self.schedule.done()
        self.head.install(model, self.dialogue.catalogue.current)
        return self._follow(
            [r.Retrained(self.position, model.version, self.head.class_ids)], known=()
        )

    def refresh(self) -> None:
        """Fit the thresholds anew if what they rest on has changed."""
        if self.is_stale and self.model is not None:
            self.head.calibrate(*self._evidence(self.model, self.gallery, self.store))
            self.is_stale = False

    @property
    def gallery(self) -> Gallery:
        """What embeds images for the model in use."""
        if self._gallery is None:
            raise NotFittedError("there is no model yet; give labelled images first")
        return self._gallery

    def _take(self, item: r.Item, decision: r.Decision) -> r.Event:
        assert self.model is not None
        self.position = item.position
        self.discovery.pool.add(item, decision)
        class_id, score, version = decision.class_id, decision.score, self.model.version
        if not decision.is_accepted or class_id is None:
            return r.Rejected(item.position, item.id, class_id, score, version)
        if score > self._store_score:
            self.store.add(item, class_id, is_told=False)
        return r.Accepted(item.position, item.id, class_id, score, version)

    def _look(self) -> list[r.Event]:
        """Find what to ask about, as far as the budget goes; images of open questions join them."""
        self.refresh()  # a new model may have come since the last image
        self.is_stale = True
        most, pending = self.dialogue.budget.left(self.position), self.dialogue.ledger.questions()
        eyes = (self.gallery, self.head, self.store)
        groups, joined = self.discovery.find(
            *eyes, most=most, position=self.position, pending=pending
        )
        return self.discovery.note(
            self.dialogue.ask(groups, self.head.guess, self.position, joined)
        )

    def _follow(
        self, events: list[r.Event], known: Sequence[r.ClassId] | None = None
    ) -> list[r.Event]:
        """Let all follow what has happened; if the classes are no longer those `known`, look a second time."""
        events = self.discovery.note(events)
        self.is_stale, known = True, self.head.class_ids if known is None else known
        if self.model is not None:
            self.head.install(self.model, self.dialogue.catalogue.current)
        if self.head.class_ids != known:
            self.refresh()
            events = events + self.dialogue.let_go(
                self.second_look.revise(self.gallery, self.position)
            )
        job = self.schedule.due(self.store, self.head.class_ids, self.dialogue.told)
        return [*events, r.TrainingDue(self.position, job)] if job else events
