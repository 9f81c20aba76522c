"""LMNN (Weinberger and Saul, JMLR 2009): a linear map that brings neighbours of one class together.

Learned by L-BFGS on the map itself; impostors are looked for anew after every few steps.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from csim.bench.baselines.learners.base import Components, Learner, Lesson, OnStep
from csim.bench.baselines.learners.margins import impostors_of, margin_loss, targets_of
from csim.records import Floats, Ints

_REACH = 2.0  # root mean square of the distance to the farthest target, before learning


class LMNN(Learner):
    """Large margin nearest neighbours.

    Parameters
    ----------
    k
        Targets of every image, and neighbours that vote on the validation images. Raising it asks for wider classes
        to be whole.
    components
        Principal components at most that the map starts from. Raising it keeps more detail, for time.
    size
        Numbers of a mapped vector; None keeps all components. Raising it keeps more detail.
    impostors
        Nearest images of other classes that each image keeps off. Raising it is more exact, for time in proportion.
    push
        Weight of keeping off against bringing together, 0 to 1.
    rounds
        Looks for impostors at most. Raising it can learn for longer.
    steps
        Steps of L-BFGS in a round. Raising it goes on for longer with old impostors.
    patience
        Rounds without a gain on validation images, after which it ends.
    random_state
        Draws the validation images, if none are given.
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
    def _most(self) -> int:
        return self.rounds

    def _learn(self, lesson: Lesson, most: int, on_step: OnStep) -> int:
        self._components = Components(lesson.vectors, self.components)
        inputs, held = self._components(lesson.vectors), self._components(lesson.held)
        targets = targets_of(inputs, lesson.columns, self.k)
        size = min(self.size or self._components.size, self._components.size)
        linear = _scale(inputs, targets) * np.eye(size, self._components.size, dtype=np.float32)
        best, self.map_, kept = lesson.score(inputs @ linear.T, held @ linear.T, self.k), linear, 0
        for done in range(most):
            on_step(done, most)
            impostors = impostors_of(inputs @ linear.T, lesson.columns, self.impostors)
            linear = self._descend(linear, inputs, targets, impostors)
            score = lesson.score(inputs @ linear.T, held @ linear.T, self.k)
            if score >= best:
                best, self.map_, kept = score, linear, done + 1
            if done + 1 - kept == self.patience:
                break
        on_step(most, most)
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
    """Return what inputs are multiplied by so that their farthest targets are at the usual distance."""
    farthest = np.square(inputs - inputs[targets[:, -1]]).sum(axis=1).mean()
    return _REACH / float(np.sqrt(farthest)) if farthest > 0 else 1.0
