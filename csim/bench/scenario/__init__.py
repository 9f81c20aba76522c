"""Scenarios: each turns a data set into a stream.

A scenario decides which classes are known at the start, the order in which images arrive, and how
images change. `paper_stream` is the paper's scenario and the default; `own_period` and `same_rate`
are other readings of its text. In the others, new classes start together, classes leave and return,
some classes are rare, or images drift. The behaviour of the labeller (late, missing or wrong
answers) is not part of the stream: see `csim.bench.answers`.
"""

from __future__ import annotations

import difflib
from typing import Protocol

from csim.bench.datasets import DataSet
from csim.bench.scenario.arrivals import (
    own_period,
    paper_stream,
    returning,
    same_rate,
    together,
)
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
    "own_period",
    "paper_stream",
    "returning",
    "same_rate",
    "together",
]


class Scenario(Protocol):
    """Turn a data set into a stream, with the parameters of `paper_stream`."""

    def __call__(
        self, data: DataSet, *, known_share: float, seed: int, warm_up: int = 1000
    ) -> Stream:
        """Return the stream; the same seed gives the same stream."""
        ...


SCENARIOS: dict[str, Scenario] = {
    "paper": paper_stream,
    "together": together,
    "own-period": own_period,
    "same-rate": same_rate,
    "returning": returning,
    "long-tail": long_tail,
    "drift": drift,
}


def make(name: str, data: DataSet, *, known_share: float, seed: int) -> Stream:
    """Return the stream of a scenario by name, with the default parameters of the scenario."""
    if name not in SCENARIOS:
        nearest = difflib.get_close_matches(name.lower(), SCENARIOS, n=1, cutoff=0)[0]
        raise SettingsError(
            f"the scenario must be one of {', '.join(SCENARIOS)}, got {name!r}; "
            f"the nearest is {nearest!r}"
        )
    return SCENARIOS[name](data, known_share=known_share, seed=seed)
