"""Streams: in which order images arrive, and what is known before.

The paper's: a share r of the classes is known at the start, with 1,000 labelled images each (half of a class that
has fewer than 2,000). Each other class starts in a period of its own and then stays, mixed evenly with all classes
already there; starts are spread over the first 90 % of the stream.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from csim.bench.datasets import DataSet
from csim.errors import SettingsError
from csim.records import Images, Ints

_LAST_START = 0.9  # share of the stream by which every class has begun


@dataclass(frozen=True)
class Stream:
    """A warm-up and what follows, with the truth beside it."""

    warm_up: Images
    warm_up_names: list[str]
    images: Images
    names: list[str]  # the truth: for the simulated labeller and the metrics only


def paper_stream(data: DataSet, *, known_share: float, seed: int, warm_up: int = 1000) -> Stream:
    """Return the paper's stream.

    Parameters
    ----------
    data
        Where images come from.
    known_share
        r: floor(n·r) of n classes are known at the start. Raising it leaves fewer to discover.
    seed
        Draws which classes are known, which images warm up, and the order.
    warm_up
        Labelled images per known class, or half of a class that has fewer than twice as many. Raising it
        gives a better first model.
    """
    rng = np.random.default_rng(seed)
    labels = np.array(data.names)
    classes = rng.permutation(np.unique(labels))
    known = int(len(classes) * known_share + 1e-9)
    if not 2 <= known < len(classes):
        raise SettingsError(
            f"known_share must leave at least 2 known classes and 1 new one; {known_share} of {len(classes)} "
            f"classes leaves {known} known"
        )
    members = {name: rng.permutation(np.flatnonzero(labels == name)) for name in classes}
    first = [members[name][: min(warm_up, len(members[name]) // 2)] for name in classes[:known]]
    rest = [members[name][len(first[place]) if place < known else 0 :] for place, name in enumerate(classes)]
    before, order = np.concatenate(first), _arrivals(rest, known, rng)
    return Stream(
        data.images[before], labels[before].tolist(), data.images[order], [str(name) for name in labels[order]]
    )


def _arrivals(rest: list[Ints], known: int, rng: np.random.Generator) -> Ints:
    """Return indices in order of arrival: each class spread evenly from its start, 0 to 1, to the end."""
    new = len(rest) - known
    starts = [0.0] * known + [_LAST_START * (place + 1) / new - _LAST_START / (2 * new) for place in range(new)]
    times = [start + (1 - start) * rng.random(len(own)) for start, own in zip(starts, rest, strict=True)]
    return np.concatenate(rest)[np.argsort(np.concatenate(times))]
