"""Decide when to train a new model, and on which images (the paper's two update conditions).

A new model is due when a class that the model does not know has more than S_update stored images.
It is trained on all classes with more than S_update images. Classes that the model knows stay,
however few images they have. The paper, with 1,000 warm-up images per class, never meets that case.

Beyond the paper, a new model is also due after enough new answers. The number needed grows with all
answers so far, so a long stream trains less and less often.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from csim.records import Bools, ClassId, Floats, Images, Ints, Job, State
from csim.store.class_store import ClassStore

_MIN_IMAGES = 2  # fewer images of a class cannot be learned from


class Schedule:
    """Decide when a training job is due; only one at a time.

    Parameters
    ----------
    update_size
        S_update. Higher learns a new class later but from more images.
    update_labels
        New answers after which a model is due even without a new class; 0 never trains for that.
        Higher trains less often.
    update_growth
        The share of all earlier answers that these must be. Higher trains less often in a long
        stream.
    seed
        The seed of each job is drawn from it and the job's version.
    """

    def __init__(
        self, *, update_size: int, update_labels: int, update_growth: float, seed: int
    ) -> None:
        self.update_size = update_size
        self.update_labels = update_labels
        self.update_growth = update_growth
        self._seed = seed
        self._version = 0  # of the newest job
        self._told = 0  # answers that the newest job has learned from
        self._is_pending = False

    def due(self, store: ClassStore, known: Sequence[ClassId], told: int) -> Job | None:
        """Return the job to do now, or None.

        `known` are the classes of the model in use, `told` is the number of answers so far.
        """
        learnable = [
            c for c in store.class_ids() if c not in known and store.count(c) > self.update_size
        ]
        needed = max(self.update_labels, self.update_growth * self._told)
        has_new_answers = self.update_labels > 0 and told - self._told >= needed
        min_images = min(_MIN_IMAGES, self.update_size + 1)
        classes = sorted(learnable + [c for c in known if store.count(c) >= min_images])
        if self._is_pending or not classes or not (learnable or has_new_answers):
            return None
        self._told = told
        return self.job(*store.examples(classes))

    def job(self, images: Images | Floats, labels: Ints, is_told: Bools) -> Job:
        """Return a job on given examples; it is pending until `done` or `give_up`."""
        self._version += 1
        self._is_pending = True
        seed = np.random.SeedSequence([self._seed, self._version]).generate_state(1)[0]
        return Job(self._version, int(seed), images, labels, is_told)

    def done(self) -> None:
        """Record that the job's model is in use."""
        self._is_pending = False

    def give_up(self) -> None:
        """Record that the job failed; the next answer makes a job due again."""
        self._is_pending = False
        self._told = 0

    def state(self) -> State:
        """Return the newest job's version, its answers, and whether it is pending."""
        return {"version": self._version, "is_pending": self._is_pending, "told": self._told}

    def restore(self, state: State) -> None:
        """Load what `state` returned."""
        self._version = state["version"]
        self._is_pending = state["is_pending"]
        self._told = state["told"]
