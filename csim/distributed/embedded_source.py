"""A source whose images are decoded and embedded by workers, in the order of the source."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from csim.distributed.ray_pool import Call, RayPool
from csim.folder.run import chunks
from csim.folder.stream import Stream, model_in_use
from csim.folder.workers import Workers
from csim.sources.arrival import AcknowledgedSource, Arrival, Decoded, Source, Trouble
from csim.sources.files import read_file

_IMAGES_PER_CALL = 1024  # a call costs milliseconds, whatever it carries
_BYTES_PER_CALL = 64_000_000
_WAIT_SECONDS = 0.25  # for a worker, before csim takes answers and may be stopped


@dataclass
class _Batch:
    """Hold what came from the source, and the call that embeds the new images in it."""

    found: list[Arrival | Decoded | Trouble] = field(default_factory=list)
    is_sent: list[bool] = field(default_factory=list)  # whether it is one of the new images
    size: int = 0  # bytes of the new images
    call: Call | None = None

    @property
    def is_full(self) -> bool:
        """Return whether a worker should begin with it."""
        return len(self.found) >= _IMAGES_PER_CALL or self.size >= _BYTES_PER_CALL

    def add(self, arrival: Arrival | Decoded | Trouble, *, is_new: bool) -> None:
        """Add what the source gave; read the file of a new image, as workers may not see it."""
        if is_new and isinstance(arrival, Arrival) and isinstance(arrival.picture, Path):
            content = read_file(arrival.id, arrival.picture)
            arrival = content if isinstance(content, Trouble) else replace(arrival, picture=content)
        self.found.append(arrival)
        self.is_sent.append(is_new and isinstance(arrival, Arrival))
        if isinstance(arrival, Arrival) and isinstance(arrival.picture, bytes):
            self.size += len(arrival.picture)


class EmbeddedSource:
    """Yield the images of a source, decoded and with views of the model in use.

    An image that the folder has passes unchanged. The source is read in the caller's thread.

    Parameters
    ----------
    source
        Where the images come from.
    stream
        What takes them: it says which images it has, and which model is in use.
    pool
        The workers.
    """

    def __init__(self, source: Source, stream: Stream, pool: RayPool) -> None:
        self._source = source
        self._stream = stream
        self._pool = pool
        self._gathering = _Batch()
        self._batches: deque[_Batch] = deque()  # with the workers, oldest first

    def __iter__(self) -> Iterator[Arrival | Decoded | Trouble | None]:
        for chunk in chunks(self._source):
            known = self._stream.known([arrival.id for arrival in chunk if arrival is not None])
            for arrival in chunk:
                if arrival is not None:
                    self._gathering.add(arrival, is_new=arrival.id not in known)
                if self._gathering.is_full or arrival is None:
                    self._submit()
                while self._batches and self._pool.room <= 0:
                    yield from self._oldest()
                if arrival is None:
                    yield from self._finished()
                    yield None
        self._submit()
        while self._batches:
            yield from self._oldest()

    def settle(self, taken: Sequence[str], troubles: Sequence[Trouble]) -> None:
        """Tell the source which images are safe, if it wants to hear it."""
        if isinstance(self._source, AcknowledgedSource):
            self._source.settle(taken, troubles)

    def describe(self) -> Workers:
        """Return who works for this source, and how many images wait for them."""
        waiting = sum(len(batch.found) for batch in (self._gathering, *self._batches))
        return Workers(self._pool.rows(), waiting, self._pool.retries)

    def _submit(self) -> None:
        """Give what was gathered to a worker."""
        batch = self._gathering
        self._gathering = _Batch()
        new = [
            arrival
            for arrival, is_sent in zip(batch.found, batch.is_sent, strict=True)
            if is_sent and isinstance(arrival, Arrival)
        ]
        if new:
            batch.call = self._pool.submit(model_in_use(self._stream), new)
        if batch.found:
            self._batches.append(batch)

    def _finished(self) -> Iterator[Arrival | Decoded | Trouble | None]:
        """Yield the batches that are done, oldest first; wait a little for the first one."""
        count = len(self._batches)
        while self._batches:
            yield from self._oldest()
            if len(self._batches) == count:
                return
            count = len(self._batches)

    def _oldest(self) -> Iterator[Arrival | Decoded | Trouble | None]:
        """Yield what the oldest batch holds, or a None if its worker is not done soon."""
        batch = self._batches[0]
        embedded = [] if batch.call is None else self._pool.result(batch.call, _WAIT_SECONDS)
        if embedded is None:
            yield None
            return
        self._batches.popleft()
        results = iter(embedded)
        for arrival, is_sent in zip(batch.found, batch.is_sent, strict=True):
            yield next(results) if is_sent else arrival
