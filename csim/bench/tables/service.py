"""The service under load, and killed; on noisy digits.

    csim bench service               # 10 minutes on two cores, seed 0

Pace: 8 clients that send 64 PNG per request, against `csim run` on the same files; bar 0.5. Load:
32 clients for a minute; errors and lost images, bar 0; the 99th percentile of the waits against
their median, bar 10; memory at the end against a third of the time, bar 1.1. Single: a request with
one image against decoding and forward pass alone, bar 15. Kills: a load of images and answers,
killed with SIGKILL at random moments; faults, bar 0.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from csim.bench.durability.killing import SETTINGS
from csim.bench.layout.rows import Done
from csim.bench.layout.table import Row, Table
from csim.bench.service.killing import kill
from csim.bench.service.load import endure, race, single

_IMAGES = 6000


def make(
    work: Path, *, kills: int, seconds: float, seed: int, on_done: Done | None = None
) -> Table:
    """Return the table.

    Parameters
    ----------
    work
        An empty folder for the streams.
    kills
        How often to kill the service. Higher takes longer, in proportion.
    seconds
        How long the load lasts. Higher steadies its figures.
    seed
        Draws images and kills.
    on_done
        Called after each measurement.
    """
    rows: list[Row] = []
    for number, (what, measure) in enumerate(_MEASURES.items(), start=1):
        folder = work / what
        folder.mkdir()
        rows += measure(folder, kills, seconds, seed)
        if on_done is not None:
            on_done(number, len(_MEASURES))
    return Table(
        name="service",
        title="The service: pace, waits under load, kills",
        notes=[
            "pace: images per second of 8 clients with 64 PNG per request, against `csim run`",
            "load: 32 clients with 16 PNG per request",
            "single: median of a request with one image against decoding and forward pass",
            "kills: a load of 4 images per request, answers and events, killed with SIGKILL",
        ],
        settings=SETTINGS,
        keys=["what"],
        rows=rows,
    )


def _pace(work: Path, kills: int, seconds: float, seed: int) -> list[Row]:
    served, alone = race(work, images=_IMAGES, settings=SETTINGS, seed=seed)
    return [_row("pace", served / alone, "≥ 0.5", f"{served:,.0f} and {alone:,.0f} images/s")]


def _load(work: Path, kills: int, seconds: float, seed: int) -> list[Row]:
    found = endure(work, clients=32, seconds=seconds, settings=SETTINGS, seed=seed)
    middle, high = np.percentile(found.waits, [50, 99])
    pace = f"{found.images:,} images, {found.images / found.seconds:,.0f} images/s"
    waits = f"{1000 * middle:.0f} and {1000 * high:.0f} ms, {len(found.waits):,} requests"
    memory = f"{found.early_memory:.0f} and {found.late_memory:.0f} MB"
    return [
        _row("load: errors and lost images", found.errors + found.lost, "0", pace),
        _row("load: p99 against median", high / middle, "≤ 10", waits),
        _row("load: memory", found.late_memory / found.early_memory, "≤ 1.1", memory),
    ]


def _single(work: Path, kills: int, seconds: float, seed: int) -> list[Row]:
    wait, bare = single(work, settings=SETTINGS, seed=seed)
    return [_row("single", wait / bare, "≤ 15", f"{1000 * wait:.1f} and {1000 * bare:.2f} ms")]


def _kills(work: Path, kills: int, seconds: float, seed: int) -> list[Row]:
    found = kill(work, images=100 * kills, kills=kills, seed=seed)
    detail = f"{found.kills} kills, {found.images:,} images, {found.answers} answers"
    return [_row("kills", len(found.faults), "0", "; ".join([detail, *found.faults[:3]]))]


_MEASURES = {"pace": _pace, "load": _load, "single": _single, "kills": _kills}


def _row(what: str, figure: float, bar: str, detail: str) -> Row:
    return {"what": what, "figure": figure, "bar": bar, "detail": detail}
