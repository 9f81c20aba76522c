"""SKLR (Amid, Gionis, Ukkonen, ECML-PKDD 2015): semi-supervised kernel learning.

It finds the kernel nearest to an initial one that satisfies relative comparisons: "k is the odd one
out of i, j and k". Each violated comparison is projected onto its boundary, in repeated sweeps. In
the span of the initial kernel's leading eigenvectors a projection has a closed form. csim learns
the kernel on landmarks, so that large sets fit in memory.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from csim.bench.baselines.learners.base import (
    MetricLearner,
    OnStep,
    PrincipalComponents,
    TrainingSplit,
)
from csim.bench.baselines.learners.knn import nearest
from csim.discover.novelty import squares
from csim.records import Floats, Ints

_COMPARED_NEIGHBOURS = 20  # comparisons are drawn among the 20 nearest
_SCALE_NEIGHBOUR = 100  # the neighbour at a distance of σ ...
_SCALE_LANDMARKS = 1500  # ... among this many landmarks
_MIN_AREA = 1e-15  # comparisons of points closer to a line than this are skipped


class SKLR(MetricLearner):
    """Learn a kernel from relative comparisons.

    Parameters
    ----------
    components
        Principal components at most for the initial kernel. Higher keeps more detail.
    landmarks
        Images that the kernel is learned on. Higher is more exact; the time grows with its cube.
    rank
        Leading eigenvectors to keep. Higher is more exact; the time grows with its square.
    comparisons
        Comparisons of an anchor, an image of its class and the odd one out, drawn among the
        landmarks. Higher gives more information; the time grows in proportion.
    ratio
        Least ratio of the squared distances to the odd one and to the image of the same class.
        Higher demands wider gaps.
    sweeps
        Passes over the comparisons at most. Higher can train for longer.
    standard
        Whether to scale components to unit variance first.
    k
        Neighbours that vote on the validation images. Higher smooths over single neighbours.
    patience
        Sweeps without a gain there, after which training ends. Higher trains for longer.
    random_state
        Seed that draws landmarks and comparisons, and the validation images if none are given.
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
    def _max_steps(self) -> int:
        return self.sweeps

    def _learn(self, split: TrainingSplit, max_steps: int, on_step: OnStep) -> int:
        self._components = PrincipalComponents(split.vectors, self.components)
        inputs = self._components(split.vectors)
        self._spread = (
            np.maximum(inputs.std(axis=0), 1e-12) if self.standard else np.ones(1, np.float32)
        )
        chosen = self._choose_landmarks(split.columns)
        columns = split.columns[chosen]
        self._landmarks = (inputs / self._spread)[chosen].astype(float)
        self._landmark_scales = self._scales(self._landmarks)
        kernel = self._initial_kernel(self._landmarks)
        values, vectors = eigh((kernel + kernel.T) / 2)
        leading = np.argsort(values)[::-1][: self.rank]
        leading = leading[values[leading] > 1e-9 * values.max()]
        self._extension = vectors[:, leading] / values[leading]
        basis = vectors[:, leading]
        core = np.diag(values[leading])
        triplets = self._draw_comparisons(columns)
        gallery = self._extend(split.vectors)
        queries = self._extend(split.held_out)
        best = -1.0
        kept = 0
        for sweep in range(max_steps + 1):
            on_step(sweep, max_steps)
            root = _root(core)
            score = split.score(gallery @ root, queries @ root, self.k)
            if score >= best:
                self._root = root
                best = score
                kept = sweep
            violated = self._violated(basis @ root, triplets)
            if not len(violated) or sweep - kept == self.patience:
                break
            core = self._sweep(core, basis, self._rng.permutation(violated))
        on_step(max_steps, max_steps)
        self._n_features_out = self._root.shape[1]
        return kept

    def _choose_landmarks(self, columns: Ints) -> Ints:
        """Return the indices of the landmarks, the same number of every class if it has enough."""
        per_class = -(-self.landmarks // (int(columns.max()) + 1))
        chosen = [
            self._rng.permutation(np.flatnonzero(columns == column))[:per_class]
            for column in np.unique(columns)
        ]
        return np.concatenate(chosen)

    def _scales(self, inputs: Floats) -> Floats:
        """Return σ of each vector, (n,): its distance to a landmark of medium rank."""
        count = len(self._landmarks)
        rank = min(max(1, round(_SCALE_NEIGHBOUR * count / _SCALE_LANDMARKS)), count - 1)
        distances = squares(inputs, self._landmarks)
        return np.maximum(np.sqrt(np.partition(distances, rank, axis=1)[:, rank]), 1e-12)

    def _initial_kernel(self, inputs: Floats) -> Floats:
        """Return exp(-d²/σσ') of vectors with the landmarks, (n, m)."""
        scales = np.outer(self._scales(inputs), self._landmark_scales)
        return np.asarray(np.exp(-squares(inputs, self._landmarks) / scales))

    def _extend(self, vectors: Floats, block: int = 5000) -> Floats:
        """Return vectors in the span of the landmarks, (n, r)."""
        if not len(vectors):
            return np.empty((0, self._extension.shape[1]))
        inputs = (self._components(vectors) / self._spread).astype(float)
        parts = [
            self._initial_kernel(inputs[start : start + block]) @ self._extension
            for start in range(0, len(inputs), block)
        ]
        return np.concatenate(parts)

    def _draw_comparisons(self, columns: Ints) -> Ints:
        """Draw comparisons of landmarks, (c, 3): anchor, near image of its class, near odd one."""
        drawn: list[tuple[int, int, int]] = []
        near: dict[int, tuple[Ints, Ints]] = {}
        for column in np.unique(columns):
            members = np.flatnonzero(columns == column)
            others = np.flatnonzero(columns != column)
            if len(members) > 1 and len(others):
                queries = self._landmarks[members]
                same = members[nearest(queries, queries, _COMPARED_NEIGHBOURS + 1)]
                odd = others[nearest(self._landmarks[others], queries, _COMPARED_NEIGHBOURS)]
                near |= {
                    int(member): (same_row[same_row != member], odd_row)
                    for member, same_row, odd_row in zip(members, same, odd, strict=True)
                }
        anchors = np.array(sorted(near), np.int64)
        for anchor in self._rng.choice(anchors, self.comparisons) if len(anchors) else ():
            same, odd = near[int(anchor)]
            drawn.append((int(anchor), int(self._rng.choice(same)), int(self._rng.choice(odd))))
        return np.unique(np.array(drawn, np.int64).reshape(-1, 3), axis=0)

    def _violated(self, points: Floats, triplets: Ints) -> Ints:
        """Return the violated halves of comparisons, (v, 3): d_ij < d_ik, and d_ji < d_jk."""
        halves = np.concatenate([triplets, triplets[:, [1, 0, 2]]])
        near = np.square(points[halves[:, 0]] - points[halves[:, 1]]).sum(axis=1)
        far = np.square(points[halves[:, 0]] - points[halves[:, 2]]).sum(axis=1)
        return np.asarray(halves[self.ratio * near > far])

    def _sweep(self, core: Floats, basis: Floats, halves: Ints) -> Floats:
        for anchor, same, odd in halves:
            core = project_kernel(
                core, basis[anchor] - basis[same], basis[anchor] - basis[odd], self.ratio
            )
        return core

    def _map(self, vectors: Floats) -> Floats:
        return np.asarray(self._extend(vectors) @ self._root, np.float32)


def project_kernel(core: Floats, near: Floats, far: Floats, ratio: float) -> Floats:
    """Return the kernel nearest to `core` in which ratio · |near|² ≤ |far|².

    Parameters
    ----------
    core
        The kernel in its leading eigenvectors, (r, r).
    near, far
        Differences of two points in that basis, (r,).
    ratio
        Least ratio of the squared lengths. Higher demands a wider gap.

    Examples
    --------
    >>> core = project_kernel(np.eye(2), np.array([1.0, 0.0]), np.array([0.0, 1.0]), ratio=2.0)
    >>> np.round(np.diag(core), 3).tolist()
    [0.667, 1.333]
    """
    by_near = core @ near
    by_far = core @ far
    a = near @ by_near
    b = far @ by_far
    c = near @ by_far
    if ratio * a <= b or a * b - c * c < _MIN_AREA:
        return core
    alpha = (b - ratio * a) / (2 * ratio * (a * b - c * c))
    middle = np.array([[1 / (alpha * ratio) - a, -c], [-c, -1 / alpha - b]])
    sides = np.stack([by_near, by_far], axis=1)
    return np.asarray(core + sides @ np.linalg.solve(middle, sides.T))


def _root(core: Floats) -> Floats:
    """Return K^½ of a symmetric matrix without negative eigenvalues."""
    values, vectors = eigh((core + core.T) / 2)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T)
