"""A worker that needs no cluster: it reads images from Redis and publishes their views there.

Any number of workers share the consumer group `csim-workers`. A worker publishes its results to
`<stream>:views` and acknowledges the images in one transaction: each image is with the workers or
in `<stream>:views`, never in neither.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from csim.distributed.broker import Broker, Command, Disconnected
from csim.distributed.consumer_group import ConsumerGroup, Entry
from csim.distributed.embedder import Embedder
from csim.distributed.image_message import image_id, may_come_later, read_message
from csim.distributed.message_reader import WAIT_SECONDS, MessageReader
from csim.distributed.model_board import ModelBoard
from csim.distributed.stream_message import add_command
from csim.distributed.view_message import to_fields
from csim.distributed.worker_board import WorkerBoard
from csim.records import Model
from csim.sources.arrival import Arrival, Decoded, Trouble

GROUP = "csim-workers"
_TRIES = 5  # of a message, before it is given up


class RedisWorker:
    """Decode and embed the images of a stream, for a `csim run` elsewhere.

    Parameters
    ----------
    broker
        The server and the stream.
    consumer
        This worker's name; no other worker may have it.
    files
        The folder of the files that messages name; None if they may name none.
    claim_after
        Seconds until images of a dead worker are taken over. Higher leaves slow workers alone, but
        the stream waits longer for those images.
    most
        Results that may wait for `csim run` before workers pause. Higher uses more memory of the
        server.
    """

    def __init__(
        self,
        broker: Broker,
        *,
        consumer: str,
        files: Path | None = None,
        claim_after: float = 10.0,
        most: int = 4096,
    ) -> None:
        self.embedded = 0
        self._broker = broker
        self._views = f"{broker.address.stream}:views"
        self._group = ConsumerGroup(broker, broker.address.stream, GROUP, consumer)
        self._reader = MessageReader(broker, self._group, tries=_TRIES, claim_after=claim_after)
        self._board = ModelBoard(broker)
        self._workers = WorkerBoard(broker)
        self._consumer = consumer
        self._files = files
        self._most = most
        self._embedder: Embedder | None = None
        self._model: Model | None = None

    def run(self, is_stopped: Callable[[], bool] = lambda: False) -> None:
        """Embed images until `is_stopped` returns true."""
        while not is_stopped():
            try:
                self._work()
            except Disconnected:
                time.sleep(WAIT_SECONDS)

    def _work(self) -> None:
        """Embed the images that wait, once there is a model."""
        version = None if self._model is None else self._model.version
        self._workers.announce(self._consumer, model=version, retries=self._reader.retries)
        if not self._has_model():
            time.sleep(WAIT_SECONDS)
            return
        # Images that were given out before come even if there is no room: others wait for them.
        has_room = self._broker.call("XLEN", self._views) < self._most
        entries = self._reader.next(with_new=has_room)
        try:
            self._publish(*self._embed(entries))
        finally:  # if that failed, the messages come again
            self._reader.release(entry.id for entry in entries)

    def _has_model(self) -> bool:
        """Load the model that is published; return False if no `csim run` has started yet."""
        version = self._board.version()
        if version is not None and (self._model is None or self._model.version != version):
            config, self._model = self._board.read()
            self._embedder = self._embedder or Embedder(config)
        return version is not None

    def _embed(self, entries: Sequence[Entry]) -> tuple[list[Entry], list[Decoded | Trouble]]:
        """Return messages that are done with, and what became of each."""
        assert self._embedder is not None
        assert self._model is not None
        read = [(entry, self._read(entry)) for entry in entries]
        done = [
            (entry, found)
            for entry, found in read
            if not may_come_later(found) or entry.deliveries >= _TRIES
        ]
        arrivals = [found for _, found in done if isinstance(found, Arrival)]
        embedded = iter(self._embedder.embed(self._model, arrivals))
        results = [found if isinstance(found, Trouble) else next(embedded) for _, found in done]
        return [entry for entry, _ in done], results

    def _read(self, entry: Entry) -> Arrival | Trouble:
        if self._reader.is_poison(entry):
            reason = f"workers must survive an image, {entry.deliveries - 1} ended at this one"
            return Trouble(image_id(entry), "poison", reason)
        return read_message(entry, self._files)

    def _publish(self, entries: Sequence[Entry], results: Sequence[Decoded | Trouble]) -> None:
        if not entries:
            return
        commands: list[Command] = [
            add_command(self._views, to_fields(entry, found))
            for entry, found in zip(entries, results, strict=True)
        ]
        acknowledge = self._group.acknowledge(entry.id for entry in entries)
        self._broker.transaction([*commands, *acknowledge])
        self.embedded += len(entries)
