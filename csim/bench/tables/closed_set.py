"""All classes known: the accuracy of the paper's network before any stream.

    csim bench closed-set            # about 2 minutes on two cores, seeds 0-2

1,000 training images of every class, the official 10,000 test images. Expect about 87 % on
Fashion-MNIST and 97 % on MNIST; the bars are 86 and 96.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from csim.bench.datasets import DataSet
from csim.bench.layout.rows import Done, measure_all
from csim.bench.layout.table import Row, Table
from csim.bench.vectors.networks import PER_CLASS, closed_set
from csim.settings import Settings

Split = tuple[DataSet, DataSet]  # train, test


def make(
    splits: Mapping[str, Split],
    *,
    settings: Settings,
    seeds: Sequence[int],
    jobs: int = 1,
    per_class: int = PER_CLASS,
    on_done: Done | None = None,
) -> Table:
    """Return the table, a row per data set.

    Higher `jobs` is faster, up to the number of cores; higher `per_class` is slower and more
    accurate.
    """
    cases = [(name, seed) for name in splits for seed in seeds]
    measure = partial(_measure, splits=splits, settings=settings, per_class=per_class)
    return Table(
        name="closed-set",
        title="All classes known",
        notes=[f"{per_class} training images of every class; accuracy on the official test images"],
        settings=settings,
        keys=["data set"],
        rows=measure_all(measure, cases, jobs=jobs, on_done=on_done),
    )


def _measure(
    case: tuple[str, int], *, splits: Mapping[str, Split], settings: Settings, per_class: int
) -> Row:
    name, seed = case
    changed = replace(settings, seed=seed)
    return {
        "data set": name,
        "seed": seed,
        "accuracy %": closed_set(*splits[name], changed, per_class=per_class),
    }
