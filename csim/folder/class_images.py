"""Read the images of one class: the newest, the least sure, and examples to compare with."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from csim.folder.query import Query
from csim.records import ClassId, ItemId

_NEWEST = (
    "SELECT place, id, score, is_told, question_id IS NOT NULL FROM items"
    " WHERE class_id = ?1 AND is_told = ?2 AND place < ?3 AND picture IS NOT NULL"
    " AND (?5 IS NULL OR source = ?5) ORDER BY place DESC LIMIT ?4"
)
_NO_LIMIT = 2**62
_SEARCHED = 1000  # newest images among which the least sure are


@dataclass(frozen=True, slots=True)
class ClassImage:
    """Describe an image of a class whose picture is kept."""

    place: int
    id: ItemId
    score: float | None  # at arrival; None for the warm-up's
    is_told: bool
    is_from_answer: bool  # a person named its group


class ClassImages:
    """Read the images that have a class today.

    Parameters
    ----------
    query
        The folder's database.
    """

    def __init__(self, query: Query) -> None:
        self._query = query

    def newest(
        self,
        class_id: ClassId,
        most: int,
        *,
        before: int | None = None,
        source: str | None = None,
    ) -> list[ClassImage]:
        """Return the images that no person saw, newest first.

        Parameters
        ----------
        class_id
            A class of today.
        most
            How many. Higher returns more.
        before
            Only images with a lower place; None for no limit. Higher starts with newer ones.
        source
            Only images of this camera; None for all.
        """
        return self._newest(class_id, most, source, is_told=False, before=before)

    def least_sure(
        self, class_id: ClassId, most: int, *, source: str | None = None
    ) -> list[ClassImage]:
        """Return the lowest scores among the newest images that no person saw.

        Parameters
        ----------
        class_id
            A class of today.
        most
            How many. Higher returns more.
        source
            Only images of this camera; None for all.
        """
        found = self._newest(class_id, _SEARCHED, source, is_told=False)
        return sorted(found, key=lambda image: (image.score or 0.0, -image.place))[:most]

    def told(self, class_id: ClassId, most: int, *, source: str | None = None) -> list[ClassImage]:
        """Return the images that people labelled with a class, newest first.

        Parameters
        ----------
        class_id
            A class of today.
        most
            How many. Higher returns more.
        source
            Only images of this camera; None for all.
        """
        return self._newest(class_id, most, source, is_told=True)

    def examples(
        self, class_ids: Iterable[ClassId], per_class: int
    ) -> dict[ClassId, list[ClassImage]]:
        """Return typical images of classes: told ones first, then the newest others.

        Parameters
        ----------
        class_ids
            Classes of today.
        per_class
            How many of each. Higher returns more.
        """
        with self._query.transaction():
            return {
                class_id: (self.told(class_id, per_class) + self.newest(class_id, per_class))[
                    :per_class
                ]
                for class_id in class_ids
            }

    def _newest(
        self,
        class_id: ClassId,
        most: int,
        source: str | None,
        *,
        is_told: bool,
        before: int | None = None,
    ) -> list[ClassImage]:
        limit = _NO_LIMIT if before is None else before
        merged = self._query.rows("SELECT id FROM classes WHERE today = ?", class_id)
        rows = [
            row
            for (old_id,) in merged
            for row in self._query.rows(_NEWEST, old_id, is_told, limit, most, source)
        ]
        return [
            ClassImage(place, item_id, score, bool(told), bool(is_from_answer))
            for place, item_id, score, told, is_from_answer in sorted(rows, reverse=True)[:most]
        ]
