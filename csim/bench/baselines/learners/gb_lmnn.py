"""GB-LMNN (Kedem, Tyree, Weinberger, Sha, Lanckriet, NIPS 2012): LMNN's map and, on top of it, a sum of trees.

Each tree is fitted to the direction in which every image would lower LMNN's objective, so that the map bends.
"""

from __future__ import annotations

import numpy as np
from sklearn.tree import DecisionTreeRegressor

from csim.bench.baselines.learners.base import Components, Learner, Lesson, OnStep
from csim.bench.baselines.learners.lmnn import LMNN
from csim.bench.baselines.learners.margins import impostors_of, margin_loss, targets_of
from csim.records import Floats

_LOOK = 10  # trees between two looks for impostors, and at the validation images
_LEAF = 5  # images in a leaf at least
_GROW = (
    1.01  # what the step is multiplied by when a tree lowers the objective; halved when it does not
)
_LEAST = 1e-7  # a step so short that no tree helps any more


class GBLMNN(Learner):
    """LMNN, then gradient boosting.

    Parameters
    ----------
    k, impostors, push, rounds
        As in `LMNN`.
    components
        Principal components at most that the trees look at. Raising it keeps more detail, for time.
    size
        Numbers of a mapped vector. Raising it keeps more detail, for time.
    trees
        Trees at most. Raising it bends the map further.
    depth
        Of a tree. Raising it bends the map in smaller places.
    features
        Share of the components that each split of a tree may choose from. Raising it fits closer, for time.
    step
        What a tree counts at first. Raising it bends faster, until nothing is gained.
    patience
        Looks at the validation images without a gain, after which it ends.
    random_state
        Draws the trees' features, and the validation images if none are given.
    """

    linear_: LMNN
    trees_: list[tuple[DecisionTreeRegressor, float]]
    _components: Components

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
    def _most(self) -> int:
        return self.trees

    def _learn(self, lesson: Lesson, most: int, on_step: OnStep) -> int:
        self._start(lesson)
        inputs, held = self._components(lesson.vectors), self._components(lesson.held)
        targets = targets_of(inputs, lesson.columns, self.k)
        points = self.linear_.transform(lesson.vectors)
        held_points = self.linear_.transform(lesson.held) if len(held) else points[:0]
        grown: list[tuple[DecisionTreeRegressor, float]] = []
        self.trees_, best, kept, step = (
            grown[:0],
            lesson.score(points, held_points, self.k),
            0,
            self.step,
        )
        for done in range(most):
            on_step(done, most)
            if done % _LOOK == 0:
                impostors = impostors_of(points, lesson.columns, self.impostors)
                value, gradient = margin_loss(points, targets, impostors, self.push)
            tree = self._grow(inputs, -gradient)
            moved = points + step * _predict(tree, inputs)
            after, slope = margin_loss(moved, targets, impostors, self.push)
            if after < value:
                value, gradient, points = after, slope, moved
                held_points = (
                    held_points + step * _predict(tree, held) if len(held) else held_points
                )
                grown.append((tree, step))
                step *= _GROW
            else:
                step /= 2
            if (done + 1) % _LOOK == 0 or done + 1 == most:
                score = lesson.score(points, held_points, self.k)
                if score > best or not len(held):  # where trees gain nothing, fewer are better
                    best, self.trees_, kept = score, list(grown), done + 1
            if done + 1 - kept >= self.patience * _LOOK or step < _LEAST:
                break
        on_step(most, most)
        self._n_features_out = points.shape[1]
        return kept

    def _start(self, lesson: Lesson) -> None:
        """Learn the linear map and the components that trees look at."""
        self.linear_ = LMNN(
            k=self.k,
            components=self.components,
            size=self.size,
            impostors=self.impostors,
            push=self.push,
            rounds=self.rounds,
        ).fit(lesson.vectors, lesson.columns, validation=(lesson.held, lesson.held_columns))
        self._components = Components(lesson.vectors, self.components)

    def _grow(self, inputs: Floats, directions: Floats) -> DecisionTreeRegressor:
        tree = DecisionTreeRegressor(
            max_depth=self.depth,
            min_samples_leaf=_LEAF,
            max_features=self.features,
            random_state=int(self._rng.integers(2**31)),
        )
        return tree.fit(inputs, directions)

    def _map(self, vectors: Floats) -> Floats:
        points, inputs = self.linear_.transform(vectors), self._components(vectors)
        for tree, step in self.trees_:
            points = points + step * _predict(tree, inputs)
        return points


def _predict(tree: DecisionTreeRegressor, inputs: Floats) -> Floats:
    found = np.asarray(tree.predict(inputs), np.float32)
    return found.reshape(len(inputs), -1)
