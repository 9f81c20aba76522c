"""How fast csim is: the loss, the training, `observe` and `csim --help`, each against a yardstick.

    csim bench speed                 # 1 minute on one core, seed 0

Both sides of a ratio are measured in turns, so that other work on the machine slows both. Expect:

- the triplet loss 35 times as fast as the cube of all triplets (bar: 20)
- training 1.1 to 1.3 times as long as with cross-entropy alone (bar: 1.5)
- `observe` at 85 to 98 % of the bare network's images per second (bar: 70 %)
- `csim --help` in less than 0.4 times what `import torch` takes (bar: 0.4)
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from functools import partial
from itertools import cycle
from statistics import median

import torch
from torch import Tensor
from torch.nn import functional

from csim.bench.datasets import DataSet
from csim.bench.layout.rows import Done, measure_all
from csim.bench.layout.table import Row, Table
from csim.bench.vectors.networks import KNOWN, PER_CLASS, learn
from csim.bench.vectors.samples import examples
from csim.build import make_body
from csim.classifier import StreamClassifier
from csim.embed.encoder import to_inputs
from csim.embed.losses import log_distance_matrix, triplet_loss
from csim.embed.mining import AllPositive
from csim.embed.network import OpenWorldNetwork
from csim.settings import Settings

LOSS_BAR = 20.0
TRAINING_BAR = 1.5
OBSERVE_BAR = 0.7
HELP_BAR = 0.4
BATCH = 256

Step = Callable[[], object]
Seconds = tuple[float, float]  # what csim takes, and what it is compared with


def make(data: DataSet, *, settings: Settings, on_done: Done | None = None) -> Table:
    """Return the table: training measured with `settings`, `observe` with the default settings."""
    cases: list[Callable[[], Row]] = [
        lambda: _row("triplet loss", "n³ cube", race_losses(), f"speed ≥ {LOSS_BAR:g}"),
        lambda: _row(
            "training",
            "cross-entropy alone",
            race_training(data, settings),
            f"time ≤ {TRAINING_BAR:g}",
        ),
        lambda: _row("observe", "network alone", race_observing(data), f"speed ≥ {OBSERVE_BAR:g}"),
        lambda: _row("csim --help", "import torch", race_help(), f"time < {HELP_BAR:g}"),
    ]
    return Table(
        name="speed",
        title="Speed of the loss, of training and of the engine",
        notes=[
            "seconds: the two sides take turns; the best round of the loss, medians of the others",
            "speed, time: as multiples of the other side's",
            f"triplet loss: forward and backward, batch {BATCH}, all triplets of positive loss",
            f"training: {data.name}, {KNOWN} known classes, {settings.epochs} epochs, "
            f"seed {settings.seed}",
            f"observe: {BATCH} images, default settings, no question due; "
            "network: forward pass on ready tensors",
            "csim --help, import torch: a new Python process each",
        ],
        settings=settings,
        keys=["what"],
        rows=measure_all(lambda case: case(), cases, on_done=on_done),
    )


def race_losses(*, size: int = BATCH, rounds: int = 7) -> Seconds:
    """Return the seconds of one batch's triplet loss, forward and backward: csim's, and the cube.

    Parameters
    ----------
    size
        Images in the batch. Higher favours csim: the cube grows with the third power.
    rounds
        Turns of each side. Higher makes the ratio steadier.
    """
    generator = torch.Generator().manual_seed(0)
    vectors = functional.normalize(
        torch.randn(size, 200, generator=generator), dim=1
    ).requires_grad_()
    columns = torch.arange(size) % 10

    def ours() -> None:
        log_distances = log_distance_matrix(vectors)
        with torch.no_grad():
            pairs = AllPositive().count(log_distances, columns, 1.0)
        triplet_loss(log_distances, pairs, 1.0).backward()  # type: ignore[no-untyped-call]

    def other() -> None:
        loss = cube_loss(log_distance_matrix(vectors), columns, 1.0)
        loss.backward()  # type: ignore[no-untyped-call]

    return race(ours, other, rounds, of=min)  # so short that a page fault would move the median


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


def race_observing(data: DataSet, *, rounds: int = 40, per_class: int = PER_CLASS) -> Seconds:
    """Return the seconds of a batch: `observe` of the default classifier, and the bare network.

    Parameters
    ----------
    data
        Where the images come from.
    rounds
        Batches for each side. Higher makes the ratio steadier.
    per_class
        Labelled images of each known class. Higher makes only the preparation longer.
    """
    settings = Settings(recent=10**9, ask_every=10**9)  # so large that no question is due
    classes = sorted(set(data.names))[:KNOWN]
    images, columns = examples(data, classes, per_class, settings.seed)
    classifier = StreamClassifier(settings).fit(images, [classes[column] for column in columns])
    network = OpenWorldNetwork(make_body(settings, images.shape[1:]), range(KNOWN)).eval()
    batches = [
        data.images[first : first + BATCH]
        for first in range(0, min(len(data.images), rounds * BATCH), BATCH)
    ]
    arriving = cycle(batches)
    ready = cycle([to_inputs(batch, torch.device("cpu")) for batch in batches])

    def forward() -> Tensor:
        with torch.inference_mode():
            return torch.sigmoid(network(next(ready))[1])

    return race(lambda: classifier.observe(next(arriving)), forward, rounds)


def race_help(*, rounds: int = 5) -> Seconds:
    """Return the seconds of two new processes: `csim --help`, and Python importing torch.

    Parameters
    ----------
    rounds
        Turns of each side. Higher makes the ratio steadier.
    """
    return race(
        partial(_python, "-m", "csim", "--help"), partial(_python, "-c", "import torch"), rounds
    )


def race(
    ours: Step, other: Step, rounds: int, *, of: Callable[[Iterable[float]], float] = median
) -> Seconds:
    """Return the seconds of two steps that take turns.

    Parameters
    ----------
    ours, other
        The two steps.
    rounds
        Turns of each. Higher makes the result steadier.
    of
        What to return of all rounds, for each step.
    """
    times = [(_seconds(ours), _seconds(other)) for _ in range(rounds)]
    return of(first for first, _ in times), of(second for _, second in times)


def cube_loss(log_distances: Tensor, columns: Tensor, margin: float) -> Tensor:
    """Return the triplet loss written out: the mean over all n³ triplets of positive loss.

    Parameters
    ----------
    log_distances
        Between all images of a batch, (n, n).
    columns
        The class of each image, as the network's column.
    margin
        Of the loss. Higher counts more triplets.
    """
    is_same = columns[:, None] == columns
    is_pair = is_same & ~torch.eye(len(columns), dtype=torch.bool)
    # (anchor, positive, negative)
    losses = log_distances[:, :, None] + margin - log_distances[:, None, :]
    counts = is_pair[:, :, None] & ~is_same[:, None, :] & (losses > 0)
    return torch.where(counts, losses, 0.0).sum() / counts.sum().clamp(min=1)


def _python(*arguments: str) -> None:
    command = [sys.executable, *arguments]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)  # noqa: S603


def _seconds(step: Step) -> float:
    start = time.perf_counter()
    step()
    return time.perf_counter() - start


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
