"""The paper's table of metric learners: classification by neighbours, with all classes known.

    csim bench metric                      # S2 on four data sets, seed 0: 15 minutes on two cores
    csim bench metric --split S1 --dataset mnist
    csim bench metric --quick              # every 10th image, learners stop early: a few minutes

Neighbours in pixels and in principal components are the lower bound. csim's networks are scored by
their own layer, best class without rejection, as in the paper, and by neighbours in their vectors,
as all others are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from csim.bench.baselines.learners.catalogue import LEARNERS
from csim.bench.datasets.catalogue import NAMES
from csim.bench.json_lines import Content
from csim.bench.layout.panels import draw_reported, legend_below, make_grid
from csim.bench.layout.sheet import Sheet, drawing
from csim.bench.layout.table import Row, Table
from csim.bench.plans.plan import DATA, ordinal
from csim.bench.plans.reported import metric_of, printed
from csim.bench.vectors.trials import METHODS, NETWORKS, SPLITS, Trial
from csim.errors import InputError
from csim.report.charts import BLUE, VERMILLION

_QUICK_THIN = 10
_OWN = "its own layer"
_KNN = "neighbours"
_STYLES: dict[str, dict[str, Any]] = {
    _KNN: {"color": BLUE, "marker": "o", "markerfacecolor": "white", "zorder": 3},
    _OWN: {"color": VERMILLION, "marker": "s", "zorder": 3},
}
NOTES = (
    "S1: images 4:2:4 for training, validation and test; S2: 1:1:8; shuffled by the seed",
    "by neighbours: k of 1, 3, 5, 7, 15 and 30, chosen on the validation images; by its own "
    "layer: the best class of the one-vs-rest layer, without rejection",
    "pixels, pca: neighbours without learning; pca: 164 components at most",
    "ratio: accuracy / the best in this table, same data set, split and seed",
    "learning s: wall-clock seconds, two trials at a time on two cores; settings, commit and "
    "machine are in runs/metric.jsonl",
    "reported: the paper's figures, ten shuffles; its EMNIST is the Balanced split: the same "
    "classes as emnist-47, other images; its CSIM is scored by its own layer",
)


@dataclass(frozen=True)
class Plan:
    """Describe what the table covers.

    Parameters
    ----------
    data, methods, splits
        By name.
    seeds
        More seeds make the means more certain.
    is_quick
        Take minutes: every 10th image, learners stop early.
    """

    data: tuple[str, ...] = DATA
    methods: tuple[str, ...] = METHODS
    splits: tuple[str, ...] = ("S2",)
    seeds: tuple[int, ...] = (0,)
    is_quick: bool = False

    def __post_init__(self) -> None:
        for word, given, known in (
            ("data set", self.data, NAMES),
            ("method", self.methods, METHODS),
            ("split", self.splits, tuple(SPLITS)),
        ):
            if unknown := [name for name in given if name not in known]:
                raise InputError(
                    f"the {word} must be one of {', '.join(known)}; got {unknown[0]!r}"
                )

    def quick(self) -> Plan:
        """Return a plan of the same data that takes minutes."""
        return replace(self, seeds=self.seeds[:1], is_quick=True)

    @property
    def suffix(self) -> str:
        """Return what distinguishes its files from those of the usual table."""
        words = list(self.data) if len(self.data) == 1 else []
        words += self.splits if self.splits != ("S2",) else ()
        return "".join(f"-{word}" for word in [*words, *["quick"] * self.is_quick])

    @property
    def options(self) -> str:
        """Return the options of the command that makes the same again."""
        words = ["--quick"] * self.is_quick
        words += [f"--split {name}" for name in self.splits if self.splits != ("S2",)]
        words += [f"--dataset {name}" for name in self.data if self.data != DATA]
        words += [f"--method {name}" for name in self.methods if self.methods != METHODS]
        return " ".join([*words, *(f"--seed {seed}" for seed in self.seeds)])

    @property
    def note(self) -> str:
        """Return the table's note about its images."""
        images = (
            f"every {ordinal(_QUICK_THIN)} image, learners stop early (quick)"
            if self.is_quick
            else "all images"
        )
        return f"{images}, seed{'s' * (len(self.seeds) > 1)} {', '.join(map(str, self.seeds))}"


