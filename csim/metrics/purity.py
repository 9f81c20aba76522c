"""Purity of the groups that questions are about."""

from __future__ import annotations

from collections.abc import Iterable

from csim.metrics.share import percent
from csim.metrics.truth import Truth, true_class
from csim.records import Asked, Event


def purity(events: Iterable[Event], truth: Truth) -> float:
    """Return the share of grouped images with the class of their representative, in percent."""
    return percent(
        true_class(truth, item.id) == true_class(truth, event.question.representative.id)
        for event in events
        if isinstance(event, Asked)
        for item in event.question.members
    )
