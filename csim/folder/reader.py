"""Read a stream folder: classes, questions, images and pictures as they are today.

Readers never wait for the engine, and the engine never waits for them. `Reader` opens a folder.
Its parts read the rest: `models` the model versions, `history` what happened over time, `counts`
sums, `samples` images and groups to show, and `times` how fast things go. `decisions`,
`question_pages` and `feed` are for programs that follow the stream: images by id, questions page by
page, events since an event. `timeline`, `class_images` and `said` are for pages: sums per minute,
images of a class, and what people said. `workers` says who works for the run. `frozen_vectors`
reads what a frozen encoder made of images.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from csim.errors import InputError, QuestionError
from csim.folder.class_images import ClassImages
from csim.folder.counts import Counts
from csim.folder.database import translate_errors
from csim.folder.decisions import Decisions
from csim.folder.feed import Feed
from csim.folder.frozen_vectors import FrozenVectors
from csim.folder.history import History
from csim.folder.layout import Config, Layout
from csim.folder.models import Models
from csim.folder.query import Query
from csim.folder.question_pages import QuestionPages
from csim.folder.said import Said
from csim.folder.samples import Samples
from csim.folder.timeline import Timeline
from csim.folder.times import Times
from csim.folder.workers import ReportedWorkers
from csim.records import JUNK, ClassId, ItemId, QuestionId

_QUESTIONS = (
    "SELECT id, position, status, class_id, representative, guesses, time, answered FROM questions "
)
_MEMBERS = "SELECT id, place FROM members JOIN questions ON id = question_id "
_ITEMS = (
    "SELECT place, id, class_name, score, is_accepted, is_told, question_id, model,"
    " picture IS NOT NULL, class_id,"
    " (SELECT time FROM steps WHERE steps.step = current_items.step),"
    " (SELECT answered FROM questions WHERE questions.id = question_id) FROM current_items "
)


@dataclass(frozen=True, slots=True)
class ClassRow:
    """Describe a class of today."""

    id: ClassId
    name: str
    images: int  # images of the stream with this class
    told: int  # of all images with this class, those that a person labelled; with the warm-up's
    is_learned: bool  # the model in use can give it


@dataclass(frozen=True, slots=True)
class CurrentClass:
    """Name the class that a class id means today."""

    id: ClassId
    name: str


@dataclass(frozen=True, slots=True)
class QuestionRow:
    """Describe a question. `representative` and `members` are places of images."""

    id: QuestionId
    position: int
    status: str
    name: str | None  # the class in the answer
    representative: int
    members: tuple[int, ...]
    guesses: tuple[tuple[str, float], ...]  # class name and score, best first
    is_junk: bool  # the answer is junk
    time: float | None  # when it was asked: seconds since 1970, in UTC
    answered: float | None  # when the answer was given


@dataclass(frozen=True, slots=True)
class ItemRow:
    """Describe an image. Its place is its position, or negative for the warm-up's images."""

    place: int
    id: ItemId
    name: str | None  # the class that it has today
    score: float | None  # at arrival
    is_accepted: bool  # at arrival
    is_told: bool
    question_id: QuestionId | None  # the question whose answer gave it its class
    model: int | None  # the model version that decided at arrival
    has_picture: bool
    is_junk: bool  # today
    time: float | None  # when csim took it: seconds since 1970, in UTC
    answered: float | None  # when the answer that gave it its class was given


