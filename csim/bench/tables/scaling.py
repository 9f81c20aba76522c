"""Growing past one machine: workers, a node that dies, and the coordinator alone.

    csim bench scaling               # 5 minutes on two cores, seed 0; as root

Workers: photographs through EfficientNet-Lite0 on two workers against one, bar 1.5, and on one
worker against `csim run` alone, bar 0.8; calls of 1,024 images, in the same run. Replacement: a
node of a Ray cluster is killed while another is idle; seconds until the new worker has embedded
images, bar 5. Coordinator: images per second of the one process that decides, searches and writes,
with views given and the folder on disk, default budget; bars 5,000 and, with the search interval
that `Settings.for_rate` gives, 20,000. The rows without a bar say where the time goes: with default
settings, and with a budget of 0, which never searches.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from pathlib import Path

from csim.bench.layout.rows import Done
from csim.bench.layout.table import Row, Table
from csim.bench.scaling import cluster, coordinator, workers
from csim.settings import Settings

_RATES = (5_000, 20_000)  # images per second


def make(
    work: Path, *, photographs: int, images: int, seed: int, on_done: Done | None = None
) -> Table:
    """Return the table.

    Parameters
    ----------
    work
        An empty folder for the streams.
    photographs
        For the workers. Higher steadies the figures.
    images
        For the coordinator. Higher steadies the figures.
    seed
        Draws images.
    on_done
        Called after each measurement.
    """
    cases: list[Callable[[Path], list[Row]]] = [
        partial(_workers, photographs=photographs, seed=seed),
        partial(_replacement, seed=seed),
        *(partial(_paced, rate=rate, images=images, seed=seed) for rate in _RATES),
        partial(_without_bar, images=images, seed=seed),
    ]
    rows: list[Row] = []
    for number, case in enumerate(cases, start=1):
        folder = work / str(number)
        folder.mkdir()
        rows += case(folder)
        if on_done is not None:
            on_done(number, len(cases))
    return Table(
        name="scaling",
        title="Growing past one machine: workers, a dead node, the coordinator alone",
        notes=[
            f"workers: {photographs:,} photographs of 256×256 pixels, encoder lite0, calls of "
            "1,024, budget 0",
            "replacement: from the death of a node to the first results of the worker that "
            "replaces its own; an idle node is there",
            f"coordinator: {images:,} images of 1,000 cameras with views of 200 and features of "
            "128 numbers; nobody answers",
        ],
        settings=Settings(),
        keys=["what"],
        rows=rows,
    )


def _workers(work: Path, *, photographs: int, seed: int) -> list[Row]:
    pace = workers.measure(work, images=photographs, counts=(0, 1, 2), seed=seed)
    return [
        _row(
            "two workers against one",
            pace[2] / pace[1],
            "≥ 1.5",
            f"{pace[2]:,.1f} and {pace[1]:,.1f} images/s",
        ),
        _row(
            "one worker against none",
            pace[1] / pace[0],
            "≥ 0.8",
            f"{pace[1]:,.1f} and {pace[0]:,.1f} images/s",
        ),
    ]


def _replacement(work: Path, *, seed: int) -> list[Row]:
    seconds = cluster.replacement_seconds(work, seed=seed)
    return [_row("replacement of a node, seconds", seconds, "≤ 5", "cluster of four nodes")]


def _paced(work: Path, *, rate: int, images: int, seed: int) -> list[Row]:
    settings = Settings().for_rate(rate)
    what = f"coordinator, searches for {rate:,} images/s"
    return [_coordinator(what, work, settings, images=images, seed=seed, bar=f"≥ {rate:,}")]


def _without_bar(work: Path, *, images: int, seed: int) -> list[Row]:
    found = []
    for what, settings, count in (
        ("coordinator, default settings", Settings(), images // 4),
        ("coordinator, budget 0", Settings(budget=0.0), images),
    ):
        folder = work / what
        folder.mkdir()
        found.append(_coordinator(what, folder, settings, images=count, seed=seed, bar=""))
    return found


def _coordinator(
    what: str, work: Path, settings: Settings, *, images: int, seed: int, bar: str
) -> Row:
    pace = coordinator.measure(work, settings, images=images, seed=seed)
    every = math.ceil(settings.ask_every / settings.recent)
    sample = f" (1 of {every} images)" if every > 1 else ""
    detail = (
        f"ask_every {settings.ask_every:,}, recent {settings.recent:,}{sample}; "
        f"{1e6 * pace.processor_seconds / images:.0f} µs of the processor per image"
    )
    return _row(what, pace.images_per_second, bar, detail)


def _row(what: str, figure: float, bar: str, detail: str) -> Row:
    return {"what": what, "figure": figure, "bar": bar, "detail": detail}
