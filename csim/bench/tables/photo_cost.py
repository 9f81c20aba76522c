"""What a stream of photographs costs beside its encoder, `lite0` at 224×224 pixels.

    csim bench photo-cost            # fruits, every third image, and groceries, seed 0: two minutes

Encoder and stream are timed in the same run, so that other work on the machine slows both. A long
stream has a full window to search and more labels to learn from, so it is timed too. Expect one
forward pass per image, less than 8 kB of memory per remembered image and 3 kB of disk space per
image, beside the pictures that are kept for people. The pace depends on how fast the encoder is.
"""

from __future__ import annotations

from pathlib import Path

from csim.bench.datasets import DataSet
from csim.bench.layout.rows import Done
from csim.bench.layout.table import Row, Table
from csim.bench.scenario import make as make_stream
from csim.bench.speed.photographs import (
    SETTINGS,
    Pace,
    folder_growth,
    memory_per_image,
    time_stream,
)
from csim.threads import one_thread

_REMEMBERED = 1000  # images
_MARKS = (600, 1200)  # images in the folder
_KNOWN_SHARE = 0.3
_KB = 1000


def make(
    data: DataSet, large: DataSet, work: Path, *, seed: int, on_done: Done | None = None
) -> Table:
    """Return the table.

    Parameters
    ----------
    data
        Photographs of the encoder's size, at least 1,200 more than the warm-up takes.
    large
        Photographs of the encoder's size for a long stream.
    work
        An empty folder.
    seed
        Draws the stream.
    on_done
        Called after each measurement.
    """
    streams = {
        images.name: make_stream("paper", images, known_share=_KNOWN_SHARE, seed=seed)
        for images in (data, large)
    }
    rows: list[Row] = []
    paces = {}
    with one_thread():  # as in a stream folder; several are slower for such small sums
        for name, timed in streams.items():
            paces[name] = (time_stream(timed), len(timed.images))
            _tell(on_done, len(paces))
    stream = streams[data.name]
    pace, count = paces[data.name]
    rows.append(_row("forward passes per image", pace.passes, "≤ 1.1", f"{count:,} images"))
    rows += [_pace_row(name, *timed) for name, timed in paces.items()]
    memory = memory_per_image(stream, min(_REMEMBERED, count)) / _KB
    rows.append(_row("memory per remembered image, kB", memory, "< 8", "beside a thumbnail"))
    _tell(on_done, 3)
    growth = folder_growth(stream, work, _MARKS) / _KB
    between = f"from image {_MARKS[0]:,} to {_MARKS[1]:,}, beside kept pictures"
    rows.append(_row("folder per image, kB", growth, "< 3", between))
    _tell(on_done, 4)
    return Table(
        name="photo-cost",
        title="What a stream of photographs costs beside its encoder",
        notes=[
            f"{data.name}, {len(data.images):,} images of 224×224 pixels, and {large.name}, "
            f"{len(large.images):,}; seed {seed}, 5 % of labels, answers at once; one thread",
            "pace: seconds inside the encoder / seconds of the whole stream, warm-up apart",
            "memory: what Python and numpy hold after observing "
            f"{min(_REMEMBERED, count):,} images",
            "folder: growth of all files of a stream folder whose window of 200 images is full; "
            "csim asks nothing",
        ],
        settings=SETTINGS,
        keys=["what"],
        rows=rows,
        command=f"csim bench photo-cost --seed {seed}",
    )


def _tell(on_done: Done | None, done: int) -> None:
    if on_done:
        on_done(done, 4)


def _pace_row(name: str, pace: Pace, count: int) -> Row:
    detail = (
        f"{1000 * pace.encoder / count:.1f} of {1000 * pace.stream / count:.1f} ms per image, "
        f"{count:,} images"
    )
    share = pace.encoder / pace.stream
    return _row(f"pace, share of the encoder's, {name}", share, "≥ 0.7", detail)


def _row(what: str, figure: float, bar: str, detail: str) -> Row:
    return {"what": what, "figure": figure, "bar": bar, "detail": detail}
