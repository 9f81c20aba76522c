"""A Redis stream as a source of images.

csim acknowledges a message once its image is safe in the folder. A message that csim never
acknowledged comes again: after a crash to the same consumer, after `claim_after` seconds to any
other. The folder knows the ids of its images, so none is taken twice.

A message whose image cannot be used goes to the dead-letter stream, `<stream>:dead`, with the
reason. A file that a message names may still be on its way, so csim tries to read it several times.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from csim.distributed.broker import Broker, Disconnected
from csim.distributed.consumer_group import ConsumerGroup, Entry
from csim.distributed.image_message import image_id, may_come_later, read_message
from csim.distributed.message_reader import WAIT_SECONDS, MessageReader
from csim.distributed.settlement import Settlement
from csim.folder.workers import Workers
from csim.sources.arrival import Arrival, Decoded, Trouble


class RedisSource:
    """Yield the images of a Redis stream, without end.

    Parameters
    ----------
    broker
        The server and the stream.
    group
        The consumer group. Each group gets every message.
    consumer
        This consumer's name, which must be the same after a restart.
    files
        The folder of the files that messages name; None if they may name none.
    tries
        How often csim tries a message before it goes to the dead-letter stream. Higher waits
        longer for files, and survives more crashes.
    claim_after
        Seconds until csim takes over a message that another consumer has not acknowledged. Higher
        leaves slow consumers alone, but messages of dead ones wait longer.
    """

    def __init__(
        self,
        broker: Broker,
        *,
        group: str,
        consumer: str,
        files: Path | None = None,
        tries: int = 5,
        claim_after: float = 60.0,
    ) -> None:
        stream = broker.address.stream
        consumers = ConsumerGroup(broker, stream, group, consumer)
        self._files = files
        self._tries = tries
        self.reader = MessageReader(broker, consumers, tries=tries, claim_after=claim_after)
        self._settlement = Settlement(
            broker, stream, f"{stream}:dead", group=consumers, reader=self.reader
        )
        self.settle = self._settlement.settle
        self._consumers = consumers
        self._lag = 0

    def describe(self) -> Workers:
        """Return what waits in the stream; the last answer if none comes now."""
        with suppress(Disconnected):
            self._lag = self._consumers.unfinished()
        return Workers(None, self._lag, self.reader.retries)

    def __iter__(self) -> Iterator[Arrival | Decoded | Trouble | None]:
        while True:
            try:
                self._settlement.flush()
                entries = self.reader.next()
            except Disconnected:
                time.sleep(WAIT_SECONDS)
                entries = []
            found = [self._read(entry) for entry in entries]
            yield from filter(None, found)
            if not any(found):
                yield None

    def _read(self, entry: Entry) -> Arrival | Trouble | None:
        """Return the image of a message; None to try again later."""
        found = self._refusal(entry) or read_message(entry, self._files)
        if may_come_later(found) and entry.deliveries < self._tries:
            self.reader.release([entry.id])
            return None
        self._settlement.expect(found.id, entry)
        return found

    def _refusal(self, entry: Entry) -> Trouble | None:
        if not self.reader.is_poison(entry):
            return None
        reason = (
            f"csim must survive an image, but it ended {entry.deliveries - 1} times before this "
            "one was safe"
        )
        return Trouble(image_id(entry), "poison", reason)
