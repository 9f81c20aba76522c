"""SENC-MaS (Mu, Zhu, Du, Lim, Zhou, AAAI 2017), reimplemented from its abstract.

Matrix sketches of the known classes separate new images from known ones. Only the abstract was
available: a global sketch detects, local sketches classify, and a confirmed new class updates both.
Everything else is csim's choice; docs/senc-mas.md lists it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from csim.bench.baselines.baseline import Baseline
from csim.bench.baselines.event_recorder import Sample
from csim.bench.baselines.features import FEATURE_KINDS, FeatureKind, make_extractor
from csim.bench.baselines.settings import (
    BaselineSettings,
    check_at_least,
    check_at_most_one,
    check_one_of,
)
from csim.bench.baselines.sketch import Sketch
from csim.records import ClassId, Event, Floats, Ints

Score = Literal["energy", "inner"]
SCORES: tuple[Score, ...] = ("energy", "inner")

_FOLDS = 5  # one labelled image in 5 is held out of the sketches
_MAX_HELD_OUT = 50  # newest held-out images per class
_ROW_CHOICES = (5, 10, 20, 40)  # rows of a local sketch
_MIN_NORM = 1e-12  # avoids division by 0


@dataclass(frozen=True)
class SencSettings(BaselineSettings):
    """Hold the settings of SENC-MaS.

    Parameters
    ----------
    seed
        Seed of all random draws.
    features
        `unit`: pixels from 0 to 1. `byte`: pixels from 0 to 255. `network`: the vectors of csim's
        network. All are scaled to unit length.
    score
        `inner`: the largest inner product with a row of the sketch, the literal reading.
        `energy`: the share of an image's energy that lies in the span of a class's sketch.
    rows
        Rows of a local sketch; the global one has twice as many. 0 chooses on the warm-up. Higher
        is more exact and accepts more unknown images.
    reject
        ρ: share of known images to reject. Higher finds more new images and asks more.
    buffer
        Rejected images to collect before asking about all of them. Higher asks later.
    enough
        Labelled images that a class needs for a sketch. Higher learns a class later.
    extra
        Share of accepted images to ask about too. Higher asks more and keeps the sketches fresh.
    refresh
        Labels between two updates of the sketches. Higher is faster and learns later.
    decay
        Factor on all local sketches at an update. Higher remembers longer.
    """

    seed: int = 0
    features: FeatureKind = "unit"
    score: Score = "energy"
    rows: int = 0
    reject: float = 0.05
    buffer: int = 300
    enough: int = 20
    extra: float = 0.35
    refresh: int = 100
    decay: float = 1.0

    def __post_init__(self) -> None:
        check_at_least(
            self, seed=0, rows=0, reject=0, buffer=1, enough=1, extra=0, refresh=1, decay=0
        )
        check_one_of(self, features=FEATURE_KINDS, score=SCORES)
        check_at_most_one(self, "reject", "extra", "decay")


class SencMas(Baseline):
    """Classify a stream with SENC-MaS."""

    def __init__(self, settings: SencSettings, on_event: Callable[[Event], None]) -> None:
        super().__init__(make_extractor(settings.features, settings.seed), on_event)
        self._settings = settings
        self._rng = np.random.default_rng(settings.seed)
        self._rows = settings.rows
        self._sketches: dict[ClassId, Sketch] = {}
        self._unsketched: dict[ClassId, Floats] = {}  # rows of classes that have no sketch yet
        self._held_out: dict[ClassId, Floats] = {}  # newest labelled rows that are in no sketch
        self._label_counts: dict[ClassId, int] = {}
        self._buffer: list[Sample] = []
        self._labelled: list[Sample] = []  # not yet learned from
        self._scorer = _SketchScorer({}, 0)
        self._threshold = 0.0

    def _start(self, vectors: Floats, labels: Ints) -> None:
        rows = _unit_length(vectors)
        order = self._rng.permutation(len(rows))
        rows = rows[order]
        labels = labels[order]
        self._rows = self._rows or choose_rows(rows, labels)
        self._learn(rows, labels)

    def _classify(self, samples: list[Sample], vectors: Floats) -> None:
        rows = _unit_length(vectors)
        scores = self._scorer.classify(rows, self._score)
        fits = self._scorer.detect(rows, self._score)
        best = scores.argmax(axis=1)
        for index, sample in enumerate(samples):
            self._recorder.position = sample.position
            answer = self._scorer.class_ids[best[index]]
            if fits[index] < self._threshold:
                self._recorder.reject(sample, answer, float(fits[index]))
                self._buffer.append(sample)
            else:
                self._recorder.accept(sample, answer, float(fits[index]))
                if self._settings.extra and self._rng.random() < self._settings.extra:
                    self._recorder.ask(sample)
            if len(self._buffer) >= self._settings.buffer:
                for rejected in self._buffer:
                    self._recorder.ask(rejected)
                self._buffer = []

    def _learn_told(self, told: list[Sample]) -> None:
        self._labelled += told
        if len(self._labelled) < self._settings.refresh:
            return
        labelled = self._labelled
        self._labelled = []
        with self._training():
            if self._settings.decay < 1:
                for sketch in self._sketches.values():
                    sketch.scale(self._settings.decay)
            rows = _unit_length(np.array([sample.vector for sample in labelled]))
            self._learn(rows, np.array([sample.label for sample in labelled], np.int64))

    def _finish(self) -> None:
        """Leave rejected images rejected: SENC-MaS decides at arrival."""

    def _scores(self, vectors: Floats) -> Floats:
        scores = np.full((len(vectors), len(self._recorder.names)), -1.0)
        rows = _unit_length(vectors)
        scores[:, self._scorer.class_ids] = self._scorer.classify(rows, self._score)
        return scores

    @property
    def _score(self) -> Score:
        return self._settings.score

    def _learn(self, rows: Floats, labels: Ints) -> None:
        """Add four in five labelled rows to the sketches; the others set the threshold."""
        for class_id in np.unique(labels).tolist():
            self._add(class_id, rows[labels == class_id])
        self._scorer = _SketchScorer(self._sketches, 2 * self._rows)
        held_out = [
            self._held_out[class_id] for class_id in self._sketches if len(self._held_out[class_id])
        ]
        fits: Floats = np.zeros(1)
        if held_out:
            fits = self._scorer.detect(np.concatenate(held_out), self._score)
        self._threshold = float(np.quantile(fits, self._settings.reject))
        self._recorder.retrained(tuple(self._sketches))

    def _add(self, class_id: ClassId, rows: Floats) -> None:
        before = self._label_counts.get(class_id, 0)
        self._label_counts[class_id] = before + len(rows)
        is_held_out = (before + np.arange(len(rows))) % _FOLDS == _FOLDS - 1
        empty = rows[:0]
        held_out = np.concatenate([self._held_out.get(class_id, empty), rows[is_held_out]])
        self._held_out[class_id] = held_out[-_MAX_HELD_OUT:]
        rows = np.concatenate([self._unsketched.pop(class_id, empty), rows[~is_held_out]])
        is_enough = self._label_counts[class_id] >= self._settings.enough
        if class_id not in self._sketches and not is_enough:
            self._unsketched[class_id] = rows
            return
        self._sketches.setdefault(class_id, Sketch(self._rows, rows.shape[1])).add(rows)


class _SketchScorer:
    """Score rows against a snapshot of all sketches."""

    def __init__(self, sketches: Mapping[ClassId, Sketch], global_rows: int) -> None:
        self.class_ids = list(sketches)
        bases = [sketch.directions for sketch in sketches.values()]
        self._local = np.concatenate(bases) if bases else np.zeros((0, 0))
        self._starts = np.cumsum([0, *(len(base) for base in bases[:-1])])
        self._global = self._local
        if bases:
            merged = Sketch(global_rows, self._local.shape[1])
            for sketch in sketches.values():
                merged.merge(sketch)
            self._global = merged.directions

    def classify(self, rows: Floats, score: Score) -> Floats:
        """Return how well rows of unit length fit each class, (n, C)."""
        products = rows @ self._local.T
        if score == "energy":
            return np.add.reduceat(products**2, self._starts, axis=1)
        return np.maximum.reduceat(np.abs(products), self._starts, axis=1)

    def detect(self, rows: Floats, score: Score) -> Floats:
        """Return how well rows fit the known classes, (n,).

        This is the energy of the best class, or the best inner product with the global sketch.
        """
        if score == "energy":
            return np.asarray(self.classify(rows, score).max(axis=1))
        return np.asarray(np.abs(rows @ self._global.T).max(axis=1))


def choose_rows(rows: Floats, labels: Ints) -> int:
    """Return how many rows a local sketch should have, measured on a fifth of the warm-up.

    The best choice has the highest sum of two figures: the accuracy on the held-out images, and
    the mean area under the ROC curve for each class detected as if it were unknown.
    """
    is_held_out = np.arange(len(rows)) % _FOLDS == 0
    classes = np.unique(labels)
    merits = []
    for choice in _ROW_CHOICES:
        energy = []
        for class_id in classes:
            sketch = Sketch(choice, rows.shape[1])
            sketch.add(rows[~is_held_out & (labels == class_id)])
            energy.append(((rows[is_held_out] @ sketch.directions.T) ** 2).sum(axis=1))
        columns = np.searchsorted(classes, labels[is_held_out])
        merits.append(_merit(np.array(energy).T, columns))
    return _ROW_CHOICES[int(np.argmax(merits))]


def _merit(energy: Floats, columns: Ints) -> float:
    from sklearn.metrics import roc_auc_score  # noqa: PLC0415

    accuracy = float(np.mean(energy.argmax(axis=1) == columns))
    if energy.shape[1] < 2:
        return accuracy
    areas = []
    for column in np.unique(columns):
        fits = np.delete(energy, column, axis=1).max(axis=1)
        areas.append(roc_auc_score(columns == column, -fits))
    return accuracy + float(np.mean(areas))


def _unit_length(vectors: Floats) -> Floats:
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(norms, _MIN_NORM))
