"""How fast csim is: each figure beside what it is compared with, in the same run.

    csim bench speed                 # minutes on one core, seed 0
    csim bench speed --check         # and compare the ratios with those in results/speed.csv

Both sides of a ratio are measured in turns, so that other work on the machine slows both. Rows:

- stream: a whole stream of Fashion-MNIST, 4.3 % of labels, default settings on ONNX Runtime, with
  and without its training, against torch's forward pass of its images, and against ECSMiner
- observe: a batch of 256, and single images, against ONNX Runtime alone; p99 against the median
- csim run: PNG files to predictions on disk, default budget, against decoding and forward pass;
  with default settings, with those for 5,000 images per second, and for tiny images
- search: a search in a window of 20,000 images, 1,250 of them new, against one in 2,000
- update: 1,000 classes against 100;  image, memory: after a million images against after 10,000
- triplet loss, training, csim --help: as in docs/training.md

The picture shows what a search, an update and an image cost as windows, classes and streams grow.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from itertools import cycle
from pathlib import Path
from statistics import median

import numpy as np
from matplotlib.figure import Figure

from csim.bench.case import Case
from csim.bench.datasets import DataSet
from csim.bench.durability import pace
from csim.bench.durability.material import make_folder, make_stream, noisy_digits
from csim.bench.layout.panels import from_zero, make_grid
from csim.bench.layout.rows import Done
from csim.bench.layout.sheet import STYLES, Sheet, drawing
from csim.bench.layout.table import Row, Table
from csim.bench.speed.growth import Growth, Sizes, measure_growth
from csim.bench.speed.races import BATCH, Seconds, race, race_help, race_losses, seconds_of
from csim.bench.speed.whole_stream import time_stream
from csim.bench.vectors.networks import KNOWN, PER_CLASS, learn
from csim.bench.vectors.samples import examples
from csim.build import make_body
from csim.classifier import StreamClassifier
from csim.embed.graph import GraphEncoder
from csim.embed.network import OpenWorldNetwork
from csim.records import Images
from csim.settings import Settings
from csim.threads import one_thread

LOSS_BAR = 20.0
TRAINING_BAR = 1.5
HELP_BAR = 0.4
DEVICE = "onnx"
TOLERANCE = 1.5  # a ratio may be this much worse than the saved one before `check` names it
_BUDGET = 0.043
_FILES = 20_000
_UNTIMED = 8_000  # images before the first that is timed
_RATE = 5_000  # images per second: `csim init --images-per-second`


def make(
    data: DataSet,
    whole: DataSet,
    work: Path,
    *,
    settings: Settings,
    on_done: Done | None = None,
) -> Sheet:
    """Return the table, and a picture of what grows.

    Parameters
    ----------
    data
        Images to train on and to observe.
    whole
        The images of the stream.
    work
        An empty folder for a stream folder.
    settings
        Of the rows of the loss and of training.
    on_done
        Called after each measurement.
    """
    cases: list[Callable[[], list[Row]]] = [
        lambda: _stream_rows(whole),
        lambda: _observing_rows(data),
        lambda: _run_rows(whole, work),
        lambda: _training_rows(data, settings),
        lambda: [_row("csim --help", "import torch", race_help(), f"time < {HELP_BAR:g}")],
    ]
    rows: list[Row] = []
    with one_thread():  # for both sides: as in a stream folder, and faster for ECSMiner
        for index, case in enumerate(cases, start=1):
            rows += case()
            if on_done:
                on_done(index, len(cases) + 1)
        growth = measure_growth(data, DEVICE, Sizes())
    table = Table(
        name="speed",
        title="Speed: each figure beside what it is compared with, in the same run",
        notes=[
            "seconds: the two sides take turns; medians, but the best round of the loss and of "
            "csim run",
            "speed, time: as multiples of the other side's",
            f"stream: {whole.name}, {len(whole.images):,} images, {100 * _BUDGET:g} % of labels, "
            "answers at once, seed 0, "
            f"device={DEVICE}; forward pass: torch, batches of {BATCH}, between the images of the "
            "same stream; ECSMiner's seconds in units of its own forward passes",
            "observe: the recent window is full, no search is due; ONNX Runtime: forward pass of "
            "the same batch",
            f"csim run: {_FILES:,} PNG files of {whole.name}, default budget, nobody answers; for "
            f"{_RATE:,}/s: a search every {Settings().for_rate(_RATE).ask_every:,} images; 8×8 "
            "pixels: digits with noise",
            "search: in a full window, a sixteenth of it new",
            "image: questions are skipped, as if somebody saw to them; memory: nobody answers",
            f"triplet loss: forward and backward, batch {BATCH}, all triplets of positive loss",
            f"training: {data.name}, {KNOWN} known classes, {settings.epochs} epochs, "
            f"seed {settings.seed}",
            "csim --help, import torch: a new Python process each",
        ],
        settings=settings,
        keys=["what", "compared with"],
        rows=[*rows, *_growth_rows(growth)],
    )
    return Sheet(table, _draw(growth))


def worse_than(saved: str, table: Table) -> list[str]:
    """Return a line for each ratio that is worse than in the CSV text of an earlier table.

    A ratio is worse if csim takes more than 1.5 times as long, compared with the other side.
    """
    before = {
        (row["what"], row["compared with"]): float(row["time"])
        for row in csv.DictReader(io.StringIO(saved))
    }
    lines: list[str] = []
    for row in table.rows:
        earlier = before.get((str(row["what"]), str(row["compared with"])))
        now = row["time"]
        assert isinstance(now, float)
        if earlier is not None and now > TOLERANCE * earlier:
            lines.append(
                f"{row['what']} takes {now:.3g} times as long as {row['compared with']}, "
                f"it was {earlier:.3g}"
            )
    return lines


def _stream_rows(whole: DataSet) -> list[Row]:
    ours = time_stream(
        Case("default", whole.name, budget=_BUDGET, changes={"device": DEVICE}), whole
    )
    miner = time_stream(Case("ecsminer", whole.name), whole)
    rest = ours.total - ours.training
    scaled = miner.total * ours.forward / miner.forward  # as if both had run at the same pace
    return [
        _row("stream, no training", "forward pass", (rest, ours.forward), "time ≤ 5"),
        _row("stream", "forward pass", (ours.total, ours.forward), "time ≤ 22"),
        _row("stream, no training", "ecsminer", (rest, scaled), "time ≤ 1"),
        _row("stream", "ecsminer", (ours.total, scaled), "time ≤ 5"),
    ]


def _observing_rows(data: DataSet) -> list[Row]:
    batch = race_observing(data, BATCH)
    single = race_observing(data, 1, rounds=600)
    return [
        _row(f"observe {BATCH}", "ONNX Runtime", _medians(batch), "speed ≥ 0.8"),
        _row("observe 1", "ONNX Runtime", _medians(single), "time ≤ 2.5"),
        _row("observe 1, p99", "its median", _slowest(single), "time ≤ 4"),
    ]


def _training_rows(data: DataSet, settings: Settings) -> list[Row]:
    training = race_training(data, settings)
    return [
        _row("triplet loss", "n³ cube", race_losses(), f"speed ≥ {LOSS_BAR:g}"),
        _row("training", "cross-entropy alone", training, f"time ≤ {TRAINING_BAR:g}"),
    ]


def _run_rows(whole: DataSet, work: Path) -> list[Row]:
    usual = Settings(epochs=4, device=DEVICE)
    stream = Case("default", whole.name).stream(whole)
    known = (stream.warm_up, stream.warm_up_names)
    images = stream.images[:_FILES]
    digits, _ = noisy_digits(len(images), 0)
    races: dict[str, tuple[Images, Callable[[Path], None]]] = {
        "csim run": (images, lambda root: make_folder(root, usual, *known)),
        f"csim run, for {_RATE:,}/s": (
            images,
            lambda root: make_folder(root, usual.for_rate(_RATE), *known),
        ),
        "csim run, 8×8 pixels": (digits, lambda root: make_stream(root, usual, 0)),
    }
    rows: list[Row] = []
    for what, (files, make_new) in races.items():
        folder = work / f"run{len(rows)}"
        folder.mkdir()
        ours, alone = pace.race(folder, files, make_new)
        seconds = (len(files) / ours, len(files) / alone)
        rows.append(_row(what, "decoding and forward", seconds, "speed ≥ 0.6"))
    return rows


def _growth_rows(growth: Growth) -> list[Row]:
    return [
        _growth_row("search in", growth.search, 1, "seconds ≤ 1"),
        _growth_row("update of classes:", growth.update, 1, "time ≤ 10"),
        _growth_row("image after", growth.image, 0, "time ≤ 1.2"),
        _growth_row("the same, nobody answers:", growth.unanswered, 0, "time ≤ 1.2"),
        _growth_row("memory after", growth.memory, 0, "time ≤ 1.1"),
    ]


def _growth_row(what: str, costs: dict[int, float], base: int, bar: str) -> Row:
    """Compare the largest size with the one at an index."""
    largest, small = max(costs), sorted(costs)[base]
    seconds = (costs[largest], costs[small])
    return _row(f"{what} {largest:,}", f"{small:,}", seconds, bar)


def _draw(growth: Growth) -> Figure:
    """Draw what a search, an update, and an image cost against what they grow with."""
    panels = [
        ("a search", "images in the recent window", growth.search),
        ("a training after new answers", "classes", growth.update),
        ("an image", "images before it", growth.image),
        ("an image, nobody answers", "images before it", growth.unanswered),
    ]
    with drawing():
        figure, ((*row,),) = make_grid(1, len(panels), size=(2.4, 2.4))
        for axes, (title, label, costs) in zip(row, panels, strict=True):
            axes.plot([*costs], [1000 * seconds for seconds in costs.values()], **STYLES["default"])
            axes.set(title=title, xlabel=label, xscale="log", ylim=from_zero(axes.dataLim.y1))
        row[0].set_ylabel("milliseconds")
        return figure


def race_training(
    data: DataSet, settings: Settings, *, rounds: int = 3, per_class: int = PER_CLASS
) -> Seconds:
    """Return the seconds of training on a warm-up: `settings`, and cross-entropy alone.

    Parameters
    ----------
    data
        Where the images come from.
    settings
        Of the network and its training.
    rounds
        Turns of each side. Higher makes the ratio steadier.
    per_class
        Images of each known class. Higher takes longer in proportion.
    """
    alone = Settings.from_dict(settings.to_dict() | {"beta": 0.0, "class_loss": "even"})
    images, columns = examples(data, sorted(set(data.names))[:KNOWN], per_class, settings.seed)
    return race(
        lambda: learn(settings, images, columns), lambda: learn(alone, images, columns), rounds
    )


def race_observing(
    data: DataSet, size: int, *, rounds: int = 40, per_class: int = PER_CLASS
) -> list[Seconds]:
    """Return the seconds of each batch: `observe` of the default classifier, and the bare network.

    Parameters
    ----------
    data
        Where the images come from.
    size
        Images in a batch. Higher takes longer.
    rounds
        Batches for each side. Higher makes the ratio steadier.
    per_class
        Labelled images of each known class. Higher makes only the preparation longer.
    """
    settings = Settings(budget=0.0, device=DEVICE).for_rate(_RATE)
    classes = sorted(set(data.names))[:KNOWN]
    images, columns = examples(data, classes, per_class, settings.seed)
    classifier = StreamClassifier(settings).fit(images, [classes[column] for column in columns])
    network = OpenWorldNetwork(make_body(settings, images.shape[1:]), range(KNOWN))
    encoder = GraphEncoder(network.arrays(), images.shape[1:])
    batches = cycle(np.array_split(data.images, len(data.images) // size))
    for _ in range(
        -(-_UNTIMED // size)
    ):  # until the recent window and the memory of views are full
        classifier.observe(next(batches))
    times: list[Seconds] = []
    while len(times) < rounds:
        batch = next(batches)
        if classifier.until_search <= len(batch):
            classifier.observe(batch)
            continue
        times.append(
            (
                seconds_of(lambda batch=batch: classifier.observe(batch)),  # type: ignore[misc]
                seconds_of(lambda batch=batch: encoder.embed(batch)),  # type: ignore[misc]
            )
        )
    return times


def _medians(times: Sequence[Seconds]) -> Seconds:
    return median(ours for ours, _ in times), median(other for _, other in times)


def _slowest(times: Sequence[Seconds]) -> Seconds:
    """Return the 99th percentile of csim's side, and its median."""
    ours = [seconds for seconds, _ in times]
    return float(np.percentile(ours, 99)), median(ours)


def _row(what: str, compared: str, seconds: Seconds, bar: str) -> Row:
    ours, other = seconds
    return {
        "what": what,
        "seconds": ours,
        "compared with": compared,
        "its seconds": other,
        "speed": other / ours,
        "time": ours / other,
        "bar": bar,
    }
