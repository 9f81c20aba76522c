"""A sweep: one setting over several values, with everything else unchanged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator, StrMethodFormatter

from csim.bench.case import Case
from csim.bench.layout.panels import draw_means, from_zero, legend_below
from csim.bench.layout.sheet import STYLES
from csim.bench.layout.table import Row
from csim.bench.plans.lookup import results_of
from csim.bench.plans.plan import Plan
from csim.bench.results import Result
from csim.bench.vectors.parameters import count_parameters
from csim.settings import Settings

# The figures of a run that are drawn, a panel each.
PANELS = {
    "accuracy": "accuracy, %",
    "m_new": "M_new, % of novel images",
    "f_new": "F_new, % of existing images",
    "seconds_training": "all training, s",
}
NOTES = (
    "accuracy: images with the right final label; labels %: labels that the person gave, both as "
    "shares of the stream's images",
    "M_new: novel images that got an existing class; F_new: existing images that got a novel class",
    "one training s: the first model's training, on the warm-up, on one core (– in runs that did "
    "not record it); all training s: that of all models of the run; parameters: the network's "
    "weights once all classes are known",
)


@dataclass(frozen=True)
class Sweep:
    """Describe a setting and the values it takes.

    Parameters
    ----------
    setting
        Its name in `Settings`.
    symbol
        Its name in tables.
    values
        In order. Each needs a run per data set, method and seed; the default value's runs are the
        stream table's.
    label
        The label of its axis.
    base
        Of a logarithmic axis; None for a linear one.
    """

    setting: str
    symbol: str
    values: tuple[float, ...]
    label: str
    base: int | None = None

    def cases(self, plan: Plan, method: str, data: str, value: float) -> list[Case]:
        """Return the runs with one value."""
        return [plan.case(method, data, seed, **{self.setting: value}) for seed in plan.seeds]

    def all_cases(self, plan: Plan, methods: Sequence[str], data: Sequence[str]) -> list[Case]:
        """Return the runs with all values."""
        return [
            case
            for name in data
            for method in methods
            for value in self.values
            for case in self.cases(plan, method, name, value)
        ]

    def draw(
        self, panels: Sequence[Axes], results: Sequence[Result], plan: Plan, method: str, data: str
    ) -> None:
        """Draw one method's figures over the values, a figure in each panel."""
        runs = [results_of(results, self.cases(plan, method, data, value)) for value in self.values]
        for axes, (name, label) in zip(panels, PANELS.items(), strict=True):
            figures = [[run.figures[name] for run in group] for group in runs]
            draw_means(
                axes, [[value] for value in self.values], figures, label=method, **STYLES[method]
            )
            axes.set(xlabel=self.label, ylabel=label)
            if self.base:
                axes.set_xscale("log", base=self.base)
            axes.xaxis.set_major_locator(FixedLocator(self.values))
            axes.xaxis.set_minor_locator(NullLocator())
            axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))


def finish(figure: Figure) -> None:
    """Let every panel start at 0 and end above all its points, and add the legend."""
    for axes in figure.axes:
        axes.set_ylim(*from_zero(axes.dataLim.y1))
    legend_below(figure)


def figures_of(result: Result) -> Row:
    """Return the columns that tables about a setting share."""
    figures = result.figures
    stream = result.content["stream"]
    settings = Settings.from_dict(result.settings)
    return {
        "seed": result.seed,
        "accuracy %": figures["accuracy"],
        "labels %": figures["labels_percent"],
        "M_new %": figures["m_new"],
        "F_new %": figures["f_new"],
        "one training s": figures.get("seconds_first_training"),
        "all training s": figures["seconds_training"],
        "parameters": count_parameters(settings, stream["image_shape"], stream["classes"]),
    }
