"""ECHO-D (Haque, Khan, Baron, Thuraisingham, Aggarwal, ICDE 2016): labels only where the ensemble is unsure.

A new model is trained when confidence has changed, instead of after every chunk. What the publication leaves open, and
what is chosen here, stands in docs/echo-d.md.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from csim.bench.baselines.change import change_point, smoothed
from csim.bench.baselines.ensemble import Ensemble, Look
from csim.bench.baselines.face import Seen
from csim.bench.baselines.settings import at_least, one_of
from csim.bench.baselines.spheres import Spheres, SpheresSettings
from csim.bench.baselines.trust import Trust, calibrated, learn_all, released, signs_of
from csim.errors import SettingsError
from csim.records import ClassId, Event, Floats, Ints

_HELD_OUT = 0.2  # of the warm-up, to choose tau on


@dataclass(frozen=True)
class EchoSettings(SpheresSettings):
    """Settings of ECHO-D; the others stand in `SpheresSettings`.

    Parameters
    ----------
    confidence
        `calibrated`, or as in the program that its authors `released`, where one model always has none.
    share
        The share of known images that are asked about, from which `tau` is chosen on the warm-up. Raising it asks more.
    tau
        The confidence up to which a label is asked for; 0 chooses it by `share`. Raising it asks more.
    alpha, delta, gamma
        Of the change test (`change_point`); the released program has delta = alpha.
    window
        Images after which a model is trained in any case. Raising it trains less often.
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
        at_least(self, share=0, tau=0, alpha=1e-300, delta=0, gamma=0, window=200)
        one_of(self, confidence=("calibrated", "released"))
        for name in ("share", "tau", "delta", "gamma"):
            if getattr(self, name) > 1:
                raise SettingsError(f"{name} must be at most 1, got {getattr(self, name)}")


@dataclass(eq=False, slots=True)
class _Passed:
    """An image that has been answered for, until its label comes."""

    seen: Seen
    confidence: float
    answer: ClassId


class EchoD(Spheres):
    """ECHO-D, ready for a stream."""

    def __init__(self, settings: EchoSettings, on_event: Callable[[Event], None]) -> None:
        super().__init__(settings, on_event)
        self._settings = settings
        self._tau = settings.tau
        self._trusts: list[Trust] = []
        self._passing: deque[_Passed] = deque()
        self._sure: dict[str, float] = {}  # how sure it was of images that are asked about
        self._window: list[tuple[Floats, ClassId]] = []
        self._signal: list[float] = []
        self._is_due = False

    def _start(self, vectors: Floats, labels: Ints) -> None:
        super()._start(vectors, labels)
        self._trusts = learn_all(self._ensemble, vectors, labels)
        self._tau = self._tau or self._choose_tau(vectors, labels)

    def _choose_tau(self, vectors: Floats, labels: Ints) -> float:
        """Return the confidence that so large a share of known images does not reach, judged on a part held out."""
        held, rest = np.split(self._rng.permutation(len(vectors)), [int(len(vectors) * _HELD_OUT)])
        ensemble = self._join(self._models(vectors[rest], labels[rest]))
        look, trusts = (
            ensemble.look(vectors[held]),
            learn_all(ensemble, vectors[rest], labels[rest]),
        )
        own = self._confidences(ensemble, look, trusts)
        answers = ensemble.tally(look, _weights(look, own)).argmax(axis=1)
        return float(np.quantile(_together(look, own, answers), self._settings.share))

    def _confidences(self, ensemble: Ensemble, look: Look, trusts: list[Trust]) -> Floats:
        """Return how sure each model is, (models, n)."""
        rule = calibrated if self._settings.confidence == "calibrated" else released
        return rule(signs_of(ensemble, look), trusts)

    def _weights(self, look: Look) -> Floats:
        return _weights(look, self._confidences(self._ensemble, look, self._trusts))

    def _passed(self, some: list[Seen], look: Look, answers: Ints) -> None:
        sure = _together(look, self._confidences(self._ensemble, look, self._trusts), answers)
        self._passing += [
            _Passed(*own) for own in zip(some, sure.tolist(), answers.tolist(), strict=True)
        ]
        while len(self._passing) > self._settings.label_delay:
            own = self._passing.popleft()
            if own.confidence <= self._tau:
                self._sure[own.seen.item.id] = own.confidence
                self._ask(own.seen)
            else:
                self._add(own.seen.vector, own.answer, own.confidence)
        self._learn()

    def _hear(self, told: list[Seen]) -> None:
        self._waiting.learned(self._ensemble.known)
        for seen in told:
            assert seen.label is not None
            self._add(seen.vector, seen.label, self._sure.pop(seen.item.id))
        self._learn()

    def _add(self, vector: Floats, label: ClassId, confidence: float) -> None:
        self._window.append((vector, label))
        self._signal.append(smoothed(confidence))
        self._is_due |= bool(self._rng.random() < np.exp(-confidence))

    def _learn(self) -> None:
        """Train a model if confidence has changed."""
        if not self._is_due:
            return
        self._is_due, own = False, self._settings
        change = change_point(
            np.array(self._signal),
            alpha=own.alpha,
            delta=own.delta,
            gamma=own.gamma,
            longest=own.window,
        )
        if change is not None:
            with self._training():
                vectors = np.array([vector for vector, _ in self._window])
                self._update(vectors, np.array([label for _, label in self._window], np.int64))
            del self._window[:change], self._signal[:change]

    def _update(self, vectors: Floats, labels: Ints) -> None:
        """Train a model on the window; if there are too many the worst goes, and all that are worse than chance."""
        worth = _chance(labels) - self._errors(vectors, labels)
        kept = [place for place in range(len(worth)) if worth[place] >= 0]
        if len(kept) >= self._ensemble.most:
            kept.remove(min(kept, key=lambda place: worth[place]))
        models = [self._ensemble.models[place] for place in kept]
        self._ensemble = self._join([*models, self._model(vectors, labels)])
        self._trusts = learn_all(self._ensemble, vectors, labels)
        self._changed()


def _weights(look: Look, sure: Floats) -> Floats:
    """Return what votes weigh, (models, n): a model that sees an image outside, less the farther that is."""
    return np.where(look.is_outside, np.exp(np.minimum(look.inside, 0)), sure)


def _together(look: Look, sure: Floats, answers: Ints) -> Floats:
    """Return how sure the ensemble is, (n,): the mean, with models that disagree at 0; of an outlier not at all."""
    own = np.where(look.votes == answers, sure, 0).mean(axis=0)
    return np.where(look.is_outside.all(axis=0), 0.0, own)


def _chance(labels: Ints) -> float:
    """Return the expected squared error of guessing by the classes' shares."""
    shares = np.unique(labels, return_counts=True)[1] / len(labels)
    return float((shares * (1 - shares) ** 2).sum())
