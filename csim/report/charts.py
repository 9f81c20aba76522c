"""The charts of a report, as SVG elements inside a page.

Text stays text in the font of the page, and black becomes the page's text colour, so that a chart
follows light and dark mode. Every id starts with the chart's name, so that several charts fit on
one page. Colours are Okabe and Ito's, which colour-blind people can tell apart. Line styles and
markers repeat what colours say, for a print in grey.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from sklearn.manifold import TSNE

from csim.records import Floats

BLUE = "#0072b2"
VERMILLION = "#d55e00"
GREEN = "#009e73"
ORANGE = "#e69f00"
SKY = "#56b4e9"
PURPLE = "#cc79a7"
GREY = "#8a8f98"
INK = "#010203"  # replaced by the page's text colour
PAPER = "#030201"  # replaced by the page's background
# Without Okabe and Ito's yellow, which is hard to see on white.
_PALETTE = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, INK, GREY)
_MARKERS = "o^sDvPX*<>p"  # 11 markers and 8 colours: the first 88 classes have different pairs
STYLES = ((BLUE, "-"), (VERMILLION, "--"), (GREY, ":"))
WIDTH = 7.5  # inches
MOST_LANES = 40
_MOST_IN_LEGEND = 24
_TICK_STEPS = (1, 2, 2.5, 5, 10)  # easy to count in
_MOST_POINTS = 2000  # of a curve: more than the page has pixels across
_LONGEST_NAME = 18  # characters of a class name in a chart

_RC_PARAMS: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "csim",  # without it ids change from run to run
    "text.parse_math": False,  # a class may be called "$5"
    "figure.constrained_layout.h_pad": 0.02,
    "figure.constrained_layout.hspace": 0,
    "font.size": 8,
    "text.color": INK,
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": GREY,
    "grid.alpha": 0.25,
    "grid.linewidth": 0.5,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "legend.frameon": False,
}


@dataclass(frozen=True)
class Lane:
    """Hold when a new class appeared, was asked about and was learned, by position.

    None means that it never happened or is not known.
    """

    name: str
    appeared: int | None
    asked: int | None
    learned: int | None


@dataclass(frozen=True)
class Panel:
    """Hold a projection of an embedding."""

    title: str
    points: Floats  # (n, 2)


def stream_chart(curves: Mapping[str, Floats], lanes: Sequence[Lane], images: int) -> str:
    """Draw accuracy along the stream and, below it on the same scale, a lane per new class.

    Parameters
    ----------
    curves
        Up to three curves by label, in percent, a value per image; may be empty.
    lanes
        The new classes in order; the first 40 are drawn.
    images
        The length of the stream. Higher makes the axis longer.
    """
    lanes = lanes[:MOST_LANES]
    heights = [2.3] * bool(curves) + [0.3 + 0.19 * len(lanes)] * bool(lanes)
    with drawing():
        figure = Figure(figsize=(WIDTH, sum(heights) + 0.75), layout="constrained")
        rows = figure.subplots(
            len(heights) or 1, sharex=True, squeeze=False, height_ratios=heights or None
        )[:, 0]
        if curves:
            _draw_curves(rows[0], curves)
            _draw_moments(rows[0], [(lane, 0) for lane in lanes])
        if lanes:
            _draw_lanes(rows[-1], lanes, images)
            figure.legend(
                *rows[-1].get_legend_handles_labels(), loc="outside lower center", ncols=3
            )
        stream_axis(rows[-1], images)
        return inline(
            figure,
            "stream",
            "Accuracy along the stream, and when each new class appeared and was learned",
        )


def _draw_curves(axes: Axes, curves: Mapping[str, Floats]) -> None:
    for (label, values), (colour, style) in zip(curves.items(), STYLES, strict=False):
        indices = np.unique(
            np.linspace(0, len(values) - 1, min(len(values), _MOST_POINTS)).astype(int)
        )
        axes.plot(indices + 1, values[indices], style, color=colour, label=label, linewidth=1.6)
    axes.set_ylim(0, 101)
    axes.set_ylabel("accuracy, % of images")
    axes.legend(
        loc="lower left", bbox_to_anchor=(0, 1), ncols=3, borderaxespad=0.2, handlelength=2.6
    )


def _draw_moments(axes: Axes, feet: Sequence[tuple[Lane, float]]) -> None:
    """Draw a vertical line where a class appears and where it is learned, from its foot upwards."""
    top = axes.get_ylim()[1]
    for lane, foot in feet:
        if lane.appeared is not None:
            axes.plot(
                [lane.appeared] * 2, [foot, top], color=GREY, linestyle=(0, (1, 2)), linewidth=0.9
            )
        if lane.learned is not None:
            axes.plot([lane.learned] * 2, [foot, top], color=GREEN, linewidth=0.9, alpha=0.7)


def _draw_lanes(axes: Axes, lanes: Sequence[Lane], images: int) -> None:
    """Draw a row per class: dotted while it is unknown, solid once it is learned."""
    for row, lane in enumerate(lanes):
        seen = [
            moment for moment in (lane.appeared, lane.asked, lane.learned) if moment is not None
        ]
        axes.plot(
            [min(seen, default=0), lane.learned or images],
            [row, row],
            ":",
            color=GREY,
            linewidth=1.2,
        )
        if lane.learned is not None:
            axes.plot([lane.learned, images], [row, row], "-", color=GREEN, linewidth=3, alpha=0.55)
    for label, marker, face, moments in (
        ("appears", "o", "none", [lane.appeared for lane in lanes]),
        ("first question", "D", ORANGE, [lane.asked for lane in lanes]),
        ("learned", "s", GREEN, [lane.learned for lane in lanes]),
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
            )
    axes.set_yticks(range(len(lanes)), [short(lane.name) for lane in lanes])
    axes.set_ylim(len(lanes) - 0.4, -0.6)
    _draw_moments(axes, [(lane, row) for row, lane in enumerate(lanes)])
    axes.grid(visible=False, axis="y")
    axes.spines["left"].set_visible(False)
    axes.set_ylabel("new classes")


def labels_chart(asked: Sequence[int], labelled: Sequence[int], images: int) -> str:
    """Draw questions and the images that their answers labelled, against a fifth of the stream.

    Parameters
    ----------
    asked
        The position of every question.
    labelled
        The position of every label that an answer gave.
    images
        The length of the stream. Higher makes the axis longer.
    """
    with drawing():
        figure = Figure(figsize=(WIDTH, 2.9), layout="constrained")
        axes = figure.subplots()
        for positions, label, (colour, style) in (
            (labelled, "images labelled by answers", STYLES[1]),
            (asked, "questions asked", STYLES[0]),
        ):
            places = [0, *positions, images]
            counts = [*range(len(positions) + 1), len(positions)]
            axes.plot(
                places,
                counts,
                style,
                color=colour,
                linewidth=1.6,
                drawstyle="steps-post",
                label=label,
                clip_on=False,
            )
            end = (images, len(positions))
            axes.annotate(
                f"{len(positions):,}", end, (5, 0), textcoords="offset points", va="center"
            )
        axes.plot([0, images], [0, images / 5], ":", color=GREY, label="one image in five")
        axes.set_ylim(0, max(len(labelled), len(asked), images / 5, 1) * 1.04)
        count_axis(axes)
        stream_axis(axes, images)
        axes.legend(
            loc="lower left", bbox_to_anchor=(0, 1), ncols=3, borderaxespad=0.2, handlelength=2.6
        )
        return inline(
            figure, "labels", "Questions asked and images labelled by answers, along the stream"
        )


def stream_axis(axes: Axes, images: int) -> None:
    """Make the horizontal axis the positions of the stream."""
    axes.set_xlim(0, max(images, 1))
    axes.xaxis.set_major_locator(MaxNLocator(nbins=8, steps=_TICK_STEPS, integer=True))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_xlabel("position in the stream (images)")


def count_axis(axes: Axes) -> None:
    """Make the vertical axis a count."""
    axes.yaxis.set_major_locator(MaxNLocator(nbins=6, steps=_TICK_STEPS, integer=True))
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.set_ylabel("total so far")


def embedding_chart(panels: Sequence[Panel], names: Sequence[str]) -> str:
    """Draw embeddings of the same images side by side, a colour and a marker per class.

    Parameters
    ----------
    panels
        Each has a point per image.
    names
        The class of each image.
    """
    labels = np.array(names, object)
    classes = sorted(set(names))
    with drawing():
        figure = Figure(figsize=(WIDTH, 4.3), layout="constrained")
        for axes, panel in zip(
            figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True
        ):
            axes.set_title(panel.title, fontsize=8.5)
            for index, name in enumerate(classes):
                _draw_class(axes, panel.points[labels == name], name, index)
            axes.set(xticks=[], yticks=[])
            for spine in axes.spines.values():
                spine.set_visible(True)
        drawn = figure.axes[0].lines if panels else []
        if 0 < len(classes) <= _MOST_IN_LEGEND:
            legend = figure.legend(
                drawn,
                [str(index) for index in range(len(classes))],
                loc="outside lower center",
                ncols=12,
                columnspacing=1.2,
                handletextpad=0.1,
                markerscale=1.5,
            )
            for text, name in zip(legend.get_texts(), classes, strict=True):
                text.set_text(short(name))  # set here: matplotlib drops labels that start with "_"
        return inline(figure, "embedding", "t-SNE projection of the images of each class")


def _draw_class(axes: Axes, points: Floats, name: str, index: int) -> None:
    colour = _PALETTE[index % len(_PALETTE)]
    axes.plot(
        points[:, 0],
        points[:, 1],
        _MARKERS[index % len(_MARKERS)],
        color=colour,
        markersize=3.6,
        markeredgewidth=0,
        alpha=0.8,
    )
    if len(points):
        # The point nearest to the median: the median itself may lie between two halves of a class.
        centre = points[np.argmin(np.linalg.norm(points - np.median(points, axis=0), axis=1))]
        box = {
            "boxstyle": "round,pad=0.22",
            "facecolor": PAPER,
            "edgecolor": colour,
            "linewidth": 0.8,
        }
        axes.text(
            centre[0], centre[1], short(name), ha="center", va="center", fontweight="bold", bbox=box
        )


def project(vectors: Floats, seed: int) -> Floats:
    """Return a t-SNE projection of vectors, (n, 2): near stays near, far means little.

    Parameters
    ----------
    vectors
        (n, d) with d at least 2.
    seed
        Draws the starting points.
    """
    if len(vectors) < 10:  # too few to have neighbourhoods
        return vectors[:, :2]
    perplexity = min(30.0, (len(vectors) - 1) / 3)
    points: Floats = TSNE(
        perplexity=perplexity, init="pca", random_state=seed % 2**32
    ).fit_transform(vectors)
    return points


@contextmanager
def drawing() -> Iterator[None]:
    """Draw in the style of a report; restore the settings of matplotlib afterwards."""
    with mpl.rc_context(_RC_PARAMS), warnings.catch_warnings():
        # The browser draws the text with its fonts, so glyphs may be missing here.
        warnings.filterwarnings("ignore", "Glyph .* missing")
        yield


def inline(figure: Figure, name: str, description: str) -> str:
    """Return a figure as an `<svg>` element without a fixed size.

    Parameters
    ----------
    figure
        Drawn inside `drawing`.
    name
        Prefix of all ids; no other chart of the page may have it.
    description
        What it shows, for screen readers.
    """
    buffer = io.StringIO()
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    figure.savefig(buffer, format="svg", transparent=True, metadata=nothing)
    drawn = buffer.getvalue()
    drawn = drawn[drawn.index("<svg") :].replace(INK, "currentColor").replace(PAPER, "var(--paper)")
    drawn = re.sub(r'( id="|href="#|url\(#)', rf"\g<1>{name}-", drawn)
    drawn = re.sub(r' (width|height)="[\d.]+pt"', "", drawn, count=2)
    return drawn.replace(
        "<svg", f'<svg class="chart" role="img" aria-label="{escape(description)}"', 1
    )


def short(name: str) -> str:
    """Return a class name for a chart; a long one is cut."""
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"
