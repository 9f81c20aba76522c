"""Choose what a report shows of a stream folder: images of each class, groups, labels, troubles."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from csim.folder.query import Query
from csim.records import JUNK, ClassId, ItemId, QuestionId
from csim.sources.arrival import Trouble

_NEWEST = (
    "SELECT place, id, current_id, class_name, is_told, class_id FROM ("
    " SELECT *, row_number() OVER (PARTITION BY current_id, is_told ORDER BY place DESC) AS age"
    " FROM current_items WHERE picture IS NOT NULL AND current_id IS NOT NULL"
    ") WHERE age <= ? ORDER BY place DESC"
)
# Knuth's multiplicative hash shuffles the places: images come from the whole stream.
_SPREAD = (
    "SELECT place, id, current_id, class_name, is_told, class_id FROM ("
    " SELECT *, row_number() OVER"
    "  (PARTITION BY current_id ORDER BY abs(place) * 2654435761 % 4294967296) AS turn"
    " FROM current_items WHERE picture IS NOT NULL"
    ") ORDER BY turn, place LIMIT ?"
)
_RECENT = (
    "SELECT place, id, current_id, class_name, is_told, class_id FROM current_items"
    " WHERE place > ? AND picture IS NOT NULL ORDER BY place DESC LIMIT ?"
)
_AT = (
    "SELECT place, i.id, current_id, class_name, is_told, class_id FROM json_each(?)"
    " JOIN current_items i ON place = value WHERE picture IS NOT NULL"
)


@dataclass(frozen=True, slots=True)
class PicturedItem:
    """Name an image whose picture is kept, and its class of today."""

    place: int
    id: ItemId
    class_id: ClassId | None
    name: str | None
    is_told: bool
    is_junk: bool


@dataclass(frozen=True, slots=True)
class GroupSize:
    """Describe a question and the size of its group."""

    question_id: QuestionId
    status: str
    class_id: ClassId | None  # the class in the answer, as it is today
    images: int


@dataclass(frozen=True, slots=True)
class GroupMember:
    """Name an image of a group."""

    question_id: QuestionId
    representative: ItemId
    item_id: ItemId


@dataclass(frozen=True, slots=True)
class LabelRow:
    """Give the labels that an image had at arrival and has today; None means no class."""

    item_id: ItemId
    place: int
    at_arrival: str | None
    today: str | None
    is_told: bool


class Samples:
    """Choose images and groups of a stream folder.

    Parameters
    ----------
    query
        The folder's database.
    """

    def __init__(self, query: Query) -> None:
        self._query = query

    def newest(self, per_class: int) -> list[PicturedItem]:
        """Return the newest images with a picture, told and others of each class, newest first.

        Parameters
        ----------
        per_class
            How many told images and how many others of a class, at most. Higher returns more.
        """
        return self._pictured(_NEWEST, per_class)

    def spread(self, most: int) -> list[PicturedItem]:
        """Return images with a picture, from the whole stream and equally many of each class.

        Parameters
        ----------
        most
            How many images, at most. Higher returns more. A class may have too few for its share.
        """
        return self._pictured(_SPREAD, most)

    def recent(self, after: int, most: int) -> list[PicturedItem]:
        """Return the newest images with a picture, newest first.

        Parameters
        ----------
        after
            The place before the first one. Higher returns fewer.
        most
            How many images, at most. Higher returns more.
        """
        return self._pictured(_RECENT, after, most)

    def at(self, places: Sequence[int]) -> list[PicturedItem]:
        """Return the images at places that still have a picture."""
        return self._pictured(_AT, json.dumps(places))

    def group_sizes(self) -> list[GroupSize]:
        """Return every question with the size of its group, oldest first."""
        rows = self._query.rows(
            "SELECT q.id, status, current_id, count(place) FROM questions q"
            " LEFT JOIN current_classes c ON c.id = class_id"
            " LEFT JOIN members ON question_id = q.id GROUP BY q.id ORDER BY q.id"
        )
        return [GroupSize(*row) for row in rows]

    def group_members(self) -> Iterator[GroupMember]:
        """Yield every image of every group, one by one."""
        rows = self._query.each(
            "SELECT q.id, asked.id, i.id FROM members"
            " JOIN questions q ON q.id = members.question_id"
            " JOIN items asked ON asked.place = representative"
            " JOIN items i ON i.place = members.place"
        )
        return (GroupMember(*row) for row in rows)

    def labels(self) -> Iterator[LabelRow]:
        """Yield the labels of every image of the stream, in order, one by one."""
        rows = self._query.each(
            "SELECT i.id, i.place, c.name, i.class_name, i.is_told FROM current_items i"
            " LEFT JOIN current_classes c ON c.id = iif(i.is_accepted, i.nearest, NULL)"
            " WHERE i.place > 0 ORDER BY i.place"
        )
        for item_id, place, at_arrival, today, is_told in rows:
            yield LabelRow(item_id, place, at_arrival, today, bool(is_told))

    def troubles(self, most: int) -> list[Trouble]:
        """Return the newest files that could not be used.

        Parameters
        ----------
        most
            How many files, at most. Higher returns more.
        """
        rows = self._query.rows(
            "SELECT id, kind, reason FROM troubles ORDER BY rowid DESC LIMIT ?", most
        )
        return [Trouble(*row) for row in rows]

    def _pictured(self, statement: str, *values: object) -> list[PicturedItem]:
        rows = self._query.rows(statement, *values)
        return [
            PicturedItem(place, item_id, class_id, name, bool(is_told), label == JUNK)
            for place, item_id, class_id, name, is_told, label in rows
        ]
