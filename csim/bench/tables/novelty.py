"""The paper's novelty table: new classes taken for old ones (M_new) and old ones for new (F_new).

    csim bench novelty               # the runs of `csim bench stream`: some hours, then seconds
    csim bench novelty --quick       # a few minutes

The cases are those of the stream table, seeds 0-2, so the first of the two tables runs them for
both. `m_new` depends on when a method learns a class. The columns "always novel" and "first 500" do
not, so they compare methods on the same images. Expect `least-sure` and `random` to miss every
novel image at arrival, because they reject none. They correct later only what a person labelled.
"""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from csim.bench.case import Case
from csim.bench.layout.panels import PERCENT, draw_means, draw_reported, legend_below, make_grid
from csim.bench.layout.sheet import STYLES, Sheet, drawing
from csim.bench.layout.table import Row, Table
from csim.bench.methods import PUBLISHED
from csim.bench.plans.plan import DATA, Plan
from csim.bench.plans.reported import printed
from csim.bench.results import Result

_COLUMNS = {
    "M_new %": "m_new",
    "F_new %": "f_new",
    "M_new at arrival %": "m_new_at_arrival",
    "M_new, always novel %": "m_new_for_ever",
    "F_new, always novel %": "f_new_for_ever",
    "first 500 missed %": "first_500_missed",
    "rejected known %": "rejected_known",
    "rejected novel %": "rejected_novel",
    "images to detection": "images_to_detection",
    "images to learned": "images_to_learned",
    "purity %": "purity",
    "declared %": "accuracy_declared",
    "named %": "accuracy",
}
NOTES = (
    "M_new: novel images that finally got an existing class / novel images; F_new: existing "
    "images that finally got a novel class / existing images; novel: of a class that the model "
    "could not output when the image arrived",
    "at arrival: by the first label; always novel: a class that was not in the warm-up stays novel",
    "first 500 missed: of the first 500 images of each new class, those that finally got another "
    "class",
    "rejected: share of known and of novel images that no class accepted at arrival",
    "images to detection, to learned: images of a new class up to the first question about it, "
    "and up to the first model that outputs it; medians over the classes for which that happened",
    "purity: images in groups that have the class of their representative",
    "NAME-vectors: the baseline on the vectors of csim's network, trained on the warm-up and "
    "frozen, instead of pixels",
    "declared, named: accuracy if a novel image counts as right once it is called new, and if "
    "only its class counts",
    "reported: the paper's figures, whole streams, r = 0.3; its EMNIST is the Balanced split: the "
    "same classes as emnist-47, other images",
)


def cases(plan: Plan) -> list[Case]:
    """Return the runs that the table needs: those of the stream table."""
    return plan.cases()


def make(results: Sequence[Result], plan: Plan) -> Sheet:
    """Return the table and a picture of it."""
    table = Table(
        name=f"novelty{plan.suffix}",
        title="Detection of new classes over the stream",
        notes=[plan.note, *NOTES],
        keys=["data set", "method"],
        rows=[_row(result, plan) for result in results],
        command=f"csim bench novelty {plan.options}",
    )
    return Sheet(table, _draw(results, plan))


def _row(result: Result, plan: Plan) -> Row:
    reported = plan.reported(result.data, result.method)
    return {
        "data set": result.data,
        "method": result.method,
        "seed": result.seed,
        **{column: result.figures[name] for column, name in _COLUMNS.items()},
        "reported M_new %": printed(reported.m_new, reported.m_new_spread) if reported else "",
        "reported F_new %": printed(reported.f_new, reported.f_new_spread) if reported else "",
    }


def _draw(results: Sequence[Result], plan: Plan) -> Figure:
    """Draw M_new by data set and method: the mean with its deviation, and each seed as a dot."""
    data_sets = plan.data or DATA
    methods = plan.methods or PUBLISHED
    step = 0.7 / len(methods)  # the rest of a data set's width is a gap
    with drawing():
        figure, ((axes,),) = make_grid(
            1, 1, size=(max(1.6, 0.28 * len(methods)) * len(data_sets) + 0.8, 3.0)
        )
        for left, data in enumerate(data_sets):
            for index, method in enumerate(methods):
                x = left + (index - (len(methods) - 1) / 2) * step
                values = [
                    r.figures["m_new"] for r in results if (r.method, r.data) == (method, data)
                ]
                style = {**STYLES[method], "linestyle": "none"}
                draw_means(axes, [[x]], [values], label=method, **style)
                if len(values) > 1:
                    beside = [x + step / 4] * len(values)
                    axes.plot(beside, values, ".", color=style["color"], markersize=3)
                if reported := plan.reported(data, method):
                    draw_reported(axes, x, reported.m_new, data)
        axes.set(ylim=PERCENT, ylabel="M_new, % of novel images", xlim=(-0.5, len(data_sets) - 0.5))
        axes.set_xticks(range(len(data_sets)), data_sets)
        axes.grid(visible=False, axis="x")
        legend_below(figure)
        return figure
