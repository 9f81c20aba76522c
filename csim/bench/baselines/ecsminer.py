"""ECSMiner (Masud, Gao, Khan, Han, Thuraisingham, TKDE 2011): every label comes in the end, so every chunk is a model.

What the publication leaves open, and what is chosen here, stands in docs/ecsminer.md.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from csim.bench.baselines.ensemble import Look
from csim.bench.baselines.face import Seen
from csim.bench.baselines.settings import at_least
from csim.bench.baselines.spheres import Spheres, SpheresSettings
from csim.records import ClassId, Event, Floats, Ints


@dataclass(frozen=True)
class EcsMinerSettings(SpheresSettings):
    """Settings of ECSMiner; the others stand in `SpheresSettings`.

    Parameters
    ----------
    chunk
        S: labelled images per model. Raising it makes better models, later.
    forgets
        Whether the oldest model goes if it alone knows some class.
    """

    chunk: int = 1000
    forgets: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(self, chunk=10)


class EcsMiner(Spheres):
    """ECSMiner, ready for a stream."""

    def __init__(self, settings: EcsMinerSettings, on_event: Callable[[Event], None]) -> None:
        super().__init__(settings, on_event)
        self._settings = settings
        self._unlabelled: deque[Seen] = deque()
        self._labelled: list[Seen] = []

    def _weights(self, look: Look) -> None:
        return None

    def _passed(self, some: list[Seen], look: Look, answers: Ints) -> None:
        self._unlabelled += some
        while len(self._unlabelled) > self._settings.label_delay:
            self._ask(self._unlabelled.popleft())

    def _hear(self, told: list[Seen]) -> None:
        self._waiting.learned(self._ensemble.known)
        self._labelled += told
        size = self._settings.chunk
        while len(self._labelled) >= size:
            chunk, self._labelled = self._labelled[:size], self._labelled[size:]
            with self._training():
                self._update(
                    np.array([own.vector for own in chunk]),
                    np.array([own.label for own in chunk], np.int64),
                )

    def _update(self, vectors: Floats, labels: Ints) -> None:
        """Train a model on a chunk; if there are too many, the worst on that chunk goes."""
        models = self._ensemble.models
        models.append(self._model(vectors, labels))
        if len(models) > self._ensemble.most:
            models.pop(int(self._errors(vectors, labels).argmax()))
        if self._settings.forgets and len(models) > 1:
            others = frozenset[ClassId]().union(*(model.known for model in models[1:]))
            if models[0].known - others:
                models.pop(0)
        self._changed()
