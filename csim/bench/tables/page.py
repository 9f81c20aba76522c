"""The labelling page: the wait for the next question, an expert's pace, the overview.

    csim bench page                  # 10 minutes on two cores, seed 0

Next question: from the key press until the next question with its picture is painted in chromium,
with 1,000 open questions and groups of 200, half a second of thinking before each key; bars: 100 ms
for the median and 250 ms for the 95th percentile. Expert: answers a minute of somebody who presses
a key as soon as a question is there; bar 60. Overview: of a folder with 1,000,000 images; bar 300
ms. Times are by the clock, so run nothing else meanwhile.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from csim.bench.layout.rows import Done
from csim.bench.layout.table import Row, Table
from csim.bench.page.browser import answer, labelling, read_times
from csim.bench.page.material import GROUP, SETTINGS, long_folder, make_questions
from csim.bench.service.process import ServiceProcess

_REPEATS = 20


def make(
    work: Path,
    *,
    questions: int,
    answers: int,
    images: int,
    seed: int,
    on_done: Done | None = None,
) -> Table:
    """Return the table.

    Parameters
    ----------
    work
        An empty folder for the streams.
    questions
        Open questions. Higher makes each search for the next one longer.
    answers
        To give, with thinking and without. Higher steadies the figures.
    images
        In the folder of the overview. Higher takes longer to make.
    seed
        Draws the images.
    on_done
        Called after each measurement.
    """
    rows = _label(work / "questions", questions, answers, seed)
    if on_done is not None:
        on_done(1, 2)
    rows += _look(work / "long", images, seed)
    if on_done is not None:
        on_done(2, 2)
    return Table(
        name="page",
        title="The labelling page: waits and pace",
        notes=[
            f"next question: {questions:,} open questions, groups of {GROUP}, chromium",
            "expert: answers a minute, a key as soon as the question is there",
            f"overview: {images:,} images with made-up decisions",
        ],
        settings=SETTINGS,
        keys=["what"],
        rows=rows,
    )


def _label(root: Path, questions: int, answers: int, seed: int) -> list[Row]:
    make_questions(root, questions=questions, seed=seed)
    service = ServiceProcess(root)
    try:
        with labelling(service.url) as page:
            waits, _ = answer(page, answers, think=0.5)
            fast, seconds = answer(page, answers, think=0.0)
    finally:
        service.stop()
    middle, high = np.percentile(waits, [50, 95])
    each = np.percentile(fast, 50)
    return [
        _row("next question, median ms", middle, "≤ 100", f"{answers} answers"),
        _row("next question, p95 ms", high, "≤ 250", f"highest {max(waits):.0f} ms"),
        _row("expert, answers a minute", 60 * answers / seconds, "≥ 60", f"{each:.0f} ms each"),
    ]


def _look(root: Path, images: int, seed: int) -> list[Row]:
    with long_folder(root, images=images, seed=seed):
        service = ServiceProcess(root)
        try:
            hour, whole = (
                np.percentile(read_times(service.url, f"/overview?span={span}", _REPEATS), [50, 95])
                for span in ("hour", "all")
            )
        finally:
            service.stop()
    return [
        _row("overview, median ms", hour[0], "≤ 300", f"p95 {hour[1]:.0f} ms"),
        _row("overview of all time, median ms", whole[0], "≤ 300", f"p95 {whole[1]:.0f} ms"),
    ]


def _row(what: str, figure: float, bar: str, detail: str) -> Row:
    return {"what": what, "figure": float(figure), "bar": bar, "detail": detail}
