"""How many labels are right: over the whole stream, along it, or over a part of it.

A part is a smaller truth: `accuracy(labels, unasked(events, truth))`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice

import numpy as np

from csim.metrics.answers import told_items
from csim.metrics.share import percent
from csim.metrics.truth import Truth
from csim.records import Event, Floats, ItemId


def accuracy(labels: Mapping[ItemId, str | None], truth: Truth) -> float:
    """Return the share of images whose label is the true one, in percent; one without a label counts as wrong.

    >>> accuracy({"a": "crane", "b": None}, {"a": "crane", "b": "heron"})
    50.0
    """
    return percent(_hits(labels, truth))


def accuracy_curve(labels: Mapping[ItemId, str | None], truth: Truth, window: int) -> Floats:
    """Return the accuracy over the last `window` images at each position, in percent; raising it smooths.

    >>> accuracy_curve({"a": "crane", "b": None, "c": "heron"}, {"a": "crane", "b": "heron", "c": "heron"}, window=2)
    array([100.,  50.,  50.])
    """
    sums = np.concatenate([[0.0], np.cumsum(_hits(labels, truth))])
    ends = np.arange(1, len(sums))
    starts = np.maximum(0, ends - window)
    curve: Floats = 100 * (sums[ends] - sums[starts]) / (ends - starts)
    return curve


def unasked(events: Iterable[Event], truth: Truth) -> Truth:
    """Return the truth of the images that no person labelled, so that no answer about them is counted as skill."""
    told = told_items(events)
    return {item_id: name for item_id, name in truth.items() if item_id not in told}


def last_quarter(truth: Truth) -> Truth:
    """Return the truth of the last quarter of the stream, rounded up: what the method is like in the end.

    >>> last_quarter({"a": "crane", "b": "crane", "c": "heron", "d": "crane", "e": "heron"})
    {'d': 'crane', 'e': 'heron'}
    """
    return dict(islice(truth.items(), 3 * len(truth) // 4, None))


def _hits(labels: Mapping[ItemId, str | None], truth: Truth) -> list[bool]:
    return [labels.get(item_id) == name for item_id, name in truth.items()]
