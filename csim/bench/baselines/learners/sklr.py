"""SKLR (Amid, Gionis, Ukkonen, ECML-PKDD 2015): a kernel near a first one that obeys "k is the odd one out".

Each comparison that is violated is projected onto its boundary, over and over; in the span of the first kernel's
leading eigenvectors a projection has a closed form. Large sets go through landmarks.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from csim.bench.baselines.learners.base import Components, Learner, Lesson, OnStep
from csim.bench.baselines.learners.knn import nearest
from csim.discover.novelty import squares
from csim.records import Floats, Ints

_NEAR = 20  # comparisons are among so many nearest
_SCALE = 100  # the neighbour whose distance is a vector's own scale, among 1,500 landmarks
_FLAT = 1e-15  # a comparison between points this close to a line is left alone


class SKLR(Learner):
    """Semi-supervised kernel learning from relative comparisons.

    Parameters
    ----------
    components
        Principal components at most that the first kernel sees. Raising it keeps more detail.
    landmarks
        Images that the kernel is learned on. Raising it is more exact, for time with its cube.
    rank
        Leading eigenvectors that are kept. Raising it is more exact, for time with its square.
    comparisons
        Anchor, fellow and odd one out, drawn among the landmarks. Raising it tells more, for time in proportion.
    ratio
        How much farther, squared, the odd one must be. Raising it asks for wider gaps.
    sweeps
        Passes over the comparisons at most.
    standard
        Whether components are scaled to unit variance first.
    k
        Neighbours that vote on the validation images.
    patience
        Sweeps without a gain there, after which it ends.
    random_state
        Draws landmarks and comparisons, and the validation images if none are given.
    """

    def __init__(
        self,
        *,
        components: int = 164,
        landmarks: int = 1500,
        rank: int = 150,
        comparisons: int = 5000,
        ratio: float = 2.0,
        sweeps: int = 100,
        standard: bool = False,
        k: int = 3,
        patience: int = 10,
        random_state: int | None = 0,
    ) -> None:
        self.components = components
        self.landmarks = landmarks
        self.rank = rank
        self.comparisons = comparisons
        self.ratio = ratio
        self.sweeps = sweeps
        self.standard = standard
        self.k = k
        self.patience = patience
        self.random_state = random_state

    @property
    def _most(self) -> int:
        return self.sweeps

    def _learn(self, lesson: Lesson, most: int, on_step: OnStep) -> int:
        self._components = Components(lesson.vectors, self.components)
        inputs = self._components(lesson.vectors)
        self._spread = (
            np.maximum(inputs.std(axis=0), 1e-12) if self.standard else np.ones(1, np.float32)
        )
        places = self._choose_landmarks(lesson.columns)
        columns = lesson.columns[places]
        self._landmarks = (inputs / self._spread)[places].astype(float)
        self._own_scales = self._scales(self._landmarks)
        kernel = self._first_kernel(self._landmarks)
        values, vectors = eigh((kernel + kernel.T) / 2)
        leading = np.argsort(values)[::-1][: self.rank]
        leading = leading[values[leading] > 1e-9 * values.max()]
        self._extension = vectors[:, leading] / values[leading]
        spans, core = vectors[:, leading], np.diag(values[leading])
        triplets = self._compare(columns)
        gallery, queries = self._extend(lesson.vectors), self._extend(lesson.held)
        best, kept = -1.0, 0
        for sweep in range(most + 1):
            on_step(sweep, most)
            root = _root(core)
            score = lesson.score(gallery @ root, queries @ root, self.k)
            if score >= best:
                self._root, best, kept = root, score, sweep
            violated = self._violated(spans @ root, triplets)
            if not len(violated) or sweep - kept == self.patience:
                break
            core = self._sweep(core, spans, self._rng.permutation(violated))
        on_step(most, most)
        self._n_features_out = self._root.shape[1]
        return kept

    def _choose_landmarks(self, columns: Ints) -> Ints:
        """Return places, as many of every class as there are and may be."""
        share = -(-self.landmarks // (int(columns.max()) + 1))
        own = [
            self._rng.permutation(np.flatnonzero(columns == column))[:share]
            for column in np.unique(columns)
        ]
        return np.concatenate(own)

    def _scales(self, inputs: Floats) -> Floats:
        """Return each vector's own scale: its distance from a landmark that is neither near nor far, (n,)."""
        place = min(max(1, round(_SCALE * len(self._landmarks) / 1500)), len(self._landmarks) - 1)
        apart = squares(inputs, self._landmarks)
        return np.maximum(np.sqrt(np.partition(apart, place, axis=1)[:, place]), 1e-12)

    def _first_kernel(self, inputs: Floats) -> Floats:
        """Return exp(-d²/σσ') of vectors with the landmarks, (n, m)."""
        return np.asarray(
            np.exp(
                -squares(inputs, self._landmarks) / np.outer(self._scales(inputs), self._own_scales)
            )
        )

    def _extend(self, vectors: Floats, block: int = 5000) -> Floats:
        """Return vectors in the span of the landmarks, (n, r)."""
        if not len(vectors):
            return np.empty((0, self._extension.shape[1]))
        inputs = (self._components(vectors) / self._spread).astype(float)
        parts = [
            self._first_kernel(inputs[start : start + block]) @ self._extension
            for start in range(0, len(inputs), block)
        ]
        return np.concatenate(parts)

    def _compare(self, columns: Ints) -> Ints:
        """Return comparisons between landmarks, (c, 3): an anchor, a near fellow, a near odd one out."""
        drawn: list[tuple[int, int, int]] = []
        near: dict[int, tuple[Ints, Ints]] = {}
        for column in np.unique(columns):
            own, others = np.flatnonzero(columns == column), np.flatnonzero(columns != column)
            if len(own) > 1 and len(others):
                fellows = own[nearest(self._landmarks[own], self._landmarks[own], _NEAR + 1)]
                odd = others[nearest(self._landmarks[others], self._landmarks[own], _NEAR)]
                near |= {
                    int(place): (line[line != place], far)
                    for place, line, far in zip(own, fellows, odd, strict=True)
                }
        anchors = np.array(sorted(near), np.int64)
        for anchor in self._rng.choice(anchors, self.comparisons) if len(anchors) else ():
            fellows, odd = near[int(anchor)]
            drawn.append((int(anchor), int(self._rng.choice(fellows)), int(self._rng.choice(odd))))
        return np.unique(np.array(drawn, np.int64).reshape(-1, 3), axis=0)

    def _violated(self, points: Floats, triplets: Ints) -> Ints:
        """Return the halves of comparisons that do not hold, (v, 3): i is nearer to j than to k, and j to i."""
        halves = np.concatenate([triplets, triplets[:, [1, 0, 2]]])
        near = np.square(points[halves[:, 0]] - points[halves[:, 1]]).sum(axis=1)
        far = np.square(points[halves[:, 0]] - points[halves[:, 2]]).sum(axis=1)
        return np.asarray(halves[self.ratio * near > far])

    def _sweep(self, core: Floats, spans: Floats, halves: Ints) -> Floats:
        for anchor, fellow, odd in halves:
            core = projected(
                core, spans[anchor] - spans[fellow], spans[anchor] - spans[odd], self.ratio
            )
        return core

    def _map(self, vectors: Floats) -> Floats:
        return np.asarray(self._extend(vectors) @ self._root, np.float32)


