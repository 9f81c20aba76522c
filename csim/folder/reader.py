"""What a stream folder says to those who only read: it never waits for the engine, and the engine never for it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import csim.records as r
from csim.errors import InputError, QuestionError
from csim.folder.codec import event_from_text
from csim.folder.database import open_for_reading, read_transaction, translate_errors
from csim.folder.layout import Config, Layout
from csim.folder.lines import Line, lines
from csim.sources.arrival import Arrival, Decoded
from csim.sources.decode import decode


@dataclass(frozen=True, slots=True)
class ClassRow:
    """A class as a person sees it."""

    id: r.ClassId
    name: str
    images: int  # of the stream that have it today
    told: int  # of those a person has named, the warm-up's included
    is_learned: bool


@dataclass(frozen=True, slots=True)
class QuestionRow:
    """A question as a person sees it; places are the images'."""

    id: r.QuestionId
    position: int
    status: str
    name: str | None  # the answer
    representative: int
    members: tuple[int, ...]
    guesses: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class ItemRow:
    """An image; its place is its position, or negative if it is of the warm-up."""

    place: int
    id: r.ItemId
    name: str | None  # the class it has today
    score: float | None  # at arrival
    is_accepted: bool
    is_told: bool
    question_id: r.QuestionId | None
    model: int | None
    has_picture: bool


class Reader:
    """A stream folder, read-only, as it is at the moment of each call.

    Parameters
    ----------
    root
        The folder.
    """

    def __init__(self, root: Path) -> None:
        self.layout = Layout(root)
        self.connection = open_for_reading(self.layout.database)
        with translate_errors(self.connection):
            self.config = Config.read(self.connection)

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()

    def classes(self) -> list[ClassRow]:
        """Return the classes there are, in order of id."""
        learned = self.value(
            "SELECT class_ids FROM models WHERE installed_at IS NOT NULL ORDER BY version DESC"
        )
        today = dict(self.rows("SELECT id, today FROM classes"))
        query = (
            "SELECT t.id, t.name, coalesce(sum(i.place > 0), 0), coalesce(sum(i.is_told), 0)"
            " FROM classes c JOIN classes t ON t.id = c.today LEFT JOIN items i ON i.class_id = c.id"
            " GROUP BY t.id ORDER BY t.id"
        )
        known = {today[own] for own in json.loads(learned)}
        return [
            ClassRow(own, name, images, told, own in known)
            for own, name, images, told in self.rows(query)
        ]

    def questions(self, status: str | None = "open") -> list[QuestionRow]:
        """Return the questions of a status, or all, oldest first."""
        query = "SELECT id FROM questions WHERE ?1 IS NULL OR status = ?1 ORDER BY id"
        return [self.question(question_id) for (question_id,) in self.rows(query, status)]

    def question(self, question_id: r.QuestionId) -> QuestionRow:
        """Return a question."""
        names = self._names()
        query = "SELECT id, position, status, class_id, representative, guesses FROM questions WHERE id = ?"
        for own, position, status, class_id, representative, guesses in self.rows(
            query, question_id
        ):
            members = self.rows(
                "SELECT place FROM members WHERE question_id = ? ORDER BY place", own
            )
            best = tuple(
                (names[c], score) for c, score in json.loads(guesses) if names.get(c) is not None
            )
            places = tuple(place for (place,) in members)
            return QuestionRow(
                own, position, status, names.get(class_id), representative, places, best
            )
        raise QuestionError(
            f"no question has the id {question_id}; {self.count('open')} are open, see `csim label`"
        )

    def count(self, status: str) -> int:
        """Return how many questions have a status."""
        return int(self.value("SELECT count(*) FROM questions WHERE status = ?", status))

    def item(self, place: int) -> ItemRow:
        """Return an image by its place."""
        found = next(self._items("WHERE i.place = ?", place), None)
        if found is None:
            raise InputError(f"no image stands at place {place}")
        return found

    def items(self) -> Iterator[ItemRow]:
        """Yield all images of the stream in order, and before them those of the warm-up."""
        return self._items("ORDER BY i.place")

    def picture(self, place: int) -> bytes | None:
        """Return an image's file, None if it is no longer kept."""
        query = "SELECT file FROM pictures JOIN items ON picture = sha256 WHERE place = ?"
        rows = self.rows(query, place)
        return bytes(rows[0][0]) if rows else None

    def lines(self, after: int = 0) -> Iterator[tuple[int, Line]]:
        """Yield what became of each image, as `csim run` writes it."""
        return lines(self.connection, after)

    def events(self) -> list[r.Event]:
        """Return everything that happened; an image whose picture is no longer kept is black."""
        with read_transaction(self.connection):
            arrivals = self.rows(
                "SELECT place, id, is_accepted, nearest, score, model FROM items WHERE place > 0 ORDER BY place"
            )
            others = self.rows("SELECT position, kind, body FROM events ORDER BY number")
        log: list[tuple[int, int, r.Event]] = [
            (
                place,
                0,
                (r.Accepted if is_accepted else r.Rejected)(place, own, nearest, score, model),
            )
            for place, own, is_accepted, nearest, score, model in arrivals
        ]
        log += [
            (position, 1, event_from_text(kind, body, self._pictured))
            for position, kind, body in others
        ]
        log.sort(
            key=lambda entry: entry[:2]
        )  # stable: what happened at one position stays in order
        return [event for _, _, event in log]

    def _pictured(self, item_id: r.ItemId) -> r.Item:
        place = int(self.value("SELECT place FROM items WHERE id = ?", item_id))
        file, shape = self.picture(place), self.config.image_shape
        seen = None if file is None else decode(Arrival(item_id, file), shape)
        return r.Item(
            item_id, place, seen.image if isinstance(seen, Decoded) else np.zeros(shape, np.uint8)
        )

    def _items(self, which: str, *values: object) -> Iterator[ItemRow]:
        query = (
            "SELECT i.place, i.id, t.name, i.score, i.is_accepted, i.is_told, i.question_id, i.model,"
            " i.picture IS NOT NULL FROM items i LEFT JOIN classes c ON c.id = i.class_id"
            " LEFT JOIN classes t ON t.id = c.today "
        )
        with translate_errors(self.connection):
            for (
                place,
                own,
                name,
                score,
                is_accepted,
                is_told,
                question_id,
                model,
                has,
            ) in self.connection.execute(query + which, values):
                yield ItemRow(
                    place,
                    own,
                    name,
                    score,
                    bool(is_accepted),
                    bool(is_told),
                    question_id,
                    model,
                    bool(has),
                )

    def _names(self) -> dict[r.ClassId | None, str]:
        return dict(
            self.rows("SELECT c.id, t.name FROM classes c JOIN classes t ON t.id = c.today")
        )

    def rows(self, query: str, *values: object) -> list[Any]:
        """Return what a query finds."""
        with translate_errors(self.connection):
            return self.connection.execute(query, values).fetchall()

    def value(self, query: str, *values: object) -> Any:  # noqa: ANN401
        """Return the one value that a query finds."""
        return self.rows(query, *values)[0][0]
