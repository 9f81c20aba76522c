"""Races: two steps take turns, so that other work on the machine slows both."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from functools import partial
from statistics import median

import torch
from torch import Tensor
from torch.nn import functional

from csim.embed.losses import log_distance_matrix, triplet_loss
from csim.embed.mining import AllPositive

BATCH = 256

Step = Callable[[], object]
Seconds = tuple[float, float]  # what csim takes, and what it is compared with


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
    times = [(seconds_of(ours), seconds_of(other)) for _ in range(rounds)]
    return of(first for first, _ in times), of(second for _, second in times)


def seconds_of(step: Step) -> float:
    """Return how long a step takes."""
    start = time.perf_counter()
    step()
    return time.perf_counter() - start


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


def _python(*arguments: str) -> None:
    command = [sys.executable, *arguments]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)  # noqa: S603
