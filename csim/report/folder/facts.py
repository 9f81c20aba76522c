"""The figures of a stream folder's report; the database sums them up.

A million images become a few hundred numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from csim.folder.models import ModelRow
from csim.folder.reader import Reader
from csim.folder.status import Status, read_status
from csim.records import ClassId, Ints
from csim.report.timeline import Course
from csim.sources.arrival import Trouble

_MOST_PARTS = 100  # of the stream: more would be thinner than a few pixels
_FEWEST_IMAGES = 20  # of a part: fewer show noise
_MOST_TROUBLES = 20  # listed by name
_NEVER = 2**62  # a position after all others


@dataclass(frozen=True)
class ClassFacts:
    """Describe a class of today.

    Parameters
    ----------
    id
        The class.
    images
        How many images of the stream have it.
    told
        How many of these a person labelled.
    labelled
        How many labelled images it had at the start.
    course
        Its images along the stream.
    """

    id: ClassId
    images: int
    told: int
    labelled: int
    course: Course


@dataclass(frozen=True)
class Facts:
    """Describe a stream folder at one moment.

    Parameters
    ----------
    status
        What `csim status` shows.
    first
        How many classes the first model knew.
    classes
        The classes of today: new ones in the order in which csim found them, then those known from
        the start.
    asked
        The position of every question.
    spent
        The position of every label that a person gave.
    named
        How many images of the stream have their class from an answer.
    arrived
        How many images each part of the stream has, (parts,).
    rejected
        How many images of each part were rejected at arrival, (parts,).
    waiting
        How many images of each part have no class today, (parts,).
    models
        All model versions, in order.
    troubles
        The newest files that could not be used.
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
    models: tuple[ModelRow, ...]
    troubles: tuple[Trouble, ...]

    @property
    def images(self) -> int:
        """Return how many images the stream has observed."""
        return self.status.position

    @property
    def learned(self) -> int:
        """Return how many classes of today a model has learned."""
        return sum(facts.course.learned is not None for facts in self.classes)


def gather(reader: Reader) -> Facts:
    """Return all figures of a stream folder."""
    status = read_status(reader)
    parts = max(1, min(_MOST_PARTS, status.position // _FEWEST_IMAGES))
    arrived = np.zeros(parts, np.int64)
    rejected = np.zeros(parts, np.int64)
    counts: dict[ClassId | None, Ints] = {}
    for count in reader.counts.by_part(parts):
        of_class = counts.setdefault(count.class_id, np.zeros(parts, np.int64))
        of_class[count.part] = count.images
        arrived[count.part] += count.images
        rejected[count.part] += count.rejected
    models = reader.models.all()
    return Facts(
        status=status,
        first=len(models[0].class_ids or ()),
        classes=_classes(reader, status, counts, parts),
        asked=np.array(reader.history.questions_asked(), np.int64),
        spent=np.array(reader.history.labels_spent(), np.int64),
        named=reader.counts.labelled_by_answers(),
        arrived=arrived,
        rejected=rejected,
        waiting=counts.get(None, np.zeros(parts, np.int64)),
        models=tuple(models),
        troubles=tuple(reader.samples.troubles(_MOST_TROUBLES)),
    )


def _classes(
    reader: Reader, status: Status, counts: Mapping[ClassId | None, Ints], parts: int
) -> tuple[ClassFacts, ...]:
    asked = reader.counts.first_asked()
    labelled = reader.counts.warm_up_images()
    learned = _learned(reader)
    classes = [
        ClassFacts(
            id=row.id,
            images=row.images,
            told=row.told - labelled.get(row.id, 0),
            labelled=labelled.get(row.id, 0),
            course=Course(
                row.name,
                counts.get(row.id, np.zeros(parts, np.int64)),
                asked.get(row.id),
                learned.get(row.id),
            ),
        )
        for row in status.classes
    ]
    return tuple(sorted(classes, key=_order_of_discovery))


def _learned(reader: Reader) -> dict[ClassId, int]:
    """Return the position of the first model that could give each class of today."""
    current = reader.current_classes()
    learned: dict[ClassId, int] = {}
    for model in reader.models.all():
        for class_id in model.class_ids or ():
            if class_id in current and model.installed_at is not None:
                learned.setdefault(current[class_id].id, model.installed_at)
    return learned


def _order_of_discovery(facts: ClassFacts) -> tuple[bool, int, int]:
    course = facts.course
    if course.learned == 0:  # known from the start
        return True, 0, facts.id
    moments = [moment for moment in (course.asked, course.learned) if moment is not None]
    return False, min(moments, default=_NEVER), facts.id
