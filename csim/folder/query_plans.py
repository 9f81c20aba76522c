"""Query plans: which statements read a whole table, and so get slower as a folder grows.

SQLite plans a statement by the schema alone, as csim never runs ANALYZE. So a plan is the same for
a hundred rows and for ten million.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Sequence

from csim.folder.reader import Reader
from csim.folder.status import read_status

# Tables with a row per class, model, snapshot, file of predictions or setting; and temporary ones.
# Of `audited`, the newest rows are read by their key.
_SMALL_TABLES = (
    "classes", "target", "t", "c", "config", "models", "snapshots", "outputs", "held", "going",
    "dropped", "json_each", "class_totals", "picture_bytes", "folded_until", "audited",
    "revised_labels",
)  # fmt: skip
# Indexes of the few rows that a query is after. The last two count per status and kind: they have
# one short entry per question or unreadable file.
_SMALL_INDEXES = (
    "steps_of_models", "events_of_people", "inbox_waiting", "inbox_refused", "items_pictured",
    "events_of_classes", "questions_by_status", "troubles_by_kind",
)  # fmt: skip
_HARMLESS = re.compile(
    rf"SCAN ({'|'.join(_SMALL_TABLES)}|CONSTANT ROW|\d+ CONSTANT ROWS|\(subquery-\d+\))\b"
    rf"|SCAN \w+ USING (COVERING )?INDEX ({'|'.join(_SMALL_INDEXES)})\b"
)
_PLANNED = ("SELECT", "UPDATE", "DELETE", "INSERT", "WITH")


def table_scans(connection: sqlite3.Connection, statement: str) -> list[str]:
    """Return the steps of a statement's plan that read a whole table."""
    plan = connection.execute(f"EXPLAIN QUERY PLAN {statement}").fetchall()
    scans = [detail for *_, detail in plan if detail.startswith("SCAN")]
    return [scan for scan in scans if not _HARMLESS.match(scan)]


def scans_during(
    connections: Sequence[sqlite3.Connection], work: Callable[[], object]
) -> tuple[int, dict[str, list[str]]]:
    """Run `work`; return how many statements it ran, and the scans of those that have some.

    Parameters
    ----------
    connections
        To the same folder; `work` uses them.
    work
        What runs the statements. Those that differ only in their values count once.
    """
    found: dict[str, str] = {}

    def note(statement: str) -> None:
        found.setdefault(re.sub(r"[0-9]+|'[^']*'|x''", "0", statement), statement)

    for connection in connections:
        connection.set_trace_callback(note)
    work()
    for connection in connections:
        connection.set_trace_callback(None)
    planned = [text for text in found.values() if text.lstrip().startswith(_PLANNED)]
    scans = {text: table_scans(connections[0], text) for text in planned}
    return len(planned), {text: details for text, details in scans.items() if details}


def scans_of_readers(reader: Reader) -> tuple[int, dict[str, list[str]]]:
    """Return what `scans_during` does for all that status, questions and the page read."""
    return scans_during([reader._query.connection], lambda: read_everything(reader))


def read_everything(reader: Reader) -> None:
    """Ask a reader what status, label and a page with questions ask."""
    read_status(reader)
    for question in reader.questions("open")[:3]:
        reader.question(question.id)
        reader.item(question.representative)
        reader.members(question.id)
        reader.picture(question.representative)
    reader.samples.recent(0, 10)
    reader.samples.at([1, 2])
    reader.question_pages.showing([1, 2])
    reader.class_images.examples([0, 1], 3)
    reader.class_images.least_sure(0, 10)
    reader.said.taught(reader.said.newest(10))
    reader.said.given(1)
    reader.said.answers_since(0)
    reader.said.class_changes()
    reader.timeline.first_minute()
    reader.timeline.last_image_time()
    reader.timeline.parts(0, 1, 5)
    reader.history.last_answered()
    reader.history.labels_spent()
    reader.history.refusals()
