"""What grows and what does not: cost against the window, the classes and the stream's length."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from csim.bench.datasets import DataSet
from csim.bench.durability.material import noisy_digits
from csim.bench.durability.pace import resident
from csim.build import build
from csim.classifier import StreamClassifier
from csim.records import Job
from csim.settings import Settings

_KNOWN = ("0", "1", "2")  # of the digits
_LABELLED = 300  # images
_PART = 2_000  # images of a stream at a time: with many open questions, one search
_PER_CLASS = 5  # images of each class in an update


@dataclass(frozen=True)
class Sizes:
    """Hold the sizes to measure at, each in rising order."""

    windows: tuple[int, ...] = (500, 2_000, 5_000, 10_000, 20_000)  # recent images
    classes: tuple[int, ...] = (10, 100, 300, 1_000)
    positions: tuple[int, ...] = (10_000, 100_000, 1_000_000)  # multiples of 2,000


@dataclass(frozen=True)
class Growth:
    """Hold seconds by size, and the resident memory in MB by position in the stream."""

    search: dict[int, float]  # by images in the recent window
    update: dict[int, float]  # by classes
    image: dict[int, float]  # by position; questions are skipped at once
    unanswered: dict[int, float]  # by position; nobody answers
    memory: dict[int, float]  # by position; nobody answers


def measure_growth(data: DataSet, device: str, sizes: Sizes) -> Growth:
    """Return what each size costs.

    Parameters
    ----------
    data
        Images for the searches; at least 1.2 times the largest window.
    device
        As in the settings.
    sizes
        What to measure at. Higher takes longer.
    """
    settings = Settings(epochs=1, device=device)
    image, _ = time_images(settings, sizes.positions, skip=True)
    unanswered, memory = time_images(settings, sizes.positions, skip=False)
    return Growth(
        search={window: time_search(data, window, device) for window in sizes.windows},
        update={classes: time_update(classes) for classes in sizes.classes},
        image=dict(zip(sizes.positions, image, strict=True)),
        unanswered=dict(zip(sizes.positions, unanswered, strict=True)),
        memory=dict(zip(sizes.positions, memory, strict=True)),
    )


def time_search(data: DataSet, window: int, device: str) -> float:
    """Return the seconds of a search in a full window.

    A sixteenth of it came since the search before, as with the default settings. All questions are
    skipped: while they wait, searches are rarer.

    Parameters
    ----------
    data
        Where the images come from; at least 1.2 times `window`.
    window
        Images in the recent window. Higher takes longer.
    device
        As in the settings.
    """
    images = data.images
    every = window // 16
    settings = Settings(epochs=1, recent=window, ask_every=every, device=device)
    classifier = StreamClassifier(settings).fit(images[:_LABELLED], data.names[:_LABELLED])
    position = 0
    while position < window:
        classifier.observe(images[position:][:every])
        position += every
        for question in classifier.questions():
            classifier.skip(question.id)
    last = position + every - 1  # the image that the search waits for
    classifier.observe(images[position:last])
    return _seconds(lambda: classifier.observe(images[last : last + 1]))


def time_update(classes: int) -> float:
    """Return the seconds of an update that has so many classes to learn. More take longer."""
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (_PER_CLASS * classes, 16, 16), np.uint8)
    labels = np.repeat(np.arange(classes), _PER_CLASS)
    parts = build(Settings(epochs=1))
    job = Job(1, 0, images, labels, np.ones(len(labels), bool))
    first = parts.trainer.train(job)
    return _seconds(lambda: parts.trainer.train(job, first))


def time_images(
    settings: Settings, marks: Sequence[int], *, skip: bool
) -> tuple[list[float], list[float]]:
    """Return the seconds per image and the resident memory in MB, at positions of a stream.

    The seconds are the median of the parts from half of each position on: searches come in turns,
    and so does Python's garbage collector.

    Parameters
    ----------
    settings
        Of the stream.
    marks
        The positions, multiples of 2,000. Higher takes longer.
    skip
        Skip all questions after each part, which is not timed. Otherwise nobody answers.
    """
    images, names = noisy_digits(_PART, 0)
    is_known = np.isin(names, _KNOWN)
    known = [name for name in names if name in _KNOWN][:_LABELLED]
    classifier = StreamClassifier(settings).fit(images[is_known][:_LABELLED], known)
    parts: list[float] = []  # seconds of each
    seconds: list[float] = []
    memory: list[float] = []
    for position in range(_PART, marks[-1] + 1, _PART):
        part, _ = noisy_digits(_PART, position)
        parts.append(_seconds(lambda part=part: classifier.observe(part)))  # type: ignore[misc]
        for question in classifier.questions() if skip else ():
            classifier.skip(question.id)
        if position in marks:
            seconds.append(median(parts[len(parts) // 2 :]) / _PART)
            memory.append(resident())
    return seconds, memory


def _seconds(act: Callable[[], object]) -> float:
    start = time.perf_counter()
    act()
    return time.perf_counter() - start
