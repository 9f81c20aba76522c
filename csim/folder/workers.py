"""The workers of a run, as the run last saw them: for `csim status`, the page and Prometheus.

The run writes one row and replaces it every few seconds. It is no part of the log: nothing replays
it, and it says nothing once its process no longer runs the folder.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from csim.folder.database import open_for_messages, transaction
from csim.folder.query import Query
from csim.sources.arrival import Source

_WRITE_SECONDS = 2.0  # between two reports: each costs a transaction


@dataclass(frozen=True, slots=True)
class WorkerRow:
    """Describe a worker."""

    name: str
    csim: str  # its version of csim
    model: int | None  # the version of the model that it embedded with last; None: with none yet


@dataclass(frozen=True, slots=True)
class Workers:
    """Describe the workers of a run, and what waits for them."""

    workers: tuple[WorkerRow, ...] | None  # None: the run itself embeds
    lag: int  # images that the source has given and that are not in the folder yet
    retries: int  # calls or messages that were given out again, since the run started

    @property
    def versions(self) -> dict[tuple[str, int | None], int]:
        """Return how many workers have each version of csim and of the model, newest first."""
        found = Counter((worker.csim, worker.model) for worker in self.workers or ())
        return dict(sorted(found.items(), key=lambda pair: -(pair[0][1] or 0)))


@runtime_checkable
class WorkedSource(Protocol):
    """Give images that workers have embedded, or that wait in a queue."""

    def describe(self) -> Workers:
        """Return who works for this source, and what waits."""
        ...


class WorkerReport:
    """Write what a source knows of its workers, now and then.

    Parameters
    ----------
    database
        The folder's database.
    source
        Where the images come from; nothing is written if it has no workers.
    clock
        Returns seconds, for the time between two reports.
    """

    def __init__(
        self, database: Path, source: Source, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._database = database
        self._source = source
        self._clock = clock
        self._due_at = clock()

    def write(self) -> None:
        """Write who works now, if the last report is some seconds old."""
        if not isinstance(self._source, WorkedSource) or self._clock() < self._due_at:
            return
        self._due_at = self._clock() + _WRITE_SECONDS
        row = (os.getpid(), json.dumps(asdict(self._source.describe())))
        with closing(open_for_messages(self._database)) as connection, transaction(connection):
            connection.execute("DELETE FROM workers")
            connection.execute("INSERT INTO workers VALUES (?, ?)", row)


class ReportedWorkers:
    """Read what the run wrote about its workers.

    Parameters
    ----------
    query
        The folder's database.
    """

    def __init__(self, query: Query) -> None:
        self._query = query

    def of(self, engine: int | None) -> Workers | None:
        """Return the workers of the process that runs the folder; None if it has none."""
        rows = self._query.rows("SELECT body FROM workers WHERE engine = ?", engine)
        return workers_from(json.loads(rows[0][0])) if rows else None


def workers_from(values: Mapping[str, Any]) -> Workers:
    """Return the workers that `dataclasses.asdict` turned into plain values."""
    rows = values["workers"]
    workers = None if rows is None else tuple(WorkerRow(**row) for row in rows)
    return Workers(workers, values["lag"], values["retries"])
