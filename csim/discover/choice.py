"""Choose questions: given a scene and a number of questions, which images to ask about.

`CoverDoubt` is the default and `Purify` the paper's. `LeastSure` and `AtRandom` are the usual
methods without groups: they ask about single images, and an answer labels that image alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, Protocol

import numpy as np

from csim.discover.scene import Scene
from csim.records import Ints, Item, State


class Pick(NamedTuple):
    """Hold a question to ask: indices into the scene of its members and its representative."""

    members: Ints
    representative: int


class Found(NamedTuple):
    """Hold the questions to ask, and which images join open questions.

    `joined` has the indices of the images that join an open question, by its index among the
    pending ones. `repeats` are the indices of images that csim does not ask about, because it has
    shown the same pixels before.
    """

    picks: list[Pick]
    joined: Mapping[int, Ints] = MappingProxyType({})
    repeats: Sequence[int] = ()


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
        return _singles(scene, np.argsort(-scene.doubt, kind="stable"), most)


class AtRandom(Choice):
    """Ask about single images that `rng` draws."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng

    def choose(self, scene: Scene, most: int, pending: Sequence[Item]) -> Found:
        """Return `most` images, all equally likely."""
        return _singles(scene, self._rng.permutation(len(scene)), most)

    def state(self) -> State:
        """Return the state of the random generator."""
        return {"rng": self._rng.bit_generator.state}

    def restore(self, state: State) -> None:
        """Load what `state` returned."""
        self._rng.bit_generator.state = state["rng"]


def take_new(scene: Scene, candidates: Iterable[Pick], most: int) -> Found:
    """Return the first `most` questions that show different pixels, and none shown before.

    An image of the same pixels as a question's before it becomes a member of that question.

    Parameters
    ----------
    scene
        The images, and those shown before.
    candidates
        Questions, the best first; csim draws no more of them than it needs.
    most
        The most questions. Higher goes on to worse candidates.
    """
    picks: dict[bytes, Pick] = {}
    repeats: list[int] = []
    left = iter(candidates)
    while len(picks) < most and (pick := next(left, None)) is not None:
        pixels = scene.items[pick.representative].content.tobytes()
        if pixels in picks:
            first = picks[pixels]
            members = np.union1d(first.members, [pick.representative])
            picks[pixels] = Pick(members, first.representative)
        elif pixels in scene.shown:
            repeats.append(pick.representative)
        else:
            picks[pixels] = pick
    return Found([*picks.values()], repeats=repeats)


def _singles(scene: Scene, indices: Ints, most: int) -> Found:
    return take_new(scene, (Pick(np.array([index]), int(index)) for index in indices), most)
