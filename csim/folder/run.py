"""A run: from a source into a stream folder, until it ends, reaches a limit or is stopped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from csim.folder.stream import BATCH, Stream
from csim.sources.arrival import Arrival, Decoded, Source, Trouble
from csim.sources.prefetch import decoded

_LOOKUP_IMAGES = 64  # looked up at a time: one by one, each would wait for Python's global lock
_REMEMBERED_IDS = 8 * BATCH  # more images than are ever decoded and not yet written


@dataclass
class Counts:
    """Count what a run has met so far."""

    taken: int = 0
    known: int = 0  # images that had come before
    troubles: int = 0
    last: Trouble | None = field(default=None, repr=False)


def run(
    stream: Stream,
    source: Source,
    *,
    limit: int | None = None,
    is_stopped: Callable[[], bool] = lambda: False,
    on_batch: Callable[[Counts], None] = lambda _: None,
) -> tuple[Counts, bool]:
    """Classify the images of a source; return the counts, and whether the source ended.

    Parameters
    ----------
    stream
        What takes the images.
    source
        What gives them; csim skips images that have come before.
    limit
        Images to take at most; None takes all. Higher takes more.
    is_stopped
        Called after every batch; the run ends when it returns true.
    on_batch
        Called after every batch, once it is written.
    """
    counts = Counts()
    batch: list[Decoded] = []
    for arrival in decoded(_new_arrivals(stream, source, counts), stream.config.image_shape):
        if isinstance(arrival, Decoded):
            batch.append(arrival)
        elif isinstance(arrival, Trouble):
            counts.troubles += 1
            counts.last = arrival
            stream.note(arrival)
        is_full = len(batch) >= BATCH - stream.position % BATCH
        is_enough = limit is not None and counts.taken + len(batch) >= limit
        if not (is_full or is_enough or arrival is None):
            continue
        _take(stream, batch, counts)
        on_batch(counts)
        if is_enough or is_stopped():
            return counts, False
    _take(stream, batch, counts)
    on_batch(counts)
    return counts, True


def _take(stream: Stream, batch: list[Decoded], counts: Counts) -> None:
    if batch:
        stream.take(batch)
    else:
        stream.attend()
    counts.taken += len(batch)
    batch.clear()


def _new_arrivals(
    stream: Stream, source: Source, counts: Counts
) -> Iterator[Arrival | Trouble | None]:
    """Yield what has not come before, in an earlier run or in this one."""
    recent_ids: dict[str, None] = {}  # perhaps decoded and not yet written
    for chunk in _chunks(source):
        known = stream.known([arrival.id for arrival in chunk if arrival is not None])
        for arrival in chunk:
            if arrival is not None:
                if arrival.id in recent_ids or arrival.id in known:
                    counts.known += 1
                    continue
                recent_ids[arrival.id] = None
                if len(recent_ids) > _REMEMBERED_IDS:
                    del recent_ids[next(iter(recent_ids))]
            yield arrival


def _chunks(source: Source) -> Iterator[list[Arrival | Trouble | None]]:
    """Yield what a source gives, some at a time; do not wait when it has nothing new."""
    chunk: list[Arrival | Trouble | None] = []
    for arrival in source:
        chunk.append(arrival)
        if arrival is None or len(chunk) >= _LOOKUP_IMAGES:
            yield chunk
            chunk = []
    yield chunk
