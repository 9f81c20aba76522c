"""Panels: what the bench's pictures share. A grid of axes, means with their spread, the paper's figure, one legend.

Figures are made and filled inside `sheet.drawing()`.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean, stdev
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from csim.bench.layout.sheet import INK, STYLES

Grid = list[list[Axes]]  # rows of columns

PERCENT = (-2, 102)  # an axis of shares, with room for the markers that stand at its ends
_ENTRY = 1.8  # inches of a legend's entry
_OTHER_IMAGES = ("emnist-47",)  # the paper has the same classes, but not the same images


def make_grid(
    rows: int,
    columns: int,
    *,
    size: tuple[float, float],
    **shared: Any,  # noqa: ANN401
) -> tuple[Figure, Grid]:
    """Return a figure and its axes, rows of columns, each of about `size` inches; raising it spreads them."""
    width = max(columns * size[0] + 0.6, 2.4 * _ENTRY)  # a narrow figure would cut the legend
    figure = Figure(figsize=(width, rows * size[1] + 0.7), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **shared).tolist()


def draw_means(
    axes: Axes,
    places: Sequence[Sequence[float]],
    values: Sequence[Sequence[float]],
    **look: Any,  # noqa: ANN401
) -> None:
    """Draw a point for each group of values, its mean, with a bar of a standard deviation up and down.

    Parameters
    ----------
    axes
        What to draw on.
    places, values
        A group for each point; a place is a mean as well. Groups of one have no bar.
    look
        As `Axes.errorbar` takes it: label, colour, line, marker.
    """
    spreads = (
        [stdev(group) for group in values] if all(len(group) > 1 for group in values) else None
    )
    look = {"capsize": 2.5, "elinewidth": 1.0, "zorder": 3} | look
    axes.errorbar(
        [mean(group) for group in places], [mean(group) for group in values], yerr=spreads, **look
    )


def draw_reported(axes: Axes, place: float, value: float, data: str) -> None:
    """Draw what the paper prints as a star, a hollow one if its images were others."""
    is_other = data in _OTHER_IMAGES
    label = "reported, other images" if is_other else "as the paper reports"
    face = "none" if is_other else INK
    axes.plot(
        [place], [value], "*", color=INK, markerfacecolor=face, markersize=9, label=label, zorder=4
    )


def from_zero(highest: float) -> tuple[float, float]:
    """Return the ends of an axis from 0 to the highest value, 1 if that is 0, with room for markers at the ends."""
    top = highest or 1.0
    return -0.03 * top, 1.06 * top


def legend_below(figure: Figure) -> None:
    """Name everything that any panel shows once, below all of them: the methods, then the rest."""
    pairs = [
        pair for axes in figure.axes for pair in zip(*axes.get_legend_handles_labels(), strict=True)
    ]
    shown = {label: handle for handle, label in pairs}
    labels = sorted(shown, key=lambda label: label not in STYLES)
    columns = min(max(2, int(figure.get_figwidth() / _ENTRY)), len(labels))
    # Legends are filled column by column; people read them row by row.
    labels = [label for column in range(columns) for label in labels[column::columns]]
    figure.legend(
        [shown[label] for label in labels], labels, loc="outside lower center", ncols=columns
    )
