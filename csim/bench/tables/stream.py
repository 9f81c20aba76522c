"""The paper's stream table: accuracy and labels of every method on four data sets.

    csim bench stream                # every 5th image, seeds 0-2, r = 0.3: some hours on two cores
    csim bench stream --quick        # a few minutes

`least-sure` and `random` get as many questions as `default`.
"""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure
from scipy.stats import ttest_rel

from csim.bench.case import Case
from csim.bench.layout.panels import PERCENT, draw_reported, from_zero, legend_below, make_grid
from csim.bench.layout.sheet import STYLES, Sheet, drawing
from csim.bench.layout.table import Row, Table
from csim.bench.methods import PUBLISHED
from csim.bench.plans.plan import DATA, Plan
from csim.bench.plans.reported import printed
from csim.bench.results import Result

NOTES = (
    "accuracy: images with the right final label / images of the stream; at arrival: by the first "
    "label; unasked: by the final label of images that no person labelled",
    "declared: a novel image counts as right once it is called new, which is all that ecsminer, "
    "echo-d and senc-mas can do; accuracy: only its class counts",
    "labels %: labels that the person gave / images of the stream, without those of the warm-up "
    "(column warm-up)",
    "training s: wall-clock seconds, two runs at a time; settings, commit and machine of each run "
    "are in runs/",
    "ratio: accuracy / that of the best method in this table, same data set and seed",
    "accuracy per label: accuracy % / labels %; p-value: two-sided paired t-test of the accuracies "
    "against those of paper over the same seeds, so with three seeds it is small only for large "
    "and steady differences",
    "paper: all labelled images are its warm-up, so no forgetting is measured; the other methods "
    "hold out a tenth of them",
    "default, least-sure and random may ask about 5 % of the images; the others have no such limit",
    "an answer becomes the image's final label with the first four methods; the baselines get it "
    "too late to change their label, and only learn from it: compare them in the columns at "
    "arrival and unasked, too",
    "NAME-vectors: the baseline on the vectors of csim's network, trained on the warm-up and "
    "frozen, instead of pixels",
    "reported: the paper's figures, whole streams, r = 0.3; its EMNIST is the Balanced split: the "
    "same classes as emnist-47, other images",
)


def cases(plan: Plan) -> list[Case]:
    """Return the runs that the table needs."""
    return plan.cases()


def make(results: Sequence[Result], plan: Plan) -> Sheet:
    """Return the table and a picture of it."""
    best: dict[tuple[str, int], float] = {}
    for result in results:
        key = (result.data, result.seed)
        best[key] = max(best.get(key, 0.0), result.figures["accuracy"])
    table = Table(
        name=f"stream{plan.suffix}",
        title="Classification over the stream",
        notes=[plan.note, *NOTES],
        keys=["data set", "method"],
        rows=[
            _row(result, best[result.data, result.seed], _p_value(result, results), plan)
            for result in results
        ],
        command=f"csim bench stream {plan.options}",
    )
    return Sheet(table, _draw(results, plan))


def _p_value(result: Result, results: Sequence[Result]) -> str:
    """Return the p-value of a method's accuracies against those of `paper`, if there is one."""
    runs = [r for r in results if (r.data, r.method) == (result.data, result.method)]
    papers = {r.seed: r for r in results if (r.data, r.method) == (result.data, "paper")}
    pairs = [
        (run.figures["accuracy"], papers[run.seed].figures["accuracy"])
        for run in runs
        if run.seed in papers
    ]
    if result.method == "paper" or len(pairs) < 2 or len({a - b for a, b in pairs}) < 2:
        return ""
    return f"{ttest_rel(*zip(*pairs, strict=True)).pvalue:.2g}"


def _row(result: Result, best: float, p_value: str, plan: Plan) -> Row:
    figures = result.figures
    reported = plan.reported(result.data, result.method)
    return {
        "data set": result.data,
        "method": result.method,
        "seed": result.seed,
        "accuracy %": figures["accuracy"],
        "declared %": figures["accuracy_declared"],
        "labels %": figures["labels_percent"],
        "ratio": figures["accuracy"] / best if best else 0.0,
        "accuracy per label": figures["accuracy"] / figures["labels_percent"]
        if figures["labels_percent"]
        else None,
        "p-value": p_value,
        "at arrival %": figures["accuracy_at_arrival"],
        "unasked %": figures["accuracy_unasked"],
        "last quarter %": figures["accuracy_last_quarter"],
        "forgetting": figures["forgetting"],
        "classes learned": float(figures["classes_learned"]),
        "warm-up": float(
            result.content["stream"]["warm_up"] + result.content["stream"]["held_out"]
        ),
        "training s": figures["seconds_training"],
        "reported accuracy %": printed(reported.accuracy, reported.accuracy_spread)
        if reported
        else "",
        "reported labels %": printed(reported.labels, reported.labels_spread) if reported else "",
    }


def _draw(results: Sequence[Result], plan: Plan) -> Figure:
    """Draw accuracy against labels, a panel per data set, a point per run, the paper's a star."""
    data_sets = plan.data or DATA
    with drawing():
        figure, ((*panels,),) = make_grid(1, len(data_sets), size=(2.3, 2.6), sharey=True)
        for axes, data in zip(panels, data_sets, strict=True):
            for method in plan.methods or PUBLISHED:
                runs = [r.figures for r in results if (r.method, r.data) == (method, data)]
                style = {**STYLES[method], "linestyle": "none", "zorder": 3}
                axes.plot(
                    [figures["labels_percent"] for figures in runs],
                    [figures["accuracy"] for figures in runs],
                    label=method,
                    **style,
                )
            if reported := plan.reported(data, "paper"):
                draw_reported(axes, reported.labels, reported.accuracy, data)
            axes.set(
                title=data,
                xlabel="labels, % of images",
                xlim=from_zero(axes.dataLim.x1),
                ylim=PERCENT,
            )
        panels[0].set_ylabel("accuracy, %")
        legend_below(figure)
        return figure
