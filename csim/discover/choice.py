"""Choose questions: given a scene and a number of questions, which images to ask about.

`CoverDoubt` is the default and `Purify` the paper's. `LeastSure` and `AtRandom` are the usual
methods without groups: they ask about single images, and an answer labels that image alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from csim.discover.doubt import doubt
from csim.discover.scene import Scene
from csim.records import Ints, Item, State


class Pick(NamedTuple):
    """Hold a question to ask: indices into the scene of its members and its representative."""

    members: Ints
    representative: int


class Found(NamedTuple):
    """Hold the questions to ask, and for each open question the indices of images that join it."""

    picks: list[Pick]
    joined: list[Ints] = []  # noqa: RUF012


class Choice(Protocol):
    """Choose questions."""

    def choose(self, scene: Scene, most: int, pending: Sequence[Item]) -> Found:
        """Return at most `most` questions; `pending` are the representatives of open questions.

        A higher `most` asks more.
        """
        ...

    def state(self) -> State:
        """Return what a checkpoint must save."""
        return {}

    def restore(self, state: State) -> None:
        """Load what `state` returned."""
        return


class LeastSure(Choice):
    """Ask about single images, those first that the model doubts most."""

    def choose(self, scene: Scene, most: int, pending: Sequence[Item]) -> Found:
        """Return the `most` images of greatest doubt, however small it is."""
        return _singles(np.argsort(-doubt(scene.scores), kind="stable")[:most])


class AtRandom(Choice):
    """Ask about single images that `rng` draws."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng

    def choose(self, scene: Scene, most: int, pending: Sequence[Item]) -> Found:
        """Return `most` images, all equally likely."""
        return _singles(self._rng.permutation(len(scene))[:most])

    def state(self) -> State:
        """Return the state of the random generator."""
        return {"rng": self._rng.bit_generator.state}

    def restore(self, state: State) -> None:
        """Load what `state` returned."""
        self._rng.bit_generator.state = state["rng"]


def _singles(indices: Ints) -> Found:
    return Found([Pick(np.array([index]), int(index)) for index in indices])
