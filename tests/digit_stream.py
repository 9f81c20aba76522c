"""A small real stream for tests: scikit-learn's digits, three known, the rest appear."""

import functools

from csim.bench.datasets.digits import digits
from csim.bench.scenario import Stream, paper_stream
from csim.classifier import StreamClassifier
from csim.records import Accepted, Labelled, Rejected, Revised
from csim.settings import Settings

SIZES = {"epochs": 6, "hidden_units": 64, "embedding_size": 64}
SMALL = SIZES | {"recent": 200, "ask_every": 50, "channels": 8, "update_steps": 20, "keep": 0.8}
SMALL_PAPER = SIZES | {"buffer_size": 40, "update_size": 10}


@functools.cache
def digit_stream(seed: int = 7) -> Stream:
    return paper_stream(digits(), known_share=0.3, seed=seed)


def of(kind, events) -> list:
    return [event for event in events if isinstance(event, kind)]


def last_classes(events) -> dict:
    """Return each image's last class; fail if an event contradicts an earlier one."""
    given: dict = {}
    for event in events:
        if isinstance(event, Accepted | Rejected):
            given[event.item_id] = event.class_id if isinstance(event, Accepted) else None
        elif isinstance(event, Labelled):
            given[event.item_id] = event.class_id
        elif isinstance(event, Revised) and event.item_id in given:  # not for warm-up images
            assert given[event.item_id] == event.before != event.after, event
            given[event.item_id] = event.after
    return given


def truth_of(stream: Stream) -> dict[str, str]:
    return {str(position): name for position, name in enumerate(stream.names, start=1)}


def fitted(
    settings: Settings | None = None, *, stream: Stream | None = None, **options
) -> StreamClassifier:
    stream = stream or digit_stream()
    return StreamClassifier(settings or Settings(**SMALL), **options).fit(
        stream.warm_up, stream.warm_up_names
    )