def trials(plan: Plan) -> list[Trial]:
    """Return the trials that the table needs."""
    every = _QUICK_THIN if plan.is_quick else 1
    return [
        Trial(method, data, split, seed, every, plan.is_quick)
        for split in plan.splits
        for data in plan.data
        for method in plan.methods
        for seed in plan.seeds
    ]


def make(contents: Sequence[Content], plan: Plan) -> Sheet:
    """Return the table and a picture of it."""
    rows = [row for content in contents for row in _rows(content)]
    best: dict[tuple[object, ...], float] = {}
    for row in rows:
        key = (row["split"], row["data set"], row["seed"])
        best[key] = max(best.get(key, 0.0), float(row["accuracy %"] or 0))
    for row in rows:
        row["ratio"] = (
            float(row["accuracy %"] or 0) / best[row["split"], row["data set"], row["seed"]]
        )
    table = Table(
        name=f"metric{plan.suffix}",
        title="Learned metrics, all classes known",
        notes=[plan.note, *NOTES],
        keys=["split", "data set", "method", "by"],
        rows=rows,
        command=f"csim bench metric {plan.options}",
    )
    return Sheet(table, _draw(rows, plan))


def _rows(content: Content) -> list[Row]:
    """Return a row for each way in which a trial was scored."""
    method = content["method"]
    figures = content["figures"]
    reported = metric_of(content["data"], content["split"], method)
    rows: list[Row] = []
    for by, accuracy in ((_OWN, figures.get("accuracy_own_layer")), (_KNN, figures["accuracy"])):
        if accuracy is not None:
            is_reported = reported and by == (_OWN if method in NETWORKS else _KNN)
            rows.append(
                {
                    "split": content["split"],
                    "data set": content["data"],
                    "method": method,
                    "by": by,
                    "seed": content["seed"],
                    "accuracy %": accuracy,
                    "ratio": None,
                    "k": float(figures["k"]) if by == _KNN else None,
                    "size": float(figures["size"]),
                    "steps": float(figures["steps"]) if method in LEARNERS else None,
                    "learning s": figures["seconds_learning"],
                    "reported accuracy %": printed(*reported) if reported and is_reported else "",
                }
            )
    return rows


def _draw(rows: Sequence[Row], plan: Plan) -> Figure:
    """Draw accuracy, a panel per data set and split, a row per method; the paper's as a star."""
    with drawing():
        size = (2.6, 0.24 * len(plan.methods) + 0.9)
        figure, grid = make_grid(len(plan.splits), len(plan.data), size=size, sharey=True)
        for panels, split in zip(grid, plan.splits, strict=True):
            for axes, data in zip(panels, plan.data, strict=True):
                shown = [row for row in rows if (row["split"], row["data set"]) == (split, data)]
                for index, method in enumerate(plan.methods):
                    _draw_method(axes, [row for row in shown if row["method"] == method], index)
                    if reported := metric_of(data, split, method):
                        draw_reported(axes, reported[0], index, data)
                axes.set(title=f"{data}, {split}", xlabel="accuracy, %")
            panels[0].set_yticks(range(len(plan.methods)), plan.methods)
            panels[0].set_ylim(len(plan.methods) - 0.5, -0.5)  # the first method on top
        legend_below(figure)
        return figure


def _draw_method(axes: Axes, rows: Sequence[Row], height: float) -> None:
    for by, style in _STYLES.items():
        accuracies = [float(row["accuracy %"] or 0) for row in rows if row["by"] == by]
        heights = [height] * len(accuracies)
        axes.plot(accuracies, heights, linestyle="none", label=f"by {by}", **style)
