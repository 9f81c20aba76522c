"""Draw docs/images/demo.png, the picture of the README: `python docs/images/demo.py`.

It runs the stream of `csim demo` (seed 0, about a minute) and draws one row per class and one
line per image. The colour says whether csim named the image right.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from csim.bench.datasets.digits import digits
from csim.bench.methods import open_with
from csim.bench.run import run
from csim.bench.scenario import Stream, paper_stream
from csim.cli.demo import settings
from csim.records import Accepted, Asked, ClassAdded, Event, Labelled, Revised
from csim.threads import one_thread

# Names at arrival and in the end by item id, and the positions that csim asked about.
Outcomes = tuple[dict[str, str | None], dict[str, str | None], list[int]]

COLOURS = {
    "named right at arrival": "#2a6fbb",
    "named right later": "#a5c8ec",
    "wrong in the end": "#e4572e",
}


def main() -> None:
    """Run the stream and write the picture beside this file."""
    stream = paper_stream(digits(), known_share=0.3, seed=0)
    with one_thread():
        events = run(stream, open_with(settings(0))).events
    known = sorted(set(stream.warm_up_names))
    new = [name for name, _ in sorted(stream.starts.items(), key=lambda pair: pair[1])]

    figure, axes = plt.subplots(figsize=(10, 4.5), dpi=110)
    for row, name in enumerate([*known, *new]):
        draw_class(axes, row, name, stream, outcomes(events))
    draw_legend(axes)
    last = len(known) - 1
    axes.axhline(last + 0.45, color="#888888", linewidth=0.8, linestyle=(0, (4, 3)))
    axes.text(1545, last / 2, "known at\nthe start", va="center", fontsize=10)
    axes.text(
        1545, last + (len(new) + 1) / 2, "discovered\nin the stream", va="center", fontsize=10
    )
    axes.set_xlim(-150, 1760)
    axes.set_ylim(len(known) + len(new) - 0.4, -0.8)
    axes.set_xticks([1, 500, 1000, 1500], ["1", "500", "1,000", "1,500"])
    axes.set_yticks([])
    axes.set_xlabel("images of the stream, in order of arrival", fontsize=10)
    axes.spines[:].set_visible(False)
    figure.tight_layout()
    figure.savefig(Path(__file__).with_name("demo.png"), facecolor="white")


def draw_class(axes: Axes, row: int, name: str, stream: Stream, seen: Outcomes) -> None:
    """Draw a class's first image, a line per image and a triangle per question."""
    arrival, final, asked = seen
    truth = np.array(stream.names)
    positions = np.flatnonzero(truth == name) + 1
    colours = [colour(str(position), name, arrival, final) for position in positions]
    axes.vlines(positions, row - 0.34, row + 0.22, colors=colours, linewidth=1.3)
    shown = [position for position in asked if truth[position - 1] == name]
    axes.plot(shown, [row - 0.42] * len(shown), "v", color="black", markersize=3.6, clip_on=False)
    axes.text(-104, row - 0.05, name, ha="right", va="center", fontsize=12, weight="bold")
    axes.imshow(
        stream.images[positions[0] - 1],
        cmap="gray_r",
        extent=(-82, -34, row + 0.30, row - 0.40),
        aspect="auto",
        zorder=3,
        interpolation="bicubic",
    )


def draw_legend(axes: Axes) -> None:
    """Explain colours and triangles above the picture."""
    lines = [
        Line2D([], [], color=shade, linewidth=5, label=text) for text, shade in COLOURS.items()
    ]
    triangle = Line2D(
        [], [], color="black", marker="v", linestyle="", markersize=5, label="csim asks"
    )
    axes.legend(
        handles=[*lines, triangle],
        ncols=4,
        loc="lower center",
        bbox_to_anchor=(0.47, 1.0),
        frameon=False,
        fontsize=10,
    )


def outcomes(events: list[Event]) -> Outcomes:
    """Return each image's name at arrival, its name in the end, and the positions asked about."""
    names: dict[int | None, str | None] = {None: None}
    arrival: dict[str, str | None] = {}
    final: dict[str, str | None] = {}
    asked: list[int] = []
    for event in events:
        if isinstance(event, ClassAdded):
            names[event.class_id] = event.name
        elif isinstance(event, Accepted):
            final[event.item_id] = names[event.class_id]
            arrival[event.item_id] = final[event.item_id]
        elif isinstance(event, Labelled):
            final[event.item_id] = names[event.class_id]
        elif isinstance(event, Revised):
            final[event.item_id] = names[event.after]
        elif isinstance(event, Asked):
            asked.append(event.question.representative.position)
    return arrival, final, asked


def colour(
    item: str, name: str, arrival: dict[str, str | None], final: dict[str, str | None]
) -> str:
    """Return the colour of an image's line."""
    right, late, wrong = COLOURS.values()
    if final.get(item) != name:
        return wrong
    return right if arrival.get(item) == name else late


if __name__ == "__main__":
    main()
