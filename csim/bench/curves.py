"""Accuracy curves: how accurate a run was at up to 200 positions of its stream.

In memory a curve is a dictionary of percentages. In a file it is the number of wrong labels in the
first window, and then how that number changes from one position to the next. That is exact, and a
third as long.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from csim.bench.run import Run
from csim.metrics.figures import accuracy_curve
from csim.metrics.labels import at_arrival, class_names, final, named
from csim.records import Ints

Curve = dict[str, Any]  # window, positions, and the accuracies final and at_arrival, in percent

_POINTS = 200
_WINDOWS = 40  # a window is this fraction of the stream
_LABELS = ("final", "at_arrival")


def curve_of(run: Run) -> Curve:
    """Return the accuracy of a run over the last `window` images, by final and by first labels."""
    images = len(run.truth)
    names = class_names(run.events)
    window = max(1, images // _WINDOWS)
    ends = _positions(images, window)
    labels = {"final": final(run.events), "at_arrival": at_arrival(run.events)}
    accuracies = {
        name: accuracy_curve(named(given, names), run.truth, window)[ends - 1].tolist()
        for name, given in labels.items()
    }
    return {"window": window, "positions": ends.tolist(), **accuracies}


def pack(curve: Curve) -> dict[str, Any]:
    """Return a curve as a file holds it: wrong labels in the first window, then their changes.

    >>> pack({"window": 4, "positions": [4, 5], "final": [75.0, 100.0], "at_arrival": [50.0, 50.0]})
    {'images': 5, 'window': 4, 'errors': {'final': [1, -1], 'at_arrival': [2, 0]}}
    """
    window = curve["window"]
    errors = {
        name: np.rint(window * (1 - np.array(curve[name]) / 100)).astype(int) for name in _LABELS
    }
    changes = {name: np.diff(counts, prepend=0).tolist() for name, counts in errors.items()}
    return {"images": curve["positions"][-1], "window": window, "errors": changes}


def unpack(packed: dict[str, Any]) -> Curve:
    """Return the curve that was packed; raise ValueError if its parts do not fit.

    >>> unpack({"images": 5, "window": 4, "errors": {"final": [1, -1], "at_arrival": [2, 0]}})
    {'window': 4, 'positions': [4, 5], 'final': [75.0, 100.0], 'at_arrival': [50.0, 50.0]}
    """
    window = packed["window"]
    positions = _positions(packed["images"], window).tolist()
    if any(len(packed["errors"][name]) != len(positions) for name in _LABELS):
        raise ValueError(
            f"a curve over {packed['images']} images must have {len(positions)} points"
        )
    errors = {name: np.cumsum(packed["errors"][name]).tolist() for name in _LABELS}
    accuracies = {
        name: [round(100 * (window - wrong) / window, 4) for wrong in counts]
        for name, counts in errors.items()
    }
    return {"window": window, "positions": positions, **accuracies}


def _positions(images: int, window: int) -> Ints:
    ends: Ints = np.unique(np.linspace(min(window, images), images, _POINTS).astype(int))
    return ends
