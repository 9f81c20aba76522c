"""The paper's sensitivity figure: the hidden units n and the margin γ, on Fashion-MNIST.

    csim bench sensitivity           # every 5th image, seeds 0-2: about 10 minutes on two cores
    csim bench sensitivity --quick   # three values each: a few minutes

The paper shows a figure without numbers: accuracy falls for small n, cost rises for large n, and a
larger γ overfits. Expect the cost to rise with n. γ changes little here, because the triplet loss
has a small weight. Vectors have unit length, so no distance exceeds 2 and log(‖a−p‖+1) −
log(‖a−n‖+1) is never below −log 3 = −1.0986. A γ above log 3 adds a constant to every triplet's
loss and changes no gradient: all such values give the same run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from matplotlib.figure import Figure

from csim.bench.case import Case
from csim.bench.layout.panels import make_grid
from csim.bench.layout.sheet import INK, Sheet, drawing
from csim.bench.layout.table import Row, Table
from csim.bench.methods import settings_of
from csim.bench.plans.lookup import results_of
from csim.bench.plans.plan import Plan
from csim.bench.plans.sweep import NOTES, PANELS, Sweep, figures_of, finish
from csim.bench.results import Result

DATA = ("fashion-mnist",)
METHODS = ("paper",)
SWEEPS = (
    Sweep("hidden_units", "n", (25, 50, 100, 200, 400), "n, hidden units", base=2),
    Sweep("margin", "γ", (0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 3.0), "γ, margin"),
)
_QUICK = ((50, 200, 400), (0.25, 1.0, 3.0))


def cases(plan: Plan) -> list[Case]:
    """Return the runs that the table needs; the default values are in both sweeps and run once."""
    every = [
        case
        for sweep in _sweeps(plan)
        for case in sweep.all_cases(plan, plan.methods or METHODS, plan.data or DATA)
    ]
    return list({case.name: case for case in every}.values())


def make(results: Sequence[Result], plan: Plan) -> Sheet:
    """Return the table and a picture of it."""
    table = Table(
        name=f"sensitivity{plan.suffix}",
        title="Sensitivity to the hidden units n and the margin γ",
        notes=[
            plan.note,
            *NOTES,
            "all other settings are the method's; the paper uses n = 200 and γ = 1, and shows a "
            "figure without numbers",
            "γ above log 3 = 1.0986 cannot change anything: vectors have unit length, so every "
            "triplet then has a positive loss and γ only adds a constant",
        ],
        keys=["data set", "method", "setting", "value"],
        rows=[
            row
            for data in plan.data or DATA
            for method in plan.methods or METHODS
            for sweep in _sweeps(plan)
            for row in _rows(sweep, results, plan, method, data)
        ],
        command=f"csim bench sensitivity {plan.options}",
    )
    return Sheet(table, _draw(results, plan))


def _sweeps(plan: Plan) -> list[Sweep]:
    if not plan.is_quick:
        return list(SWEEPS)
    return [replace(sweep, values=values) for sweep, values in zip(SWEEPS, _QUICK, strict=True)]


def _rows(sweep: Sweep, results: Sequence[Result], plan: Plan, method: str, data: str) -> list[Row]:
    found = results_of(results, sweep.all_cases(plan, [method], [data]))
    return [
        {
            "data set": data,
            "method": method,
            "setting": sweep.symbol,
            "value": f"{result.settings[sweep.setting]:g}",  # as text, so that it is not averaged
            **figures_of(result),
        }
        for result in found
    ]


def _draw(results: Sequence[Result], plan: Plan) -> Figure:
    """Draw a row of panels per data set and setting: the figures over its values."""
    wanted = [(data, sweep) for data in plan.data or DATA for sweep in _sweeps(plan)]
    with drawing():
        figure, rows = make_grid(len(wanted), len(PANELS), size=(2.3, 2.3))
        for panels, (data, sweep) in zip(rows, wanted, strict=True):
            for method in plan.methods or METHODS:
                sweep.draw(panels, results, plan, method, data)
            choice = getattr(settings_of("paper", seed=0, changes={}), sweep.setting)
            for axes in panels:
                axes.axvline(
                    choice,
                    color=INK,
                    linestyle=(0, (1, 2)),
                    linewidth=1,
                    label="the paper's choice",
                )
            panels[0].set_title(data, loc="left")
        finish(figure)
        return figure
