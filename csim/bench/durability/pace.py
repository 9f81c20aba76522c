"""Measure what durability costs: images per second with a stream folder and without, and memory."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from csim.bench.durability.material import endless, make_stream, write_files
from csim.folder.output import Output
from csim.folder.run import Counts, run
from csim.folder.stream import BATCH, Stream
from csim.records import Images
from csim.settings import Settings
from csim.sources.arrival import Decoded
from csim.sources.directory import Directory
from csim.sources.prefetch import decoded

_ROUNDS = 2  # the best one counts


def race(work: Path, images: Images, make_folder: Callable[[Path], None]) -> tuple[float, float]:
    """Return images per second of `csim run` on PNG files, and of decoding and forward pass alone.

    The two take turns, and the best of two rounds counts. Like the command, the first writes
    predictions to a file. Nobody answers.

    Parameters
    ----------
    work
        An empty folder.
    images
        The images of the files, (n, …). More steady the figures.
    make_folder
        Makes a stream folder. With a budget of 0 csim searches for no questions, so that the
        difference is the cost of writing.
    """
    files = work / "files"
    write_files(files, images)
    ours: list[float] = []
    alone: list[float] = []
    for turn in range(_ROUNDS):
        make_folder(work / f"stream-{turn}")
        with Stream(work / f"stream-{turn}") as stream:
            alone.append(len(images) / _seconds(partial(_embed, stream, files)))
            seconds = _seconds(partial(_run, stream, files, work / f"{turn}.jsonl"))
            ours.append(len(images) / seconds)
    return max(ours), max(alone)


def memory(
    work: Path, *, marks: tuple[int, int], settings: Settings, seed: int
) -> tuple[float, float]:
    """Return the resident memory in MB at two positions of a stream.

    Parameters
    ----------
    work
        An empty folder.
    marks
        The two positions. Higher takes longer.
    settings
        Of the stream.
    seed
        Draws the images.
    """
    make_stream(work / "stream", settings, seed)
    found: list[float] = []

    def note_memory(counts: Counts) -> None:
        if len(found) < len(marks) and counts.taken >= marks[len(found)]:
            found.append(resident())

    with Stream(work / "stream") as stream:
        run(stream, endless(seed), limit=marks[1], on_batch=note_memory)
    return found[0], found[1]


def _run(stream: Stream, files: Path, target: Path) -> None:
    """Run a stream as the command does."""
    output = Output(stream.layout.database, target, sys.stdout.buffer)

    def follow(_: Counts) -> None:
        output.catch_up()

    run(stream, Directory(files), on_batch=follow)
    output.close()


def _embed(stream: Stream, files: Path) -> None:
    """Decode files and embed them as the engine does, and keep nothing."""
    batch = []
    for arrival in decoded(Directory(files), stream.config.image_shape):
        assert isinstance(arrival, Decoded)
        batch.append(arrival.image)
        if len(batch) == BATCH:
            stream.scores(np.stack(batch))
            batch.clear()


def _seconds(act: Callable[[], None]) -> float:
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


def resident() -> float:
    """Return this process's resident memory in MB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1000
    raise AssertionError("/proc/self/status must have a line VmRSS")
