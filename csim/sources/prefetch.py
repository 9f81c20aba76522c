"""Decode ahead: several threads decode the images of a source, in the order of the source.

Pillow releases Python's global interpreter lock (GIL) while it decodes, so threads run in parallel.
Submitting an arrival to a thread costs as much as decoding a small image. So arrivals are submitted
in batches that take a few milliseconds: dozens of thumbnails, or one photograph. All batches of
thumbnails go to one thread. Most of their work holds the GIL, and two threads that compete for it
take twice as long as one. The number of images in flight is bounded, whatever the source holds.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

from csim.errors import SettingsError
from csim.sources.arrival import Arrival, Decoded, Source, Trouble
from csim.sources.decode import decode

_MAX_WORKERS = 4  # more threads spend more time waiting for the GIL than decoding
_MAX_BATCH_SIZE = 64
_BATCH_SECONDS = 0.01
_SMALL_IMAGE_SECONDS = 0.0005  # processor time per image


def decoded(
    source: Source,
    shape: tuple[int, ...],
    *,
    bits: int = 16,
    ahead: int = 512,
    workers: int | None = None,
) -> Iterator[Decoded | Trouble | None]:
    """Yield a source's images decoded, and its troubles and those of decoding, in its order.

    Images that were decoded elsewhere pass unchanged.

    When the source yields a None, everything before it is yielded first. If the source raises an
    error, so does this iterator, after everything before it. Closing the iterator ends the threads.

    Parameters
    ----------
    source
        Read in the caller's thread, up to `ahead` images in advance.
    shape
        The shape of the stream's images, (h, w) or (h, w, 3).
    bits
        As for `decode`. Higher makes images of 16-bit files darker.
    ahead
        The most images in flight. Higher evens out large and small files but uses more memory: an
        image may hold 1 MB or more.
    workers
        Threads; by default the number of processors, at most 4. Higher decodes photographs faster,
        up to the number of processors.
    """
    for name, number in (("ahead", ahead), ("workers", workers)):
        if number is not None and number < 1:
            raise SettingsError(f"{name} must be at least 1, got {number}")
    threads = workers or min(_MAX_WORKERS, os.cpu_count() or 1)
    return _decoded(source, _DecodeQueue(shape, bits, ahead, threads))


def _decoded(source: Source, queue: _DecodeQueue) -> Iterator[Decoded | Trouble | None]:
    failure = None
    arrivals = iter(source)
    try:
        while True:
            try:
                arrival = next(arrivals)
            except StopIteration:
                break
            except Exception as error:  # the source may be the user's own code: raised below
                failure = error
                break
            if arrival is None:
                yield from queue.drain()
                yield None
            elif isinstance(arrival, Decoded) and queue.is_empty:
                yield arrival
            else:
                queue.submit(arrival)
                yield from queue.results()
        yield from queue.drain()
    finally:
        queue.close()
    if failure is not None:
        raise failure


class _DecodeQueue:
    """The arrivals that are being decoded, oldest first."""

    def __init__(self, shape: tuple[int, ...], bits: int, ahead: int, workers: int) -> None:
        self._shape = shape
        self._bits = bits
        self._ahead = ahead
        self._max_batch_size = max(1, min(_MAX_BATCH_SIZE, ahead // (2 * workers)))
        self._batch: list[Arrival | Decoded | Trouble] = []
        self._batch_size = 1  # until it is known how long an image takes
        self._in_flight: deque[Future[list[Decoded | Trouble]]] = deque()
        self._in_flight_count = 0  # of arrivals, not of batches
        self._is_small = False
        self._is_closed = threading.Event()
        self._many = ThreadPoolExecutor(workers, thread_name_prefix="csim-decode")
        self._one = ThreadPoolExecutor(1, thread_name_prefix="csim-decode")

    @property
    def is_empty(self) -> bool:
        """Return whether nothing is to come before the next arrival."""
        return not self._batch and not self._in_flight

    def submit(self, arrival: Arrival | Decoded | Trouble) -> None:
        """Add an arrival; the batch starts when it is full, or when nothing is in flight."""
        self._batch.append(arrival)
        if len(self._batch) >= self._batch_size or not self._in_flight:
            self._start_batch()

    def results(self) -> Iterator[Decoded | Trouble]:
        """Yield what is finished, and wait for more while the queue is full."""
        while self._in_flight and (
            self._in_flight[0].done() or self._in_flight_count + len(self._batch) >= self._ahead
        ):
            yield from self._oldest_batch()

    def drain(self) -> Iterator[Decoded | Trouble]:
        """Yield everything that was submitted."""
        self._start_batch()
        while self._in_flight:
            yield from self._oldest_batch()

    def close(self) -> None:
        """Cancel all waiting work, and wait for the threads to finish their current image."""
        self._is_closed.set()
        for pool in (self._one, self._many):
            pool.shutdown(cancel_futures=True)

    def _start_batch(self) -> None:
        if self._batch:
            self._in_flight_count += len(self._batch)
            pool = self._one if self._is_small else self._many
            self._in_flight.append(pool.submit(self._decode, self._batch))
            self._batch = []

    def _oldest_batch(self) -> list[Decoded | Trouble]:
        results = self._in_flight.popleft().result()
        self._in_flight_count -= len(results)
        return results

    def _decode(self, batch: list[Arrival | Decoded | Trouble]) -> list[Decoded | Trouble]:
        started = time.thread_time()  # a wall clock would count the wait for other threads
        results = [
            decode(arrival, self._shape, self._bits) if isinstance(arrival, Arrival) else arrival
            for arrival in batch
            if not self._is_closed.is_set()
        ]
        seconds_each = (time.thread_time() - started) / len(batch)
        self._is_small = seconds_each < _SMALL_IMAGE_SECONDS
        batch_size = round(_BATCH_SECONDS / max(seconds_each, 1e-6))
        self._batch_size = max(1, min(self._max_batch_size, batch_size))
        return results
