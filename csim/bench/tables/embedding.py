"""The paper's picture of its embedding: t-SNE projections of all classes, as pixels and as vectors.

    csim bench embedding             # Fashion-MNIST, 100 images a class: about three minutes
    csim bench embedding --quick     # 40 images a class

Three of ten classes are known (r = 0.3, seed 0: Coat, Pullover and Shirt). Networks and metric
learners have learned from them alone. Expect 5 neighbours to name 56 % of the known images
correctly in pixels and 68 to 70 % in the vectors, but 83 % of the new images in pixels and 66 to
77 % in the vectors: new classes become less separate. The learners change less: 58 to 65 % of the
known images, 82 to 84 % of the new ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure, SubFigure
from matplotlib.lines import Line2D

from csim.bench.json_lines import Content
from csim.bench.layout.rows import Done
from csim.bench.layout.sheet import INK, Sheet, drawing
from csim.bench.layout.table import Row, Table
from csim.bench.vectors.projections import MOST_IMAGES, Projection, project_all
from csim.bench.vectors.spaces import EVERY_SPACE, TITLES
from csim.report.charts import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILLION

PER_CLASS = 100
QUICK_PER_CLASS = 40
_INDIGO = "#332288"  # this and the next are Tol's; the others are of Okabe and Ito
_WINE = "#882255"
_COLOURS = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, INK, GREY, _INDIGO, _WINE)
_MARKERS = "o^sDvPX*<>p"  # 11 markers and 10 colours: 110 classes have different ones
_HEADINGS = ("known (filled)", "new (hollow)")
_COLUMNS = 4  # panels in a row
_LEGEND_LINES = 20  # in a column, at most

NOTES = (
    "5-NN: images whose 5 nearest others in the sample vote for their class, in the space itself; "
    "flat 5-NN: the same in the projection",
    "silhouette: near 1 if an image is much nearer to its class than to the next one, negative if "
    "it is nearer to another; mean over the images, in the space itself",
    "picture: t-SNE, perplexity 30, the same seed in every panel; near points are alike, large "
    "distances mean little; known classes are filled, new ones hollow; points in "
    "runs/embedding.jsonl",
)


def projections(data: Sequence[str], *, seed: int = 0, is_quick: bool = False) -> list[Projection]:
    """Return the projections of the picture, a row per data set."""
    per_class = QUICK_PER_CLASS if is_quick else PER_CLASS
    return [Projection(name, seed, per_class) for name in dict.fromkeys(data)]


def make(
    rows: Sequence[Projection],
    out: Path,
    *,
    data_dir: Path | None = None,
    jobs: int = 1,
    on_done: Done | None = None,
) -> Sheet:
    """Return the table and the picture of what `projections` returned.

    Parameters
    ----------
    rows
        What to show; all of one seed and size.
    out
        The folder of results; csim does not repeat projections that are in it.
    data_dir
        The folder of data sets; `CSIM_DATA` if not given.
    jobs
        Rows at a time. Higher is faster, up to the number of cores.
    on_done
        Called with the parts done and in all, for progress.
    """
    contents = project_all(rows, out, data_dir=data_dir, jobs=jobs, on_done=on_done)
    seed = rows[0].seed
    is_quick = rows[0].per_class == QUICK_PER_CLASS
    options = (
        [f"--dataset {row.data}" for row in rows]
        + [f"--seed {seed}"] * bool(seed)
        + ["--quick"] * is_quick
    )
    table = Table(
        name="embedding" + f"-seed{seed}" * bool(seed) + "-quick" * is_quick,
        title="Images of all classes as pixels and as vectors",
        notes=[*_sample_notes(contents, is_quick), *NOTES],
        keys=["data set", "space"],
        rows=[_row(content, space) for content in contents for space in EVERY_SPACE],
        command=" ".join(["csim bench embedding", *options]),
    )
    return Sheet(table, _draw(contents))


def _sample_notes(contents: Sequence[Content], is_quick: bool) -> list[str]:
    known = "; ".join(
        f"{content['data']}: {', '.join(content['sample']['known'])}" for content in contents
    )
    quick = " (quick)" if is_quick else ""
    return [
        f"known, r = 0.3: {known}; 1,000 labelled images of each, or half of a small class; a "
        "tenth is held out, and networks and metric learners learn from the rest",
        f"images: {contents[0]['per_class']} of every class{quick}, {MOST_IMAGES:,} at most in "
        "all, the same in every space; they are from the stream, and nothing has learned from them",
    ]


def _row(content: Content, space: str) -> Row:
    return {"data set": content["data"], "space": space, **content["panels"][space]["figures"]}


def _draw(contents: Sequence[Content]) -> Figure:
    """Draw a row of panels per data set, with a legend of its classes."""
    with drawing():
        lines = -(-len(EVERY_SPACE) // _COLUMNS)
        figure = Figure(figsize=(13.5, 3.4 * lines * len(contents)), layout="constrained")
        for row, content in zip(
            figure.subfigures(len(contents), 1, squeeze=False)[:, 0], contents, strict=True
        ):
            _draw_row(row, content)
        return figure


def _draw_row(row: SubFigure, content: Content) -> None:
    names = np.array(content["sample"]["names"], object)
    known = set(content["sample"]["known"])
    classes = sorted(set(names), key=lambda name: (name not in known, name))
    panels = row.subplots(-(-len(EVERY_SPACE) // _COLUMNS), _COLUMNS).ravel()
    for axes in panels[len(EVERY_SPACE) :]:
        axes.remove()
    for axes, space in zip(panels, EVERY_SPACE, strict=False):
        panel = content["panels"][space]
        points = np.array(panel["points"])  # (n, 2)
        figures = panel["figures"]
        for index, name in enumerate(classes):
            style = _style(index, is_known=name in known)
            axes.plot(*points[names == name].T, markersize=4.2, alpha=0.85, **style)
        axes.set(title=TITLES[space], xticks=[], yticks=[])
        axes.set_xlabel(
            f"5-NN: known {figures['5-NN known %']:.0f} %, new {figures['5-NN new %']:.0f} %"
        )
        for spine in axes.spines.values():
            spine.set_visible(True)
    row.suptitle(content["data"], x=0.01, ha="left", fontsize=11, fontweight="bold")
    _draw_legend(row, classes, len(known))


def _style(index: int, *, is_known: bool) -> dict[str, Any]:
    """Return a class's colour and marker: filled if it is known, hollow if it is new."""
    colour = _COLOURS[index % len(_COLOURS)]
    return {
        "color": colour,
        "marker": _MARKERS[index % len(_MARKERS)],
        "linestyle": "none",
        "markerfacecolor": colour if is_known else "none",
        "markeredgewidth": 0.0 if is_known else 0.8,
    }


def _draw_legend(row: SubFigure, classes: Sequence[str], known: int) -> None:
    """Draw a legend: the known classes, which come first, then the new ones, with headings."""
    handles = [
        Line2D([], [], markersize=6, **_style(index, is_known=index < known))
        for index in range(len(classes))
    ]
    heading = Line2D([], [], linestyle="none")
    words = [_HEADINGS[0], *classes[:known], _HEADINGS[1], *classes[known:]]
    legend = row.legend(
        [heading, *handles[:known], heading, *handles[known:]],
        [str(index) for index in range(len(words))],
        loc="outside right center",
        ncols=-(-len(words) // _LEGEND_LINES),
        handletextpad=0.2,
    )
    for index, (text, word) in enumerate(zip(legend.get_texts(), words, strict=True)):
        text.set_text(word)  # set here, because matplotlib drops labels that start with "_"
        text.set_parse_math(False)  # a class may be called "$5"
        text.set_fontweight("bold" if index in (0, known + 1) else "normal")
