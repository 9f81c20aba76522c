"""Images that workers have embedded, in the order of the stream that they came from.

Workers finish in any order. A result is taken once no earlier image is still with a worker: the
server knows the oldest message that the workers have not acknowledged.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Iterator
from dataclasses import dataclass

from csim.distributed.broker import Broker, Disconnected
from csim.distributed.consumer_group import ConsumerGroup, Entry
from csim.distributed.embedder import sent_shape
from csim.distributed.message_reader import WAIT_SECONDS, MessageReader
from csim.distributed.model_board import ModelBoard
from csim.distributed.redis_worker import GROUP
from csim.distributed.settlement import Settlement
from csim.distributed.stream_message import Number, parse_number
from csim.distributed.view_message import from_fields, origin
from csim.distributed.worker_board import WorkerBoard
from csim.folder.stream import Stream
from csim.folder.workers import Workers
from csim.sources.arrival import Arrival, Decoded, Trouble

_ANY_NUMBER = 10**9  # of tries: results are csim's own, so none ends csim


@dataclass(frozen=True)
class _Mark:
    """Say which results are complete once the reader has come to `last_view`."""

    last_view: Number
    delivered: Number  # the last result that was given to `csim run`
    complete_below: Number  # in the order of the images' own messages


class ViewSource:
    """Yield the images of a Redis stream that workers have embedded, without end.

    It also publishes the model in use for the workers.

    Parameters
    ----------
    broker
        The server and the stream of images.
    stream
        What takes the images.
    group
        The consumer group of `csim run`.
    consumer
        This consumer's name, which must be the same after a restart.
    claim_after
        Seconds until results are taken over that another `csim run` left. Higher waits longer.
    """

    def __init__(
        self,
        broker: Broker,
        stream: Stream,
        *,
        group: str,
        consumer: str,
        claim_after: float = 60.0,
    ) -> None:
        self._broker = broker
        self._images = broker.address.stream
        self._views = f"{self._images}:views"
        self._stream = stream
        self._group = group
        consumers = ConsumerGroup(broker, self._views, group, consumer)
        self._consumers = consumers
        self._workers = ConsumerGroup(broker, self._images, GROUP, consumer)
        self.reader = MessageReader(broker, consumers, tries=_ANY_NUMBER, claim_after=claim_after)
        self._settlement = Settlement(
            broker, self._views, f"{self._images}:dead", group=consumers, reader=self.reader
        )
        self.settle = self._settlement.settle
        self._board = ModelBoard(broker)
        self._worker_board = WorkerBoard(broker)
        self._described = Workers((), 0, 0)
        self._waiting: list[tuple[Number, str, Entry]] = []  # a heap, oldest image first
        self._read_until: Number = (0, 0)
        self._mark: _Mark | None = None
        self._workers.ensure()

    def __iter__(self) -> Iterator[Arrival | Decoded | Trouble | None]:
        while True:
            try:
                self._board.publish(self._stream)
                self._settlement.flush()
                entries = self._ready()
            except Disconnected:
                time.sleep(WAIT_SECONDS)
                entries = []
            for entry in entries:
                found = from_fields(entry, sent_shape(self._stream.config))
                self._settlement.expect(found.id, entry)
                yield found
            if not entries:
                yield None

    def describe(self) -> Workers:
        """Return who works for this stream, and what waits; the last answer if none comes now."""
        try:
            alive = self._worker_board.alive()
            lag = self._workers.unfinished() + self._consumers.unfinished()
        except Disconnected:
            return self._described
        retries = self.reader.retries + sum(entry.retries for entry in alive)
        self._described = Workers(tuple(entry.worker for entry in alive), lag, retries)
        return self._described

    def _ready(self) -> list[Entry]:
        """Return the next results of which no earlier one can come."""
        mark = self._mark or self._look()
        self._mark = mark
        for entry in self.reader.next():
            heapq.heappush(self._waiting, (origin(entry), entry.id, entry))
            self._read_until = max(self._read_until, parse_number(entry.id))
        if self.reader.is_resuming:
            return []
        self._read_until = max(self._read_until, mark.delivered)
        if self._read_until < mark.last_view:
            return []
        self._mark = None
        ready = []
        while self._waiting and self._waiting[0][0] < mark.complete_below:
            ready.append(heapq.heappop(self._waiting)[2])
        return ready

    def _look(self) -> _Mark:
        """Ask the server, in one moment, how far the workers are."""
        pending, workers, views, readers = self._broker.transaction(
            [
                ("XPENDING", self._images, GROUP),
                ("XINFO GROUPS", self._images),
                ("XINFO STREAM", self._views),
                ("XINFO GROUPS", self._views),
            ]
        )
        milliseconds, number = _delivered(workers, GROUP)
        complete_below = (milliseconds, number + 1)
        if pending["min"] is not None:
            complete_below = parse_number(pending["min"])
        last_view = parse_number(views["last-generated-id"])
        return _Mark(last_view, _delivered(readers, self._group), complete_below)


def _delivered(groups: list[dict[str, bytes]], name: str) -> Number:
    """Return the number of the last message that a group was given."""
    found = [group["last-delivered-id"] for group in groups if group["name"] == name.encode()]
    return parse_number(found[0]) if found else (0, 0)
