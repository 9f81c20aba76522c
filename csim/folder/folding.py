"""Folding: images older than the folder's history become counts; what people said stays.

csim folds an image when it is older than the history, unless somebody may still ask for it: an
image that a person labelled, that got its class from an answer, that a question showed, that
belongs to a question which did not expire, whose picture is kept, or that the engine still holds.
Of a folded image csim keeps a hash of its id, so that it still skips the file, and its part in the
counts by class. With the images go the steps that took them and the `Revised` events of that time.
Messages, questions, classes, models and all other events stay.

csim folds in the transaction of a snapshot, a bounded number of images each time. It reads the
age of an image from the times in the log, never from a clock, and nothing older than the older
snapshot's step is needed to replay.
"""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from csim.errors import SettingsError

_IMAGES_PER_FOLD = 20_000  # bounds the time of a snapshot; more come than go only above 20,000/s
_STEPS_TO_WRITE = 1_000_000  # a file of predictions that is further behind is no longer written
_SECONDS = {"h": 3600, "d": 86_400}

_FOLDABLE = """
INSERT INTO going SELECT place FROM items WHERE place > ? AND place <= ?
  AND is_told = 0 AND question_id IS NULL AND picture IS NULL AND id NOT IN held
  AND NOT EXISTS (SELECT 1 FROM questions WHERE representative = place)
  AND NOT EXISTS (SELECT 1 FROM members JOIN questions ON questions.id = members.question_id
    WHERE members.place = items.place AND status != 'expired')
"""
_COUNT = """
INSERT INTO folded
  SELECT (place - 1) / 512, coalesce(class_id, -1), count(*), sum(NOT is_accepted)
  FROM items WHERE place IN (SELECT place FROM going) GROUP BY 1, 2
  ON CONFLICT DO UPDATE SET
    images = images + excluded.images, rejected = rejected + excluded.rejected
"""
_DROP_STEPS = """
DELETE FROM steps WHERE step > ? AND step <= ? AND kind = 'observe'
  AND NOT EXISTS (SELECT 1 FROM items WHERE items.step = steps.step)
  AND NOT EXISTS (SELECT 1 FROM events WHERE events.step = steps.step)
"""


@dataclass(frozen=True, slots=True)
class KeptHistory:
    """Say how long a folder lists every image.

    Parameters
    ----------
    seconds
        Images that came less than this long before the newest one. Higher keeps more; None for
        no such limit.
    images
        The newest images. Higher keeps more; None for no such limit.
    """

    seconds: float | None = None
    images: int | None = None

    def __post_init__(self) -> None:
        for limit in (self.seconds, self.images):
            if limit is not None and limit < 1:
                raise SettingsError(f"history must be 1 second or 1 image at least, got {limit}")

    @classmethod
    def from_text(cls, text: str) -> KeptHistory:
        """Read what `text` writes: all, 90d, 12h, or a number of images.

        >>> KeptHistory.from_text("90d")
        KeptHistory(seconds=7776000, images=None)
        """
        if text == "all":
            return cls()
        if not (found := re.fullmatch(r"([1-9][0-9]{0,11})([hd]?)", text, re.ASCII)):
            raise SettingsError(
                "history must be days as 90d, hours as 12h, a number of images as 1000000, or all; "
                f"got {text!r}"
            )
        number, unit = found.groups()
        return cls(seconds=int(number) * _SECONDS[unit]) if unit else cls(images=int(number))

    def text(self) -> str:
        """Return the limit as `from_text` reads it.

        >>> KeptHistory(seconds=43200).text()
        '12h'
        """
        if self.images is not None:
            return str(self.images)
        if self.seconds is None:
            return "all"
        days, rest = divmod(self.seconds, _SECONDS["d"])
        return f"{self.seconds / _SECONDS['h']:g}h" if rest else f"{days:g}d"


