"""The two steps of every scenario: split a data set, then arrange the stream.

`draw_split` chooses the known classes and their labelled images: most for the warm-up, some held
out to measure forgetting later. A scenario says when each class is present. `arrange` then orders
the remaining images.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from csim.bench.datasets import DataSet
from csim.errors import InputError, SettingsError
from csim.records import Floats, Images, Ints

_LABELLED_PER_HELD_OUT = 10  # one labelled image in 10 is held out of the warm-up

Interval = tuple[float, float]  # when a class is present; the stream runs from 0 to 1


@dataclass(frozen=True)
class Stream:
    """Hold a warm-up, the stream that follows, and the truth about both.

    `held_out` are labelled images of the known classes that are neither in the warm-up nor in the
    stream. `starts` gives the position, from 1, of each new class's first image, in order.
    """

    warm_up: Images
    warm_up_names: list[str]
    held_out: Images
    held_out_names: list[str]
    images: Images
    names: list[str]  # the truth: for the simulated labeller and the metrics only
    starts: dict[str, int]

    def with_all_labelled(self) -> Stream:
        """Return the stream with the held-out images in the warm-up, as the paper uses them."""
        return replace(
            self,
            warm_up=np.concatenate([self.warm_up, self.held_out]),
            warm_up_names=self.warm_up_names + self.held_out_names,
            held_out=self.held_out[:0],
            held_out_names=[],
        )


@dataclass(frozen=True)
class Split:
    """Hold indices of a data set's images by class, known classes first, then new ones by start."""

    data: DataSet
    warm_up: list[Ints]  # one array per known class
    held_out: list[Ints]  # one array per known class
    streamed: list[Ints]  # one array per class
    rng: np.random.Generator

    @property
    def known(self) -> int:
        """Return how many classes are known at the start."""
        return len(self.warm_up)

    @property
    def new(self) -> int:
        """Return how many classes are new."""
        return len(self.streamed) - len(self.warm_up)


def draw_split(data: DataSet, *, known_share: float, seed: int, warm_up: int) -> Split:
    """Draw the known classes and the labelled images, with the parameters of `paper_stream`."""
    known = count_known(data, known_share=known_share, seed=seed, warm_up=warm_up)
    rng = np.random.default_rng(seed)
    labels = np.array(data.names)
    classes = rng.permutation(np.unique(labels))
    members = [rng.permutation(np.flatnonzero(labels == name)) for name in classes]
    labelled = [part[: min(warm_up, len(part) // 2)] for part in members[:known]]
    rest = [part[len(first) :] for part, first in zip(members[:known], labelled, strict=True)]
    # A single labelled image goes into the warm-up.
    cuts = [max(1, len(part) - max(1, len(part) // _LABELLED_PER_HELD_OUT)) for part in labelled]
    return Split(
        data=data,
        warm_up=[part[:cut] for part, cut in zip(labelled, cuts, strict=True)],
        held_out=[part[cut:] for part, cut in zip(labelled, cuts, strict=True)],
        streamed=rest + members[known:],
        rng=rng,
    )


def count_known(data: DataSet, *, known_share: float, seed: int, warm_up: int) -> int:
    """Check the arguments of a scenario and return how many classes are known."""
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
            f"every class must have at least 2 images, {small[0]!r} has 1; "
            "leave it out or add images"
        )
    known = int(len(sizes) * known_share + 1e-9) if 0 < known_share < 1 else 0
    if not 2 <= known < len(sizes):
        lowest = math.ceil(2000 / len(sizes)) / 1000
        raise SettingsError(
            "the share of known classes (--r) must leave at least 2 known and 1 new, got "
            f"{known_share}; "
            f"for {len(sizes)} classes choose {lowest:g} or more, and less than 1"
        )
    if warm_up < 1:
        raise SettingsError(f"warm_up must be at least 1 image per known class, got {warm_up}")
    if seed < 0:
        raise SettingsError(f"seed must be 0 or more, got {seed}")
    return known


def arrange(split: Split, intervals: Sequence[Sequence[Interval]]) -> Stream:
    """Order the images: those of a class arrive at uniformly random times of its intervals.

    Parameters
    ----------
    split
        The split data set.
    intervals
        For each class, in the order of the split, one or more separate intervals in order.
    """
    times = [
        _spread(present, split.rng.random(len(indices)))
        for present, indices in zip(intervals, split.streamed, strict=True)
    ]
    order = np.concatenate(split.streamed)[np.argsort(np.concatenate(times))]
    images = split.data.images
    labels = np.array(split.data.names)
    warm_up = np.concatenate(split.warm_up)
    held_out = np.concatenate(split.held_out)
    names: list[str] = labels[order].tolist()
    new_names = [str(labels[indices[0]]) for indices in split.streamed[split.known :]]
    firsts = {name: names.index(name) + 1 for name in new_names}
    return Stream(
        warm_up=images[warm_up],
        warm_up_names=labels[warm_up].tolist(),
        held_out=images[held_out],
        held_out_names=labels[held_out].tolist(),
        images=images[order],
        names=names,
        starts=dict(sorted(firsts.items(), key=lambda entry: entry[1])),
    )


def _spread(intervals: Sequence[Interval], draws: Floats) -> Floats:
    """Return times within the intervals for draws of 0 to 1."""
    times = intervals[0][0] + draws * sum(end - begin for begin, end in intervals)
    for (_, end), (begin, _) in pairwise(intervals):
        times[times >= end] += begin - end  # skip the gap
    return times
