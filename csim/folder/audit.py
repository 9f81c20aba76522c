"""Compare two stream folders that must hold the same, table by table."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from csim.folder.layout import Layout
from csim.folder.query import Query

# Not compared: the numbers of steps, times, the seconds of training, pixels and pictures.
_TABLES = {
    "items": "SELECT place, id, is_accepted, nearest, score, model, class_id, question_id, is_told"
    " FROM items WHERE place > :folded OR is_told OR question_id IS NOT NULL ORDER BY place",
    "events": "SELECT position, kind, body FROM events"
    " WHERE position > :folded OR kind != 'Revised' ORDER BY number",
    "totals": "SELECT * FROM class_totals WHERE images OR told ORDER BY class_id",
    "images": "SELECT total(images) + (SELECT count(*) FROM items WHERE place > 0) FROM folded",
    "classes": "SELECT * FROM classes ORDER BY id",
    "questions": "SELECT id, position, representative, guesses, status, class_id, audit, given"
    " FROM questions ORDER BY id",
    "audited": "SELECT * FROM audited ORDER BY question_id",
    "members": "SELECT * FROM members WHERE question_id IN"
    " (SELECT id FROM questions WHERE status != 'expired') ORDER BY question_id, place",
    "models": "SELECT version, base, position, switch_at, installed_at, images, class_ids, sha256"
    " FROM models ORDER BY version",
    "answers": "SELECT key, not_before, kind, body, refusal FROM inbox ORDER BY not_before, key",
}


def differing_tables(left: Path, right: Path) -> set[str]:
    """Return the tables in which two stream folders differ; one may have folded more images."""
    with (
        closing(Query(Layout(left).database)) as first,
        closing(Query(Layout(right).database)) as second,
    ):
        folded = max(query.value("SELECT place FROM folded_until") for query in (first, second))
        return {
            name
            for name, statement in _TABLES.items()
            if _rows(first, statement, folded) != _rows(second, statement, folded)
        }


def _rows(query: Query, statement: str, folded: int) -> list[object]:
    return query.rows(statement.replace(":folded", str(folded)))
