"""The paper's figure of accuracy over the stream, with the moments at which new classes appear.

    csim bench over-stream           # the runs of the stream table with its first seed: an hour or so on two cores
    csim bench over-stream --quick   # a look in a few minutes

One seed, 0 by default: a mean over streams would hide the moments, which differ. Expect each method to fall when a
class appears and to rise again once it is learned, the sooner the fewer images it needs for that.
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
from csim.bench.methods import METHODS
from csim.bench.plans.lookup import results_of
from csim.bench.plans.plan import DATA, Plan, ordinal
from csim.bench.results import Result

NOTES = (
    "accuracy: final label right, over a window of a fortieth of the stream that moves along it",
    "quarter: the mean of the windows whose middle lies in that quarter of the stream",
    "new classes: how many appear in each quarter",
)


def cases(plan: Plan) -> list[Case]:
    """Return the runs that the figure needs: those of the stream table with the first seed."""
    return replace(plan, seeds=plan.seeds[:1]).cases()


def make(results: Sequence[Result], plan: Plan) -> Sheet:
    """Return the table and the figure."""
    one = replace(plan, seeds=plan.seeds[:1])
    own = results_of(results, cases(plan))
    table = Table(
        name=f"over-stream{plan.suffix}",
        title="Accuracy over the stream",
        notes=[one.note, *NOTES],
        keys=["data set", "method"],
        rows=[_row(result) for result in own],
        command=f"csim bench over-stream {one.options}",
    )
    return Sheet(table, _draw(own, plan))


def quarters(curve: dict[str, Any], images: int) -> list[float]:
    """Return the mean accuracy in each quarter of a stream, from the curve of a result file.

    >>> quarters({"window": 2, "positions": [2, 4, 6, 8], "final": [50.0, 60.0, 70.0, 80.0]}, images=8)
    [50.0, 60.0, 70.0, 80.0]
    """
    middles = np.array(curve["positions"]) - curve["window"] / 2
    place = np.minimum(4 * middles / images, 3).astype(int)
    return [float(np.array(curve["final"])[place == quarter].mean()) for quarter in range(4)]


def _row(result: Result) -> Row:
    images: int = result.content["stream"]["images"]
    accuracies = quarters(result.content["curve"], images)
    starts = [min(3, 4 * (new["appeared"] - 1) // images) for new in result.content["classes"]]
    return {
        "data set": result.data,
        "method": result.method,
        "seed": result.seed,
        **{f"{ordinal(place)} quarter %": value for place, value in enumerate(accuracies, start=1)},
        "whole %": result.figures["accuracy"],
        "new classes": ", ".join(str(starts.count(quarter)) for quarter in range(4)),
    }


def _draw(results: Sequence[Result], plan: Plan) -> Figure:
    """Draw a panel per data set with a line per method, and an upright where a new class appears."""
    data_sets, methods = plan.data or DATA, plan.methods or METHODS
    columns = min(2, len(data_sets))
    with drawing():
        figure, grid = make_grid(
            ceil(len(data_sets) / columns), columns, size=(4.6, 2.3), sharey=True
        )
        panels = [axes for row in grid for axes in row]
        for axes in panels[len(data_sets) :]:
            axes.remove()
        for axes, data in zip(panels, data_sets, strict=False):
            own = {result.method: result for result in results if result.data == data}
            _draw_starts(axes, next(iter(own.values())))
            for place, method in enumerate(methods):
                _draw_curve(axes, own[method], place / len(methods))
            axes.set(title=data, xlabel="images of the stream", ylim=PERCENT)
        for row in grid:
            row[0].set_ylabel("accuracy, %")
        legend_below(figure)
        return figure


def _draw_curve(axes: Axes, result: Result, shift: float) -> None:
    """Draw a curve with a marker in every tenth of it, shifted so that those of two methods do not meet."""
    curve = result.content["curve"]
    every = max(1, len(curve["positions"]) // 10)
    look = {
        "linewidth": 1.3,
        "markersize": 4,
        "markevery": (int(shift * every), every),
        "label": result.method,
    }
    axes.plot(curve["positions"], curve["final"], **{**STYLES[result.method], **look})


def _draw_starts(axes: Axes, result: Result) -> None:
    images = result.content["stream"]["images"]
    for place, new in enumerate(result.content["classes"]):
        label = "a new class appears" if not place else None
        axes.axvline(new["appeared"], color=INK, linewidth=0.6, alpha=0.45, label=label, zorder=1)
    axes.set_xlim(0, images)
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    axes.grid(visible=False, axis="x")  # only new classes stand upright
