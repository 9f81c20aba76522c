"""ECSMiner (Masud, Gao, Khan, Han, Thuraisingham, TKDE 2011).

Every label arrives after a delay, and every labelled chunk becomes a model of the ensemble.
docs/ecsminer.md lists what the publication leaves open and what csim chooses.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from csim.bench.baselines.ensemble import Predictions
from csim.bench.baselines.event_recorder import Sample
from csim.bench.baselines.micro_cluster_baseline import (
    MicroClusterBaseline,
    MicroClusterSettings,
)
from csim.bench.baselines.settings import check_at_least
from csim.records import ClassId, Event, Floats, Ints


@dataclass(frozen=True)
class EcsMinerSettings(MicroClusterSettings):
    """Hold the settings of ECSMiner, in addition to those of `MicroClusterSettings`.

    Parameters
    ----------
    chunk
        S: labelled images per model. Higher trains better models, later.
    forgets
        Whether to drop the oldest model if no other model knows one of its classes.
    """

    chunk: int = 1000
    forgets: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_at_least(self, chunk=10)


class EcsMiner(MicroClusterBaseline):
    """Classify a stream with ECSMiner."""

    def __init__(self, settings: EcsMinerSettings, on_event: Callable[[Event], None]) -> None:
        super().__init__(settings, on_event)
        self._settings = settings
        self._unlabelled: deque[Sample] = deque()
        self._labelled: list[Sample] = []

    def _weights(self, predictions: Predictions) -> None:
        return None

    def _queue_labels(self, samples: list[Sample], predictions: Predictions, answers: Ints) -> None:
        self._unlabelled += samples
        while len(self._unlabelled) > self._settings.label_delay:
            self._recorder.ask(self._unlabelled.popleft())

    def _learn_told(self, told: list[Sample]) -> None:
        self._buffer.drop_labelled(self._ensemble.known)
        self._labelled += told
        size = self._settings.chunk
        while len(self._labelled) >= size:
            chunk = self._labelled[:size]
            self._labelled = self._labelled[size:]
            vectors = np.array([sample.vector for sample in chunk])
            labels = np.array([sample.label for sample in chunk], np.int64)
            with self._training():
                self._update(vectors, labels)

    def _update(self, vectors: Floats, labels: Ints) -> None:
        """Train a model on a chunk. If there are too many models, drop the worst on that chunk."""
        models = self._ensemble.models
        models.append(self._train(vectors, labels))
        if len(models) > self._ensemble.max_models:
            models.pop(int(self._error_rates(vectors, labels).argmax()))
        if self._settings.forgets and len(models) > 1:
            others = frozenset[ClassId]().union(*(model.known for model in models[1:]))
            if models[0].known - others:
                models.pop(0)
        self._models_changed()
