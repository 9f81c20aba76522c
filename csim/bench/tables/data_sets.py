"""The table of data sets: how large they are, what streams they make, and what their images look like.

    csim bench data-sets             # seconds: nothing is run, the images are only loaded

Streams are drawn with seed 0. Classes of EMNIST differ in size: another seed, which knows other classes, has another
warm-up by some hundred images. The paper's table prints 70,000 images for CIFAR-10; its text says 60,000, and that is
what there is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from csim.bench.case import Case
from csim.bench.datasets import DataSet
from csim.bench.scenario.split import draw_split
from csim.bench.tables.panels import make_grid
from csim.bench.tables.plan import Plan
from csim.bench.tables.reported import DATA_SETS
from csim.bench.tables.sheet import Sheet, drawing
from csim.bench.tables.table import Row, Table
from csim.records import Images

SHARES = (0.3, 0.5)
_WARM_UP = 1000  # labelled images of a known class: the paper's
_CLASSES, _SAMPLES = 10, 3  # of a data set in the picture
_GAP = 2  # pixels between two images
NOTES = (
    "train and test images together; features: pixels times channels; smallest, largest: images of a class",
    "labelled: images of the known classes before the stream starts, 1,000 of each or half of a smaller class; a tenth "
    "of them is held out to see later what was forgotten",
    "reported: the paper's own table; it prints 70,000 for CIFAR-10 and 60,000 in its text; its EMNIST is the Balanced "
    "split: the same classes as emnist-47, other images",
)


def cases(plan: Plan) -> list[Case]:
    """Return the runs that the table needs: none."""
    return []


def make(data_sets: Sequence[DataSet], seed: int = 0) -> Sheet:
    """Return the table and a picture of some images.

    Parameters
    ----------
    data_sets
        Whole, as they are loaded.
    seed
        Draws which classes are known when the streams start.
    """
    table = Table(
        name="data-sets",
        title="Data sets",
        notes=[*NOTES, f"streams are drawn with seed {seed}"],
        keys=["data set"],
        rows=[_row(data, seed) for data in data_sets],
        command=" ".join(
            ["csim bench data-sets", *(f"--dataset {data.name}" for data in data_sets)]
        ),
    )
    return Sheet(table, _draw(data_sets))


def _row(data: DataSet, seed: int) -> Row:
    sizes = Counter(data.names)
    features, classes, instances = DATA_SETS.get(data.name, ("", "", ""))
    streams = [(share, *_lengths(data, share, seed)) for share in SHARES]
    return {
        "data set": data.name,
        "image": "×".join(map(str, data.images.shape[1:])),
        "features": int(np.prod(data.images.shape[1:])),
        "classes": len(sizes),
        "images": len(data.images),
        "smallest class": min(sizes.values()),
        "largest class": max(sizes.values()),
        **{f"labelled, r = {share:g}": labelled for share, labelled, _ in streams},
        **{f"stream, r = {share:g}": coming for share, _, coming in streams},
        "reported features": features,
        "reported classes": classes,
        "reported images": instances,
    }


def _lengths(data: DataSet, known_share: float, seed: int) -> tuple[int, int]:
    """Return how many images are labelled before the stream, and how many are in it."""
    split = draw_split(data, known_share=known_share, seed=seed, warm_up=_WARM_UP)
    return sum(map(len, [*split.warm_up, *split.held_out])), sum(map(len, split.streamed))


def _draw(data_sets: Sequence[DataSet]) -> Figure:
    """Draw the first images of some classes, a strip per data set."""
    with drawing():
        figure, rows = make_grid(len(data_sets), 1, size=(7.4, 2.35))
        for (axes,), data in zip(rows, data_sets, strict=True):
            _draw_strip(axes, data)
        return figure


def _draw_strip(axes: Axes, data: DataSet) -> None:
    classes = list(dict.fromkeys(sorted(data.names)))
    shown = [
        classes[place]
        for place in np.linspace(0, len(classes) - 1, min(_CLASSES, len(classes))).astype(int)
    ]
    labels = np.array(data.names, object)
    columns = [data.images[np.flatnonzero(labels == name)[:_SAMPLES]] for name in shown]
    axes.imshow(mosaic(columns), cmap="gray", vmin=0, vmax=255, interpolation="nearest")
    width = data.images.shape[2] + _GAP
    axes.set_xticks(
        [place * width + (width - _GAP) / 2 for place in range(len(shown))], shown, fontsize=8
    )
    axes.tick_params(length=0, labeltop=True, labelbottom=False)
    axes.set(yticks=[])
    some = f", {len(shown)} of {len(classes)} classes" if len(shown) < len(classes) else ""
    axes.set_title(f"{data.name}{some}", loc="left", pad=20)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)


def mosaic(columns: Sequence[Images]) -> Images:
    """Return one picture of images, a column per class and white between them; a missing image stays white."""
    height, width = columns[0].shape[1] + _GAP, columns[0].shape[2] + _GAP
    shape = (
        height * max(map(len, columns)) - _GAP,
        width * len(columns) - _GAP,
        *columns[0].shape[3:],
    )
    picture = np.full(shape, 255, np.uint8)
    for column, images in enumerate(columns):
        for row, image in enumerate(images):
            top, left = row * height, column * width
            picture[top : top + height - _GAP, left : left + width - _GAP] = image
    return picture
