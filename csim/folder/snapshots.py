"""Snapshots: all that the engine knows, written now and then, so that a restart need not begin at the first image.

What came after a snapshot is done again from the log. Two are kept: if the newer is damaged, the older still serves.
"""

from __future__ import annotations

import sqlite3

from csim import checkpoint
from csim.engine import Engine
from csim.errors import CheckpointError, FolderError
from csim.folder.database import transaction
from csim.folder.layout import Layout
from csim.folder.pictures import let_go
from csim.folder.trainer_process import read_model

_KEPT = 2


def save(
    connection: sqlite3.Connection, layout: Layout, engine: Engine, step: int, picture_room: int
) -> None:
    """Write what the engine knows after a step, and drop what is no longer needed for a restart."""
    assert engine.model is not None
    state = engine.state() | {"model": engine.model.version}
    checkpoint.write(layout.snapshot(step), state)
    with transaction(connection):
        row = (step, engine.position, engine.model.version)
        connection.execute("INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?)", row)
        connection.execute(
            "DELETE FROM snapshots WHERE step NOT IN (SELECT step FROM snapshots ORDER BY step DESC LIMIT ?)",
            (_KEPT,),
        )
        oldest = connection.execute("SELECT min(step) FROM snapshots").fetchone()
        connection.execute(
            "UPDATE steps SET pixels = NULL WHERE step <= ? AND pixels IS NOT NULL", oldest
        )
        let_go(connection, engine, picture_room)
    sweep(connection, layout, is_start=False)


def load(connection: sqlite3.Connection, layout: Layout, engine: Engine) -> tuple[int, list[str]]:
    """Bring an engine to the newest snapshot that is whole; return its step, and what is wrong with newer ones."""
    problems: list[str] = []
    for step, version in connection.execute(
        "SELECT step, model FROM snapshots ORDER BY step DESC"
    ).fetchall():
        try:
            state = checkpoint.read(layout.snapshot(step))
        except CheckpointError as error:
            problems.append(str(error))
            continue
        engine.restore(state, read_model(layout, version))
        return step, problems
    raise FolderError(
        f"{layout.root} has no whole snapshot left ({problems[-1]}); restore the folder from a backup"
    )


def sweep(connection: sqlite3.Connection, layout: Layout, *, is_start: bool) -> None:
    """Delete files that no row speaks of: no longer needed or, at the start, left half-written by one who died."""
    under_way = connection.execute(
        "SELECT version FROM models WHERE installed_at IS NULL"
    ).fetchall()
    needed = layout.needed(connection) | {layout.model(version) for (version,) in under_way}
    for folder in layout.folders:
        for file in folder.iterdir():
            if file not in needed and (is_start or not file.name.startswith(".")):
                file.unlink(missing_ok=True)
