"""Compare two stream folders that must hold the same, table by table."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from csim.folder.layout import Layout
from csim.folder.query import Query

# Not compared: the numbers of steps, the seconds of training, pixels and pictures.
_TABLES = {
    "items": "SELECT place, id, is_accepted, nearest, score, model, class_id, question_id, is_told"
    " FROM items ORDER BY place",
    "events": "SELECT position, kind, body FROM events ORDER BY number",
    "classes": "SELECT * FROM classes ORDER BY id",
    "questions": "SELECT * FROM questions ORDER BY id",
    "members": "SELECT * FROM members ORDER BY question_id, place",
    "models": "SELECT version, base, position, switch_at, installed_at, images, class_ids, sha256"
    " FROM models ORDER BY version",
    "answers": "SELECT key, not_before, kind, body, refusal FROM inbox ORDER BY not_before, key",
}


def differing_tables(left: Path, right: Path) -> set[str]:
    """Return the tables in which two stream folders differ."""
    with (
        closing(Query(Layout(left).database)) as first,
        closing(Query(Layout(right).database)) as second,
    ):
        return {
            name
            for name, statement in _TABLES.items()
            if first.rows(statement) != second.rows(statement)
        }
