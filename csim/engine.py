"""The spine: the order of the stages, and the only state machine.

    source → embed → accept or reject → buffer → purify → ask → store → retrain

`observe` is the paper's Algorithm 1; `ask_now` begins its Algorithm 2 and `tell` ends it. The engine never calls a
labeller and never trains: it opens questions, and whoever drives it answers with `tell`; it says `TrainingDue`,
and whoever drives it trains and calls `install`. It knows its parts by what they do; `build.py` knows who they are.
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
    from csim.retrain.evidence import Evidence
    from csim.retrain.schedule import Schedule
    from csim.store.class_store import ClassStore


class Engine:
    """Classifies a stream, finds what is new, learns from answers; a score above `store_score` (T_D) is stored."""

    def __init__(
        self,
        *,
        open_encoder: Callable[[r.Model], r.Encoder],
        head: Head,
        evidence: Evidence,
        discovery: Discovery,
        dialogue: Dialogue,
        store: ClassStore,
        store_score: float,
        schedule: Schedule,
    ) -> None:
        self.head, self.discovery, self.dialogue = head, discovery, dialogue
        self.store, self.schedule = store, schedule
        self.model: r.Model | None = None
        self.position = 0
        self._open_encoder, self._evidence, self._store_score = open_encoder, evidence, store_score
        self._encoder: r.Encoder | None = None
        self.is_stale = True  # the thresholds must be fitted anew before the next decision

    def warm_up(self, items: Sequence[r.Item], names: Sequence[str]) -> list[r.Event]:
        """Take the first labelled images: the newest enter the store, the first model learns from all."""
        added = [event for name in sorted(set(names)) for event in self.dialogue.edit(r.AddClass(name), 0)]
        labels = [self.dialogue.class_id(name) for name in names]
        for item, class_id in zip(items, labels, strict=True):
            self.store.add(item, class_id, is_told=True)
        job = self.schedule.job(r.stack(items), np.array(labels, np.int64))
        return [*added, r.TrainingDue(self.position, job)]

    def observe(self, items: Sequence[r.Item]) -> list[r.Event]:
        """Classify a batch of images; keep those that fit no class as candidates."""
        events: list[r.Event] = []
        scores = self.scores(r.stack(items))  # (n, K)
        taken = 0
        while taken < len(items):
            self.refresh()
            for item, decision in zip(items[taken:], self.head.decide(scores[taken:]), strict=True):
                events.append(self._take(item, decision))
                taken += 1
                if self.discovery.is_due(item.position):  # per item: batch sizes change nothing
                    events += self.ask_now()
                    break  # the thresholds have moved: decide the rest anew
        return events

    def ask_now(self) -> list[r.Event]:
        """Purify the candidates, however few, and ask; those beyond the budget get their best class."""
        self.refresh()  # a new model may have come since the last image
        groups, left_over = self.discovery.purify(self.encoder, self.dialogue.budget.left(self.position))
        self.is_stale = True
        return self.dialogue.ask(groups, self._guesses(groups), self.position) + self._settle(left_over)

    def tell(self, answers: Sequence[r.Answer]) -> list[r.Event]:
        """Take in answers, whenever they come and in whatever order; all of them or, if one is bad, none."""
        self.dialogue.check(answers)
        splits = [answer for answer in answers if isinstance(answer, r.Split)]
        parts = {s: self.discovery.split(self.dialogue.members(s), s.parts, self.encoder) for s in splits}
        events: list[r.Event] = []
        for answer in answers:
            if isinstance(answer, r.Split):
                events += self.dialogue.divide(answer, parts[answer], self._guesses(parts[answer]), self.position)
            else:
                events += self.dialogue.hear(answer, self.position)
        return events + self._follow() if answers else []

    def edit(self, change: r.Edit) -> list[r.Event]:
        """Add, rename, merge or remove a class."""
        return self.dialogue.edit(change, self.position) + self._follow()

    def install(self, model: r.Model) -> list[r.Event]:
        """Go on with a newly trained model."""
        self._encoder = self._open_encoder(model)
        self.model = model
        self.schedule.done()
        followed = self._follow()
        return [r.Retrained(self.position, model.version, self.head.class_ids), *followed]

    def scores(self, images: r.Images) -> r.Floats:
        """Return the probability of each class of the head for each image, (n, K)."""
        return self.head.scores(self.encoder.embed(images))

    def refresh(self) -> None:
        """Fit the thresholds anew if what they rest on has changed."""
        if self.is_stale and self.model is not None:
            self.head.calibrate(*self._evidence(self.model, self.encoder, self.store))
            self.is_stale = False

    @property
    def encoder(self) -> r.Encoder:
        """What embeds images for the model in use."""
        if self._encoder is None:
            raise NotFittedError("there is no model yet; give labelled images first")
        return self._encoder

    def _take(self, item: r.Item, decision: r.Decision) -> r.Event:
        assert self.model is not None
        self.position = item.position
        self.discovery.add(item, decision)
        class_id, score, version = decision.class_id, decision.score, self.model.version
        if not decision.is_accepted or class_id is None:
            return r.Rejected(item.position, item.id, class_id, score, version)
        if score > self._store_score:
            self.store.add(item, class_id, is_told=False)
        return r.Accepted(item.position, item.id, class_id, score, version)

    def _settle(self, items: Sequence[r.Item]) -> list[r.Event]:
        best = self.head.decide(self.scores(r.stack(items))) if items and self.head.class_ids else []
        return [r.Revised(self.position, item.id, None, d.class_id) for item, d in zip(items, best, strict=bool(best))]

    def _guesses(self, groups: Sequence[r.Group]) -> list[r.Guesses]:
        return self.head.guesses([group.vector for group in groups])

    def _follow(self) -> list[r.Event]:
        """Let the head follow the classes as they are now, and say so if a new model is due."""
        self.is_stale = True
        if self.model is not None:
            self.head.install(self.model, self.dialogue.catalogue.current)
        job = self.schedule.due(self.store, self.head.class_ids, self.dialogue.told)
        return [r.TrainingDue(self.position, job)] if job else []
