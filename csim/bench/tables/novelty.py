"""The paper's novelty table: new classes taken for old ones (M_new) and old ones for new (F_new).

    csim bench novelty               # the runs of `csim bench stream`: some hours on two cores, then seconds
    csim bench novelty --quick       # a look in a few minutes

Same cases as the stream table, seeds 0-2, so whichever is made first runs them for both. Beside the paper's two figures
stand those that are the same for every method: `m_new` depends on when a class is learned, "novel for ever" and "first
500" do not. Expect `least-sure` and `random` to miss every novel image at arrival, for they reject none: what they make
good later, they were told.
"""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from csim.bench.case import Case
from csim.bench.layout.panels import PERCENT, draw_means, draw_reported, legend_below, make_grid
from csim.bench.layout.sheet import STYLES, Sheet, drawing
from csim.bench.layout.table import Row, Table
from csim.bench.methods import METHODS
from csim.bench.plans.plan import DATA, Plan
from csim.bench.plans.reported import printed
from csim.bench.results import Result

_COLUMNS = {
    "M_new %": "m_new",
    "F_new %": "f_new",
    "M_new at arrival %": "m_new_at_arrival",
    "M_new for ever %": "m_new_for_ever",
    "F_new for ever %": "f_new_for_ever",
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
    "M_new: novel images finally given an existing class / novel images; F_new: existing images finally given a novel "
    "class / existing images; novel: not among the classes that the model could output when the image arrived",
    "at arrival: by the label given at once; for ever: every class that was not in the warm-up is novel to the end",
    "first 500 missed: of the first 500 images of each new class, those finally given another class",
    "rejected: share of known and of novel images that no class accepted at arrival",
    "images to detection, to learned: images of a new class up to the first question about it, and to the first model "
    "that outputs it; medians over the classes for which that happened",
    "purity: grouped images that have the class of the one shown",
    "NAME-vectors: the method on the vectors of our network, trained on the warm-up and frozen, instead of pixels",
    "declared, named: accuracy if a novel image is right once it is called new, and if only its own class is right",
    "reported: the paper's own figures, whole streams, r = 0.3; its EMNIST is the Balanced split: the same classes as "
    "emnist-47, other images",
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
    there = plan.reported(result.data, result.method)
    return {
        "data set": result.data,
        "method": result.method,
        "seed": result.seed,
        **{column: result.figures[name] for column, name in _COLUMNS.items()},
        "reported M_new %": printed(there.m_new, there.m_new_spread) if there else "",
        "reported F_new %": printed(there.f_new, there.f_new_spread) if there else "",
    }


def _draw(results: Sequence[Result], plan: Plan) -> Figure:
    """Draw M_new, the methods of a data set side by side: the mean with its spread, and each seed as a dot."""
    data_sets, methods = plan.data or DATA, plan.methods or METHODS
    step = 0.7 / len(methods)  # the rest of a data set's width keeps it from the next
    with drawing():
        figure, ((axes,),) = make_grid(
            1, 1, size=(max(1.6, 0.28 * len(methods)) * len(data_sets) + 0.8, 3.0)
        )
        for left, data in enumerate(data_sets):
            for place, method in enumerate(methods):
                x = left + (place - (len(methods) - 1) / 2) * step
                own = [r.figures["m_new"] for r in results if (r.method, r.data) == (method, data)]
                look = {**STYLES[method], "linestyle": "none"}
                draw_means(axes, [[x]], [own], label=method, **look)
                if len(own) > 1:
                    axes.plot(
                        [x + step / 4] * len(own), own, ".", color=look["color"], markersize=3
                    )
                if there := plan.reported(data, method):
                    draw_reported(axes, x, there.m_new, data)
        axes.set(ylim=PERCENT, ylabel="M_new, % of novel images", xlim=(-0.5, len(data_sets) - 0.5))
        axes.set_xticks(range(len(data_sets)), data_sets)
        axes.grid(visible=False, axis="x")
        legend_below(figure)
        return figure