def fold(connection: sqlite3.Connection, history: KeptHistory, newest_step: int) -> int:
    """Replace images that are older than the history by counts; return how many.

    Parameters
    ----------
    connection
        In a transaction, with the ids that the engine holds in the table `held`.
    history
        What stays.
    newest_step
        The last step that may go: no replay begins before it. Higher folds more.
    """
    step, place = connection.execute("SELECT step, place FROM folded_until").fetchone()
    horizon = _horizon(connection, history)
    bound = _step_of(connection, place + _IMAGES_PER_FOLD)
    if horizon is None or bound is None:
        return 0
    steps = (step, min(horizon, bound, newest_step, _written(connection, newest_step)))
    if steps[0] >= steps[1]:
        return 0
    (last_place,) = connection.execute(
        "SELECT position FROM steps WHERE step = ?", steps[1:]
    ).fetchone()
    connection.create_function("hash_of", 1, _hash, deterministic=True)
    connection.execute("CREATE TEMP TABLE IF NOT EXISTS going (place INTEGER PRIMARY KEY)")
    connection.execute("DELETE FROM going")
    count = connection.execute(_FOLDABLE, (place, last_place)).rowcount
    connection.execute(_COUNT)
    connection.execute(
        "INSERT OR IGNORE INTO folded_ids SELECT hash_of(id) FROM items"
        " WHERE place IN (SELECT place FROM going) ORDER BY 1"
    )
    for table in ("members", "items"):
        connection.execute(
            f"DELETE FROM {table} WHERE place IN (SELECT place FROM going)"  # noqa: S608
        )
    connection.execute(
        "DELETE FROM events WHERE step > ? AND step <= ? AND kind = 'Revised'", steps
    )
    connection.execute(_DROP_STEPS, steps)
    connection.execute("UPDATE folded_until SET step = ?, place = ?", (steps[1], last_place))
    return count


def folded_among(connection: sqlite3.Connection, item_ids: Sequence[str]) -> set[str]:
    """Return those ids whose images were taken and have been folded."""
    (place,) = connection.execute("SELECT place FROM folded_until").fetchone()
    if not (item_ids and place):  # without ids SQLite would read the whole table
        return set()
    hashes = {_hash(item_id): item_id for item_id in item_ids}
    marks = ", ".join("?" * len(hashes))
    query = f"SELECT hash FROM folded_ids WHERE hash IN ({marks})"  # noqa: S608
    return {hashes[found] for (found,) in connection.execute(query, list(hashes))}


def _written(connection: sqlite3.Connection, newest_step: int) -> int:
    """Return the step up to which every file of predictions in use is written."""
    (step,) = connection.execute(
        "SELECT min(step) FROM outputs WHERE step > ?", (newest_step - _STEPS_TO_WRITE,)
    ).fetchone()
    return newest_step if step is None else int(step)


def _horizon(connection: sqlite3.Connection, history: KeptHistory) -> int | None:
    """Return the newest step whose images are older than the history, if there is one."""
    if history.images is not None:
        (position,) = connection.execute(
            "SELECT position FROM steps WHERE step = (SELECT max(step) FROM steps)"
        ).fetchone()
        found = _step_of(connection, position - history.images)
        return None if found is None else found - 1  # the step may hold newer images too
    if history.seconds is None:
        return None
    row = connection.execute(
        "SELECT step FROM steps WHERE time <= -? +"
        " (SELECT time FROM steps WHERE step = (SELECT max(step) FROM steps))"
        " ORDER BY time DESC, step DESC LIMIT 1",
        (history.seconds,),
    ).fetchone()
    return None if row is None else int(row[0])


def _step_of(connection: sqlite3.Connection, place: int) -> int | None:
    """Return the step of the newest image up to a place; None if no image is as old."""
    row = connection.execute(
        "SELECT step FROM items WHERE place > 0 AND place <= ? ORDER BY place DESC LIMIT 1",
        (place,),
    ).fetchone()
    return None if row is None else int(row[0])


def _hash(item_id: str) -> int:
    """Return 64 bits of an id: among 31 million, two are alike with a chance of 1 in 40,000."""
    digest = hashlib.blake2b(item_id.encode(errors="surrogateescape"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)
