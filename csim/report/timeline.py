"""Charts of a stream of any length, which is cut into parts of equal length.

They draw sums over at most a few hundred parts, so that a million images make a chart as small as
a thousand do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from csim.records import Floats, Ints
from csim.report.charts import (
    GREEN,
    GREY,
    INK,
    MOST_LANES,
    ORANGE,
    STYLES,
    WIDTH,
    count_axis,
    drawing,
    inline,
    short,
    stream_axis,
)

_CURVE_POINTS = 400


@dataclass(frozen=True)
class Course:
    """Hold a class's images along the stream.

    Parameters
    ----------
    name
        The class name.
    counts
        How many images of each part of the stream have it today, (parts,).
    asked
        The position of the first question about it; None if there was none.
    learned
        The position from which a model can give it; None if none can yet. It is 0 for a class that
        was known from the start.
    """

    name: str
    counts: Ints
    asked: int | None
    learned: int | None


def classes_chart(courses: Sequence[Course], images: int) -> str:
    """Draw a row per class: its images along the stream, its first question, when it was learned.

    Parameters
    ----------
    courses
        The classes in order, all with the same parts; the first 40 are drawn.
    images
        The length of the stream, at least 1. Higher makes the axis longer.
    """
    courses = courses[:MOST_LANES]
    with drawing():
        figure = Figure(figsize=(WIDTH, 0.85 + 0.27 * len(courses)), layout="constrained")
        axes = figure.subplots()
        for row, course in enumerate(courses):
            _draw_course(axes, course, row, images)
        for label, marker, face, moments in (
            (
                "first question",
                "D",
                ORANGE,
                [None if course.learned == 0 else course.asked for course in courses],
            ),
            ("learned", "s", GREEN, [course.learned or None for course in courses]),
        ):
            at = [(moment, row) for row, moment in enumerate(moments) if moment is not None]
            if at:
                axes.plot(
                    *zip(*at, strict=True),
                    marker,
                    color=INK,
                    markerfacecolor=face,
                    markersize=4.5,
                    label=label,
                    clip_on=False,
                )
        axes.set_yticks(range(len(courses)), [short(course.name) for course in courses])
        axes.set_ylim(len(courses) - 0.4, -1.0)
        stream_axis(axes, images)
        axes.grid(visible=False, axis="y")
        axes.spines["left"].set_visible(False)
        if axes.get_legend_handles_labels()[0]:
            figure.legend(loc="outside lower center", ncols=2)
        return inline(
            figure,
            "classes",
            "How many images of each class arrived along the stream, and when it was learned",
        )


def _draw_course(axes: Axes, course: Course, row: int, images: int) -> None:
    """Fill a row as high as there are images: grey, then green once the class was learned."""
    edges = np.linspace(0, images, len(course.counts) + 1)
    heights = 0.82 * course.counts / max(int(course.counts.max(initial=0)), 1)
    learned = images if course.learned is None else course.learned
    for colour, start, end in ((GREY, 0, learned), (GREEN, learned, images)):
        if start < end:
            inside = np.unique(np.clip(edges, start, end))
            parts = np.minimum(np.searchsorted(edges, inside, side="right") - 1, len(heights) - 1)
            axes.fill_between(
                inside, row, row - heights[parts], step="post", color=colour, alpha=0.6, linewidth=0
            )
    axes.plot([0, images], [row, row], color=GREY, linewidth=0.5)
    total = f"{int(course.counts.sum()):,}"
    axes.annotate(total, (images, row), (5, 0), textcoords="offset points", va="bottom", fontsize=7)


def cost_chart(
    asked: Sequence[int],
    spent: Sequence[int],
    *,
    budget: float,
    rejected: Floats,
    waiting: Floats,
    images: int,
) -> str:
    """Draw questions and labels against the budget and, below, the share of images without a class.

    Parameters
    ----------
    asked
        The position of every question, in order.
    spent
        The position of every label that a person gave, in order.
    budget
        Questions allowed per image. Higher makes the line steeper; from 1 on there is no limit and
        no line.
    rejected
        The percentage of each part of the stream that was rejected at arrival, (parts,).
    waiting
        The percentage of each part of the stream that has no class today, (parts,). The lower chart
        is left out if both are 0 everywhere.
    images
        The length of the stream, at least 1. Higher makes the axis longer.
    """
    with drawing():
        heights = [2.5, 1.5] if rejected.any() or waiting.any() else [2.5]
        figure = Figure(figsize=(WIDTH, sum(heights) + 0.4), layout="constrained")
        top, *below = figure.subplots(
            len(heights), sharex=True, squeeze=False, height_ratios=heights
        )[:, 0]
        _draw_totals(top, asked, spent, budget, images)
        for axes in below:
            _draw_shares(axes, rejected, waiting, images)
        for axes in (top, *below):
            axes.legend(
                loc="lower left",
                bbox_to_anchor=(0, 1),
                ncols=3,
                borderaxespad=0.2,
                handlelength=2.2,
            )
        stream_axis(figure.axes[-1], images)
        return inline(
            figure, "cost", "Questions and labels against the budget, and images without a class"
        )


def _draw_totals(
    axes: Axes, asked: Sequence[int], spent: Sequence[int], budget: float, images: int
) -> None:
    if budget < 1:
        axes.plot(
            [0, images],
            [0, budget * images],
            ":",
            color=GREY,
            label="questions that the budget allows",
        )
    for positions, label, (colour, style) in (
        (asked, "questions asked", STYLES[1]),
        (spent, "labels spent", STYLES[0]),
    ):
        places = np.unique(np.linspace(0, images, _CURVE_POINTS).astype(int))
        counts = np.searchsorted(positions, places, side="right")
        axes.plot(
            places,
            counts,
            style,
            color=colour,
            linewidth=1.6,
            drawstyle="steps-post",
            label=label,
        )
    axes.set_ylim(0, max(len(asked), len(spent), budget * images if budget < 1 else 0, 1) * 1.05)
    count_axis(axes)


def _draw_shares(axes: Axes, rejected: Floats, waiting: Floats, images: int) -> None:
    edges = np.linspace(0, images, len(rejected) + 1)
    axes.stairs(
        rejected, edges, baseline=None, color=ORANGE, linewidth=1.4, label="rejected at arrival"
    )
    axes.stairs(waiting, edges, color=GREY, alpha=0.6, fill=True, label="without a class today")
    axes.set_ylim(0, max(5.0, 1.1 * max(rejected.max(initial=0), waiting.max(initial=0))))
    axes.set_ylabel("% of images")
