"""A run: from a source into a stream folder, until it ends, reaches a limit or is stopped."""

from __future__ import annotations

import gc
import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import csim.records as r
from csim.folder.layout import Config
from csim.folder.stream import BATCH, Stream
from csim.sources.arrival import AcknowledgedSource, Arrival, Decoded, Source, Trouble
from csim.sources.decode import decode
from csim.sources.prefetch import decoded

_SLOW_BATCH = 32  # images per transaction that pass a pretrained encoder: about a second's work
_LOOKUP_IMAGES = 256  # looked up at a time: each lookup waits for Python's global lock
_ATTEND_SECONDS = 0.25  # without a new image, before csim takes messages and may be stopped
_NAME_REUSED = (
    "a name must stay with its image, but this file has changed since csim took it; "
    "give every image a name of its own"
)
_SLICE_SECONDS = 2.0  # images of a live source share a step: one by one they would cost one each
_REMEMBERED_IDS = 8 * BATCH  # more images than are ever decoded and not yet written


@dataclass
class Counts:
    """Count what a run has met so far."""

    taken: int = 0
    known: int = 0  # images that had come before
    troubles: int = 0
    trained: int = 0  # models that took over
    revised: int = 0  # labels that csim changed later
    deep: int = 0  # 16-bit files that do not say how many bits they use
    used_bits: int = 0  # the most bits that one of them uses
    last: Trouble | None = field(default=None, repr=False)

    def count_depth(self, image: Decoded) -> None:
        """Count the bits that an image uses, if its file does not say."""
        if image.used_bits is not None:
            self.deep += 1
            self.used_bits = max(self.used_bits, image.used_bits)

    def count(self, events: Iterable[r.Event]) -> None:
        """Count the models and the changed labels among events."""
        for event in events:
            self.trained += isinstance(event, r.Retrained)
            self.revised += isinstance(event, r.Revised) and event.before is not None


@contextmanager
def _old_objects_kept() -> Iterator[None]:
    """Keep the garbage collector from looking through all that was there before.

    It would do so every few thousand images, and csim's libraries alone have 200,000 objects.
    """
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


@_old_objects_kept()
def run(
    stream: Stream,
    source: Source,
    *,
    limit: int | None = None,
    is_stopped: Callable[[], bool] = lambda: False,
    on_batch: Callable[[Counts], None] = lambda _: None,
    clock: Callable[[], float] = time.monotonic,
) -> tuple[Counts, bool]:
    """Classify the images of a source; return the counts, and whether the source ended.

    Parameters
    ----------
    stream
        What takes the images.
    source
        What gives them; csim skips images that have come before. An `AcknowledgedSource` hears
        which images are safe, after every batch.
    limit
        Images to take at most; None takes all. Higher takes more.
    is_stopped
        Called after every batch and several times a second; the run ends when it returns true.
    on_batch
        Called after every batch, once it is written.
    clock
        Returns seconds. The images that a live source gives within two seconds share a step.
    """
    counts = Counts()
    batch: list[Decoded] = []
    pause = _Clock()
    since = 0.0  # when the first image of the batch came
    config = stream.config
    receipt = _Receipt(source)
    new = _NewArrivals(stream, source, counts, receipt)
    for arrival in decoded(new, config.image_shape, bits=config.bits):
        if isinstance(arrival, Decoded):
            since = since if batch else clock()
            batch.append(arrival)
            counts.count_depth(arrival)
        elif isinstance(arrival, Trouble):
            counts.troubles += 1
            counts.last = arrival
            stream.note(arrival)
            new.forget(arrival.id)
            receipt.troubles.append(arrival)
        size = _batch_size(stream, batch)
        is_full = len(batch) >= size - stream.position % size
        is_enough = limit is not None and counts.taken + len(batch) >= limit
        is_late = pause.is_late()
        is_idle = arrival is None or (is_late and not batch)
        if not (is_full or is_enough or is_idle or (is_late and is_stopped())):
            continue
        if arrival is None and batch and clock() - since < _SLICE_SECONDS and not is_stopped():
            counts.count(stream.attend())
            continue
        _take(stream, batch, counts, receipt)
        on_batch(counts)
        if is_enough or is_stopped():
            return counts, False
    _take(stream, batch, counts, receipt)
    on_batch(counts)
    return counts, True


