"""A small real stream for tests: scikit-learn's digits, three known, the rest appear."""

import functools

from csim.bench.datasets.digits import digits
from csim.bench.scenario import Stream, paper_stream
from csim.classifier import StreamClassifier
from csim.settings import Settings

SMALL = {"buffer_size": 40, "update_size": 10, "epochs": 6, "hidden_units": 64, "embedding_size": 64}


@functools.cache
def digit_stream(seed: int = 7) -> Stream:
    return paper_stream(digits(), known_share=0.3, seed=seed)


def truth_of(stream: Stream) -> dict[str, str]:
    return {str(position): name for position, name in enumerate(stream.names, start=1)}


def fitted(settings: Settings | None = None, **options) -> StreamClassifier:
    stream = digit_stream()
    return StreamClassifier(settings or Settings(**SMALL), **options).fit(stream.warm_up, stream.warm_up_names)
