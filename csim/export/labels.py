"""Write labels: the class that each image has today, and who decided it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from csim.export.rows import Follow, Row, write_rows
from csim.folder.reader import ItemRow, Reader
from csim.records import QuestionId
from csim.utc import utc

FIELDS = (
    "item", "class", "decided_by", "score", "question", "position", "junk", "time", "answered",
)  # fmt: skip

DecidedBy = Literal["told", "answer", "model", "none"]


def write_labels(
    reader: Reader,
    path: Path,
    *,
    warm_up: bool = False,
    source: str | None = None,
    overwrite: bool = False,
    follow: Follow = lambda _: None,
) -> int:
    """Write one row per image of the stream; return the number of rows.

    Parameters
    ----------
    reader
        Of a stream folder.
    path
        Ends in `.csv` or `.jsonl`.
    warm_up
        Whether to start with the labelled images of the warm-up, at position 0.
    source
        Write only images of this camera; None writes all.
    overwrite
        Whether to replace an existing file.
    follow
        Called with the number of rows written so far.
    """
    with reader.transaction():
        rows = labels(reader, warm_up=warm_up, source=source)
        return write_rows(
            path, FIELDS, rows, outside=reader.layout.root, overwrite=overwrite, follow=follow
        )


def labels(reader: Reader, *, warm_up: bool = False, source: str | None = None) -> Iterator[Row]:
    """Yield one row per image, in the order of the stream."""
    for item in reader.items(source):
        if item.place > 0 or warm_up:
            score = None if item.score is None else round(item.score, 6)
            by = decided_by(item)
            is_answer = by in ("told", "answer")
            question = item.question_id if is_answer else None
            answered = utc(item.answered) if is_answer or item.is_junk else None
            start = (item.id, item.name, by, score, question, max(item.place, 0), item.is_junk)
            yield dict(zip(FIELDS, (*start, utc(item.time), answered), strict=True))


def decided_by(item: ItemRow) -> DecidedBy:
    """Return who gave an image its class, or said that it is junk; see `who_decided`."""
    return who_decided(
        has_label=item.name is not None or item.is_junk,
        is_told=item.is_told,
        question_id=item.question_id,
    )


def who_decided(*, has_label: bool, is_told: bool, question_id: QuestionId | None) -> DecidedBy:
    """Return who gave an image its class.

    "told": a person saw this image. "answer": a person saw another image of its group. "model": the
    model. "none": it has no class and is not junk.

    Parameters
    ----------
    has_label
        Whether it has a class today, or is junk.
    is_told
        Whether a person saw this image.
    question_id
        The question whose answer gave it its class, if there is one.
    """
    if not has_label:
        return "none"
    if is_told:
        return "told"
    return "model" if question_id is None else "answer"
