"""Accuracy of the labels: over the entire stream, along it, or over a part of it.

Pass a smaller truth for a part: `accuracy(labels, unasked(events, truth))`.
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
    """Return the share of images whose label is right, in percent. No label counts as wrong.

    >>> accuracy({"a": "crane", "b": None}, {"a": "crane", "b": "heron"})
    50.0
    """
    return percent(_hits(labels, truth))


def accuracy_curve(labels: Mapping[ItemId, str | None], truth: Truth, window: int) -> Floats:
    """Return the accuracy over the last `window` images at each position, in percent.

    Higher `window` gives a smoother curve.

    >>> truth = {"a": "crane", "b": "heron", "c": "heron"}
    >>> accuracy_curve({"a": "crane", "b": None, "c": "heron"}, truth, window=2)
    array([100.,  50.,  50.])
    """
    sums = np.concatenate([[0.0], np.cumsum(_hits(labels, truth))])
    ends = np.arange(1, len(sums))
    starts = np.maximum(0, ends - window)
    curve: Floats = 100 * (sums[ends] - sums[starts]) / (ends - starts)
    return curve


def unasked(events: Iterable[Event], truth: Truth) -> Truth:
    """Return the truth of the images that no person labelled.

    Their accuracy does not credit the method with a person's answers.
    """
    told = told_items(events)
    return {item_id: name for item_id, name in truth.items() if item_id not in told}


def last_quarter(truth: Truth) -> Truth:
    """Return the truth of the last quarter of the stream, rounded up.

    >>> last_quarter({"a": "crane", "b": "crane", "c": "heron", "d": "crane", "e": "heron"})
    {'d': 'crane', 'e': 'heron'}
    """
    return dict(islice(truth.items(), 3 * len(truth) // 4, None))


def _hits(labels: Mapping[ItemId, str | None], truth: Truth) -> list[bool]:
    return [labels.get(item_id) == name for item_id, name in truth.items()]
