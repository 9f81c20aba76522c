"""Logistic regression on frozen vectors, asking about the images it is least sure of.

What most people would do first with a pretrained encoder. Everything but the classifier and the
choice of questions is csim's engine: the recent window, the budget, the second look, how often it
searches and learns. So a difference in the figures comes from these two alone.

Least sure means the smallest margin: the difference between the two best probabilities. Of the
images since the last search, csim asks about those. docs/encoders.md compares other choices.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from csim.bench.baselines.settings import BaselineSettings, check_at_least, check_at_most_one
from csim.build import Parts, build
from csim.classifier import StreamClassifier
from csim.discover.choice import Choice, Found, Pick, take_new
from csim.discover.scene import Scene
from csim.embed.encoder import CheckedEncoder
from csim.embed.gallery import Encoder
from csim.embed.network_trainer import Progress
from csim.errors import SettingsError
from csim.records import Event, Floats, Item, Job, Model
from csim.settings import Settings

_ITERATIONS = 300


@dataclass(frozen=True)
class LogisticSettings(BaselineSettings):
    """Hold the settings of logistic regression.

    Parameters
    ----------
    encoder
        The frozen encoder, by name; not "own".
    share
        Questions per image of the stream. Higher asks more.
    strength
        C of scikit-learn, the inverse of regularisation. Higher follows single images more.
    seed
        Of the engine, which draws nothing here.
    """

    encoder: str = "lite0"
    share: float = 0.02
    strength: float = 100.0
    seed: int = 0

    def __post_init__(self) -> None:
        if self.encoder == "own":
            raise SettingsError(
                "the encoder of logistic regression must be a pretrained one, because it trains no "
                "network; got 'own'; use lite0, or leave it out"
            )
        check_at_least(self, share=0.0, strength=1e-6)
        check_at_most_one(self, "share")

    @property
    def engine(self) -> Settings:
        """Return the settings of csim's engine around it; searches are as frequent as csim's."""
        return Settings.photographs(
            encoder=self.encoder,
            questions="least-sure",
            budget=self.share,
            seed=self.seed,
        )


class Logistic(StreamClassifier):
    """Classify a stream with logistic regression.

    Parameters
    ----------
    settings
        Its settings.
    encoder
        The encoder that they name.
    on_event
        Called with every event.
    """

    def __init__(
        self,
        settings: LogisticSettings,
        encoder: Encoder | None,
        on_event: Callable[[Event], None],
    ) -> None:
        super().__init__(settings.engine, encoder=encoder, on_event=on_event)
        self._strength = settings.strength

    def _build(self, frozen: CheckedEncoder | None) -> Parts:
        parts = build(self.settings, frozen, choice=SmallestMargin(self.settings.ask_every))
        return replace(parts, trainer=_LogisticTrainer(self._strength))


class SmallestMargin(Choice):
    """Ask about single images whose two best classes are nearly as likely as each other.

    Parameters
    ----------
    newest
        How many images to choose from, those that came last. Higher finds smaller margins, but
        more of them in the same place.
    """

    def __init__(self, newest: int) -> None:
        self._newest = newest

    def choose(self, scene: Scene, most: int, pending: Sequence[Item]) -> Found:
        """Return the `most` images of smallest margin."""
        first = max(0, len(scene) - self._newest)
        order = first + np.argsort(margins(scene.scores[first:]), kind="stable")
        picks = (Pick(np.array([index]), int(index)) for index in order)
        return take_new(scene, picks, most)


def margins(scores: Floats) -> Floats:
    """Return the difference between the two best classes' shares of all odds, (n,).

    With fewer than two classes it is 0.

    >>> margins(np.array([[0.9, 0.1], [0.5, 0.5]])).round(2).tolist()
    [0.98, 0.0]
    """
    if scores.shape[1] < 2:
        return np.zeros(len(scores))
    clipped = np.clip(scores.astype(np.float64), 1e-9, 1 - 1e-9)
    odds = clipped / (1 - clipped)
    shares = np.sort(odds / odds.sum(axis=1, keepdims=True), axis=1)
    difference: Floats = shares[:, -1] - shares[:, -2]
    return difference


class _LogisticTrainer:
    """Train logistic regression on a job's frozen vectors; every class weighs the same."""

    def __init__(self, strength: float) -> None:
        self._strength = strength

    def train(
        self, job: Job, previous: Model | None = None, progress: Progress | None = None
    ) -> Model:
        inputs = job.images.astype(np.float32)
        mean = inputs.mean(axis=0) if previous is None else np.array(previous.network["body.mean"])
        vectors = inputs - mean
        vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        from sklearn.linear_model import LogisticRegression  # noqa: PLC0415

        learner = LogisticRegression(
            C=self._strength, max_iter=_ITERATIONS, class_weight="balanced"
        ).fit(vectors, job.labels)
        weights, bias = learner.coef_, learner.intercept_
        if len(weights) == 1:  # of two classes scikit-learn keeps one row
            weights, bias = np.concatenate([-weights, weights]) / 2, np.append(-bias, bias) / 2
        return Model(
            version=job.version,
            class_ids=tuple(learner.classes_.tolist()),
            image_shape=job.images.shape[1:],
            network={"body.mean": mean},
            weights=weights.astype(np.float32),
            bias=bias.astype(np.float32),
            held_out=vectors[:0],
            encoder=previous.encoder if previous else None,
        )
