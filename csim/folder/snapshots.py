"""Snapshots: the whole state of the engine in a file, from which a restart replays the log.

csim keeps two. If the newer is damaged, a restart uses the older and replays more steps.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable

from csim import checkpoint
from csim.engine import Engine
from csim.errors import CheckpointError, FolderError
from csim.folder.database import transaction, translate_errors
from csim.folder.folding import fold
from csim.folder.jobs import read_model
from csim.folder.layout import Config, Layout
from csim.folder.pictures import drop_unneeded, note_held

_SNAPSHOTS_KEPT = 2
_SNAPSHOT_SPACING = 20  # wait 20 times as long as the last snapshot took
_SHORTEST_WAIT_SECONDS = 1.0


class Snapshots:
    """Write snapshots of an engine, load the newest, and say when the next is due.

    Parameters
    ----------
    connection
        The one that the engine writes to.
    layout
        The folder's files.
    config
        Says how many pictures and how much history stay.
    check
        Called before files are written or deleted; raises if the folder is no longer ours.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        layout: Layout,
        config: Config,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        self.step = 0  # of the newest snapshot
        self._connection = connection
        self._layout = layout
        self._config = config
        self._check = check
        self._last_seconds = 0.0
        self._last_end = time.monotonic()

    @property
    def is_due(self) -> bool:
        """Return whether the last snapshot is long enough ago, judged by what it cost."""
        wait = max(_SHORTEST_WAIT_SECONDS, _SNAPSHOT_SPACING * self._last_seconds)
        return time.monotonic() - self._last_end > wait

    def save(self, engine: Engine, step: int) -> None:
        """Write the engine's state after a step, and drop what a restart no longer needs."""
        assert engine.model is not None
        start = time.monotonic()
        self._check()
        state = engine.state() | {"model": engine.model.version}
        with translate_errors(self._connection):
            checkpoint.write(self._layout.snapshot(step), state)
            with transaction(self._connection):
                oldest_step = self._record(step, engine.position, engine.model.version)
                note_held(self._connection, engine)
                drop_unneeded(self._connection, self._config.picture_room)
                fold(self._connection, self._config.history, oldest_step)
            self._check()
            remove_unneeded_files(self._connection, self._layout, with_hidden=False)
        self.step = step
        self._last_end = time.monotonic()
        self._last_seconds = self._last_end - start

    def load(self, engine: Engine) -> list[str]:
        """Load the newest undamaged snapshot; return what is wrong with newer ones."""
        problems: list[str] = []
        for step, version in self._connection.execute(
            "SELECT step, model FROM snapshots ORDER BY step DESC"
        ).fetchall():
            try:
                state = checkpoint.read(self._layout.snapshot(step))
            except CheckpointError as error:
                problems.append(str(error))
                continue
            engine.restore(state, read_model(self._layout, version))
            self.step = step
            return problems
        raise FolderError(
            f"{self._layout.root} must have an undamaged snapshot, it has none ({problems[-1]}); "
            "restore the folder from a backup"
        )

    def _record(self, step: int, position: int, version: int) -> int:
        """Write a snapshot's row and return the step of the oldest snapshot that is kept."""
        row = (step, position, version)
        self._connection.execute("INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?)", row)
        self._connection.execute(
            "DELETE FROM snapshots"
            " WHERE step NOT IN (SELECT step FROM snapshots ORDER BY step DESC LIMIT ?)",
            (_SNAPSHOTS_KEPT,),
        )
        (oldest,) = self._connection.execute("SELECT min(step) FROM snapshots").fetchone()
        self._connection.execute(
            "UPDATE steps INDEXED BY steps_with_pixels SET pixels = NULL, views = NULL"
            " WHERE step <= ? AND pixels IS NOT NULL",
            (oldest,),
        )
        return int(oldest)


def remove_unneeded_files(
    connection: sqlite3.Connection, layout: Layout, *, with_hidden: bool
) -> None:
    """Delete the files that no row names.

    Parameters
    ----------
    connection
        The one that the engine writes to.
    layout
        The folder's files.
    with_hidden
        Delete the unfinished files of killed processes too. Only right when no trainer is running.
    """
    under_way = connection.execute(
        "SELECT version FROM models WHERE installed_at IS NULL"
    ).fetchall()
    needed = layout.needed(connection) | {layout.model(version) for (version,) in under_way}
    for folder in layout.folders:
        for file in folder.iterdir():
            if file not in needed and (with_hidden or not file.name.startswith(".")):
                file.unlink(missing_ok=True)
