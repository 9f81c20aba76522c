"""The paper's table of convolution layers: 0, 1 and 2 of them on Fashion-MNIST.

    csim bench convolution           # every 5th image, seeds 0-2: about ten minutes on two cores
    csim bench convolution --quick   # a few minutes

`paper` has one layer and `default` two, so those runs are the stream table's. The paper reports 4
points of accuracy for the first layer and nothing for the second. Expect training to take several
times as long with one layer as with none. A second layer costs less, because it works on a quarter
of the pixels.
"""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from csim.bench.case import Case
from csim.bench.layout.panels import draw_reported, make_grid
from csim.bench.layout.sheet import Sheet, drawing
from csim.bench.layout.table import Row, Table
from csim.bench.plans.lookup import results_of
from csim.bench.plans.plan import Plan
from csim.bench.plans.reported import CONVOLUTION, printed
from csim.bench.plans.sweep import NOTES, PANELS, Sweep, figures_of, finish
from csim.bench.results import Result

DATA = ("fashion-mnist",)
METHODS = ("paper", "default")  # each has a network of its own
LAYERS = Sweep("conv_layers", "conv layers", tuple(CONVOLUTION), "convolution layers")
_REPORTED = ("accuracy %", "M_new %", "F_new %", "one training min")


def cases(plan: Plan) -> list[Case]:
    """Return the runs that the table needs."""
    return LAYERS.all_cases(plan, plan.methods or METHODS, plan.data or DATA)


def make(results: Sequence[Result], plan: Plan) -> Sheet:
    """Return the table and a picture of it."""
    table = Table(
        name=f"convolution{plan.suffix}",
        title="The effect of convolution layers",
        notes=[
            plan.note,
            *NOTES,
            "reported: the paper's figures, whole streams of Fashion-MNIST, r = 0.3; its minutes "
            "are those of one training of ten epochs on a GPU",
        ],
        keys=["data set", "method", "conv layers"],
        rows=[_row(result, plan) for result in results_of(results, cases(plan))],
        command=f"csim bench convolution {plan.options}",
    )
    return Sheet(table, _draw(results, plan))


def _row(result: Result, plan: Plan) -> Row:
    layers: int = result.settings["conv_layers"]
    reported = [
        printed(*figure) for figure in _reported(plan, result.data, result.method, layers)
    ] or [""] * 4
    return {
        "data set": result.data,
        "method": result.method,
        "conv layers": layers,
        **figures_of(result),
        **{f"reported {column}": text for column, text in zip(_REPORTED, reported, strict=True)},
    }


def _reported(plan: Plan, data: str, method: str, layers: float) -> tuple[tuple[float, float], ...]:
    is_printed = data in DATA and plan.reported(data, method) and method == "paper"
    return CONVOLUTION[int(layers)] if is_printed else ()


def _draw(results: Sequence[Result], plan: Plan) -> Figure:
    """Draw a row of panels per data set: accuracy, M_new, F_new and seconds, over the layers."""
    data_sets = plan.data or DATA
    methods = plan.methods or METHODS
    with drawing():
        figure, rows = make_grid(len(data_sets), len(PANELS), size=(2.3, 2.5))
        for panels, data in zip(rows, data_sets, strict=True):
            for method in methods:
                LAYERS.draw(panels, results, plan, method, data)
            for layers in LAYERS.values:
                shares = _reported(plan, data, "paper", layers)[:3]  # minutes are of a GPU
                for axes, (value, _) in zip(panels, shares, strict=False):
                    draw_reported(axes, layers, value, data)
            panels[0].set_title(data, loc="left")
        finish(figure)
        return figure
