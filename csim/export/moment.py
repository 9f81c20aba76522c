"""A stream folder as it is at one moment, while its engine goes on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from csim.folder.database import translate_errors
from csim.folder.reader import Reader


@contextmanager
def at_one_moment(reader: Reader) -> Iterator[None]:
    """Let all that is read inside the block be of one moment; the engine does not wait for it."""
    with translate_errors(reader.connection):
        reader.connection.execute("BEGIN")  # the moment is that of the first query
        try:
            yield
        finally:
            reader.connection.execute("ROLLBACK")
