"""Photographs: a pretrained encoder against csim's own network, and csim against simple methods.

    csim bench photos                      # three data sets, every image, seeds 0-2: 90 minutes
    csim bench photos --quick              # fruits alone, one seed: minutes
    csim bench photos --dataset eurosat    # a public data set, which csim downloads

Nothing was chosen on groceries. The method was chosen on fruits and traffic signs, with other seeds
(docs/encoders.md). `own` is csim's network on images of 64×64 pixels. `lite0` is
EfficientNet-Lite0, frozen. Each vector of it is made once on a machine and kept in the cache.
`least-sure` has the same layer as `default` and asks about single images. `logistic` is logistic
regression on the same vectors, asking where the two best classes are closest. Expect `lite0` far
ahead of `own`, and `default` ahead of both simple methods, most with few labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from matplotlib.figure import Figure

from csim.bench.case import Case
from csim.bench.datasets.photos import NAMES as PHOTOGRAPHS
from csim.bench.layout.panels import PERCENT, draw_means, legend_below, make_grid
from csim.bench.layout.sheet import STYLES, Sheet, drawing
from csim.bench.layout.table import Row, Table
from csim.bench.methods import budget_in
from csim.bench.plans.lookup import results_of
from csim.bench.plans.plan import Plan
from csim.bench.results import Result
from csim.errors import InputError

DATA = ("groceries", "fruits", "traffic-signs")
BUDGETS = (0.01, 0.02, 0.05)
_QUICK_DATA = ("fruits",)
_PRETRAINED = "lite0"
_OWN_SIZE = (64, 64)  # what `csim init` takes for csim's own network
_METHODS = ("default", "least-sure", "logistic")
_SIMPLE = _METHODS[1:]
NOTES = (
    "the method was chosen on fruits and traffic signs, with other seeds; nothing on the others",
    "own: csim's network on 64×64 pixels; lite0: EfficientNet-Lite0, frozen, 224×224",
    "accuracy: images with the right final label / images of the stream; at arrival: the same for "
    "the first label",
    "M_new: novel images that finally got an existing class / novel images",
    "rejected: known images, and novel ones, that got no class at arrival / images of the kind",
    "points ahead of least-sure, of logistic: in accuracy, same encoder, budget and seed; the "
    "deviation is that of the differences",
)


def cases(plan: Plan) -> list[Case]:
    """Return the runs that the table needs."""
    own = [
        replace(plan.case("default", data, seed, budget=budget), size=_OWN_SIZE)
        for data in _data(plan)
        for budget in BUDGETS
        for seed in plan.seeds
    ]
    return own + [case for group in _pretrained_groups(plan) for case in group]


def make(results: Sequence[Result], plan: Plan) -> Sheet:
    """Return the table and a picture of it."""
    needed = sorted(results_of(results, cases(plan)), key=_order)
    words = ["photos", *["quick"] * plan.is_quick, *(plan.data or ())]
    table = Table(
        name="-".join(words),
        title="Photographs: encoders and methods",
        notes=[plan.note, *NOTES],
        keys=["data set", "budget %", "encoder", "method"],
        rows=[_row(result) | _leads(result, needed) for result in needed],
        command=" ".join(
            ["csim bench photos", *["--quick"] * plan.is_quick]
            + [f"--dataset {name}" for name in plan.data or ()]
            + [f"--seed {seed}" for seed in plan.seeds]
        ),
    )
    return Sheet(table, _draw(results, plan))


def _data(plan: Plan) -> tuple[str, ...]:
    """Return the data sets of a plan: those of the table, or those that the user named."""
    chosen = plan.data or (_QUICK_DATA if plan.is_quick else DATA)
    if others := [name for name in chosen if name not in PHOTOGRAPHS]:
        raise InputError(
            f"--dataset must be one of {', '.join(PHOTOGRAPHS)}, which are photographs; "
            f"got {others[0]!r}"
        )
    return chosen


def _pretrained_groups(plan: Plan) -> list[list[Case]]:
    """Return the runs on the pretrained encoder, a group of seeds per data set, method, budget."""
    return [
        [plan.case(method, data, seed, budget=budget, encoder=_PRETRAINED) for seed in plan.seeds]
        for data in _data(plan)
        for method in _METHODS
        for budget in BUDGETS
    ]


def _order(result: Result) -> tuple[object, ...]:
    budget = budget_in(result.settings)
    encoder = result.settings["encoder"]
    return PHOTOGRAPHS.index(result.data), budget, encoder == "own", _METHODS.index(result.method)


def _row(result: Result) -> Row:
    figures = result.figures
    return {
        "data set": result.data,
        "budget %": f"{100 * (budget_in(result.settings) or 1):g}",  # as text: not averaged
        "encoder": result.settings["encoder"],
        "method": result.method,
        "seed": result.seed,
        "labels %": figures["labels_percent"],
        "accuracy %": figures["accuracy"],
        "at arrival %": figures["accuracy_at_arrival"],
        "M_new %": figures["m_new"],
        "known rejected %": figures["rejected_known"],
        "novel rejected %": figures["rejected_novel"],
        "classes learned": float(figures["classes_learned"]),
    }


def _leads(result: Result, others: Sequence[Result]) -> Row:
    """Return the lead of `default` in points of accuracy, same data, encoder, budget and seed."""
    key = _terms(result)
    accuracies = {
        other.method: other.figures["accuracy"] for other in others if _terms(other) == key
    }
    return {
        f"points ahead of {name}": result.figures["accuracy"] - accuracies[name]
        if name in accuracies and result.method == "default"
        else None
        for name in _SIMPLE
    }


def _terms(result: Result) -> tuple[object, ...]:
    return result.data, result.settings["encoder"], budget_in(result.settings), result.seed


def _draw(results: Sequence[Result], plan: Plan) -> Figure:
    """Draw the accuracy of the methods on the pretrained encoder over the budget."""
    data_sets = _data(plan)
    with drawing():
        figure, (panels,) = make_grid(1, len(data_sets), size=(3.0, 2.6), sharey="row")
        for axes, data in zip(panels, data_sets, strict=True):
            for method in _METHODS:
                groups = [
                    results_of(results, group)
                    for group in _pretrained_groups(plan)
                    if (group[0].method, group[0].data) == (method, data)
                ]
                labels = [[run.figures["labels_percent"] for run in runs] for runs in groups]
                values = [[run.figures["accuracy"] for run in runs] for runs in groups]
                draw_means(axes, labels, values, label=method, **STYLES[method])
            axes.set_title(data)
            axes.set_xlabel("labels, % of images")
            axes.set_ylim(PERCENT)
        panels[0].set_ylabel("accuracy, %")
        legend_below(figure)
        return figure
