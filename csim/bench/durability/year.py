"""A year of a stream in minutes: made-up decisions, but the folder's own log, snapshots, folding.

Most images are written in bulk. In between, batches of 512 images with questions, and the answers
to them, go the way that `csim run --out` takes, and are timed. At the end a real engine opens the
folder and classifies real images.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np

import csim.records as r
from csim.bench.durability.material import make_stream, noisy_digits
from csim.build import build
from csim.folder import inbox
from csim.folder.access import WriteAccess
from csim.folder.folding import KeptHistory
from csim.folder.layout import Config, Layout
from csim.folder.lines import lines
from csim.folder.log import Change, Log, Step
from csim.folder.query_plans import scans_during, scans_of_readers
from csim.folder.reader import Reader
from csim.folder.replay import replay
from csim.folder.snapshots import Snapshots
from csim.folder.status import read_status
from csim.folder.stream import BATCH, Stream
from csim.folder.synthetic import add_images
from csim.messages import Named
from csim.settings import Settings
from csim.sources.arrival import Decoded

SETTINGS = Settings(epochs=2)
_BULK_BATCHES = 37  # between two timed ones; with it fewer images than one snapshot folds
_MEMBERS = 5  # per group
_PICTURE = bytes(600)  # of an image that a question showed; longer by its number
_START = 1.8e9  # of the year, in seconds since 1970
_FIRST_QUESTION = 1_000_000  # the real engine at the end counts from 1


@dataclass(frozen=True)
class Year:
    """Hold what a year on disk came to."""

    images: int
    answers: int
    folded: int  # images that became counts
    size: int  # bytes of the folder at the end
    batch_seconds: tuple[float, ...]  # of the processor, mean of each tenth of the year
    snapshot_seconds: tuple[float, ...]  # likewise; a snapshot folds as many images as came
    restart_seconds: float
    status_seconds: float
    statements: int  # whose plans were looked at, of a batch, a snapshot and all readers
    scans: tuple[str, ...]  # those of them that read a whole table


def simulate(
    work: Path,
    *,
    images: int,
    answers: int,
    history: str,
    interval: float = 1.0,
    on_round: Callable[[int], None] = lambda _: None,
) -> Year:
    """Fill a folder with a year's images and answers, then open it as a user does.

    Parameters
    ----------
    work
        An empty folder.
    images
        At least how many. Higher takes longer, in proportion.
    answers
        How many questions are asked and answered, about evenly over the year. Higher makes the
        folder larger: what people said is never folded.
    history
        As for `csim init --history`.
    interval
        Seconds between two images. Higher makes the stream longer.
    on_round
        Called with the position after each snapshot.
    """
    root = work / "stream"
    make_stream(root, SETTINGS, 0, history=KeptHistory.from_text(history))
    rounds = -(-images // ((_BULK_BATCHES + 1) * BATCH))
    writer = _Writer(root, interval)
    seconds: list[tuple[float, float]] = []
    try:
        for number in range(rounds):
            asked = answers * (number + 1) // rounds - answers * number // rounds
            seconds.append(writer.write_round(asked))
            on_round(writer.position)
        planned, scans = writer.scans()
    finally:
        writer.close()
    start = time.perf_counter()
    _take_some(root)
    restarted = time.perf_counter()
    with Reader(root) as reader:
        found = read_status(reader)
        status_seconds = time.perf_counter() - restarted
        folded = found.position - reader.counts.images()
        planned_reads, read_scans = scans_of_readers(reader)
    batches, snapshots = zip(*seconds, strict=True)
    return Year(
        images=writer.position,
        answers=found.questions.get("answered", 0),
        folded=folded,
        size=found.bytes,
        batch_seconds=_tenths(batches),
        snapshot_seconds=_tenths(snapshots),
        restart_seconds=restarted - start,
        status_seconds=status_seconds,
        statements=planned + planned_reads,
        scans=(*scans, *read_scans),
    )


class _Writer:
    """Write what an engine would, with the folder's own parts and a clock of its own."""

    def __init__(self, root: Path, interval: float) -> None:
        layout = Layout(root)
        self._interval = interval
        self._access = WriteAccess(layout)
        self._connection = self._access.connection
        config = Config.read(self._connection)
        self._engine = build(config.settings).engine
        self._snapshots = Snapshots(self._connection, layout, config)
        self._snapshots.load(self._engine)
        last = replay(self._connection, layout, config, self._engine, self._snapshots.step)
        self._log = Log(self._connection, layout, last, clock=self._now)
        self._open: list[r.Question] = []
        self._asked = _FIRST_QUESTION

    @property
    def position(self) -> int:
        """Return how many images there are."""
        return self._log.last.position

    def write_round(self, questions: int) -> tuple[float, float]:
        """Write images in bulk, then a batch and answers as a stream does, then a snapshot.

        Return the processor seconds of the batch and of the snapshot.
        """
        self._log.last = add_images(
            self._connection,
            self._log.last,
            _BULK_BATCHES,
            start=_START,
            interval=self._interval,
        )
        start = time.process_time()
        self._write_batch(questions)
        batch_end = time.process_time()
        self._save()
        return batch_end - start, time.process_time() - batch_end

    def scans(self) -> tuple[int, dict[str, list[str]]]:
        """Write a batch and a snapshot; return what `scans_during` finds."""
        return scans_during([self._connection], self._write_last)

    def close(self) -> None:
        """Answer what is open, write a snapshot and release the folder."""
        self._answer()
        self._save()
        self._access.release()

    def _write_last(self) -> None:
        self._write_batch(questions=0)
        self._save()

    def _write_batch(self, questions: int) -> None:
        """Answer what is open, write images with questions, and read their prediction lines."""
        before = self._log.last.number
        self._answer()
        self._observe(questions)
        for _ in lines(self._connection, before):
            pass

    def _save(self) -> None:
        self._engine.position = self.position
        self._snapshots.save(self._engine, self._log.last.number)

    def _now(self) -> float:
        return _START + self.position * self._interval

    def _observe(self, questions: int) -> None:
        first = self.position + 1
        blank = np.zeros((8, 8), np.uint8)
        items = [
            r.Item(f"camera-1/{place:09d}.png", place, blank)
            for place in range(first, first + BATCH)
        ]
        events: list[r.Event] = [r.Accepted(item.position, item.id, 0, 0.5, 1) for item in items]
        position = items[-1].position
        starts = np.linspace(0, BATCH - _MEMBERS, questions).astype(int).tolist()
        self._open = [
            r.Question(self._asked + index, position, items[at], tuple(items[at : at + _MEMBERS]))
            for index, at in enumerate(starts, start=1)
        ]
        self._asked += questions
        events += [r.Asked(position, question) for question in self._open]
        shown = {question.representative.id for question in self._open}
        files = [_PICTURE + item.id.encode() if item.id in shown else None for item in items]
        self._log.write([Change(Step("observe", BATCH, items, files=files), events)], position)

    def _answer(self) -> None:
        messages = [Named(question.id, "0") for question in self._open]
        numbers = inbox.post(self._connection, messages, clock=self._now)
        changes = [
            Change(
                Step("inbox", number),
                self._labels(question),
                partial(inbox.mark_taken, self._connection, number, None),
            )
            for number, question in zip(numbers, self._open, strict=True)
        ]
        if changes:
            self._log.write(changes, self.position)
        self._open = []

    def _labels(self, question: r.Question) -> list[r.Event]:
        shown = question.representative
        return [
            r.Labelled(self.position, item.id, 0, question.id, item is shown)
            for item in question.members
        ]


def _take_some(root: Path) -> None:
    images, _ = noisy_digits(64, 1)
    with Stream(root, trainer=None) as stream:
        stream.take([Decoded(f"late {n}", image, b"") for n, image in enumerate(images)])


def _tenths(seconds: Sequence[float]) -> tuple[float, ...]:
    """Return the mean of each tenth."""
    borders = np.linspace(0, len(seconds), min(10, len(seconds)) + 1).astype(int).tolist()
    return tuple(float(np.mean(seconds[start:end])) for start, end in pairwise(borders))
