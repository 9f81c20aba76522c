"""Streams: in which order images arrive, what is known before, and what happens to images on the way.

A scenario makes a stream of a data set. `paper_stream` is the paper's and the default; the others are what a real
stream may do besides: start new classes together, lose a class and see it again, have rare classes, change slowly.
What a labeller may do (answer late, never, or wrongly) is no matter of the stream: see `csim.bench.answers`.
"""

from __future__ import annotations

import difflib
from typing import Protocol

from csim.bench.datasets import DataSet
from csim.bench.scenario.arrivals import paper_stream, returning, together
from csim.bench.scenario.changes import drift, long_tail
from csim.bench.scenario.split import Stream
from csim.errors import SettingsError

__all__ = [
    "SCENARIOS",
    "Scenario",
    "Stream",
    "drift",
    "long_tail",
    "make",
    "paper_stream",
    "returning",
    "together",
]


class Scenario(Protocol):
    """Anything that makes a stream of a data set, with parameters as `paper_stream` tells them."""

    def __call__(
        self, data: DataSet, *, known_share: float, seed: int, warm_up: int = 1000
    ) -> Stream:
        """Return the stream; the same seed gives the same one."""
        ...


SCENARIOS: dict[str, Scenario] = {
    "paper": paper_stream,
    "together": together,
    "returning": returning,
    "long-tail": long_tail,
    "drift": drift,
}


def make(name: str, data: DataSet, *, known_share: float, seed: int) -> Stream:
    """Return the stream of a scenario by its name, with the scenario's own parameters as they are by default."""
    if name not in SCENARIOS:
        nearest = difflib.get_close_matches(name.lower(), SCENARIOS, n=1, cutoff=0)[0]
        raise SettingsError(
            f"the scenario must be one of {', '.join(SCENARIOS)}, got {name!r}; the nearest is {nearest!r}"
        )
    return SCENARIOS[name](data, known_share=known_share, seed=seed)
