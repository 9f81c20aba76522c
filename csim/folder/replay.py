"""Doing again what the log says was done after a snapshot, and checking that the same comes of it."""

from __future__ import annotations

import json
import sqlite3

import numpy as np

import csim.records as r
from csim.engine import Engine
from csim.errors import FolderError
from csim.folder.codec import event_to_text, message_from_text
from csim.folder.layout import Config, Layout
from csim.folder.trainer_process import read_model


def replay(
    connection: sqlite3.Connection, layout: Layout, engine: Engine, after: int
) -> tuple[int, tuple[str, int]]:
    """Do all steps after one again; return the last step's number, and its kind and position."""
    (last,) = connection.execute("SELECT max(step) FROM steps").fetchone()
    rows = connection.execute(
        "SELECT step, kind, body, pixels FROM steps WHERE step > ? ORDER BY step", (after,)
    )
    for step, kind, body, pixels in rows.fetchall():
        events = _again(connection, layout, engine, (step, kind, body, pixels))
        if _recorded(connection, step) != _summary(events):
            raise FolderError(
                f"{layout.root} must come to what it had come to when it stopped, step {step} ({kind}) does not; run "
                "it with the versions of csim and its libraries, and the kind of machine, that it was run with before"
            )
    kind, position = connection.execute(
        "SELECT kind, position FROM steps WHERE step = ?", (last,)
    ).fetchone()
    return last, (kind, position)


def _again(
    connection: sqlite3.Connection,
    layout: Layout,
    engine: Engine,
    step: tuple[int, str, int, bytes],
) -> list[r.Event]:
    number, kind, body, pixels = step
    if kind == "observe":
        shape = Config.read(connection).image_shape
        images = np.frombuffer(pixels, np.uint8).reshape(body, *shape)
        rows = connection.execute(
            "SELECT place, id FROM items WHERE step = ? ORDER BY place", (number,)
        ).fetchall()
        return engine.observe(
            [r.Item(own, place, image) for (place, own), image in zip(rows, images, strict=True)]
        )
    if kind == "install":
        return engine.install(read_model(layout, body))
    if kind == "ask":
        return engine.ask_now()
    assert kind == "inbox"
    row = connection.execute(
        "SELECT kind, body, refusal FROM inbox WHERE number = ?", (body,)
    ).fetchone()
    if row[2] is not None:
        return []
    message = message_from_text(*row[:2])
    return engine.tell([message]) if isinstance(message, r.Answer) else engine.edit(message)


def _recorded(connection: sqlite3.Connection, step: int) -> list[object]:
    arrivals = connection.execute(
        "SELECT id, is_accepted, nearest FROM items WHERE step = ? ORDER BY place", (step,)
    )
    events = connection.execute(
        "SELECT kind, body FROM events WHERE step = ? ORDER BY number", (step,)
    )
    return [*arrivals.fetchall(), *(_bare(kind, body) for kind, body in events.fetchall())]


def _summary(events: list[r.Event]) -> list[object]:
    arrivals: list[object] = []
    others: list[object] = []
    for event in events:
        if isinstance(event, r.Accepted):
            arrivals.append((event.item_id, 1, event.class_id))
        elif isinstance(event, r.Rejected):
            arrivals.append((event.item_id, 0, event.nearest))
        elif not isinstance(event, r.TrainingDue):
            others.append(_bare(*event_to_text(event)))
    return arrivals + others


def _bare(kind: str, body: str) -> tuple[str, dict[str, object]]:
    """Return an event without scores, whose last digits differ between machines."""
    values = json.loads(body)
    values.pop("guesses", None)
    return kind, values
