"""ECHO-D (Haque, Khan, Baron, Thuraisingham, Aggarwal, ICDE 2016).

It asks for a label only where the ensemble is not confident. It trains a new model when confidence
has changed, instead of after every chunk. docs/echo-d.md lists what the publication leaves open and
what csim chooses.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from csim.bench.baselines.change_detection import clip_confidence, find_change
from csim.bench.baselines.confidence import (
    Calibration,
    calibrate_all,
    calibrated_confidence,
    estimate,
    released_confidence,
)
from csim.bench.baselines.ensemble import Ensemble, Predictions
from csim.bench.baselines.event_recorder import Sample
from csim.bench.baselines.micro_cluster_baseline import (
    MicroClusterBaseline,
    MicroClusterSettings,
)
from csim.bench.baselines.settings import check_at_least, check_at_most_one, check_one_of
from csim.records import ClassId, Event, Floats, Ints

_HELD_OUT_SHARE = 0.2  # of the warm-up, to choose tau


@dataclass(frozen=True)
class EchoSettings(MicroClusterSettings):
    """Hold the settings of ECHO-D, in addition to those of `MicroClusterSettings`.

    Parameters
    ----------
    confidence
        `calibrated`, or `released`: as in the program of its authors, where one model always has
        a confidence of 0.
    share
        Share of known images to ask about. It sets `tau` on the warm-up. Higher asks more.
    tau
        Confidence up to which ECHO-D asks for a label; 0 chooses it by `share`. Higher asks more.
    alpha
        Target probability of a false alarm of the change detection (`find_change`). Higher trains
        more often.
    delta
        Relative fall of confidence that counts as a change. Higher trains less often. The released
        program uses delta = alpha.
    gamma
        Exponent of the shortest part that the change detection compares. Higher trains less often.
    window
        Images after which a model is trained in any case. Higher trains less often.
    """

    impurity: bool = True
    confidence: Literal["calibrated", "released"] = "calibrated"
    share: float = 0.3
    tau: float = 0.0
    alpha: float = 0.001
    delta: float = 0.05
    gamma: float = 0.5
    window: int = 1000

    def __post_init__(self) -> None:
        super().__post_init__()
        check_at_least(self, share=0, tau=0, alpha=1e-300, delta=0, gamma=0, window=200)
        check_one_of(self, confidence=("calibrated", "released"))
        check_at_most_one(self, "share", "tau", "delta", "gamma")


@dataclass(eq=False, slots=True)
class _Classified:
    """Hold a classified sample until its label is due."""

    sample: Sample
    confidence: float
    answer: ClassId


class EchoD(MicroClusterBaseline):
    """Classify a stream with ECHO-D."""

    def __init__(self, settings: EchoSettings, on_event: Callable[[Event], None]) -> None:
        super().__init__(settings, on_event)
        self._settings = settings
        self._tau = settings.tau
        self._calibrations: list[Calibration] = []
        self._classified: deque[_Classified] = deque()
        self._asked_confidence: dict[str, float] = {}  # by item id, until the answer arrives
        self._window: list[tuple[Floats, ClassId]] = []
        self._signal: list[float] = []
        self._is_due = False

    def _start(self, vectors: Floats, labels: Ints) -> None:
        super()._start(vectors, labels)
        self._calibrations = calibrate_all(self._ensemble, vectors, labels)
        self._tau = self._tau or self._choose_tau(vectors, labels)

    def _choose_tau(self, vectors: Floats, labels: Ints) -> float:
        """Return the confidence that the share `share` of held-out images does not exceed."""
        order = self._rng.permutation(len(vectors))
        held_out, rest = np.split(order, [int(len(vectors) * _HELD_OUT_SHARE)])
        ensemble = self._make_ensemble(self._train_warm_up(vectors[rest], labels[rest]))
        predictions = ensemble.predict(vectors[held_out])
        calibrations = calibrate_all(ensemble, vectors[rest], labels[rest])
        confidences = self._confidences(ensemble, predictions, calibrations)
        weights = _vote_weights(predictions, confidences)
        answers = ensemble.vote_shares(predictions, weights).argmax(axis=1)
        combined = _ensemble_confidence(predictions, confidences, answers)
        return float(np.quantile(combined, self._settings.share))

    def _confidences(
        self, ensemble: Ensemble, predictions: Predictions, calibrations: list[Calibration]
    ) -> Floats:
        """Return the confidence of each model, (models, n)."""
        is_calibrated = self._settings.confidence == "calibrated"
        rule = calibrated_confidence if is_calibrated else released_confidence
        return rule(estimate(ensemble, predictions), calibrations)

    def _weights(self, predictions: Predictions) -> Floats:
        confidences = self._confidences(self._ensemble, predictions, self._calibrations)
        return _vote_weights(predictions, confidences)

    def _queue_labels(self, samples: list[Sample], predictions: Predictions, answers: Ints) -> None:
        confidences = self._confidences(self._ensemble, predictions, self._calibrations)
        combined = _ensemble_confidence(predictions, confidences, answers)
        self._classified += [
            _Classified(*row)
            for row in zip(samples, combined.tolist(), answers.tolist(), strict=True)
        ]
        while len(self._classified) > self._settings.label_delay:
            due = self._classified.popleft()
            if due.confidence <= self._tau:
                self._asked_confidence[due.sample.item.id] = due.confidence
                self._recorder.ask(due.sample)
            else:
                self._add(due.sample.vector, due.answer, due.confidence)
        self._train_if_changed()

    def _learn_told(self, told: list[Sample]) -> None:
        self._buffer.drop_labelled(self._ensemble.known)
        for sample in told:
            assert sample.label is not None
            confidence = self._asked_confidence.pop(sample.item.id)
            self._add(sample.vector, sample.label, confidence)
        self._train_if_changed()

    def _add(self, vector: Floats, label: ClassId, confidence: float) -> None:
        self._window.append((vector, label))
        self._signal.append(clip_confidence(confidence))
        self._is_due |= bool(self._rng.random() < np.exp(-confidence))

    def _train_if_changed(self) -> None:
        """Train a model if a test of the signal is due and confidence has changed."""
        if not self._is_due:
            return
        self._is_due = False
        change = find_change(
            np.array(self._signal),
            alpha=self._settings.alpha,
            delta=self._settings.delta,
            gamma=self._settings.gamma,
            max_length=self._settings.window,
        )
        if change is not None:
            with self._training():
                vectors = np.array([vector for vector, _ in self._window])
                self._update(vectors, np.array([label for _, label in self._window], np.int64))
            del self._window[:change]
            del self._signal[:change]

    def _update(self, vectors: Floats, labels: Ints) -> None:
        """Train a model on the window.

        Drop every model that is worse than chance there. If there are still too many, drop the
        worst.
        """
        merits = _chance_error(labels) - self._error_rates(vectors, labels)
        kept = [index for index in range(len(merits)) if merits[index] >= 0]
        if len(kept) >= self._ensemble.max_models:
            kept.remove(min(kept, key=lambda index: merits[index]))
        models = [self._ensemble.models[index] for index in kept]
        self._ensemble = self._make_ensemble([*models, self._train(vectors, labels)])
        self._calibrations = calibrate_all(self._ensemble, vectors, labels)
        self._models_changed()


def _vote_weights(predictions: Predictions, confidences: Floats) -> Floats:
    """Return the weight of each vote, (models, n): the confidence, or exp(-distance) outside."""
    return np.where(predictions.is_outside, np.exp(np.minimum(predictions.depth, 0)), confidences)


def _ensemble_confidence(predictions: Predictions, confidences: Floats, answers: Ints) -> Floats:
    """Return the mean confidence, (n,), with 0 for models that disagree and for outliers."""
    mean = np.where(predictions.votes == answers, confidences, 0).mean(axis=0)
    return np.where(predictions.is_outside.all(axis=0), 0.0, mean)


def _chance_error(labels: Ints) -> float:
    """Return the expected squared error of guessing in proportion to the class frequencies."""
    shares = np.unique(labels, return_counts=True)[1] / len(labels)
    return float((shares * (1 - shares) ** 2).sum())
