"""Errors on novel images and on existing ones.

There are two conventions for "novel". In the CSIM paper an image is novel while the model cannot
output its class, so a learned class is no longer novel. In StreamNDR a class that the first model
did not know is novel to the end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from csim.errors import SettingsError
from csim.metrics.labels import REVISION_LIMIT
from csim.metrics.outcomes import Outcomes, read_outcomes
from csim.metrics.share import percent
from csim.metrics.truth import Truth, true_class
from csim.records import Event


@dataclass(frozen=True)
class Novelty:
    """Hold figures about novel and existing images, in percent; 0.0 where there are no such images.

    Parameters
    ----------
    m_new
        Share of novel images whose final class the model knew when they arrived. Higher misses
        more.
    f_new
        Share of existing images whose final class the model did not know when they arrived. Higher
        invents more.
    m_new_at_arrival
        Share of novel images accepted at arrival. Higher misses more at arrival.
    m_new_for_ever, f_new_for_ever
        `m_new` and `f_new` in StreamNDR's convention.
    rejected_known, rejected_novel
        Share of existing and of novel images rejected at arrival. Higher rejects more.
    accuracy_declared
        Accuracy, where a novel image is right if its final class is none, or one that the model
        did not know when it arrived. Higher is better.
    """

    m_new: float
    f_new: float
    m_new_at_arrival: float
    m_new_for_ever: float
    f_new_for_ever: float
    rejected_known: float
    rejected_novel: float
    accuracy_declared: float


def novelty_errors(
    events: Sequence[Event], truth: Truth, within: int | None = REVISION_LIMIT
) -> tuple[float, float]:
    """Return the paper's M_new and F_new, in percent.

    M_new is the share of novel images whose final class existed. F_new is the share of existing
    images whose final class was novel. A class is novel if the model could not output it when the
    image arrived. An image that still waits counts in neither.
    """
    figures = novelty(events, truth, within)
    return figures.m_new, figures.f_new


def novelty(events: Sequence[Event], truth: Truth, within: int | None = REVISION_LIMIT) -> Novelty:
    """Return all figures about novel and existing images; `within` as for `final`."""
    return novelty_of(read_outcomes(events, within), truth)


def novelty_of(outcomes: Outcomes, truth: Truth) -> Novelty:
    """Return all figures about novel and existing images, from outcomes already read."""
    images = [
        _Image(
            true=true_class(truth, item_id),
            known=known,
            at_arrival=outcomes.at_arrival[item_id],
            final=outcomes.final[item_id],
        )
        for item_id, known in outcomes.known.items()
    ]
    novel = [image for image in images if image.is_novel]
    existing = [image for image in images if not image.is_novel]
    initial = outcomes.initial
    declared = sum(image.is_declared for image in novel) + sum(
        image.final == image.true for image in existing
    )
    return Novelty(
        m_new=percent(not image.is_declared for image in novel),
        f_new=percent(image.is_declared and image.final is not None for image in existing),
        m_new_at_arrival=percent(image.at_arrival in image.known for image in novel),
        m_new_for_ever=percent(
            image.final in initial for image in images if image.true not in initial
        ),
        f_new_for_ever=percent(
            image.final is not None and image.final not in initial
            for image in images
            if image.true in initial
        ),
        rejected_known=percent(image.at_arrival is None for image in existing),
        rejected_novel=percent(image.at_arrival is None for image in novel),
        accuracy_declared=100 * declared / max(len(truth), 1),
    )


def first_images_missed(
    events: Sequence[Event], truth: Truth, first: int = 500, *, within: int | None = REVISION_LIMIT
) -> float:
    """Return the share of new classes' first images whose final class is wrong, in percent.

    A class is new if it was not known at the start, so the images are the same for every method.
    An image that still waits does not count as missed.

    Parameters
    ----------
    events, truth
        The log, and the true class of every image.
    first
        Images of each new class to count. Higher includes later images of the class.
    within
        As for `final`.
    """
    return first_images_missed_of(read_outcomes(events, within), truth, first)


def first_images_missed_of(outcomes: Outcomes, truth: Truth, first: int = 500) -> float:
    """Return the figure of `first_images_missed`, from outcomes already read."""
    if first < 1:
        raise SettingsError(f"first must be at least 1 image of each class, got {first}")
    seen: Counter[str] = Counter()
    missed: list[bool] = []
    for item_id, name in truth.items():
        if name not in outcomes.initial and seen[name] < first:
            seen[name] += 1
            missed.append(outcomes.final.get(item_id) not in (None, name))
    return percent(missed)


class _Image(NamedTuple):
    true: str
    known: frozenset[str]  # when it arrived
    at_arrival: str | None
    final: str | None

    @property
    def is_novel(self) -> bool:
        return self.true not in self.known

    @property
    def is_declared(self) -> bool:
        """Tell whether it was declared new: its final class is none, or was not known."""
        return self.final not in self.known
