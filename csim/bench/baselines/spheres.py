"""What ECSMiner and ECHO-D share: spheres vote, outliers wait, and a novel class is declared when enough agree."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from csim.bench.baselines.ensemble import Boundary, Ensemble, Look
from csim.bench.baselines.face import Baseline, Seen
from csim.bench.baselines.features import KINDS, Kind, features_of
from csim.bench.baselines.impurity import impure_groups
from csim.bench.baselines.settings import BaselineSettings, at_least, one_of
from csim.bench.baselines.summaries import Summaries, pure_groups, summarise
from csim.bench.baselines.waiting import Waiting
from csim.records import Bools, ClassId, Event, Floats, Ints

_TRIED = (20, 30, 50, 80, 120, 200)  # summaries per 1,000 images, to choose from on the warm-up
_MOST_OUTLIERS = 0.15  # of known images: more, and the spheres are too small
_HELD_OUT = 0.2


@dataclass(frozen=True)
class SpheresSettings(BaselineSettings):
    """Settings that ECSMiner and ECHO-D share.

    Parameters
    ----------
    seed
        Of everything that draws.
    features
        Pixels from 0 to 1 (`unit`) or to 255 (`byte`), or the vectors of our network (`network`).
    models
        L: models in the ensemble. Raising it remembers longer and adapts more slowly.
    summaries
        K: spheres per 1,000 labelled images; 0 chooses on the warm-up the most that leave at most 15 % of known
        images outside. Raising it classifies better, and sees more known images outside.
    enough
        q: outliers that make a class. Raising it finds fewer classes, more surely.
    label_delay
        T_l: images until a label comes. Raising it learns later.
    wait
        T_c: images until an outlier must be answered. Raising it finds more classes, and answers later.
    evidence
        How many images long an outlier is evidence. Raising it finds rarer classes.
    boundary
        What is outside of a model: outside the nearest sphere (`nearest`), or outside all (`union`).
    slack
        How far outside of the closest model an outlier must be. Raising it finds fewer outliers.
    recalls
        Whether an outlier in a novel group found before is declared novel at once.
    impurity
        Whether models are clustered so that spheres keep classes apart, instead of class by class.
    credits_outside
        Whether a model counts as right when it sees outside what it was never taught, where the worst model is
        sought. Then those stay longest that know fewest classes.
    """

    seed: int = 0
    features: Kind = "unit"
    models: int = 6
    summaries: int = 0
    enough: int = 50
    label_delay: int = 1000
    wait: int = 400
    evidence: int = 1000
    boundary: Boundary = "nearest"
    slack: float = 0.0
    recalls: bool = True
    impurity: bool = False
    credits_outside: bool = False

    def __post_init__(self) -> None:
        at_least(
            self,
            seed=0,
            models=1,
            summaries=0,
            enough=3,
            label_delay=0,
            wait=0,
            evidence=1,
            slack=0,
        )
        one_of(self, features=KINDS, boundary=("nearest", "union"))


class Spheres(Baseline):
    """An ensemble of summaries over a stream.

    Parameters
    ----------
    settings
        What it is made of.
    on_event
        Called with every event.
    """

    def __init__(self, settings: SpheresSettings, on_event: Callable[[Event], None]) -> None:
        super().__init__(features_of(settings.features, settings.seed), on_event)
        own = self._own = settings
        self._rng = np.random.default_rng(own.seed)
        self._ensemble = self._join([])
        self._summaries = own.summaries
        self._waiting = Waiting(own.enough, own.wait, own.evidence, own.summaries, own.recalls)

    @abstractmethod
    def _weights(self, look: Look) -> Floats | None:
        """Return what each model's vote weighs, (models, n); None if all weigh the same."""

    @abstractmethod
    def _passed(self, some: list[Seen], look: Look, answers: Ints) -> None:
        """Note images that have come, with the answers by vote, (n,), so that their labels can be had later."""

    def _start(self, vectors: Floats, labels: Ints) -> None:
        order = self._rng.permutation(len(vectors))
        vectors, labels = vectors[order], labels[order]
        self._waiting.most = self._summaries = self._summaries or self._choose(vectors, labels)
        self._ensemble = self._join(self._models(vectors, labels))
        self._changed()

    def _choose(self, vectors: Floats, labels: Ints) -> int:
        """Return the most summaries that leave at most 15 % of known images outside."""
        held, best = int(len(vectors) * _HELD_OUT), _TRIED[0]
        for self._summaries in _TRIED:
            ensemble = self._join(self._models(vectors[held:], labels[held:]))
            if np.mean(ensemble.outliers(ensemble.look(vectors[:held]))) > _MOST_OUTLIERS:
                break
            best = self._summaries
        return best

    def _errors(self, vectors: Floats, labels: Ints) -> Floats:
        return self._ensemble.errors(vectors, labels, credits_outside=self._own.credits_outside)

    def _join(self, models: Sequence[Summaries]) -> Ensemble:
        return Ensemble(
            models, most=self._own.models, boundary=self._own.boundary, slack=self._own.slack
        )

    def _models(self, vectors: Floats, labels: Ints) -> list[Summaries]:
        """Return a model for each part of the warm-up."""
        parts = np.array_split(np.arange(len(vectors)), self._own.models)
        return [self._model(vectors[part], labels[part]) for part in parts if len(part)]

    def _model(self, vectors: Floats, labels: Ints) -> Summaries:
        many = max(1, round(self._summaries * len(vectors) / 1000))
        cluster = impure_groups if self._own.impurity else pure_groups
        return summarise(vectors, labels, cluster(vectors, labels, many, self._rng))

    def _see(self, some: list[Seen], vectors: Floats) -> None:
        look = self._ensemble.look(vectors)
        is_outlier, shares = self._ensemble.outliers(look), self._shares(look)
        best = shares.argmax(axis=1)
        for place, seen in enumerate(some):
            self._position = seen.position
            vote, score = int(best[place]), float(shares[place, best[place]])
            if not is_outlier[place]:
                self._accept(seen, vote, score)
            else:
                self._reject(seen, vote, score)
                if not self._waiting.is_recalled(seen.vector):
                    self._waiting.add(seen, vote)
            for late in self._waiting.pass_by(self._position):
                self._revise(late.seen, late.vote)
            if self._waiting.is_due(self._position):
                self._waiting.test(
                    self._ensemble, self._position
                )  # what is found stays without a class: it is new
        self._passed(some, look, best)

    def _finish(self) -> None:
        if self._waiting.is_due(self._position):
            self._waiting.test(self._ensemble, self._position)
        for own in self._waiting.outliers:
            if not own.is_answered:
                own.is_answered = True
                self._revise(own.seen, own.vote)

    def _changed(self) -> None:
        """Let all follow that the models have changed."""
        for own in self._waiting.look_again(self._judge):
            self._revise(own.seen, own.vote)
        self._learned(tuple(self._ensemble.known))

    def _judge(self, vectors: Floats) -> tuple[Bools, list[ClassId]]:
        look = self._ensemble.look(vectors)
        return self._ensemble.outliers(look), self._shares(look).argmax(axis=1).tolist()

    def _scores(self, vectors: Floats) -> Floats:
        return self._shares(self._ensemble.look(vectors))

    def _shares(self, look: Look) -> Floats:
        return self._ensemble.tally(look, self._weights(look), len(self._names))
