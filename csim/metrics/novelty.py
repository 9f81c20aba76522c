"""What became of new images and of known ones.

Two conventions of "novel" are in use. The CSIM paper's: an image is novel while the model cannot output its class, so
a class that has been learned is novel no more. StreamNDR's: novel is, for ever, what the first model did not know.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from csim.errors import SettingsError
from csim.metrics.labels import WITHIN
from csim.metrics.reading import Reading, read
from csim.metrics.share import percent
from csim.metrics.truth import Truth, true_class
from csim.records import Event


@dataclass(frozen=True)
class Novelty:
    """Figures that tell novel images from existing ones, in percent; 0.0 where there are no such images.

    Parameters
    ----------
    m_new
        Novel images finally given a class that the model knew when they arrived.
    f_new
        Existing images finally given a class that the model did not know when they arrived.
    m_new_at_arrival
        Novel images accepted at once as a class that the model knew.
    m_new_for_ever, f_new_for_ever
        The same two as at the top, in StreamNDR's convention.
    rejected_known, rejected_novel
        Existing and novel images rejected at arrival.
    accuracy_declared
        All images, a novel one right if it is finally given no class, or one that the model did not know.
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
    events: Sequence[Event], truth: Truth, within: int | None = WITHIN
) -> tuple[float, float]:
    """Return the paper's M_new and F_new, in percent.

    M_new: novel images finally given a class that existed / novel images. F_new: existing images finally given a
    class that was novel / existing images. Novel is what the model could not output when the image arrived. An
    image that waits is neither missed nor false.
    """
    figures = novelty(events, truth, within)
    return figures.m_new, figures.f_new


def novelty(events: Sequence[Event], truth: Truth, within: int | None = WITHIN) -> Novelty:
    """Return all figures about novel and existing images; `within` as for `final`."""
    return novelty_of(read(events, within), truth)


def novelty_of(log: Reading, truth: Truth) -> Novelty:
    """Return what `novelty` does, of a log that has been read already."""
    images = [
        _Image(true_class(truth, item_id), known, log.at_once[item_id], log.last[item_id])
        for item_id, known in log.known.items()
    ]
    novel = [image for image in images if image.is_novel]
    existing = [image for image in images if not image.is_novel]
    first, first_or_none = log.first, {None, *log.first}
    declared = sum(image.is_declared for image in novel) + sum(
        image.last == image.true for image in existing
    )
    return Novelty(
        m_new=percent(not image.is_declared for image in novel),
        f_new=percent(image.is_declared and image.last is not None for image in existing),
        m_new_at_arrival=percent(image.at_once in image.known for image in novel),
        m_new_for_ever=percent(image.last in first for image in images if image.true not in first),
        f_new_for_ever=percent(
            image.last not in first_or_none for image in images if image.true in first
        ),
        rejected_known=percent(image.at_once is None for image in existing),
        rejected_novel=percent(image.at_once is None for image in novel),
        accuracy_declared=100 * declared / max(len(truth), 1),
    )


def first_images_missed(
    events: Sequence[Event], truth: Truth, first: int = 500, *, within: int | None = WITHIN
) -> float:
    """Return the share of the first images of all new classes finally given another class, in percent.

    A class is new if it was not known at the start, so the images are the same for every method. One that waits is
    not missed.

    Parameters
    ----------
    events, truth
        The log and what the images are.
    first
        Images of each new class that are looked at. Raising it looks farther past the class's beginning.
    within
        As for `final`.
    """
    return first_images_missed_of(read(events, within), truth, first)


def first_images_missed_of(log: Reading, truth: Truth, first: int = 500) -> float:
    """Return what `first_images_missed` does, of a log that has been read already."""
    if first < 1:
        raise SettingsError(f"first must be at least 1 image of each class, got {first}")
    seen: Counter[str] = Counter()
    missed: list[bool] = []
    for item_id, name in truth.items():
        if name not in log.first and seen[name] < first:
            seen[name] += 1
            missed.append(log.last.get(item_id) not in (None, name))
    return percent(missed)


class _Image(NamedTuple):
    true: str
    known: frozenset[str]  # when it arrived
    at_once: str | None
    last: str | None

    @property
    def is_novel(self) -> bool:
        return self.true not in self.known

    @property
    def is_declared(self) -> bool:
        """Whether it ended as something new: without a class, or with one that was not known."""
        return self.last not in self.known
