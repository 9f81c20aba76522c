"""All figures of a run at once; it also exports the functions that other packages use."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from statistics import median

from csim.metrics.accuracy import accuracy, accuracy_curve, last_quarter, unasked
from csim.metrics.answers import images_per_label, labels_spent, questions
from csim.metrics.delay import Milestones, delays, milestones
from csim.metrics.labels import REVISION_LIMIT, late_revisions
from csim.metrics.novelty import first_images_missed_of, novelty_errors, novelty_of
from csim.metrics.outcomes import read_outcomes
from csim.metrics.purity import purity
from csim.metrics.truth import Truth
from csim.records import Event, Retrained

__all__ = [
    "Milestones",
    "Summary",
    "Truth",
    "accuracy",
    "accuracy_curve",
    "labels_spent",
    "milestones",
    "novelty_errors",
    "purity",
    "questions",
    "summarise",
]


@dataclass(frozen=True)
class Summary:
    """Hold the figures of one run; shares are in percent. `docs/metrics.md` defines each.

    Where nothing could be measured, a share is 0.0, and so is `images_per_label`. The two median
    delays are None if no new class was detected or learned.
    """

    images: int
    accuracy: float
    accuracy_at_arrival: float
    accuracy_unasked: float
    accuracy_last_quarter: float
    accuracy_declared: float
    labels_percent: float
    images_per_label: float
    m_new: float
    f_new: float
    m_new_at_arrival: float
    m_new_for_ever: float
    f_new_for_ever: float
    first_500_missed: float
    rejected_known: float
    rejected_novel: float
    images_to_detection: float | None  # median over the detected classes
    images_to_learned: float | None  # median over the learned classes
    classes_undetected: int
    classes_unlearned: int
    classes_learned: int
    purity: float
    late_revisions: int


def summarise(
    events: Sequence[Event], truth: Truth, within: int | None = REVISION_LIMIT
) -> Summary:
    """Return the figures of a run.

    Parameters
    ----------
    events
        The log, from its start.
    truth
        The true class of every image of the stream.
    within
        Arrivals in which a label may be changed; None sets no limit. Higher lets later changes
        count.
    """
    outcomes = read_outcomes(events, within)
    class_delays = delays(events, truth)
    return Summary(
        images=len(truth),
        accuracy=accuracy(outcomes.final, truth),
        accuracy_at_arrival=accuracy(outcomes.at_arrival, truth),
        accuracy_unasked=accuracy(outcomes.final, unasked(events, truth)),
        accuracy_last_quarter=accuracy(outcomes.final, last_quarter(truth)),
        labels_percent=100 * len(labels_spent(events)) / max(len(truth), 1),
        images_per_label=images_per_label(events, within),
        first_500_missed=first_images_missed_of(outcomes, truth, 500),
        images_to_detection=_median(delay.to_detection for delay in class_delays),
        images_to_learned=_median(delay.to_learned for delay in class_delays),
        classes_undetected=sum(delay.to_detection is None for delay in class_delays),
        classes_unlearned=sum(delay.to_learned is None for delay in class_delays),
        classes_learned=max(
            (len(event.class_ids) for event in events if isinstance(event, Retrained)), default=0
        ),
        purity=purity(events, truth),
        late_revisions=late_revisions(events, within),
        **asdict(novelty_of(outcomes, truth)),
    )


def _median(counts: Iterable[int | None]) -> float | None:
    measured = [count for count in counts if count is not None]
    return float(median(measured)) if measured else None
