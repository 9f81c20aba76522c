"""Write labels: the class that each image has today, and who decided it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from csim.export.rows import Follow, Row, write_rows
from csim.folder.reader import ItemRow, Reader

FIELDS = ("item", "class", "decided_by", "score", "question", "position")

DecidedBy = Literal["told", "answer", "model", "none"]


def write_labels(
    reader: Reader,
    path: Path,
    *,
    warm_up: bool = False,
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
    overwrite
        Whether to replace an existing file.
    follow
        Called with the number of rows written so far.
    """
    with reader.transaction():
        rows = labels(reader, warm_up=warm_up)
        return write_rows(
            path, FIELDS, rows, outside=reader.layout.root, overwrite=overwrite, follow=follow
        )


def labels(reader: Reader, *, warm_up: bool = False) -> Iterator[Row]:
    """Yield one row per image, in the order of the stream."""
    for item in reader.items():
        if item.place > 0 or warm_up:
            score = None if item.score is None else round(item.score, 6)
            by = decided_by(item)
            question = item.question_id if by in ("told", "answer") else None
            values = (item.id, item.name, by, score, question, max(item.place, 0))
            yield dict(zip(FIELDS, values, strict=True))


def decided_by(item: ItemRow) -> DecidedBy:
    """Return who gave an image its class.

    "told": a person saw this image. "answer": a person saw another image of its group. "model": the
    model. "none": it has no class.
    """
    if item.name is None:
        return "none"
    if item.is_told:
        return "told"
    return "model" if item.question_id is None else "answer"
