"""Replay: the steps after a snapshot are done again, and must give the events in the log."""

from __future__ import annotations

import json
import sqlite3

import csim.records as r
from csim.engine import Engine
from csim.errors import FolderError
from csim.folder import inbox
from csim.folder.codec import event_to_text, message_from_text
from csim.folder.inputs import inputs_from_bytes
from csim.folder.jobs import read_model
from csim.folder.layout import Config, Layout
from csim.folder.log import LastStep
from csim.folder.views import views_from_bytes


def replay(
    connection: sqlite3.Connection, layout: Layout, config: Config, engine: Engine, after: int
) -> LastStep:
    """Replay all steps after one; return the last of them."""
    rows = connection.execute(
        "SELECT step, kind, body, pixels, views FROM steps WHERE step > ? ORDER BY step", (after,)
    )
    for step, kind, body, pixels, views in rows.fetchall():
        if kind == "observe":
            items = _items(connection, config, step, pixels)
            events = engine.observe(items, views_from_bytes(views, len(items)))
        elif kind == "inbox":
            events = _repeat_message(connection, engine, body)
        elif kind == "install":
            events = engine.install(read_model(layout, body))
        else:
            assert kind == "ask"
            events = engine.ask_now()
        if _recorded(connection, step) != _summary(events):
            raise FolderError(
                f"{layout.root} must come to the same result when csim replays it, step {step} "
                f"({kind}) does not; run it with the versions of csim and its libraries, and the "
                "kind of machine, that wrote it"
            )
    row = connection.execute(
        "SELECT step, kind, position FROM steps WHERE step = (SELECT max(step) FROM steps)"
    ).fetchone()
    return LastStep(*row)


def _items(
    connection: sqlite3.Connection, config: Config, step: int, pixels: bytes
) -> list[r.Item]:
    rows = connection.execute(
        "SELECT place, id FROM items WHERE step = ? ORDER BY place", (step,)
    ).fetchall()
    is_frozen = config.settings.encoder != "own"
    return inputs_from_bytes(pixels, rows, config.image_shape, is_frozen=is_frozen)


def _repeat_message(connection: sqlite3.Connection, engine: Engine, number: int) -> list[r.Event]:
    kind, body, refusal = connection.execute(
        "SELECT kind, body, refusal FROM inbox WHERE number = ?", (number,)
    ).fetchone()
    if refusal is not None:
        return []
    events, _ = inbox.take(engine, message_from_text(kind, body))
    return events


def _recorded(connection: sqlite3.Connection, step: int) -> list[object]:
    """Return what the log says happened in a step."""
    decisions = connection.execute(
        "SELECT id, is_accepted, nearest FROM items WHERE step = ? ORDER BY place", (step,)
    )
    events = connection.execute(
        "SELECT kind, body FROM events WHERE step = ? ORDER BY number", (step,)
    )
    return [
        *decisions.fetchall(),
        *(_without_scores(kind, body) for kind, body in events.fetchall()),
    ]


def _summary(events: list[r.Event]) -> list[object]:
    """Return what happened now, in the form of `_recorded`."""
    decisions: list[object] = []
    others: list[object] = []
    for event in events:
        if isinstance(event, r.Accepted):
            decisions.append((event.item_id, 1, event.class_id))
        elif isinstance(event, r.Rejected):
            decisions.append((event.item_id, 0, event.nearest))
        elif not isinstance(event, r.TrainingDue):
            others.append(_without_scores(*event_to_text(event)))
    return decisions + others


def _without_scores(kind: str, body: str) -> tuple[str, dict[str, object]]:
    """Return an event without its scores, whose last digits differ between machines."""
    values = json.loads(body)
    values.pop("guesses", None)
    return kind, values
