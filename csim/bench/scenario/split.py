"""The two halves of every scenario: who is known and whose images are whose, then the order in which they come.

`draw_split` sets labelled images of the known classes apart, most of them to warm up with and some held out to see
later what is forgotten. `arrange` orders the rest. A scenario stands between the two: it says when each class is there.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from csim.bench.datasets import DataSet
from csim.errors import InputError, SettingsError
from csim.records import Floats, Images, Ints

_HELD_OUT = 10  # one labelled image in so many is kept from the warm-up

Stay = tuple[float, float]  # from when to when a class is there; the stream runs from 0 to 1


@dataclass(frozen=True)
class Stream:
    """A warm-up and what follows, with the truth beside it.

    `held_out` are labelled images of the known classes that stand neither in the warm-up nor in the stream. `starts`
    gives the position, from 1, of each new class's first image, in order of position.
    """

    warm_up: Images
    warm_up_names: list[str]
    held_out: Images
    held_out_names: list[str]
    images: Images
    names: list[str]  # the truth: for the simulated person and the metrics only
    starts: dict[str, int]


@dataclass(frozen=True)
class Split:
    """Indices of a data set's images, class by class: the known classes first, then the new in order of start."""

    data: DataSet
    warm_up: list[Ints]  # a known class each
    held_out: list[Ints]  # a known class each
    coming: list[Ints]  # any class each
    rng: np.random.Generator

    @property
    def known(self) -> int:
        """How many classes are known at the start."""
        return len(self.warm_up)

    @property
    def new(self) -> int:
        """How many classes are not."""
        return len(self.coming) - len(self.warm_up)


def draw_split(data: DataSet, *, known_share: float, seed: int, warm_up: int) -> Split:
    """Draw which classes are known and which images are labelled; the parameters are `paper_stream`'s."""
    known = check(data, known_share=known_share, seed=seed, warm_up=warm_up)
    rng = np.random.default_rng(seed)
    labels = np.array(data.names)
    classes = rng.permutation(np.unique(labels))
    members = [rng.permutation(np.flatnonzero(labels == name)) for name in classes]
    labelled = [own[: min(warm_up, len(own) // 2)] for own in members[:known]]
    rest = [own[len(first) :] for own, first in zip(members[:known], labelled, strict=True)]
    cuts = [
        max(1, len(own) - max(1, len(own) // _HELD_OUT)) for own in labelled
    ]  # a single one warms up
    return Split(
        data=data,
        warm_up=[own[:cut] for own, cut in zip(labelled, cuts, strict=True)],
        held_out=[own[cut:] for own, cut in zip(labelled, cuts, strict=True)],
        coming=rest + members[known:],
        rng=rng,
    )


def check(data: DataSet, *, known_share: float, seed: int, warm_up: int) -> int:
    """Refuse what no stream can be made of; return how many classes are known."""
    if not data.names:
        raise InputError(
            f"a stream needs images, the data set {data.name!r} has none; choose another"
        )
    sizes = Counter(data.names)
    if len(sizes) < 3:
        raise InputError(
            f"a stream needs 2 known classes and a new one, the data set {data.name!r} has "
            f"{len(sizes)} in all; choose another"
        )
    if small := [name for name, size in sizes.items() if size < 2]:
        raise InputError(
            f"every class must have at least 2 images, {small[0]!r} has 1; leave it out or add images"
        )
    known = int(len(sizes) * known_share + 1e-9) if 0 < known_share < 1 else 0
    if not 2 <= known < len(sizes):
        lowest = math.ceil(2000 / len(sizes)) / 1000
        raise SettingsError(
            f"known_share must leave at least 2 known classes and 1 new one, got {known_share}; "
            f"for {len(sizes)} classes choose {lowest:g} or more, and less than 1"
        )
    if warm_up < 1:
        raise SettingsError(f"warm_up must be at least 1 image per known class, got {warm_up}")
    if seed < 0:
        raise SettingsError(f"seed must be 0 or more, got {seed}")
    return known


def arrange(split: Split, stays: Sequence[Sequence[Stay]]) -> Stream:
    """Let the images of each class come at random moments of its stays, all moments alike.

    Parameters
    ----------
    split
        What to arrange.
    stays
        For each class, in the split's order, when it is there: one or more stretches, in order, apart.
    """
    moments = [
        _spread(own, split.rng.random(len(c))) for own, c in zip(stays, split.coming, strict=True)
    ]
    order = np.concatenate(split.coming)[np.argsort(np.concatenate(moments))]
    images, labels = split.data.images, np.array(split.data.names)
    before, aside = np.concatenate(split.warm_up), np.concatenate(split.held_out)
    names: list[str] = labels[order].tolist()
    firsts = {
        name: names.index(name) + 1
        for name in (str(labels[own[0]]) for own in split.coming[split.known :])
    }
    return Stream(
        warm_up=images[before],
        warm_up_names=labels[before].tolist(),
        held_out=images[aside],
        held_out_names=labels[aside].tolist(),
        images=images[order],
        names=names,
        starts=dict(sorted(firsts.items(), key=lambda entry: entry[1])),
    )


def _spread(stays: Sequence[Stay], draws: Floats) -> Floats:
    """Return moments within the stays for draws of 0 to 1."""
    moments = stays[0][0] + draws * sum(end - begin for begin, end in stays)
    for (_, end), (begin, _) in pairwise(stays):
        moments[moments >= end] += begin - end  # the time away passes without the class
    return moments
