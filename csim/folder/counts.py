"""Count what a stream folder holds; the database does it, so that little is read into memory."""

from __future__ import annotations

from dataclasses import dataclass

from csim.ask.audit import LATEST
from csim.folder.query import Query
from csim.metrics.audit import AuditFigures, Sample, estimate
from csim.records import JUNK, ClassId

_BY_PART = f"""
WITH counted AS (
  SELECT place - 1 AS before, class_id, 1 AS images, NOT is_accepted AS rejected
    FROM items WHERE place > 0
  UNION ALL SELECT block * 512 + 255, class_id, images, rejected FROM folded
)
SELECT min(?1 - 1, before * ?1 / max(1, (SELECT position FROM steps
    WHERE step = (SELECT max(step) FROM steps)))),
    iif(class_id = {JUNK}, {JUNK}, target.id), sum(images), sum(rejected)
  FROM counted LEFT JOIN classes ON classes.id = class_id
  LEFT JOIN classes AS target ON target.id = classes.today GROUP BY 1, 2
"""  # noqa: S608
# What each class id means today; junk has no row in classes.
_AUDITED = f"""
SELECT iif(audited.answer = {JUNK}, {JUNK}, answer.today),
    iif(at_arrival = {JUNK}, {JUNK}, arrival.today),
    iif(audited.today = {JUNK}, {JUNK}, before.today) FROM audited
  LEFT JOIN classes AS answer ON answer.id = audited.answer
  LEFT JOIN classes AS arrival ON arrival.id = audited.at_arrival
  LEFT JOIN classes AS before ON before.id = audited.today
  ORDER BY question_id DESC LIMIT ?
"""  # noqa: S608
# Steps from name to name through the index; DISTINCT would read an entry for every image.
_SOURCES = """
WITH RECURSIVE names(name) AS (
  SELECT min(source) FROM items WHERE source IS NOT NULL
  UNION ALL SELECT (SELECT min(source) FROM items WHERE source > name) FROM names
    WHERE name IS NOT NULL
) SELECT name FROM names
"""


@dataclass(frozen=True, slots=True)
class PartCount:
    """Count the images of one part of the stream that have one class today, or are `JUNK`."""

    part: int  # from 0
    class_id: ClassId | None
    images: int
    rejected: int  # of these images, those that were rejected at arrival


class Counts:
    """Count images, questions, messages and files of a stream folder.

    Parameters
    ----------
    query
        The folder's database.
    """

    def __init__(self, query: Query) -> None:
        self._query = query

    def sources(self) -> list[str]:
        """Return the names of the cameras of the images that are listed, in order."""
        rows = self._query.rows(_SOURCES)
        return [name for (name,) in rows if name is not None]

    def images(self, *, warm_up: bool = False) -> int:
        """Return how many images are listed, the labelled ones of the start too if asked.

        Images that were folded are not listed.
        """
        taken = self._query.value("SELECT coalesce(sum(images), 0) FROM class_totals")
        folded = self._query.value("SELECT coalesce(sum(images), 0) FROM folded")
        return int(taken - folded) + (self._count("items WHERE place < 0") if warm_up else 0)

    def pictures(self, *, told_only: bool = False, with_class: bool = False) -> int:
        """Return how many images have a picture: all, told ones only, or with a class only."""
        return self._count(
            "items WHERE picture IS NOT NULL AND (is_told OR NOT ?)"
            " AND (class_id != ? OR NOT ?)",  # NULL is not true
            told_only,
            JUNK,
            with_class,
        )

    def without_class(self) -> int:
        """Return how many images of the stream have no class today and are not junk."""
        return int(
            self._query.value(
                "SELECT coalesce(sum(images), 0) FROM class_totals"
                " LEFT JOIN classes ON classes.id = class_id WHERE today IS NULL AND class_id != ?",
                JUNK,
            )
        )

    def junk(self) -> int:
        """Return how many images of the stream are junk today."""
        return int(
            self._query.value(
                "SELECT coalesce(sum(images), 0) FROM class_totals WHERE class_id = ?", JUNK
            )
        )

    def labelled_by_answers(self) -> int:
        """Return how many images of the stream have their class from an answer today."""
        return self._count("items WHERE question_id IS NOT NULL AND place > 0")

    def lines(self) -> int:
        """Return how many prediction lines there are: one per arrival and per later change."""
        changes = self._count("events WHERE kind IN ('Labelled', 'Revised')")
        return self.images() + changes

    def warm_up_images(self) -> dict[ClassId, int]:
        """Return how many labelled images each class of today had at the start of the stream."""
        return dict(
            self._query.rows(
                "SELECT current_id, count(*) FROM current_items"
                " WHERE place < 0 AND current_id IS NOT NULL GROUP BY current_id"
            )
        )

    def first_asked(self) -> dict[ClassId, int]:
        """Return the position of the first question that was answered with each class of today."""
        return dict(
            self._query.rows(
                "SELECT current_id, min(position) FROM questions"
                " JOIN current_classes ON current_classes.id = class_id GROUP BY current_id"
            )
        )

    def by_part(self, parts: int) -> list[PartCount]:
        """Return the images of each part of the stream by their class of today.

        Parameters
        ----------
        parts
            How many parts of equal length the stream is cut into. Higher shows finer detail,
            but folded images are counted in blocks of 512.
        """
        rows = self._query.rows(_BY_PART, parts)
        return [PartCount(*row) for row in rows]

    def questions(self) -> dict[str, int]:
        """Return how many questions there are by status."""
        return dict(
            self._query.rows(
                "SELECT status, count(*) FROM questions GROUP BY status ORDER BY status"
            )
        )

    def open_audit_questions(self) -> int:
        """Return how many questions of the audit have no answer yet."""
        return self._count("questions WHERE status = 'open' AND audit")

    def audited(self) -> AuditFigures | None:
        """Return the accuracy estimated from the latest audited images; None without answers."""
        rows = self._query.rows(_AUDITED, LATEST)
        return estimate(Sample(*row) for row in rows)

    def models_trained(self) -> int:
        """Return how many models were trained on the stream and used, without the first one."""
        return self._count("models WHERE installed_at > 0")

    def labels_revised(self) -> int:
        """Return how often csim has given an image with a class another one later."""
        return int(self._query.value("SELECT total FROM revised_labels"))

    def waiting_messages(self) -> int:
        """Return how many messages of the inbox the engine has not taken yet."""
        return self._count("inbox WHERE step IS NULL")

    def troubles(self) -> dict[str, int]:
        """Return how many files could not be used, by kind of trouble."""
        return dict(
            self._query.rows("SELECT kind, count(*) FROM troubles GROUP BY kind ORDER BY kind")
        )

    def picture_bytes(self) -> int:
        """Return the size of all kept pictures."""
        return int(self._query.value("SELECT total FROM picture_bytes"))

    def _count(self, what: str, *values: object) -> int:
        return int(self._query.value(f"SELECT count(*) FROM {what}", *values))  # noqa: S608
