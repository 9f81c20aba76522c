"""Durability of stream folders: whether anything is lost, and what that costs; on noisy digits.

    csim bench durability            # 20 minutes on two cores, seed 0

Kills: a stream of 5,000 images with answers and training is killed with SIGKILL 100 times at random
moments and continued each time: its engine, its trainer process, and both at once. It is compared
with the same stream undisturbed; expect no difference. Pace: `csim run` on 20,000 PNG files against
decoding and forward pass alone. No question is asked, so that the difference is the writing; expect
0.6 to 0.75 (bar 0.6). Memory: after 200,000 images against 20,000; expect 1.0 (bar 1.1). Calls: the
99th percentile of classification calls during training against their median without; expect 2 to 4
(bar 5). Crowd: three processes answer through the inbox for a minute while the stream runs; expect
nothing lost. Commands: seconds of `csim status`, of `csim run` over files that csim has seen, and
of `csim run` after a kill, on 60,000 images (bars 0.5, 3 and 4).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from csim.bench.durability.commands import time_commands
from csim.bench.durability.crowd import answer_at_once, race_training
from csim.bench.durability.killing import SETTINGS, kill
from csim.bench.durability.material import make_stream, noisy_digits
from csim.bench.durability.pace import memory, race
from csim.bench.layout.rows import Done
from csim.bench.layout.table import Row, Table
from csim.settings import Settings
from csim.threads import one_thread

PACE_BAR = 0.6
MEMORY_BAR = 1.1
CALLS_BAR = 5.0
COMMAND_BARS = {"status": 0.5, "known": 3.0, "restart": 4.0}  # seconds
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
    cases: list[Callable[[Path], list[Row]]] = [
        partial(_killed, kills=kills, seed=seed),
        partial(_pace, seed=seed),
        partial(_memory, seed=seed),
        partial(_calls, seed=seed),
        partial(_crowd, seed=seed),
        partial(_commands, seed=seed),
    ]
    rows: list[Row] = []
    for number, case in enumerate(cases, start=1):
        folder = work / str(number)
        folder.mkdir()
        with one_thread():
            rows += case(folder)
        if on_done is not None:
            on_done(number, len(cases))
    return Table(
        name="durability",
        title="Durability: what is lost, and what safety costs",
        notes=[
            "kills: a stream of 5,000 images with a history of 1,500; the engine, the trainer "
            "process and both at once are killed in turn; figure: tables and files that differ "
            "from those of an undisturbed stream that keeps all",
            "pace: images per second of `csim run` against decoding and forward pass alone; 20,000 "
            "PNG files, budget 0",
            "memory: resident after 200,000 images against 20,000, default settings",
            "calls: p99 of classification calls of 125 images during training against their median "
            "without",
            "crowd: three processes answer for 60 seconds while the stream runs; figure: answers "
            "lost, and errors shown",
            "status, known, restart: seconds of `csim status`, of `csim run` over files that it "
            "has seen before, and of `csim run` after a kill; 60,000 images",
        ],
        settings=SETTINGS,
        keys=["what"],
        rows=rows,
    )


def _killed(work: Path, *, kills: int, seed: int) -> list[Row]:
    found = kill(work, images=5000, kills=kills, seed=seed)
    kills_by_victim = ", ".join(f"{count} of {who}" for who, count in found.kills.items())
    detail = (
        f"kills: {kills_by_victim}; {found.answers} answers, {found.models} models, "
        f"{found.folded:,} images folded"
    )
    return [_row("kills", len(found.differing), "0", "; ".join([detail, *found.differing]))]


def _pace(work: Path, *, seed: int) -> list[Row]:
    settings = Settings(epochs=4, budget=0.0)
    images, _ = noisy_digits(20_000, seed)
    ours, alone = race(work, images, lambda root: make_stream(root, settings, seed))
    detail = f"{ours:,.0f} and {alone:,.0f} images/s"
    return [_row("pace", ours / alone, f"≥ {PACE_BAR:g}", detail)]


def _memory(work: Path, *, seed: int) -> list[Row]:
    early, late = memory(work, marks=(20_000, 200_000), settings=_SHORT_TRAINING, seed=seed)
    return [_row("memory", late / early, f"≤ {MEMORY_BAR:g}", f"{early:.0f} and {late:.0f} MB")]


def _calls(work: Path, *, seed: int) -> list[Row]:
    busy, calm, count = race_training(work, calls=300, settings=_SHORT_TRAINING, seed=seed)
    detail = f"{1000 * busy:.0f} and {1000 * calm:.0f} ms, {count} calls"
    return [_row("calls", busy / calm, f"≤ {CALLS_BAR:g}", detail)]


def _crowd(work: Path, *, seed: int) -> list[Row]:
    settings = Settings(epochs=4, ask_every=50, recent=500, budget=0.1, update_steps=30)
    found = answer_at_once(work, seconds=60, writers=3, settings=settings, seed=seed)
    detail = (
        f"{found.sent:,} sent, {found.taken:,} taken, {found.refused:,} came too late, "
        f"{found.images:,} images"
    )
    return [_row("crowd", found.lost + found.complaints, "0", detail)]


def _commands(work: Path, *, seed: int) -> list[Row]:
    settings = Settings(epochs=4, budget=0.0)
    found = time_commands(work, images=60_000, settings=settings, seed=seed)
    return [
        _row(what, getattr(found, what), f"≤ {bar:g}", "") for what, bar in COMMAND_BARS.items()
    ]


def _row(what: str, figure: float, bar: str, detail: str) -> Row:
    return {"what": what, "figure": figure, "bar": bar, "detail": detail}
