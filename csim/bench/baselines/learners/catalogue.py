"""The metric learners by name, with the settings that the tables use."""

from __future__ import annotations

from csim.bench.baselines.learners.base import MetricLearner
from csim.bench.baselines.learners.gb_lmnn import GBLMNN
from csim.bench.baselines.learners.hdml import HDML
from csim.bench.baselines.learners.lmnn import LMNN
from csim.bench.baselines.learners.sklr import SKLR

LEARNERS = ("lmnn", "hdml", "gb-lmnn", "sklr")


def learner_of(name: str, *, seed: int, is_quick: bool = False) -> MetricLearner:
    """Create a learner, not yet fitted.

    Parameters
    ----------
    name
        One of `LEARNERS`.
    seed
        Seed of all random draws.
    is_quick
        Whether to use fewer rounds, trees, epochs and sweeps, for a quick preview.
    """
    match name:
        case "lmnn":
            return LMNN(rounds=3 if is_quick else 20, random_state=seed)
        case "hdml":
            return HDML(epochs=15 if is_quick else 100, random_state=seed)
        case "gb-lmnn":
            return GBLMNN(
                rounds=3 if is_quick else 20, trees=20 if is_quick else 200, random_state=seed
            )
        case "sklr":
            return SKLR(sweeps=5 if is_quick else 100, random_state=seed)
    raise ValueError(f"a learner must be one of {', '.join(LEARNERS)}; got {name!r}")
