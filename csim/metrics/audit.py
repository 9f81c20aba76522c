"""An estimate of the accuracy without the truth, from answers about images drawn at random.

Each image of the stream is drawn with the same probability, whatever the model says about it. So
the share of drawn images whose class is the answer is an unbiased estimate of the accuracy. Images
without an answer do not count: if you skip hard ones, the estimate is too high.

The interval is that of Clopper and Pearson (1934): exact for independent draws, so it holds the
accuracy in at least 95 of 100 streams, however few answers there are. csim draws one image of every
n, which varies less than independent draws (Hoeffding 1956), so the interval errs on the wide side.
It takes the stream for the start of an endless one: no correction for a finite number of images.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from csim.records import Audited, ClassesMerged, ClassId, ClassRemoved, Event, QuestionId

_CONFIDENCE = 0.95


class Sample(NamedTuple):
    """Hold the answer about a drawn image, and the classes it is compared with; None for none."""

    answer: ClassId | None
    at_arrival: ClassId | None
    today: ClassId | None


@dataclass(frozen=True, slots=True)
class Estimate:
    """Hold a share in percent and the interval that holds the true share at 95 % confidence."""

    share: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class AuditFigures:
    """Hold the estimated accuracy at arrival and today.

    Parameters
    ----------
    answers
        Drawn images with an answer, which the estimates are made from. Higher gives narrower
        intervals.
    at_arrival
        Of the class given at arrival; an image that was rejected counts as wrong.
    today
        Of the class that images have once they have left the recent window.
    """

    answers: int
    at_arrival: Estimate
    today: Estimate


def audit(events: Iterable[Event]) -> AuditFigures | None:
    """Return the estimated accuracy from a log; None if no drawn image has an answer.

    >>> log = [Audited(9, "a", 1, 3, 3, 3), Audited(9, "b", 2, None, 4, 4)]
    >>> found = audit(log)
    >>> found.at_arrival.share, found.today.share
    (50.0, 100.0)
    """
    samples: dict[QuestionId, Sample] = {}
    current: dict[ClassId, ClassId | None] = {}
    for event in events:
        if isinstance(event, Audited):
            samples[event.question_id] = Sample(event.answer, event.at_arrival, event.today)
        elif isinstance(event, ClassesMerged):
            _redirect(current, event.source, event.target)
        elif isinstance(event, ClassRemoved):
            _redirect(current, event.class_id, None)
    return estimate(
        Sample(
            *(None if class_id is None else current.get(class_id, class_id) for class_id in sample)
        )
        for sample in samples.values()
    )


def estimate(samples: Iterable[Sample]) -> AuditFigures | None:
    """Return the estimated accuracy from samples; None if there are none.

    Parameters
    ----------
    samples
        One per drawn image, with the classes of today. An answer whose class was removed is None
        and does not count.
    """
    known = [sample for sample in samples if sample.answer is not None]
    if not known:
        return None
    at_arrival = sum(sample.at_arrival == sample.answer for sample in known)
    today = sum(sample.today == sample.answer for sample in known)
    return AuditFigures(len(known), interval(at_arrival, len(known)), interval(today, len(known)))


def interval(right: int, answers: int) -> Estimate:
    """Return the share of `right` answers and its interval, in percent.

    Higher `answers` gives a narrower interval.

    >>> found = interval(18, 20)
    >>> found.share, round(found.low, 1), round(found.high, 1)
    (90.0, 68.3, 98.8)
    """
    # Loading it takes a third of the time of a command that reads a folder; few need it.
    from scipy.special import betaincinv  # noqa: PLC0415

    tail = (1 - _CONFIDENCE) / 2
    wrong = answers - right
    low = betaincinv(right, wrong + 1, tail) if right else 0.0
    high = betaincinv(right + 1, wrong, 1 - tail) if wrong else 1.0
    return Estimate(100 * right / answers, 100 * float(low), 100 * float(high))


def _redirect(
    current: dict[ClassId, ClassId | None], source: ClassId, target: ClassId | None
) -> None:
    for class_id, meaning in list(current.items()):
        if meaning == source:
            current[class_id] = target
    current[source] = target
