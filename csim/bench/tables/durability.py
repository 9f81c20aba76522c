"""Durability of stream folders: whether anything is lost, and what that costs; on noisy digits.

    csim bench durability            # 20 minutes on two cores, seed 0

Kills: a stream of 5,000 images with answers and training is killed with SIGKILL 100 times at
random moments and continued each time. It is compared with the same stream undisturbed; expect no
difference. Pace: `csim run` on 20,000 PNG files against decoding and forward pass alone. No
question is asked, so that the difference is the writing; expect 0.6 to 0.75 (bar 0.6). Memory:
after 200,000 images against 20,000; expect 1.0 (bar 1.1). Calls: the 99th percentile of
classification calls during training against their median without; expect 2 to 4 (bar 5). Crowd:
three processes answer through the inbox for a minute while the stream runs; expect nothing lost.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from csim.bench.durability.crowd import answer_at_once, race_training
from csim.bench.durability.killing import SETTINGS, kill
from csim.bench.durability.pace import memory, race
from csim.bench.layout.rows import Done, measure_all
from csim.bench.layout.table import Row, Table
from csim.settings import Settings

PACE_BAR = 0.6
MEMORY_BAR = 1.1
CALLS_BAR = 5.0
_SHORT_TRAINING = Settings(epochs=4)


def make(work: Path, *, kills: int, seed: int, on_done: Done | None = None) -> Table:
    """Return the table.

    Parameters
    ----------
    work
        An empty folder for the streams.
    kills
        How often to kill a stream. Higher takes longer, in proportion.
    seed
        Draws images, answers and kills.
    on_done
        Called after each measurement.
    """
    cases: list[Callable[[Path], Row]] = [
        partial(_killed, kills=kills, seed=seed),
        partial(_pace, seed=seed),
        partial(_memory, seed=seed),
        partial(_calls, seed=seed),
        partial(_crowd, seed=seed),
    ]

    def measure(index: int) -> Row:
        folder = work / str(index)
        folder.mkdir()
        return cases[index](folder)

    return Table(
        name="durability",
        title="Durability: what is lost, and what safety costs",
        notes=[
            "kills: a stream of 5,000 images; figure: tables and files that differ from those of "
            "an undisturbed stream",
            "pace: images per second of `csim run` against decoding and forward pass alone; 20,000 "
            "PNG files, budget 0",
            "memory: resident after 200,000 images against 20,000, default settings",
            "calls: p99 of classification calls of 125 images during training against their median "
            "without",
            "crowd: three processes answer for 60 seconds while the stream runs; figure: answers "
            "lost, and errors shown",
        ],
        settings=SETTINGS,
        keys=["what"],
        rows=measure_all(measure, list(range(len(cases))), on_done=on_done),
    )


def _killed(work: Path, *, kills: int, seed: int) -> Row:
    found = kill(work, images=5000, kills=kills, seed=seed)
    detail = f"{found.kills} kills, {found.answers} answers, {found.models} models"
    return _row("kills", len(found.differing), "0", "; ".join([detail, *found.differing]))


def _pace(work: Path, *, seed: int) -> Row:
    ours, alone = race(work, images=20_000, settings=Settings(epochs=4, budget=0.0), seed=seed)
    return _row("pace", ours / alone, f"≥ {PACE_BAR:g}", f"{ours:,.0f} and {alone:,.0f} images/s")


def _memory(work: Path, *, seed: int) -> Row:
    early, late = memory(work, marks=(20_000, 200_000), settings=_SHORT_TRAINING, seed=seed)
    return _row("memory", late / early, f"≤ {MEMORY_BAR:g}", f"{early:.0f} and {late:.0f} MB")


def _calls(work: Path, *, seed: int) -> Row:
    busy, calm, count = race_training(work, calls=300, settings=_SHORT_TRAINING, seed=seed)
    return _row(
        "calls",
        busy / calm,
        f"≤ {CALLS_BAR:g}",
        f"{1000 * busy:.0f} and {1000 * calm:.0f} ms, {count} calls",
    )


def _crowd(work: Path, *, seed: int) -> Row:
    settings = Settings(epochs=4, ask_every=50, recent=500, budget=0.1, update_steps=30)
    found = answer_at_once(work, seconds=60, writers=3, settings=settings, seed=seed)
    detail = (
        f"{found.sent:,} sent, {found.taken:,} taken, {found.refused:,} came too late, "
        f"{found.images:,} images"
    )
    return _row("crowd", found.lost + found.complaints, "0", detail)


def _row(what: str, figure: float, bar: str, detail: str) -> Row:
    return {"what": what, "figure": figure, "bar": bar, "detail": detail}