def projected(core: Floats, near: Floats, far: Floats, ratio: float) -> Floats:
    """Return the kernel nearest to `core` in which `near` is `ratio` times as short as `far`, squared, if it is not.

    Parameters
    ----------
    core
        The kernel in its leading eigenvectors, (r, r).
    near, far
        Differences of two points there, (r,).
    ratio
        Raising it asks for a wider gap.

    Examples
    --------
    >>> core = projected(np.eye(2), np.array([1.0, 0.0]), np.array([0.0, 1.0]), ratio=2.0)
    >>> np.round(np.diag(core), 3).tolist()
    [0.667, 1.333]
    """
    by_near, by_far = core @ near, core @ far
    a, b, c = near @ by_near, far @ by_far, near @ by_far
    if ratio * a <= b or a * b - c * c < _FLAT:
        return core
    alpha = (b - ratio * a) / (2 * ratio * (a * b - c * c))
    middle = np.array([[1 / (alpha * ratio) - a, -c], [-c, -1 / alpha - b]])
    sides = np.stack([by_near, by_far], axis=1)
    return np.asarray(core + sides @ np.linalg.solve(middle, sides.T))


def _root(core: Floats) -> Floats:
    """Return K^½ of a symmetric matrix without negative eigenvalues."""
    values, vectors = eigh((core + core.T) / 2)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T)
