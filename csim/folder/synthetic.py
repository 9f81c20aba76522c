"""Images that no engine decided, written in bulk, to measure how a folder grows in a year.

Only the decisions are made up. Triggers, indexes, snapshots and folding treat them like others.
"""

from __future__ import annotations

import sqlite3

from csim.folder.database import transaction
from csim.folder.log import LastStep

_BATCH = 512
_PLACES = """
CREATE TEMP TABLE IF NOT EXISTS made AS WITH RECURSIVE
  n(place) AS (VALUES (:first) UNION ALL SELECT place + 1 FROM n LIMIT :images)
  SELECT place, :step + (place - :first) / :batch AS step,
    place * 2654435761 % 4294967296 AS draw  -- Knuth's multiplicative hash
  FROM n
"""
_STEPS = """
INSERT INTO steps (step, kind, position, body, time)
  SELECT step, 'observe', max(place), count(*), :start + max(place) * :interval
  FROM made GROUP BY step
"""
# Nine of ten are accepted, over three classes. The tenth gets its class later.
_ITEMS = """
INSERT INTO items (place, id, step, is_accepted, nearest, score, model, class_id)
  SELECT place, printf('camera-1/%09d.png', place), step, draw % 10 > 0, draw / 10 % 3,
    draw / 4294967296.0, 1, iif(draw % 10, draw / 10 % 3, 1)
  FROM made
"""
_REVISIONS = """
INSERT INTO events (step, position, kind, body)
  SELECT step, place, 'Revised', json_object('position', place,
    'item_id', printf('camera-1/%09d.png', place), 'before', NULL, 'after', 1)
  FROM made WHERE draw % 10 = 0
"""
_TIMELINE = """
INSERT INTO timeline
  SELECT CAST((:start + place * :interval) / 60 AS INTEGER) AS minute, count(*), sum(draw % 10 > 0),
    sum(draw % 10 = 0), 0, 0
  FROM made WHERE true GROUP BY 1
  ON CONFLICT DO UPDATE SET images = images + excluded.images,
    accepted = accepted + excluded.accepted, revised = revised + excluded.revised
"""


def add_images(
    connection: sqlite3.Connection,
    last: LastStep,
    batches: int,
    *,
    start: float = 0.0,
    interval: float = 1.0,
) -> LastStep:
    """Add batches of 512 images after the last step; return the new last step.

    Parameters
    ----------
    connection
        The one that the engine writes to.
    last
        The newest step in the log.
    batches
        How many. Higher adds more images.
    start
        The time of position 0, in seconds since 1970. Higher is later.
    interval
        Seconds between two images. Higher makes the images older.
    """
    values = {
        "first": last.position + 1,
        "images": batches * _BATCH,
        "step": last.number + 1,
        "batch": _BATCH,
        "start": start,
        "interval": interval,
    }
    with transaction(connection):
        for statement in (_PLACES, _STEPS, _ITEMS, _REVISIONS, _TIMELINE):
            connection.execute(statement, values)
        connection.execute("DROP TABLE made")
    return LastStep(last.number + batches, "observe", last.position + batches * _BATCH)
