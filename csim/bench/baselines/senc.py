"""Our reading of SENC-MaS (Mu, Zhu, Du, Lim, Zhou, AAAI 2017): sketches of known classes tell new images from known.

Only the abstract could be read: a global sketch that detects, local ones that classify, and an update when a new class
is confirmed. Everything else is a choice, and stands in docs/senc-mas.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from sklearn.metrics import roc_auc_score

from csim.bench.baselines.face import Baseline, Seen
from csim.bench.baselines.features import KINDS, Kind, features_of
from csim.bench.baselines.settings import BaselineSettings, at_least, one_of
from csim.bench.baselines.sketch import Sketch
from csim.errors import SettingsError
from csim.records import ClassId, Event, Floats, Ints

Score = Literal["energy", "inner"]

_FOLDS = 5  # one labelled image in so many is kept out of the sketches
_RESERVOIR = 50  # of them, of each class
_TRIED = (5, 10, 20, 40)  # rows of a local sketch, to choose from on the warm-up
_NOTHING = 1e-12


@dataclass(frozen=True)
class SencSettings(BaselineSettings):
    """Settings of our reading of SENC-MaS.

    Parameters
    ----------
    seed
        Of everything that draws.
    features
        Pixels from 0 to 1 (`unit`) or to 255 (`byte`), or the vectors of our network (`network`); all are scaled to
        unit length.
    score
        What is compared: the largest inner product with a sketch's rows (`inner`, the literal reading), or the share
        of an image's energy that lies in the span of a class's sketch (`energy`).
    rows
        Rows of a local sketch; the global one has twice as many. 0 chooses on the warm-up. Raising it is more exact,
        and takes in more of what is foreign.
    reject
        ρ: the share of known images that are taken for new. Raising it finds more new ones, and asks more.
    buffer
        Images taken for new that are asked about at once. Raising it asks later.
    enough
        Images of a class that a sketch is made of. Raising it learns a class later.
    extra
        The share of other images that are asked about too. Raising it asks more, and refreshes the sketches.
    refresh
        Labels after which the sketches are made anew. Raising it is quicker, and learns later.
    decay
        What all local sketches are multiplied by at an update. Lowering it forgets faster.
    """

    seed: int = 0
    features: Kind = "unit"
    score: Score = "energy"
    rows: int = 0
    reject: float = 0.05
    buffer: int = 300
    enough: int = 20
    extra: float = 0.35
    refresh: int = 100
    decay: float = 1.0

    def __post_init__(self) -> None:
        at_least(self, seed=0, rows=0, reject=0, buffer=1, enough=1, extra=0, refresh=1, decay=0)
        one_of(self, features=KINDS, score=("energy", "inner"))
        for name in ("reject", "extra", "decay"):
            if getattr(self, name) > 1:
                raise SettingsError(f"{name} must be at most 1, got {getattr(self, name)}")


class SencMas(Baseline):
    """SENC-MaS in our reading, ready for a stream."""

    def __init__(self, settings: SencSettings, on_event: Callable[[Event], None]) -> None:
        super().__init__(features_of(settings.features, settings.seed), on_event)
        self._settings = settings
        self._rng = np.random.default_rng(settings.seed)
        self._rows = settings.rows
        self._sketches: dict[ClassId, Sketch] = {}
        self._few: dict[ClassId, Floats] = {}  # images of classes that have no sketch yet
        self._kept_out: dict[
            ClassId, Floats
        ] = {}  # the newest labelled images that are in no sketch
        self._taken: dict[ClassId, int] = {}  # labelled images so far
        self._buffer: list[Seen] = []
        self._labelled: list[Seen] = []  # not yet learned from
        self._known = _Known({}, 0)
        self._threshold = 0.0

    def _start(self, vectors: Floats, labels: Ints) -> None:
        rows = _unit(vectors)
        order = self._rng.permutation(len(rows))
        rows, labels = rows[order], labels[order]
        self._rows = self._rows or choose_rows(rows, labels)
        self._learn(rows, labels)

    def _see(self, some: list[Seen], vectors: Floats) -> None:
        rows = _unit(vectors)
        scores, fits = (
            self._known.classify(rows, self._score),
            self._known.detect(rows, self._score),
        )
        best = scores.argmax(axis=1)
        for place, seen in enumerate(some):
            self._position = seen.position
            answer = self._known.class_ids[best[place]]
            if fits[place] < self._threshold:
                self._reject(seen, answer, float(fits[place]))
                self._buffer.append(seen)
            else:
                self._accept(seen, answer, float(fits[place]))
                if self._settings.extra and self._rng.random() < self._settings.extra:
                    self._ask(seen)
            if len(self._buffer) >= self._settings.buffer:
                for own in self._buffer:
                    self._ask(own)
                self._buffer = []

    def _hear(self, told: list[Seen]) -> None:
        self._labelled += told
        if len(self._labelled) < self._settings.refresh:
            return
        told, self._labelled = self._labelled, []
        with self._training():
            if self._settings.decay < 1:
                for sketch in self._sketches.values():
                    sketch.scale(self._settings.decay)
            rows = _unit(np.array([seen.vector for seen in told]))
            self._learn(rows, np.array([seen.label for seen in told], np.int64))

    def _finish(self) -> None:
        """Let what was taken for new stay so."""

    def _scores(self, vectors: Floats) -> Floats:
        scores = np.full((len(vectors), len(self._names)), -1.0)
        scores[:, self._known.class_ids] = self._known.classify(_unit(vectors), self._score)
        return scores

    @property
    def _score(self) -> Score:
        return self._settings.score

    def _learn(self, rows: Floats, labels: Ints) -> None:
        """Take labelled rows into the sketches, but for one in five, on which the threshold is chosen."""
        for own in np.unique(labels).tolist():
            self._take(own, rows[labels == own])
        self._known = _Known(self._sketches, 2 * self._rows)
        held = [self._kept_out[own] for own in self._sketches if len(self._kept_out[own])]
        fits = self._known.detect(np.concatenate(held), self._score) if held else np.zeros(1)
        self._threshold = float(np.quantile(fits, self._settings.reject))
        self._learned(tuple(self._sketches))

    def _take(self, own: ClassId, rows: Floats) -> None:
        place = self._taken.get(own, 0) + np.arange(len(rows))
        self._taken[own] = self._taken.get(own, 0) + len(rows)
        nothing = rows[:0]
        is_out = place % _FOLDS == _FOLDS - 1
        self._kept_out[own] = np.concatenate([self._kept_out.get(own, nothing), rows[is_out]])[
            -_RESERVOIR:
        ]
        rows = np.concatenate([self._few.pop(own, nothing), rows[~is_out]])
        if own not in self._sketches and self._taken[own] < self._settings.enough:
            self._few[own] = rows
            return
        self._sketches.setdefault(own, Sketch(self._rows, rows.shape[1])).add(rows)


class _Known:
    """All sketches as they are at a time, ready to be compared with."""

    def __init__(self, sketches: Mapping[ClassId, Sketch], most: int) -> None:
        self.class_ids = list(sketches)
        bases = [sketch.directions for sketch in sketches.values()]
        self._directions = np.concatenate(bases) if bases else np.zeros((0, 0))
        self._starts = np.cumsum([0, *(len(base) for base in bases[:-1])])
        self._all = self._directions
        if bases:
            together = Sketch(most, self._directions.shape[1])
            for sketch in sketches.values():
                together.merge(sketch)
            self._all = together.directions

    def classify(self, rows: Floats, score: Score) -> Floats:
        """Return how well rows of unit length fit each class, (n, C)."""
        products = rows @ self._directions.T
        if score == "energy":
            return np.add.reduceat(products**2, self._starts, axis=1)
        return np.maximum.reduceat(np.abs(products), self._starts, axis=1)

    def detect(self, rows: Floats, score: Score) -> Floats:
        """Return how well rows fit what is known, (n,): the best class's energy, or the global sketch's best row."""
        if score == "energy":
            return np.asarray(self.classify(rows, score).max(axis=1))
        return np.asarray(np.abs(rows @ self._all.T).max(axis=1))


def choose_rows(rows: Floats, labels: Ints) -> int:
    """Return how many rows a local sketch should have, judged on a fifth of the warm-up.

    What counts is how many of the held-out images get their own class, and how well each class, were it not known,
    would be told from the others (area under ROC).
    """
    is_out = np.arange(len(rows)) % _FOLDS == 0
    classes = np.unique(labels)
    merits = []
    for tried in _TRIED:
        energy = []
        for own in classes:
            sketch = Sketch(tried, rows.shape[1])
            sketch.add(rows[~is_out & (labels == own)])
            energy.append(((rows[is_out] @ sketch.directions.T) ** 2).sum(axis=1))
        merits.append(_merit(np.array(energy).T, np.searchsorted(classes, labels[is_out])))
    return _TRIED[int(np.argmax(merits))]


def _merit(energy: Floats, columns: Ints) -> float:
    accuracy = float(np.mean(energy.argmax(axis=1) == columns))
    if energy.shape[1] < 2:
        return accuracy
    areas = []
    for own in np.unique(columns):
        fits = np.delete(energy, own, axis=1).max(axis=1)
        areas.append(roc_auc_score(columns == own, -fits))
    return accuracy + float(np.mean(areas))


def _unit(vectors: Floats) -> Floats:
    return np.asarray(
        vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), _NOTHING)
    )
