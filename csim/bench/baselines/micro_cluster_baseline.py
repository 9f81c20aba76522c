"""The part that ECSMiner and ECHO-D share.

An ensemble of micro-cluster models votes. Outliers wait in a buffer. The baseline declares a novel
class when enough of them are cohesive.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from csim.bench.baselines.baseline import Baseline
from csim.bench.baselines.ensemble import BOUNDARIES, Boundary, Ensemble, Predictions
from csim.bench.baselines.event_recorder import Sample
from csim.bench.baselines.features import FEATURE_KINDS, FeatureKind, make_extractor
from csim.bench.baselines.impurity import cluster_by_impurity
from csim.bench.baselines.micro_clusters import (
    MicroClusters,
    build_micro_clusters,
    cluster_within_classes,
)
from csim.bench.baselines.outlier_buffer import OutlierBuffer
from csim.bench.baselines.settings import BaselineSettings, check_at_least, check_one_of
from csim.records import Bools, ClassId, Event, Floats, Ints

_CLUSTER_CHOICES = (20, 30, 50, 80, 120, 200)  # micro-clusters per 1,000 labelled images
_MAX_OUTLIER_SHARE = 0.15  # of held-out known images; above it the spheres are too small
_HELD_OUT_SHARE = 0.2  # of the warm-up, to choose the number of micro-clusters


@dataclass(frozen=True)
class MicroClusterSettings(BaselineSettings):
    """Hold the settings that ECSMiner and ECHO-D share.

    Parameters
    ----------
    seed
        Seed of all random draws.
    features
        `unit`: pixels from 0 to 1. `byte`: pixels from 0 to 255. `network`: the vectors of csim's
        network.
    models
        L: models in the ensemble. Higher remembers longer and adapts more slowly.
    summaries
        K: micro-clusters per 1,000 labelled images. 0 chooses the highest number that leaves at
        most 15 % of held-out warm-up images outside. Higher classifies better and rejects more
        known images.
    enough
        q: outliers that make a class. Higher finds fewer classes, with fewer false ones.
    label_delay
        T_l: images until a label arrives. Higher learns later.
    wait
        T_c: images until an outlier must be decided. Higher finds more classes and decides later.
    evidence
        Images for which an outlier counts as evidence. Higher finds rarer classes.
    boundary
        `nearest`: an image outside the nearest sphere is outside the model. `union`: it must be
        outside all spheres.
    slack
        How far outside the closest model an outlier must lie. Higher finds fewer outliers.
    recalls
        Whether an outlier inside a novel group found before is declared novel immediately.
    impurity
        Whether clustering minimises impurity over all classes, instead of clustering each class
        by itself.
    credits_outside
        Whether an image of a class that a model never learned counts as right if it lies outside
        the model. If so, the models that know the fewest classes are replaced last.
    """

    seed: int = 0
    features: FeatureKind = "unit"
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
        check_at_least(
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
        check_one_of(self, features=FEATURE_KINDS, boundary=BOUNDARIES)


class MicroClusterBaseline(Baseline):
    """Classify a stream with an ensemble of micro-cluster models.

    Parameters
    ----------
    settings
        The settings of the method.
    on_event
        Called with every event.
    """

    def __init__(self, settings: MicroClusterSettings, on_event: Callable[[Event], None]) -> None:
        super().__init__(make_extractor(settings.features, settings.seed), on_event)
        self._shared = settings
        self._rng = np.random.default_rng(settings.seed)
        self._ensemble = self._make_ensemble([])
        self._clusters = settings.summaries
        self._buffer = OutlierBuffer(
            q=settings.enough,
            max_wait=settings.wait,
            evidence=settings.evidence,
            clusters=settings.summaries,
            recalls=settings.recalls,
        )

    @abstractmethod
    def _weights(self, predictions: Predictions) -> Floats | None:
        """Return the weight of each model's vote, (models, n); None if all weigh the same."""

    @abstractmethod
    def _queue_labels(self, samples: list[Sample], predictions: Predictions, answers: Ints) -> None:
        """Keep classified samples until their labels are due; `answers` are the votes, (n,)."""

    def _start(self, vectors: Floats, labels: Ints) -> None:
        order = self._rng.permutation(len(vectors))
        vectors = vectors[order]
        labels = labels[order]
        self._clusters = self._clusters or self._choose_clusters(vectors, labels)
        self._buffer.clusters = self._clusters
        self._ensemble = self._make_ensemble(self._train_warm_up(vectors, labels))
        self._models_changed()

    def _choose_clusters(self, vectors: Floats, labels: Ints) -> int:
        """Return the most micro-clusters that leave at most 15 % of known images outside."""
        held_out = int(len(vectors) * _HELD_OUT_SHARE)
        best = _CLUSTER_CHOICES[0]
        for choice in _CLUSTER_CHOICES:
            self._clusters = choice
            models = self._train_warm_up(vectors[held_out:], labels[held_out:])
            ensemble = self._make_ensemble(models)
            is_outlier = ensemble.find_outliers(ensemble.predict(vectors[:held_out]))
            if np.mean(is_outlier) > _MAX_OUTLIER_SHARE:
                break
            best = choice
        return best

    def _error_rates(self, vectors: Floats, labels: Ints) -> Floats:
        return self._ensemble.error_rates(
            vectors, labels, credits_outside=self._shared.credits_outside
        )

    def _make_ensemble(self, models: Sequence[MicroClusters]) -> Ensemble:
        return Ensemble(
            models,
            max_models=self._shared.models,
            boundary=self._shared.boundary,
            slack=self._shared.slack,
        )

    def _train_warm_up(self, vectors: Floats, labels: Ints) -> list[MicroClusters]:
        """Split the warm-up into as many parts as there are models, and train one on each."""
        parts = np.array_split(np.arange(len(vectors)), self._shared.models)
        return [self._train(vectors[part], labels[part]) for part in parts if len(part)]

    def _train(self, vectors: Floats, labels: Ints) -> MicroClusters:
        count = max(1, round(self._clusters * len(vectors) / 1000))
        cluster = cluster_by_impurity if self._shared.impurity else cluster_within_classes
        return build_micro_clusters(vectors, labels, cluster(vectors, labels, count, self._rng))

    def _classify(self, samples: list[Sample], vectors: Floats) -> None:
        predictions = self._ensemble.predict(vectors)
        is_outlier = self._ensemble.find_outliers(predictions)
        shares = self._vote_shares(predictions)
        best = shares.argmax(axis=1)
        for index, sample in enumerate(samples):
            self._recorder.position = sample.position
            vote = int(best[index])
            score = float(shares[index, vote])
            if not is_outlier[index]:
                self._recorder.accept(sample, vote, score)
            else:
                self._recorder.reject(sample, vote, score)
                if not self._buffer.is_in_novel_group(sample.vector):
                    self._buffer.add(sample, vote)
            for late in self._buffer.expire(sample.position):
                self._recorder.revise(late.sample, late.vote)
            if self._buffer.is_test_due(sample.position):
                # What is found stays rejected, without a class: it is novel.
                self._buffer.find_novel(self._ensemble, sample.position)
        self._queue_labels(samples, predictions, best)

    def _finish(self) -> None:
        if self._buffer.is_test_due(self._recorder.position):
            self._buffer.find_novel(self._ensemble, self._recorder.position)
        for outlier in self._buffer.outliers:
            if not outlier.is_decided:
                outlier.is_decided = True
                self._recorder.revise(outlier.sample, outlier.vote)

    def _models_changed(self) -> None:
        """Classify the buffered outliers again and record the new model."""
        for outlier in self._buffer.reclassify(self._find_outliers):
            self._recorder.revise(outlier.sample, outlier.vote)
        self._recorder.retrained(tuple(self._ensemble.known))

    def _find_outliers(self, vectors: Floats) -> tuple[Bools, list[ClassId]]:
        """Return which vectors are outliers, and the class that the ensemble votes for."""
        predictions = self._ensemble.predict(vectors)
        votes = self._vote_shares(predictions).argmax(axis=1).tolist()
        return self._ensemble.find_outliers(predictions), votes

    def _scores(self, vectors: Floats) -> Floats:
        return self._vote_shares(self._ensemble.predict(vectors))

    def _vote_shares(self, predictions: Predictions) -> Floats:
        return self._ensemble.vote_shares(
            predictions, self._weights(predictions), len(self._recorder.names)
        )
