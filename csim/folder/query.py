"""Read-only queries on a stream folder's database, for the readers of this package."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from csim.folder.database import open_for_reading, read_transaction, translate_errors


class Query:
    """Run SELECT statements on a database; errors come as csim's own types.

    Parameters
    ----------
    path
        The database file.
    """

    def __init__(self, path: Path) -> None:
        self.connection: sqlite3.Connection = open_for_reading(path)

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()

    def transaction(self) -> AbstractContextManager[None]:
        """Let all queries inside the block see the same state of the database."""
        return read_transaction(self.connection)

    def rows(self, statement: str, *values: object) -> list[Any]:
        """Return all rows of a statement."""
        with translate_errors(self.connection):
            return self.connection.execute(statement, values).fetchall()

    def each(self, statement: str, *values: object) -> Iterator[Any]:
        """Yield rows one by one, for tables that may not fit into memory."""
        with translate_errors(self.connection):
            yield from self.connection.execute(statement, values)

    def value(self, statement: str, *values: object) -> Any:  # noqa: ANN401
        """Return the first value of the first row; there must be one."""
        return self.rows(statement, *values)[0][0]
