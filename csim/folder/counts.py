"""Count what a stream folder holds; the database does it, so that little is read into memory."""

from __future__ import annotations

from dataclasses import dataclass

from csim.folder.query import Query
from csim.records import ClassId


@dataclass(frozen=True, slots=True)
class PartCount:
    """Count the images of one part of the stream that have one class today."""

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

    def images(self, *, warm_up: bool = False) -> int:
        """Return how many images the stream has, the labelled ones of its start too if asked."""
        return self._count("items WHERE place > 0 OR ?", warm_up)

    def pictures(self, *, told_only: bool = False, with_class: bool = False) -> int:
        """Return how many images have a picture: all, told ones only, or with a class only."""
        return self._count(
            "items WHERE picture IS NOT NULL AND (is_told OR NOT ?)"
            " AND (class_id IS NOT NULL OR NOT ?)",
            told_only,
            with_class,
        )

    def without_class(self) -> int:
        """Return how many images of the stream have no class today."""
        return self._count("current_items WHERE current_id IS NULL AND place > 0")

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
            How many parts of equal length the stream is cut into. Higher shows finer detail.
        """
        rows = self._query.rows(
            "SELECT (place - 1) * ?1 / (SELECT max(1, max(position)) FROM steps), current_id,"
            " count(*), sum(NOT is_accepted) FROM current_items WHERE place > 0 GROUP BY 1, 2",
            parts,
        )
        return [PartCount(*row) for row in rows]

    def questions(self) -> dict[str, int]:
        """Return how many questions there are by status."""
        return dict(
            self._query.rows(
                "SELECT status, count(*) FROM questions GROUP BY status ORDER BY status"
            )
        )

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
        return int(self._query.value("SELECT coalesce(sum(length(file)), 0) FROM pictures"))

    def _count(self, what: str, *values: object) -> int:
        return int(self._query.value(f"SELECT count(*) FROM {what}", *values))  # noqa: S608
