"""What a stream folder holds, for tests to compare: its tables, and its files byte by byte."""

import hashlib
import json
import sqlite3
from contextlib import closing

from csim.folder.layout import Layout

# What two runs of the same stream must share. Not scores: their last digits depend on the size of
# the batch. Not the seconds of training. Not where a step's images begin, which a restart moves.
SAME = {
    "items": "SELECT place, id, is_accepted, nearest, model, class_id, question_id, is_told"
    " FROM items",
    "events": "SELECT number, position, kind, body FROM events",
    "classes": "SELECT * FROM classes",
    "questions": "SELECT id, position, representative, guesses, status, class_id FROM questions",
    "members": "SELECT * FROM members",
    "models": "SELECT version, base, position, switch_at, images, installed_at, class_ids, sha256"
    " FROM models",
    "inbox": "SELECT i.key, i.not_before, i.kind, i.body, s.position, i.refusal FROM inbox i"
    " LEFT JOIN steps s ON s.step = i.step",
    "steps": "SELECT kind, position FROM steps WHERE kind != 'observe'",
}


def tables(folder):
    """Return what is the same however often a run was stopped."""
    with closing(sqlite3.connect(Layout(folder).database)) as connection:
        found = {name: sorted(connection.execute(query), key=repr) for name, query in SAME.items()}
    found["events"] = [(*row[:3], unscored(row[3])) for row in found["events"]]
    found["questions"] = [(*row[:3], unscored(row[3]), *row[4:]) for row in found["questions"]]
    return found


def unscored(text):
    """Return JSON without the values of its scores."""
    return json.loads(text, parse_float=lambda _: "a score")


def dump(folder):
    """Return every row of every table."""
    with closing(sqlite3.connect(Layout(folder).database)) as connection:
        names = [
            name
            for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        return {
            name: sorted(connection.execute(f"SELECT * FROM {name}"), key=repr)  # noqa: S608
            for name in sorted(names)
        }


def files(folder):
    """Return a digest of every file but the lock and SQLite's own, by name."""
    passing = ("lock", "stream.db-wal", "stream.db-shm")
    return {
        str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and file.name not in passing
    }
