"""GB-LMNN (Kedem, Tyree, Weinberger, Sha, Lanckriet, NIPS 2012): LMNN's map plus a sum of trees.

Gradient boosting fits each tree to the negative gradient of LMNN's objective, so that the map
becomes non-linear.
"""

from __future__ import annotations

import numpy as np
from sklearn.tree import DecisionTreeRegressor

from csim.bench.baselines.learners.base import (
    MetricLearner,
    OnStep,
    PrincipalComponents,
    TrainingSplit,
)
from csim.bench.baselines.learners.lmnn import LMNN
from csim.bench.baselines.learners.margin_loss import find_impostors, find_targets, margin_loss
from csim.records import Floats

_CHECK_INTERVAL = 10  # trees between two searches for impostors, and two validation scores
_MIN_LEAF_IMAGES = 5
_STEP_GROWTH = 1.01  # factor on the step after a tree that lowers the objective, otherwise 1/2
_MIN_STEP = 1e-7  # training ends at a shorter step


class GBLMNN(MetricLearner):
    """Learn a non-linear map: LMNN, then gradient boosting.

    Parameters
    ----------
    k, impostors, push, rounds
        As in `LMNN`.
    components
        Principal components at most that the trees use. Higher keeps more detail and takes longer.
    size
        Dimensions of a mapped vector. Higher keeps more detail and takes longer.
    trees
        Trees at most. Higher fits the training images more closely.
    depth
        Depth of a tree. Higher changes the map in smaller regions.
    features
        Share of the components that each split of a tree may choose from. Higher fits more closely
        and takes longer.
    step
        Weight of the first tree. Higher trains faster, until trees no longer lower the objective.
    patience
        Validation scores without a gain, after which training ends. Higher trains for longer.
    random_state
        Seed that draws the trees' features, and the validation images if none are given.
    """

    linear_: LMNN
    trees_: list[tuple[DecisionTreeRegressor, float]]
    _components: PrincipalComponents

    def __init__(
        self,
        *,
        k: int = 3,
        components: int = 100,
        size: int = 50,
        impostors: int = 50,
        push: float = 0.5,
        rounds: int = 20,
        trees: int = 200,
        depth: int = 6,
        features: float = 0.3,
        step: float = 0.01,
        patience: int = 3,
        random_state: int | None = 0,
    ) -> None:
        self.k = k
        self.components = components
        self.size = size
        self.impostors = impostors
        self.push = push
        self.rounds = rounds
        self.trees = trees
        self.depth = depth
        self.features = features
        self.step = step
        self.patience = patience
        self.random_state = random_state

    @property
    def _max_steps(self) -> int:
        return self.trees

    def _learn(self, split: TrainingSplit, max_steps: int, on_step: OnStep) -> int:
        self._start(split)
        inputs = self._components(split.vectors)
        held_out = self._components(split.held_out)
        targets = find_targets(inputs, split.columns, self.k)
        points = self.linear_.transform(split.vectors)
        held_points = self.linear_.transform(split.held_out) if len(held_out) else points[:0]
        grown: list[tuple[DecisionTreeRegressor, float]] = []
        self.trees_ = []
        best = split.score(points, held_points, self.k)
        kept = 0
        step = self.step
        for done in range(max_steps):
            on_step(done, max_steps)
            if done % _CHECK_INTERVAL == 0:
                impostors = find_impostors(points, split.columns, self.impostors)
                value, gradient = margin_loss(points, targets, impostors, self.push)
            tree = self._grow(inputs, -gradient)
            moved = points + step * _predict(tree, inputs)
            after, slope = margin_loss(moved, targets, impostors, self.push)
            if after < value:
                value = after
                gradient = slope
                points = moved
                if len(held_out):
                    held_points = held_points + step * _predict(tree, held_out)
                grown.append((tree, step))
                step *= _STEP_GROWTH
            else:
                step /= 2
            if (done + 1) % _CHECK_INTERVAL == 0 or done + 1 == max_steps:
                score = split.score(points, held_points, self.k)
                if score > best or not len(held_out):  # at the same score, fewer trees are better
                    best = score
                    self.trees_ = list(grown)
                    kept = done + 1
            if done + 1 - kept >= self.patience * _CHECK_INTERVAL or step < _MIN_STEP:
                break
        on_step(max_steps, max_steps)
        self._n_features_out = points.shape[1]
        return kept

    def _start(self, split: TrainingSplit) -> None:
        """Learn the linear map, and the components that the trees use."""
        self.linear_ = LMNN(
            k=self.k,
            components=self.components,
            size=self.size,
            impostors=self.impostors,
            push=self.push,
            rounds=self.rounds,
        ).fit(split.vectors, split.columns, validation=(split.held_out, split.held_out_columns))
        self._components = PrincipalComponents(split.vectors, self.components)

    def _grow(self, inputs: Floats, directions: Floats) -> DecisionTreeRegressor:
        tree = DecisionTreeRegressor(
            max_depth=self.depth,
            min_samples_leaf=_MIN_LEAF_IMAGES,
            max_features=self.features,
            random_state=int(self._rng.integers(2**31)),
        )
        return tree.fit(inputs, directions)

    def _map(self, vectors: Floats) -> Floats:
        points = self.linear_.transform(vectors)
        inputs = self._components(vectors)
        for tree, step in self.trees_:
            points = points + step * _predict(tree, inputs)
        return points


def _predict(tree: DecisionTreeRegressor, inputs: Floats) -> Floats:
    found = np.asarray(tree.predict(inputs), np.float32)
    return found.reshape(len(inputs), -1)
