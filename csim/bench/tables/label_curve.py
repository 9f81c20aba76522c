"""The label curve: accuracy and M_new against the share of images that a person labels.

    csim bench label-curve           # every 5th image, seeds 0-2: some hours on two cores
    csim bench label-curve --quick   # fewer budgets, Fashion-MNIST alone: a few minutes

Each method gets 1, 2, 5 and 10 % of labels, and the share that the paper reports for its method,
which differs by data set. `paper` has no budget: it is a single point, from the stream table's
runs. The star is the paper's figure. The budget of `echo-d` is the share of known images that it
asks about; it asks more when new classes appear. Expect every method to gain from labels, less and
less.
"""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator, StrMethodFormatter

from csim.bench.case import Case
from csim.bench.layout.panels import PERCENT, draw_means, draw_reported, legend_below, make_grid
from csim.bench.layout.sheet import STYLES, Sheet, drawing
from csim.bench.layout.table import Row, Table
from csim.bench.methods import OURS, budget_in, settings_of
from csim.bench.plans.lookup import results_of
from csim.bench.plans.plan import DATA, Plan, paper_budget
from csim.bench.plans.reported import printed
from csim.bench.results import Result

_QUICK_DATA = ("fashion-mnist",)
BUDGETS = (0.01, 0.02, 0.05, 0.10)
_QUICK_BUDGETS = (0.02, 0.10)
_SWEPT = {"echo-d": (0.1, 0.2, 0.3, 0.4, 0.5)}  # shares of known images, not of all
_METHODS = (*OURS, *_SWEPT)
_SIMPLE = ("least-sure", "random")
_TICKS = (0.5, 1, 2, 5, 10, 20, 40, 80)
_PANELS = {"accuracy": "accuracy, %", "m_new": "M_new, % of novel images"}
NOTES = (
    "budget: the share of images that the method may ask about; labels %: the labels that the "
    "person gave, which may be fewer",
    "paper has no budget; that of echo-d is the share of known images that it may ask about",
    "accuracy: images with the right final label / images of the stream; unasked: the same over "
    "images that no person labelled",
    "M_new: novel images that finally got an existing class / novel images",
    "ahead of least-sure, of random: points of accuracy, same seed; the deviation is that of the "
    "differences",
    "reported: the paper's figures, whole streams, r = 0.3",
)


def cases(plan: Plan) -> list[Case]:
    """Return the runs that the curve needs."""
    return [
        case
        for data in _data(plan)
        for method in plan.methods or _METHODS
        for group in _groups(plan, method, data)
        for case in group
    ]


def make(results: Sequence[Result], plan: Plan) -> Sheet:
    """Return the table and the curves."""
    needed = results_of(results, cases(plan))
    table = Table(
        name=f"label-curve{plan.suffix}",
        title="Accuracy against the share of labels",
        notes=[plan.note, *NOTES],
        keys=["data set", "method", "budget %"],
        rows=[_row(result, plan) | _leads(result, needed) for result in needed],
        command=f"csim bench label-curve {plan.options}",
    )
    return Sheet(table, _draw(results, plan))


def _data(plan: Plan) -> tuple[str, ...]:
    return plan.data or (_QUICK_DATA if plan.is_quick else DATA)


def _groups(plan: Plan, method: str, data: str) -> list[list[Case]]:
    """Return the runs of a method, a group of seeds per budget."""
    if budget_in(settings_of(method, seed=0, changes={}).to_dict()) is None:
        return [[plan.case(method, data, seed) for seed in plan.seeds]]
    usual = {*(_QUICK_BUDGETS if plan.is_quick else BUDGETS), *filter(None, [paper_budget(data)])}
    swept = _SWEPT.get(method, ())[:: 4 if plan.is_quick else 1]
    budgets = swept or usual
    return [
        [plan.case(method, data, seed, budget=budget) for seed in plan.seeds]
        for budget in sorted(budgets)
    ]


def _row(result: Result, plan: Plan) -> Row:
    figures = result.figures
    budget = budget_in(result.settings)
    reported = plan.reported(result.data, result.method)
    return {
        "data set": result.data,
        "method": result.method,
        "budget %": "none"
        if budget is None
        else f"{100 * budget:g}",  # as text, so that it is not averaged
        "seed": result.seed,
        "labels %": figures["labels_percent"],
        "accuracy %": figures["accuracy"],
        "unasked %": figures["accuracy_unasked"],
        "M_new %": figures["m_new"],
        "first 500 missed %": figures["first_500_missed"],
        "classes learned": float(figures["classes_learned"]),
        "reported labels %": printed(reported.labels, reported.labels_spread) if reported else "",
        "reported accuracy %": printed(reported.accuracy, reported.accuracy_spread)
        if reported
        else "",
        "reported M_new %": printed(reported.m_new, reported.m_new_spread) if reported else "",
    }


def _leads(result: Result, others: Sequence[Result]) -> Row:
    """Return the lead in points of accuracy over simple methods, same data, budget and seed."""
    key = _terms(result)
    accuracies = {
        other.method: other.figures["accuracy"] for other in others if _terms(other) == key
    }
    return {
        f"ahead of {name}": result.figures["accuracy"] - accuracies[name]
        if name in accuracies and result.method == "default"
        else None
        for name in _SIMPLE
    }


def _terms(result: Result) -> tuple[object, ...]:
    return result.data, budget_in(result.settings), result.seed


def _draw(results: Sequence[Result], plan: Plan) -> Figure:
    """Draw accuracy and, below it, M_new over the labels, a column per data set."""
    data_sets = _data(plan)
    with drawing():
        figure, rows = make_grid(2, len(data_sets), size=(3.6, 2.4), sharey="row", sharex=True)
        for panels, (name, label) in zip(rows, _PANELS.items(), strict=True):
            for axes, data in zip(panels, data_sets, strict=True):
                for method in plan.methods or _METHODS:
                    _draw_curve(axes, results, _groups(plan, method, data), name)
                if reported := plan.reported(data, "paper"):
                    draw_reported(axes, reported.labels, getattr(reported, name), data)
                axes.set_ylim(PERCENT)
                _set_percent_axis(axes)
            panels[0].set_ylabel(label)
        for axes, data in zip(rows[0], data_sets, strict=True):
            axes.set_title(data)
        for axes in rows[-1]:
            axes.set_xlabel("labels, % of images (logarithmic)")
        legend_below(figure)
        return figure


def _draw_curve(
    axes: Axes, results: Sequence[Result], groups: Sequence[Sequence[Case]], name: str
) -> None:
    method = groups[0][0].method
    runs = [results_of(results, group) for group in groups]
    # A logarithmic axis cannot show a method that got no label.
    runs = [group for group in runs if all(run.figures["labels_percent"] > 0 for run in group)]
    labels = [[run.figures["labels_percent"] for run in group] for group in runs]
    values = [[run.figures[name] for run in group] for group in runs]
    style = STYLES[method] | ({"linestyle": "none"} if len(groups) == 1 else {})
    draw_means(axes, labels, values, label=method, **style)


def _set_percent_axis(axes: Axes) -> None:
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(FixedLocator(_TICKS))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