class _Receipt:
    """Tell a source which of its images are safe, if it wants to hear it."""

    def __init__(self, source: Source) -> None:
        self._source = source if isinstance(source, AcknowledgedSource) else None
        self.taken: list[str] = []
        self.troubles: list[Trouble] = []

    def send(self) -> None:
        """Tell what has been written since the last call."""
        if self._source is not None and (self.taken or self.troubles):
            self._source.settle(self.taken, self.troubles)
        self.taken = []
        self.troubles = []


def _batch_size(stream: Stream, batch: list[Decoded]) -> int:
    """Return how many images share a transaction."""
    is_embedded = bool(batch) and batch[0].view is not None
    is_fast = is_embedded or stream.config.settings.encoder == "own"
    return stream.batch_size if is_fast else _SLOW_BATCH


class _Clock:
    """Tell now and then that it is time to look up from the images."""

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Count the time from now on."""
        self._last = time.monotonic()

    def is_late(self) -> bool:
        """Return whether enough time has passed; if so, count from now on."""
        if time.monotonic() < self._last + _ATTEND_SECONDS:
            return False
        self.restart()
        return True


def _take(stream: Stream, batch: list[Decoded], counts: Counts, receipt: _Receipt) -> None:
    before = stream.position
    has_views = any(decoded.view is not None for decoded in batch)
    views = [decoded.view for decoded in batch] if has_views else []
    counts.count(stream.take(batch, views) if batch else stream.attend())
    taken = stream.position - before  # fewer than in the batch if csim was stopped
    counts.taken += taken
    receipt.taken += [decoded.id for decoded in batch[:taken]]
    receipt.send()
    batch.clear()


class _NewArrivals:
    """Yield what has not come before, in an earlier run or in this one.

    Yields a None now and then while only known images come.
    """

    def __init__(self, stream: Stream, source: Source, counts: Counts, receipt: _Receipt) -> None:
        self._stream = stream
        self._source = source
        self._counts = counts
        self._receipt = receipt
        self._recent_ids: OrderedDict[str, None] = OrderedDict()  # perhaps not written yet

    def forget(self, item_id: str) -> None:
        """Take an image that could not be used if it comes again: it may be repaired."""
        self._recent_ids.pop(item_id, None)

    def __iter__(self) -> Iterator[Arrival | Decoded | Trouble | None]:
        clock = _Clock()
        for chunk in chunks(self._source):
            known = self._stream.known([arrival.id for arrival in chunk if arrival is not None])
            for arrival in chunk:
                if arrival is not None and (arrival.id in known or arrival.id in self._recent_ids):
                    if trouble := self._pass_over(arrival, known):
                        yield trouble
                    if clock.is_late():
                        yield None
                    continue
                if arrival is not None:
                    self._remember(arrival.id)
                clock.restart()
                yield arrival

    def _pass_over(
        self, arrival: Arrival | Decoded | Trouble, known: Mapping[str, bytes | None]
    ) -> Trouble | None:
        """Count an image that came before; return a trouble if it is another one."""
        if _is_other_image(arrival, known.get(arrival.id), self._stream.config):
            return Trouble(arrival.id, "name-reused", _NAME_REUSED)
        self._counts.known += 1
        if arrival.id in known:  # otherwise it is not written yet
            self._receipt.taken.append(arrival.id)
        return None

    def _remember(self, item_id: str) -> None:
        self._recent_ids[item_id] = None
        if len(self._recent_ids) > _REMEMBERED_IDS:
            self._recent_ids.popitem(last=False)


def _is_other_image(
    arrival: Arrival | Decoded | Trouble, kept: bytes | None, config: Config
) -> bool:
    """Tell whether an image that has just come differs from the one taken under its id.

    False for a file that was there before, and if the sha256 of the picture is not `kept`.
    """
    if isinstance(arrival, Trouble) or kept is None:
        return False
    if isinstance(arrival, Decoded):
        return hashlib.sha256(arrival.kept).digest() != kept
    if not arrival.is_fresh:
        return False
    seen = decode(arrival, config.image_shape, config.bits)
    return isinstance(seen, Decoded) and hashlib.sha256(seen.kept).digest() != kept


def chunks(source: Source) -> Iterator[list[Arrival | Decoded | Trouble | None]]:
    """Yield what a source gives, some at a time; do not wait when it has nothing new."""
    chunk: list[Arrival | Decoded | Trouble | None] = []
    for arrival in source:
        chunk.append(arrival)
        if arrival is None or len(chunk) >= _LOOKUP_IMAGES:
            yield chunk
            chunk = []
    yield chunk