class Reader:
    """Read a stream folder without changing it; each call returns what is true at that moment.

    Parameters
    ----------
    root
        The folder.
    """

    def __init__(self, root: Path) -> None:
        self.layout = Layout(root)
        self._query = Query(self.layout.database)
        with translate_errors(self._query.connection):
            self.config = Config.read(self._query.connection)
        self.models = Models(self._query)
        self.history = History(self._query, self.config.image_shape)
        self.counts = Counts(self._query)
        self.samples = Samples(self._query)
        self.decisions = Decisions(self._query)
        self.feed = Feed(self._query)
        self.question_pages = QuestionPages(self._query)
        self.times = Times(self._query)
        self.timeline = Timeline(self._query)
        self.class_images = ClassImages(self._query)
        self.said = Said(self._query)
        self.workers = ReportedWorkers(self._query)
        self.frozen_vectors = FrozenVectors(self._query, self.layout, self.config)

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self._query.close()

    def transaction(self) -> AbstractContextManager[None]:
        """Let all that is read inside the block be of the same moment; the engine does not wait."""
        return self._query.transaction()

    def classes(self) -> list[ClassRow]:
        """Return the classes of today, in order of id."""
        current = self.current_classes()
        learned = {
            current[class_id].id for class_id in self.models.learned() if class_id in current
        }
        rows = self._query.rows(
            "SELECT c.current_id, c.name, coalesce(sum(images), 0), coalesce(sum(told), 0)"
            " FROM current_classes c LEFT JOIN class_totals ON class_totals.class_id = c.id"
            " GROUP BY c.current_id ORDER BY c.current_id"
        )
        return [
            ClassRow(class_id, name, images, told, class_id in learned)
            for class_id, name, images, told in rows
        ]

    def current_classes(self) -> dict[ClassId, CurrentClass]:
        """Return what each class id means today; the ids of removed classes are missing."""
        rows = self._query.rows("SELECT id, current_id, name FROM current_classes")
        return {class_id: CurrentClass(current_id, name) for class_id, current_id, name in rows}

    def questions(self, status: str | None = "open") -> list[QuestionRow]:
        """Return the questions with a status, or all if it is None, oldest first."""
        return (
            self._questions("") if status is None else self._questions("WHERE status = ?", status)
        )

    def question(self, question_id: QuestionId) -> QuestionRow:
        """Return one question."""
        for question in self._questions("WHERE id = ?", question_id):
            return question
        raise QuestionError(
            f"no question has the id {question_id}; {self.count('open')} are open, see `csim label`"
        )

    def count(self, status: str) -> int:
        """Return how many questions have a status."""
        return self.counts.questions().get(status, 0)

    def item(self, place: int) -> ItemRow:
        """Return the image at a place."""
        for item in self._items("WHERE place = ?", place):
            return item
        raise InputError(f"place must be that of an image of the stream, got {place}")

    def items(self, source: str | None = None) -> Iterator[ItemRow]:
        """Yield all images by place: first the warm-up's, then the stream's in order.

        Parameters
        ----------
        source
            Yield only images of this camera; None yields all.
        """
        if source is None:
            return self._items("ORDER BY place")
        names = self.counts.sources()
        if source not in names:
            known = ", ".join(names) or "none"
            raise InputError(f"source must name a source of the stream ({known}), got {source!r}")
        return self._items("WHERE source = ? ORDER BY place", source)

    def members(self, question_id: QuestionId) -> list[ItemRow]:
        """Return the images of a question's group, by place."""
        which = "WHERE place IN (SELECT place FROM members WHERE question_id = ?) ORDER BY place"
        return list(self._items(which, question_id))

    def picture(self, place: int) -> bytes | None:
        """Return an image's file, or None if it is no longer kept."""
        rows = self._query.rows(
            "SELECT file FROM pictures JOIN items ON picture = sha256 WHERE place = ?", place
        )
        return bytes(rows[0][0]) if rows else None

    def _questions(self, which: str, *values: object) -> list[QuestionRow]:
        members: defaultdict[QuestionId, list[int]] = defaultdict(list)
        with self._query.transaction():
            rows = self._query.rows(_QUESTIONS + which + " ORDER BY id", *values)
            places = self._query.rows(_MEMBERS + which + " ORDER BY place", *values)
            for question_id, place in places:
                members[question_id].append(place)
            names = {class_id: current.name for class_id, current in self.current_classes().items()}
        return [
            QuestionRow(
                id=question_id,
                position=position,
                status=status,
                name=names.get(class_id),
                representative=representative,
                members=tuple(members[question_id]),
                guesses=tuple(
                    (names[guess], score) for guess, score in json.loads(guesses) if guess in names
                ),
                is_junk=class_id == JUNK,
                time=times[0],
                answered=times[1],
            )
            for question_id, position, status, class_id, representative, guesses, *times in rows
        ]

    def _items(self, which: str, *values: object) -> Iterator[ItemRow]:
        rows = self._query.each(_ITEMS + which, *values)
        for (
            place, item_id, name, score, is_accepted, is_told, question_id, model, has, class_id,
            *times,
        ) in rows:  # fmt: skip
            yield ItemRow(
                place=place,
                id=item_id,
                name=name,
                score=score,
                is_accepted=bool(is_accepted),
                is_told=bool(is_told),
                question_id=question_id,
                model=model,
                has_picture=bool(has),
                is_junk=class_id == JUNK,
                time=times[0],
                answered=times[1],
            )
