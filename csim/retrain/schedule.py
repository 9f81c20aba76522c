"""When to train anew, and on what (the paper's two update conditions).

A new model is due when a class that the model does not know has come out of purification and has more than
S_update stored images. It is trained on all classes with more than S_update images. Classes that the model
knows stay, however few their images: the paper, with 1,000 warm-up images a class, never meets that case.
Past the paper, a new model is also due when people have told enough since the last; the more they have told in all, the
more it takes, so that a long stream trains ever more rarely.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from csim.records import Bools, ClassId, Images, Ints, Job, State
from csim.store.class_store import ClassStore

_FEWEST = 2  # images of a class that one can learn from
_GROWTH = 0.02  # of all answers, before the same model is trained anew


class Schedule:
    """Decides when a job is due; one at a time.

    Parameters
    ----------
    update_size
        S_update. Raising it learns a new class later and from more images.
    update_labels
        Answers after which a new model is due even without a new class, if they are also a fiftieth of all before;
        0: never. Raising it trains less often.
    seed
        Each job's own seed is drawn from it and the job's version.
    """

    def __init__(self, *, update_size: int, update_labels: int, seed: int) -> None:
        self.update_size = update_size
        self.update_labels = update_labels
        self._seed = seed
        self._version = 0  # of the newest job
        self._told = 0  # answers that the newest job knows of
        self._is_pending = False

    def due(self, store: ClassStore, known: Sequence[ClassId], told: int) -> Job | None:
        """Return the job to do now, if any; `known` are the classes of the model in use, `told` all answers so far."""
        learnable = [
            c for c in store.class_ids() if c not in known and store.count(c) > self.update_size
        ]
        enough = max(self.update_labels, _GROWTH * self._told)
        is_news = self.update_labels > 0 and told - self._told >= enough
        fewest = min(_FEWEST, self.update_size + 1)
        classes = sorted(learnable + [c for c in known if store.count(c) >= fewest])
        if self._is_pending or not classes or not (learnable or is_news):
            return None
        self._told = told
        return self.job(*store.examples(classes))

    def job(self, images: Images, labels: Ints, is_told: Bools) -> Job:
        """Return a job on given examples; it counts as pending until `done`."""
        self._version += 1
        self._is_pending = True
        seed = np.random.SeedSequence([self._seed, self._version]).generate_state(1)[0]
        return Job(self._version, int(seed), images, labels, is_told)

    def done(self) -> None:
        """Note that the job's model is in use."""
        self._is_pending = False

    def give_up(self) -> None:
        """Note that the job came to nothing: the next answer makes it due again."""
        self._is_pending, self._told = False, 0

    def state(self) -> State:
        """Return how far it has come."""
        return {"version": self._version, "is_pending": self._is_pending, "told": self._told}

    def restore(self, state: State) -> None:
        """Take back what `state` returned."""
        self._version, self._is_pending, self._told = (
            state["version"],
            state["is_pending"],
            state["told"],
        )
