"""What a report tells of a stream folder, summed up by its database: a million images stay a few hundred numbers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from csim.folder.reader import Reader
from csim.folder.status import Status, read_status
from csim.records import ClassId, Ints
from csim.report.timeline import Course

_PARTS = 100  # of the stream, at most: finer ones would be thinner than a few pixels
_LEAST = 20  # images of a part: fewer show noise
_MOST_TROUBLES = 20  # named in full
_SPENT = (  # what `metrics.answers.labels_spent` counts: an answer has one label that was told
    "SELECT position FROM events WHERE kind IN ('Divided', 'Corrected')"
    " OR (kind = 'Labelled' AND json_extract(body, '$.is_told')) ORDER BY position"
)
_COUNTS = (
    "SELECT (place - 1) * ?1 / ?2, c.today, count(*), sum(NOT is_accepted)"
    " FROM items LEFT JOIN classes c ON c.id = class_id WHERE place > 0 GROUP BY 1, 2"
)


@dataclass(frozen=True)
class ClassFacts:
    """A class of today."""

    id: ClassId
    images: int  # of the stream that have it
    told: int  # of these, named by people
    labelled: int  # at the start
    course: Course


@dataclass(frozen=True)
class ModelFacts:
    """A model: when it became due and took over, and what its training took; None is what has not come or is not known.

    `classes` is how many it can give.
    """

    version: int
    due: int
    installed: int | None
    images: int
    classes: int | None
    seconds: float | None


@dataclass(frozen=True)
class Facts:
    """A stream folder at one moment.

    Parameters
    ----------
    status
        What `csim status` shows.
    first
        How many classes were known at the start.
    classes
        Those of today: the new ones in the order in which they were found, then those known from the start.
    asked, spent
        The position of every question, and of everything that was told.
    named
        Images of the stream that have their class from an answer.
    arrived, rejected, waiting
        Images of each part of the stream: all, those without a class at arrival, those without one today, (parts,).
    models
        In order.
    troubles
        Some files that could not be taken: id, kind and reason.
    """

    status: Status
    first: int
    classes: tuple[ClassFacts, ...]
    asked: Ints
    spent: Ints
    named: int
    arrived: Ints
    rejected: Ints
    waiting: Ints
    models: tuple[ModelFacts, ...]
    troubles: tuple[tuple[str, str, str], ...]

    @property
    def images(self) -> int:
        """How many images have come."""
        return self.status.position

    @property
    def learned(self) -> int:
        """How many classes the model gives today."""
        return sum(own.course.learned is not None for own in self.classes)


@contextmanager
def at_one_moment(reader: Reader) -> Iterator[None]:
    """Let all that is read inside the block be of the same moment, however long it takes and whoever writes."""
    reader.rows("BEGIN")
    try:
        yield
    finally:
        reader.rows("COMMIT")


def gather(reader: Reader) -> Facts:
    """Return what there is to tell."""
    status = read_status(reader)
    parts = max(1, min(_PARTS, status.position // _LEAST))
    arrived, rejected = np.zeros(parts, np.int64), np.zeros(parts, np.int64)
    counts: dict[ClassId | None, Ints] = {}
    for part, class_id, images, put_aside in reader.rows(_COUNTS, parts, max(status.position, 1)):
        counts.setdefault(class_id, np.zeros(parts, np.int64))[part] = images
        arrived[part] += images
        rejected[part] += put_aside
    models = reader.rows(
        "SELECT version, position, installed_at, images, class_ids, seconds FROM models ORDER BY 1"
    )
    return Facts(
        status=status,
        first=len(json.loads(models[0][4])),
        classes=_classes(reader, status, counts, parts),
        asked=_positions(reader, "SELECT position FROM questions ORDER BY position"),
        spent=_positions(reader, _SPENT),
        named=reader.value(
            "SELECT count(*) FROM items WHERE question_id IS NOT NULL AND place > 0"
        ),
        arrived=arrived,
        rejected=rejected,
        waiting=counts.get(None, np.zeros(parts, np.int64)),
        models=tuple(
            ModelFacts(
                version,
                due,
                installed,
                images,
                None if ids is None else len(json.loads(ids)),
                seconds,
            )
            for version, due, installed, images, ids, seconds in models
        ),
        troubles=tuple(
            reader.rows(
                "SELECT id, kind, reason FROM troubles ORDER BY rowid DESC LIMIT ?", _MOST_TROUBLES
            )
        ),
    )


def _classes(
    reader: Reader, status: Status, counts: Mapping[ClassId | None, Ints], parts: int
) -> tuple[ClassFacts, ...]:
    today = dict(reader.rows("SELECT id, today FROM classes"))
    asked = dict(
        reader.rows(
            "SELECT today, min(position) FROM questions JOIN classes ON classes.id = class_id"
            " WHERE today IS NOT NULL GROUP BY today"
        )
    )
    labelled = dict(
        reader.rows(
            "SELECT today, count(*) FROM items JOIN classes ON classes.id = class_id WHERE place < 0 GROUP BY 1"
        )
    )
    learned: dict[ClassId | None, int] = {}
    for installed, ids in reader.rows(
        "SELECT installed_at, class_ids FROM models WHERE installed_at IS NOT NULL ORDER BY version"
    ):
        for class_id in json.loads(ids):
            learned.setdefault(today[class_id], installed)
    classes = [
        ClassFacts(
            own.id,
            own.images,
            own.told - labelled.get(own.id, 0),
            labelled.get(own.id, 0),
            Course(
                own.name,
                counts.get(own.id, np.zeros(parts, np.int64)),
                asked.get(own.id),
                learned.get(own.id),
            ),
        )
        for own in status.classes
    ]
    return tuple(sorted(classes, key=_in_order_of_discovery))


def _in_order_of_discovery(own: ClassFacts) -> tuple[bool, int, int]:
    asked, learned = own.course.asked, own.course.learned
    moments = [moment for moment in (asked, learned) if moment is not None]
    return learned == 0, 0 if learned == 0 else min(moments, default=2**62), own.id


def _positions(reader: Reader, query: str) -> Ints:
    return np.array([position for (position,) in reader.rows(query)], np.int64)
