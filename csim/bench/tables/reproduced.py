"""The paper's own method, reported and reproduced, on whole streams of its four data sets.

    csim bench reproduced            # 24 runs: about an hour on two cores
    csim bench reproduced --quick    # a few minutes

`paper` runs without a limit, and limited to the share of labels that the paper reports. The second
answers whether the method is as accurate with as many labels. Seeds 0-2. Expect more accuracy than
reported on every data set within the limit.
"""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from csim.bench.case import Case
from csim.bench.layout.panels import PERCENT, draw_reported, from_zero, legend_below, make_grid
from csim.bench.layout.sheet import Sheet, drawing
from csim.bench.layout.table import Row, Table
from csim.bench.plans.lookup import results_of
from csim.bench.plans.plan import DATA, Plan, paper_budget
from csim.bench.plans.reported import printed
from csim.bench.results import Result

NOTES = (
    "limit %: the most labels that the method may ask for, at every moment of the stream; –: none",
    "accuracy: images with the right final label / images of the stream; unasked: the same over "
    "images that no person labelled; labels %: labels that the person gave / images of the stream",
    "M_new: novel images that got an existing class / novel images; F_new: existing images that "
    "got a novel class / existing images",
    "reported: the paper's figures, means and standard deviations of ten streams; its EMNIST is "
    "the Balanced split: the same classes as emnist-47, other images",
    "reported unasked %: derived, if every labelled image counts as right: (accuracy - labels) / "
    "(100 - labels)",
)
_MARKS = {"no limit": "o", "limited to the paper's labels": "s"}


def cases(plan: Plan) -> list[Case]:
    """Return the runs that the table needs."""
    return [case for data in plan.data or DATA for case in _of_data(plan, data)]


def make(results: Sequence[Result], plan: Plan) -> Sheet:
    """Return the table and a picture of it."""
    table = Table(
        name="reproduced-quick" if plan.is_quick else "reproduced",
        title="The paper's own method, reported and reproduced",
        notes=[plan.note, *NOTES],
        keys=["data set", "limit %"],
        rows=[_row(result, plan) for result in results_of(results, cases(plan))],
        command=" ".join(
            [
                "csim bench reproduced",
                *(["--quick"] * plan.is_quick),
                *(f"--seed {s}" for s in plan.seeds),
            ]
        ),
    )
    return Sheet(table, _draw(results, plan))


def _of_data(plan: Plan, data: str) -> list[Case]:
    budgets = [None, *([paper_budget(data)] if paper_budget(data) else [])]
    return [
        plan.case("paper", data, seed, budget=budget) for budget in budgets for seed in plan.seeds
    ]


def _row(result: Result, plan: Plan) -> Row:
    figures = result.figures
    budget = result.content["case"]["budget"]
    told = plan.reported(result.data, "paper")
    unasked = (told.accuracy - told.labels) / (100 - told.labels) * 100 if told else None
    return {
        "data set": result.data,
        "limit %": "–" if budget is None else f"{100 * budget:g}",
        "seed": result.seed,
        "accuracy %": figures["accuracy"],
        "reported accuracy %": printed(told.accuracy, told.accuracy_spread) if told else "",
        "labels %": figures["labels_percent"],
        "reported labels %": printed(told.labels, told.labels_spread) if told else "",
        "unasked %": figures["accuracy_unasked"],
        "reported unasked %": "" if unasked is None else f"{unasked:.1f}",
        "M_new %": figures["m_new"],
        "reported M_new %": printed(told.m_new, told.m_new_spread) if told else "",
        "F_new %": figures["f_new"],
        "reported F_new %": printed(told.f_new, told.f_new_spread) if told else "",
        "at arrival %": figures["accuracy_at_arrival"],
        "classes learned": float(figures["classes_learned"]),
        "training s": figures["seconds_training"],
    }


def _draw(results: Sequence[Result], plan: Plan) -> Figure:
    """Draw accuracy against labels, a panel per data set, a point per run, the paper's a star."""
    data_sets = plan.data or DATA
    with drawing():
        figure, ((*panels,),) = make_grid(1, len(data_sets), size=(2.3, 2.6), sharey=True)
        for axes, data in zip(panels, data_sets, strict=True):
            runs = results_of(results, _of_data(plan, data))
            for (label, mark), is_limited in zip(_MARKS.items(), (False, True), strict=True):
                points = [
                    (run.figures["labels_percent"], run.figures["accuracy"])
                    for run in runs
                    if (run.content["case"]["budget"] is not None) == is_limited
                ]
                axes.plot(
                    [labels for labels, _ in points],
                    [accuracy for _, accuracy in points],
                    mark,
                    label=label,
                    zorder=3,
                )
            if told := plan.reported(data, "paper"):
                draw_reported(axes, told.labels, told.accuracy, data)
            axes.set(
                title=data,
                xlabel="labels, % of images",
                xlim=from_zero(axes.dataLim.x1),
                ylim=PERCENT,
            )
        panels[0].set_ylabel("accuracy, %")
        legend_below(figure)
        return figure
