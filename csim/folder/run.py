"""The run: from a source into a stream folder, until the source ends, a limit is reached or somebody stops it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from csim.folder.stream import BATCH, Stream
from csim.sources.arrival import Arrival, Decoded, Source, Trouble
from csim.sources.prefetch import decoded


@dataclass
class Counts:
    """What a run has met so far."""

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
    """Classify what a source gives; return what was met, and whether the source came to its end.

    Parameters
    ----------
    stream
        Where to.
    source
        Where from; images that have come before are passed over.
    limit
        Images to take at most; None: all.
    is_stopped
        Asked after every batch.
    on_batch
        Called after every batch, when it is safe.
    """
    counts = Counts()
    batch: list[Decoded] = []
    for arrival in decoded(_fresh(stream, source, counts), stream.config.image_shape):
        if isinstance(arrival, Decoded):
            batch.append(arrival)
        elif isinstance(arrival, Trouble):
            counts.troubles, counts.last = counts.troubles + 1, arrival
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


def _fresh(stream: Stream, source: Source, counts: Counts) -> Iterator[Arrival | Trouble | None]:
    """Pass over what has come before, in an earlier run or in this one."""
    under_way: dict[str, None] = {}  # decoded perhaps, not yet safe
    for some in _handfuls(source):
        known = stream.known([arrival.id for arrival in some if arrival is not None])
        for arrival in some:
            if arrival is not None:
                if arrival.id in under_way or arrival.id in known:
                    counts.known += 1
                    continue
                under_way[arrival.id] = None
                if len(under_way) > _AHEAD:
                    del under_way[next(iter(under_way))]
            yield arrival


def _handfuls(source: Source) -> Iterator[list[Arrival | Trouble | None]]:
    """Give what a source gives some at a time, and at once when it has nothing new."""
    some: list[Arrival | Trouble | None] = []
    for arrival in source:
        some.append(arrival)
        if arrival is None or len(some) >= _HANDFUL:
            yield some
            some = []
    yield some


_HANDFUL = 64  # images that are looked up at a time: each on its own would wait for Python's lock
_AHEAD = 8 * BATCH  # images that may be decoded and not yet safe, with room to spare
