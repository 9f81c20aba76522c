"""What a choice of questions is: given a scene and a number of questions, which images to ask about.

`CoverDoubt` is the default and `Purify` the paper's. `LeastSure` and `AtRandom` are what people do who have no groups:
they ask about single images, and the answer speaks of that image alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from csim.discover.doubt import doubt
from csim.discover.scene import Scene
from csim.records import Ints, Item, State


class Pick(NamedTuple):
    """A question to be: the places in the scene of the images it is about, and of the one that stands for them."""

    members: Ints
    representative: int


class Found(NamedTuple):
    """Questions to be, and for each question that is open already the places of the images that belong to it."""

    picks: list[Pick]
    joined: list[Ints] = []  # noqa: RUF012


class Choice(Protocol):
    """A way to choose questions."""

    def choose(self, scene: Scene, most: int, pending: Sequence[Item]) -> Found:
        """Return at most `most` questions; `pending` are the representatives of open ones."""
        ...

    def state(self) -> State:
        """Return what must be remembered."""
        return {}

    def restore(self, state: State) -> None:
        """Take back what `state` returned."""
        return


class LeastSure(Choice):
    """The images whose best class stands out least, one by one."""

    def choose(self, scene: Scene, most: int, pending: Sequence[Item]) -> Found:
        """Return the `most` images of greatest doubt, however little that is."""
        return _singles(np.argsort(-doubt(scene.scores), kind="stable")[:most])


class AtRandom(Choice):
    """Any images, one by one, drawn with `rng`."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng

    def choose(self, scene: Scene, most: int, pending: Sequence[Item]) -> Found:
        """Return `most` images, all equally likely."""
        return _singles(self._rng.permutation(len(scene))[:most])

    def state(self) -> State:
        """Return where the generator stands."""
        return {"rng": self._rng.bit_generator.state}

    def restore(self, state: State) -> None:
        """Set the generator to where it stood."""
        self._rng.bit_generator.state = state["rng"]


def _singles(places: Ints) -> Found:
    return Found([Pick(np.array([place]), int(place)) for place in places])
