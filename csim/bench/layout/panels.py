"""Panels: what the bench's pictures share. A grid of axes, means with error bars, one legend.

Make and fill figures inside `sheet.drawing()`.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean, stdev
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from csim.bench.layout.sheet import INK, STYLES

Grid = list[list[Axes]]  # rows of columns

PERCENT = (-2, 102)  # limits of an axis of shares, with room for markers at its ends
_ENTRY_INCHES = 1.8  # width of an entry in the legend
_OTHER_IMAGES = ("emnist-47",)  # the paper used the same classes, but other images


def make_grid(
    rows: int,
    columns: int,
    *,
    size: tuple[float, float],
    **shared: Any,  # noqa: ANN401
) -> tuple[Figure, Grid]:
    """Return a figure and its axes, rows of columns, each about `size` inches; higher is larger."""
    width = max(
        columns * size[0] + 0.6, 2.4 * _ENTRY_INCHES
    )  # a narrow figure would cut the legend
    figure = Figure(figsize=(width, rows * size[1] + 0.7), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **shared).tolist()


def draw_means(
    axes: Axes,
    positions: Sequence[Sequence[float]],
    values: Sequence[Sequence[float]],
    **style: Any,  # noqa: ANN401
) -> None:
    """Draw the mean of each group of values, with its standard deviation as an error bar.

    Parameters
    ----------
    axes
        What to draw on.
    positions, values
        Groups of x and y values, one group for each point. Groups of one have no error bar.
    style
        As `Axes.errorbar` takes it: label, colour, line, marker.
    """
    spreads = (
        [stdev(group) for group in values] if all(len(group) > 1 for group in values) else None
    )
    style = {"capsize": 2.5, "elinewidth": 1.0, "zorder": 3} | style
    axes.errorbar(
        [mean(group) for group in positions],
        [mean(group) for group in values],
        yerr=spreads,
        **style,
    )


def draw_reported(axes: Axes, position: float, value: float, data: str) -> None:
    """Draw the paper's figure as a star; a hollow star if the paper used other images."""
    is_other = data in _OTHER_IMAGES
    label = "reported, other images" if is_other else "as the paper reports"
    face = "none" if is_other else INK
    axes.plot(
        [position],
        [value],
        "*",
        color=INK,
        markerfacecolor=face,
        markersize=9,
        label=label,
        zorder=4,
    )


def from_zero(highest: float) -> tuple[float, float]:
    """Return the limits of an axis from 0 to the highest value (or 1), with room for markers."""
    top = highest or 1.0
    return -0.03 * top, 1.06 * top


def legend_below(figure: Figure) -> None:
    """Draw one legend of all panels below them: the methods, then the rest."""
    pairs = [
        pair for axes in figure.axes for pair in zip(*axes.get_legend_handles_labels(), strict=True)
    ]
    shown = {label: handle for handle, label in pairs}
    labels = sorted(shown, key=lambda label: label not in STYLES)
    columns = min(max(2, int(figure.get_figwidth() / _ENTRY_INCHES)), len(labels))
    # Matplotlib fills legends column by column; people read them row by row.
    labels = [label for column in range(columns) for label in labels[column::columns]]
    figure.legend(
        [shown[label] for label in labels], labels, loc="outside lower center", ncols=columns
    )
