"""What single settings of the default preset are worth, on the digits.

    csim bench presets               # about 3 minutes on two cores, seeds 100-104

The default with the demo's small buffers, then the same with one setting at a time as the paper has it, then with
what else was tried. Expect about 95 % accuracy at 15 % labels for the default, and about twice the labels with a
fixed radius.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from csim.bench.datasets import DataSet
from csim.bench.methods import open_with
from csim.bench.run import run
from csim.bench.scenario import paper_stream
from csim.bench.tables.cases import Done, measure_all
from csim.bench.tables.table import Row, Table
from csim.metrics.figures import summarise
from csim.settings import Settings

_TRIED: tuple[dict[str, Any], ...] = (
    {"threshold": "quantile"},
    {"threshold": "quantile", "keep": 0.8},
    {"warm_start": True},
)


def make(
    data: DataSet, *, settings: Settings, seeds: Sequence[int], jobs: int = 1, on_done: Done | None = None
) -> Table:
    """Return the table, a row per changed setting."""
    changes: list[dict[str, Any]] = [{}, *({name: value} for name, value in differences().items()), *_TRIED]
    cases = [(change, seed) for change in changes for seed in seeds]
    return Table(
        name="presets",
        title="The default preset, with one setting at a time changed",
        notes=[
            f"{data.name}: 3 of 10 classes known, the rest appear over the stream; the truth answers",
            "labels: told / images of the stream; accuracy: final label, at arrival: the label given at once",
            "patience does not matter here: so small a buffer fills before any candidate is old",
        ],
        settings=settings,
        keys=["changed"],
        rows=measure_all(partial(_measure, data=data, settings=settings), cases, jobs=jobs, on_done=on_done),
    )


def differences() -> dict[str, Any]:
    """Return the paper's value of every setting in which the default differs, the lengths of a whole stream aside."""
    default, paper = Settings().to_dict(), Settings.paper().to_dict()
    lengths = ("patience", "update_size")
    return {name: paper[name] for name in default if paper[name] != default[name] and name not in lengths}


def _measure(case: tuple[dict[str, Any], int], *, data: DataSet, settings: Settings) -> Row:
    change, seed = case
    stream = paper_stream(data, known_share=0.3, seed=seed)
    outcome = run(stream, open_with(replace(settings, seed=seed, **change)))
    figures = summarise(outcome.events, outcome.truth)
    return {
        "changed": ", ".join(f"{name}={value}" for name, value in change.items()) or "nothing",
        "seed": seed,
        "accuracy %": figures.accuracy,
        "at arrival %": figures.accuracy_at_arrival,
        "labels %": figures.labels_percent,
        "M_new %": figures.m_new,
        "F_new %": figures.f_new,
        "purity %": figures.purity,
        "classes": float(figures.classes_learned),
        "training s": outcome.seconds_training,
    }
