"""A year on disk: how large a stream folder gets, and whether it gets slower.

    csim bench year                  # 31 million images, 50,000 answers; 10 minutes on a quiet core

Decisions are made up; the folder's log, snapshots, folding and readers are its own. Expect less
than 2 GB with a history of 30 days, batches and snapshots as fast at the end as in the middle, and
a restart in less than 10 seconds. What people said is counted at the end: nothing is missing. No
statement that runs for every batch, status or question reads a whole table.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from csim.bench.durability.year import SETTINGS, simulate
from csim.bench.layout.table import Row, Table

SIZE_BAR = 2.0  # GB
PACE_BAR = 1.5  # the last tenth of the year against the fifth
RESTART_BAR = 10.0  # seconds


def make(
    work: Path,
    *,
    images: int,
    answers: int,
    history: str,
    on_round: Callable[[int], None] = lambda _: None,
) -> Table:
    """Return the table.

    Parameters
    ----------
    work
        An empty folder for the stream.
    images
        At least how many, one each second. Higher takes longer, in proportion.
    answers
        How many questions are answered. Higher makes the folder larger.
    history
        As for `csim init --history`.
    on_round
        Called with the number of images so far.
    """
    year = simulate(work, images=images, answers=answers, history=history, on_round=on_round)
    size = year.size / 1e9
    statements = f"{year.statements} statements"
    return Table(
        name="year",
        title="A year on disk",
        notes=[
            f"{year.images:,} images, one each second, as made-up decisions; {answers:,} questions "
            f"with groups of 5, all answered; history {history}",
            "folder: GB of all files; pictures only of images that a question showed, 600 bytes "
            "each",
            "batch, snapshot: processor time of the last tenth of the year against the fifth "
            "tenth; a batch is 512 images, its questions, answers and prediction lines; a "
            "snapshot folds 19,456 images",
            "restart: seconds to open the folder and classify 64 images; status: seconds to read "
            "it; both by the clock",
            "answers: missing at the end",
            "scans: statements of a batch, a snapshot, status, questions and the page that read a "
            "whole table of this folder, by SQLite's query plan",
        ],
        settings=SETTINGS,
        keys=["what"],
        rows=[
            _row("folder", size, f"≤ {SIZE_BAR:g}", f"{year.folded:,} images folded"),
            _pace("batch", year.batch_seconds),
            _pace("snapshot", year.snapshot_seconds),
            _row("restart", year.restart_seconds, f"≤ {RESTART_BAR:g}", ""),
            _row("status", year.status_seconds, "≤ 0.5", ""),
            _row("answers", answers - year.answers, "0", f"{year.answers:,} kept"),
            _row("scans", len(year.scans), "0", "; ".join([statements, *year.scans])),
        ],
    )


def _pace(what: str, tenths: tuple[float, ...]) -> Row:
    middle = tenths[len(tenths) // 2 - 1]
    detail = " ".join(f"{1000 * seconds:.0f}" for seconds in tenths)
    return _row(what, tenths[-1] / middle, f"≤ {PACE_BAR:g}", f"{detail} ms by tenth")


def _row(what: str, figure: float, bar: str, detail: str) -> Row:
    return {"what": what, "figure": figure, "bar": bar, "detail": detail}
