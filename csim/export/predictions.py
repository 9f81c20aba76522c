"""Predictions from the beginning of a stream, in the lines that `csim run --out` writes."""

from __future__ import annotations

from pathlib import Path

from csim.export.rows import Follow, write_rows
from csim.folder.lines import FIELDS
from csim.folder.reader import Reader


def write_predictions(
    reader: Reader, path: Path, *, overwrite: bool = False, follow: Follow = lambda _: None
) -> int:
    """Write what became of each image, at arrival and later, and return how many lines that are.

    Parameters
    ----------
    reader
        Of a stream folder.
    path
        Ends in `.csv` or `.jsonl`.
    overwrite
        Whether a file may already be there.
    follow
        Called with the number of lines written so far.
    """
    with reader.transaction():
        rows = (line for _, line in reader.history.lines())
        return write_rows(
            path, FIELDS, rows, outside=reader.layout.root, overwrite=overwrite, follow=follow
        )
