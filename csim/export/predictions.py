"""Write predictions from the start of a stream, as `csim run --out` does."""

from __future__ import annotations

from pathlib import Path

from csim.export.rows import Follow, write_rows
from csim.folder.lines import FIELDS
from csim.folder.reader import Reader


def write_predictions(
    reader: Reader, path: Path, *, overwrite: bool = False, follow: Follow = lambda _: None
) -> int:
    """Write a line per image at arrival and per later change; return the number of lines.

    Parameters
    ----------
    reader
        Of a stream folder.
    path
        Ends in `.csv` or `.jsonl`.
    overwrite
        Whether to replace an existing file.
    follow
        Called with the number of lines written so far.
    """
    with reader.transaction():
        rows = (line for _, line in reader.history.lines())
        return write_rows(
            path, FIELDS, rows, outside=reader.layout.root, overwrite=overwrite, follow=follow
        )
