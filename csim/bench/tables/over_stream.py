"""The paper's figure of accuracy over the stream, with the moments at which new classes appear.

    csim bench over-stream           # the stream table's runs of its first seed: about an hour
    csim bench over-stream --quick   # a few minutes

One seed, 0 by default: classes appear at other moments in other streams, and a mean would hide
them. Expect each method to fall when a class appears and to rise again once it has learned the
class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from csim.bench.case import Case
from csim.bench.layout.panels import PERCENT, legend_below, make_grid
from csim.bench.layout.sheet import INK, STYLES, Sheet, drawing
from csim.bench.layout.table import Row, Table
from csim.bench.methods import PUBLISHED
from csim.bench.plans.lookup import results_of
from csim.bench.plans.plan import DATA, Plan, ordinal
from csim.bench.results import Result

NOTES = (
    "accuracy: images with the right final label, in a moving window of a fortieth of the stream",
    "quarter: the mean of the windows whose middle is in that quarter of the stream",
    "new classes: how many appear in each quarter",
)


def cases(plan: Plan) -> list[Case]:
    """Return the runs that the figure needs: those of the stream table with the first seed."""
    return replace(plan, seeds=plan.seeds[:1]).cases()


def make(results: Sequence[Result], plan: Plan) -> Sheet:
    """Return the table and the figure."""
    one = replace(plan, seeds=plan.seeds[:1])
    needed = results_of(results, cases(plan))
    table = Table(
        name=f"over-stream{plan.suffix}",
        title="Accuracy over the stream",
        notes=[one.note, *NOTES],
        keys=["data set", "method"],
        rows=[_row(result) for result in needed],
        command=f"csim bench over-stream {one.options}",
    )
    return Sheet(table, _draw(needed, plan))


def quarters(curve: dict[str, Any], images: int) -> list[float]:
    """Return the mean accuracy in each quarter of a stream of `images` images, from a run's curve.

    >>> curve = {"window": 2, "positions": [2, 4, 6, 8], "final": [50.0, 60.0, 70.0, 80.0]}
    >>> quarters(curve, images=8)
    [50.0, 60.0, 70.0, 80.0]
    """
    middles = np.array(curve["positions"]) - curve["window"] / 2
    quarter_of = np.minimum(4 * middles / images, 3).astype(int)
    accuracies = np.array(curve["final"])
    return [float(accuracies[quarter_of == quarter].mean()) for quarter in range(4)]


def _row(result: Result) -> Row:
    images: int = result.content["stream"]["images"]
    accuracies = quarters(result.content["curve"], images)
    starts = [min(3, 4 * (new["appeared"] - 1) // images) for new in result.content["classes"]]
    return {
        "data set": result.data,
        "method": result.method,
        "seed": result.seed,
        **{
            f"{ordinal(number)} quarter %": value
            for number, value in enumerate(accuracies, start=1)
        },
        "whole %": result.figures["accuracy"],
        "new classes": ", ".join(str(starts.count(quarter)) for quarter in range(4)),
    }


def _draw(results: Sequence[Result], plan: Plan) -> Figure:
    """Draw a panel per data set, a curve per method, and a line where a new class appears."""
    data_sets = plan.data or DATA
    methods = plan.methods or PUBLISHED
    columns = min(2, len(data_sets))
    with drawing():
        figure, grid = make_grid(
            ceil(len(data_sets) / columns), columns, size=(4.6, 2.3), sharey=True
        )
        panels = [axes for row in grid for axes in row]
        for axes in panels[len(data_sets) :]:
            axes.remove()
        for axes, data in zip(panels, data_sets, strict=False):
            of_method = {result.method: result for result in results if result.data == data}
            _draw_starts(axes, next(iter(of_method.values())))
            for index, method in enumerate(methods):
                _draw_curve(axes, of_method[method], index / len(methods))
            axes.set(title=data, xlabel="images of the stream", ylim=PERCENT)
        for row in grid:
            row[0].set_ylabel("accuracy, %")
        legend_below(figure)
        return figure


def _draw_curve(axes: Axes, result: Result, shift: float) -> None:
    """Draw a curve with markers, shifted so that those of two methods do not overlap."""
    curve = result.content["curve"]
    every = max(1, len(curve["positions"]) // 10)
    style = {
        "linewidth": 1.3,
        "markersize": 4,
        "markevery": (int(shift * every), every),
        "label": result.method,
    }
    axes.plot(curve["positions"], curve["final"], **{**STYLES[result.method], **style})


def _draw_starts(axes: Axes, result: Result) -> None:
    images = result.content["stream"]["images"]
    for index, new in enumerate(result.content["classes"]):
        label = "a new class appears" if not index else None
        axes.axvline(new["appeared"], color=INK, linewidth=0.6, alpha=0.45, label=label, zorder=1)
    axes.set_xlim(0, images)
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    axes.grid(visible=False, axis="x")  # vertical lines are new classes alone
