"""The one evaluation loop: warm up, let the stream pass, answer every question from the truth, keep the log.

The model never sees the truth: a simulated labeller tells the name of a question's representative, and the
metrics read the log afterwards.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from csim.ask.labellers import TruthLabeller
from csim.bench.scenario import Stream
from csim.classifier import StreamClassifier
from csim.records import Event, ItemId
from csim.settings import Settings

_BATCH = 16  # images between two looks at the open questions: an answer comes at most so late


@dataclass(frozen=True)
class Run:
    """What happened, the truth beside it, and what it took."""

    settings: Settings
    events: list[Event]
    truth: dict[ItemId, str]
    seconds: float
    seconds_training: float


def run(
    stream: Stream,
    settings: Settings,
    *,
    on_events: Callable[[list[Event], int], None] | None = None,
    on_model: Callable[[StreamClassifier], None] | None = None,
) -> Run:
    """Run a stream to its end.

    Parameters
    ----------
    stream
        Images in order, and the truth.
    settings
        The method.
    on_events
        Called after every batch with its events and the position reached, for progress.
    on_model
        Called with the classifier after the warm-up and at the end, to look at its vectors.
    """
    start = time.perf_counter()
    events: list[Event] = []
    truth = {str(position): name for position, name in enumerate(stream.names, start=1)}
    labeller = TruthLabeller(truth)
    classifier = StreamClassifier(settings, on_event=events.append).fit(stream.warm_up, stream.warm_up_names)
    if on_model:
        on_model(classifier)
    for first in range(0, len(stream.images), _BATCH):
        batch = stream.images[first : first + _BATCH]
        new = classifier.observe(batch)
        if first + _BATCH >= len(stream.images):
            new += classifier.ask_now()
        new += classifier.answer_with(labeller)
        if on_events:
            on_events(new, first + len(batch))
    if on_model:
        on_model(classifier)
    return Run(settings, events, truth, time.perf_counter() - start, classifier.training_seconds)
