"""LMNN (Weinberger and Saul, JMLR 2009): a linear map that brings neighbours of one class together.

csim optimises the map itself with L-BFGS, and searches for impostors again after every round.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from csim.bench.baselines.learners.base import (
    MetricLearner,
    OnStep,
    PrincipalComponents,
    TrainingSplit,
)
from csim.bench.baselines.learners.margin_loss import find_impostors, find_targets, margin_loss
from csim.records import Floats, Ints

_INITIAL_RADIUS = 2.0  # root mean square distance to the farthest target before training


class LMNN(MetricLearner):
    """Learn a linear map with large margin nearest neighbours.

    Parameters
    ----------
    k
        Targets of every image, and neighbours that vote on the validation images. Higher pulls
        larger neighbourhoods of a class together.
    components
        Principal components at most that the map starts from. Higher keeps more detail and takes
        longer.
    size
        Dimensions of a mapped vector; None keeps all components. Higher keeps more detail.
    impostors
        Nearest images of other classes that each image pushes away. Higher is more exact; the time
        grows in proportion.
    push
        Weight of the push term against the pull term, 0 to 1. Higher separates classes more and
        allows wider ones.
    rounds
        Searches for impostors at most. Higher can train for longer.
    steps
        Steps of L-BFGS in a round. Higher trains for longer on outdated impostors.
    patience
        Rounds without a gain on the validation images, after which training ends. Higher trains
        for longer.
    random_state
        Seed that draws the validation images, if none are given.
    """

    def __init__(
        self,
        *,
        k: int = 3,
        components: int = 164,
        size: int | None = None,
        impostors: int = 50,
        push: float = 0.5,
        rounds: int = 20,
        steps: int = 15,
        patience: int = 2,
        random_state: int | None = 0,
    ) -> None:
        self.k = k
        self.components = components
        self.size = size
        self.impostors = impostors
        self.push = push
        self.rounds = rounds
        self.steps = steps
        self.patience = patience
        self.random_state = random_state

    @property
    def _max_steps(self) -> int:
        return self.rounds

    def _learn(self, split: TrainingSplit, max_steps: int, on_step: OnStep) -> int:
        self._components = PrincipalComponents(split.vectors, self.components)
        inputs = self._components(split.vectors)
        held_out = self._components(split.held_out)
        targets = find_targets(inputs, split.columns, self.k)
        size = min(self.size or self._components.size, self._components.size)
        linear = _scale(inputs, targets) * np.eye(size, self._components.size, dtype=np.float32)
        best = split.score(inputs @ linear.T, held_out @ linear.T, self.k)
        self.map_ = linear
        kept = 0
        for done in range(max_steps):
            on_step(done, max_steps)
            impostors = find_impostors(inputs @ linear.T, split.columns, self.impostors)
            linear = self._descend(linear, inputs, targets, impostors)
            score = split.score(inputs @ linear.T, held_out @ linear.T, self.k)
            if score >= best:
                best = score
                self.map_ = linear
                kept = done + 1
            if done + 1 - kept == self.patience:
                break
        on_step(max_steps, max_steps)
        self._n_features_out = size
        return kept

    def _descend(self, linear: Floats, inputs: Floats, targets: Ints, impostors: Ints) -> Floats:
        def loss(flat: Floats) -> tuple[float, Floats]:
            value, gradient = margin_loss(
                inputs @ flat.reshape(linear.shape).T.astype(np.float32),
                targets,
                impostors,
                self.push,
            )
            return value / len(inputs), (gradient.T @ inputs).ravel().astype(float) / len(inputs)

        found = minimize(
            loss,
            linear.ravel().astype(float),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": self.steps},
        )
        return np.asarray(found.x.reshape(linear.shape), np.float32)

    def _map(self, vectors: Floats) -> Floats:
        return np.asarray(self._components(vectors) @ self.map_.T)


def _scale(inputs: Floats, targets: Ints) -> float:
    """Return the factor that brings the farthest targets to `_INITIAL_RADIUS` on average."""
    farthest = np.square(inputs - inputs[targets[:, -1]]).sum(axis=1).mean()
    return _INITIAL_RADIUS / float(np.sqrt(farthest)) if farthest > 0 else 1.0
