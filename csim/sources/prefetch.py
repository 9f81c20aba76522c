"""Decoding ahead: several threads decode what a source gives, in the source's order.

Pillow lets go of Python's lock while it unpacks, so threads share the work. Handing an arrival to a thread costs as
much as decoding a small one, so a thread is handed as many at a time as it decodes in a few milliseconds: thumbnails
by the dozen, photographs one by one. Thumbnails all go to one thread: most of their work needs Python's lock, and two
threads that fight for it take twice as long as one. What is in flight is bounded, whatever the source holds.
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

_MOST_WORKERS = 4  # beyond, they wait for Python's lock more than they decode
_LARGEST_HANDFUL = 64
_HANDFUL_SECONDS = 0.01
_SMALL_SECONDS = 0.0005  # of processor time for one image


def decoded(
    source: Source, shape: tuple[int, ...], *, ahead: int = 512, workers: int | None = None
) -> Iterator[Decoded | Trouble | None]:
    """Give a source's images decoded, in its order, with its troubles and those of decoding among them.

    Before a None of the source, all that came before it is given. If the source raises an error, so does this, after
    giving all that came before. Closing the iterator ends the threads.

    Parameters
    ----------
    source
        Read in the caller's thread, as far ahead as allowed.
    shape
        Of the stream's images, (h, w) or (h, w, 3).
    ahead
        The most images in flight. Raising it evens out large and small files, for memory: each may hold 1 MB and more.
    workers
        Threads; by default as many as processors, at most 4.
    """
    for name, number in (("ahead", ahead), ("workers", workers)):
        if number is not None and number < 1:
            raise SettingsError(f"{name} must be at least 1, got {number}")
    return _decoded(
        source, _Flight(shape, ahead, workers or min(_MOST_WORKERS, os.cpu_count() or 1))
    )


def _decoded(source: Source, flight: _Flight) -> Iterator[Decoded | Trouble | None]:
    failure = None
    arrivals = iter(source)
    try:
        while True:
            try:
                arrival = next(arrivals)
            except StopIteration:
                break
            except (
                Exception
            ) as error:  # the user's own: whatever it is, it comes out after the images before it
                failure = error
                break
            if arrival is None:
                yield from flight.land_all()
                yield None
            else:
                flight.board(arrival)
                yield from flight.land_some()
        yield from flight.land_all()
    finally:
        flight.end()
    if failure is not None:
        raise failure


class _Flight:
    """The arrivals that are being decoded, oldest first."""

    def __init__(self, shape: tuple[int, ...], ahead: int, workers: int) -> None:
        self._shape = shape
        self._ahead = ahead
        self._largest = max(1, min(_LARGEST_HANDFUL, ahead // (2 * workers)))
        self._handful: list[Arrival | Trouble] = []
        self._size = 1  # of a handful, until it is known how long an image takes
        self._flying: deque[Future[list[Decoded | Trouble]]] = deque()
        self._count = 0  # of arrivals in flight
        self._is_small = False
        self._is_over = threading.Event()
        self._many = ThreadPoolExecutor(workers, thread_name_prefix="csim-decode")
        self._one = ThreadPoolExecutor(1, thread_name_prefix="csim-decode")

    def board(self, arrival: Arrival | Trouble) -> None:
        """Take an arrival; it is handed to a thread as soon as there is a handful, or nothing else to do."""
        self._handful.append(arrival)
        if len(self._handful) >= self._size or not self._flying:
            self._start()

    def land_some(self) -> Iterator[Decoded | Trouble]:
        """Give what is finished, and as much more as must come down before another may be taken."""
        while self._flying and (
            self._flying[0].done() or self._count + len(self._handful) >= self._ahead
        ):
            yield from self._land()

    def land_all(self) -> Iterator[Decoded | Trouble]:
        """Give all that was taken."""
        self._start()
        while self._flying:
            yield from self._land()

    def end(self) -> None:
        """Decode nothing more and wait for the threads, which finish the image they are at."""
        self._is_over.set()
        for pool in (self._one, self._many):
            pool.shutdown(cancel_futures=True)

    def _start(self) -> None:
        if self._handful:
            self._count += len(self._handful)
            pool = self._one if self._is_small else self._many
            self._flying.append(pool.submit(self._decode, self._handful))
            self._handful = []

    def _land(self) -> list[Decoded | Trouble]:
        landed = self._flying.popleft().result()
        self._count -= len(landed)
        return landed

    def _decode(self, handful: list[Arrival | Trouble]) -> list[Decoded | Trouble]:
        started = time.thread_time()  # not the clock: it would count the waiting for other threads
        results = [
            arrival if isinstance(arrival, Trouble) else decode(arrival, self._shape)
            for arrival in handful
            if not self._is_over.is_set()
        ]
        each = (time.thread_time() - started) / len(handful)
        self._is_small = each < _SMALL_SECONDS
        self._size = max(1, min(self._largest, round(_HANDFUL_SECONDS / max(each, 1e-6))))
        return results
