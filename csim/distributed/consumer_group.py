"""A consumer group of a Redis stream: read messages, claim those of dead consumers, acknowledge.

The server hands each message to one consumer of the group, and remembers that until the message is
acknowledged. A consumer that starts again finds its own messages first. Messages that another one
has not acknowledged for a while are claimed.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from csim.distributed.broker import Broker, Command
from csim.errors import BrokerError

_PAGE = 256  # unacknowledged messages that are listed at a time


@dataclass(frozen=True, slots=True)
class Entry:
    """Hold a message of a stream, and how often it was handed to a consumer."""

    id: str
    fields: dict[bytes, bytes] = field(repr=False)
    deliveries: int = 1


@dataclass(frozen=True, slots=True)
class PendingEntry:
    """Name a message that was handed to a consumer and not acknowledged."""

    id: str
    deliveries: int


class ConsumerGroup:
    """Read a stream as one consumer of a group.

    Parameters
    ----------
    broker
        The server.
    stream
        The key of the stream.
    group
        Made if it is missing, from the oldest message on. Each group gets every message.
    consumer
        The name of this consumer; under the same name it gets its own messages again.
    """

    def __init__(self, broker: Broker, stream: str, group: str, consumer: str) -> None:
        self._broker = broker
        self._stream = stream
        self._group = group
        self._consumer = consumer

    def ensure(self) -> None:
        """Make the stream and the group if they are missing."""
        try:
            self._broker.call("XGROUP", "CREATE", self._stream, self._group, "0", "MKSTREAM")
        except BrokerError as error:
            if "BUSYGROUP" not in str(error):
                raise

    def read(self, count: int, milliseconds: int) -> list[Entry]:
        """Return up to `count` new messages; wait for the first one at most so long."""
        group = ("GROUP", self._group, self._consumer)
        wait = ("COUNT", count, "BLOCK", milliseconds)
        reply = self._broker.call("XREADGROUP", *group, *wait, "STREAMS", self._stream, ">")
        return [
            Entry(entry_id.decode(), fields)
            for _, entries in reply or ()
            for entry_id, fields in entries
        ]

    def own(self, ignored: Container[str]) -> Iterator[PendingEntry]:
        """Yield this consumer's unacknowledged messages, oldest first, without `ignored` ones."""
        return self._pending(ignored, (), (self._consumer,))

    def abandoned(self, ignored: Container[str], seconds: float) -> Iterator[PendingEntry]:
        """Yield messages that nobody has acknowledged for some seconds, of any consumer."""
        return self._pending(ignored, ("IDLE", round(1000 * seconds)), ())

    def claim(self, pending: Sequence[PendingEntry], seconds: float = 0) -> list[Entry]:
        """Take over messages that are still unacknowledged for some seconds; return them."""
        if not pending:
            return []
        deliveries = {row.id: row.deliveries + 1 for row in pending}
        idle = round(1000 * seconds)
        reply = self._broker.call(
            "XCLAIM", self._stream, self._group, self._consumer, idle, *deliveries
        )
        return [
            Entry(entry_id.decode(), fields, deliveries[entry_id.decode()])
            for entry_id, fields in reply
        ]

    def unfinished(self) -> int:
        """Return how many messages of the stream the group has not acknowledged."""
        for group in self._broker.call("XINFO GROUPS", self._stream):
            if group["name"] == self._group.encode():
                if group.get("lag") is not None:
                    return int(group["lag"] + group["pending"])
                # The server cannot tell once messages were deleted; all that is left waits then.
                return int(self._broker.call("XLEN", self._stream))
        return 0

    def acknowledge(self, entry_ids: Iterable[str]) -> list[Command]:
        """Return the commands that acknowledge messages.

        They also delete the messages, unless another group reads the stream too.
        """
        ids = list(entry_ids)
        if not ids:
            return []
        commands: list[Command] = [("XACK", self._stream, self._group, *ids)]
        if len(self._broker.call("XINFO GROUPS", self._stream)) == 1:
            commands.append(("XDEL", self._stream, *ids))
        return commands

    def _pending(
        self, ignored: Container[str], idle: Command, consumer: Command
    ) -> Iterator[PendingEntry]:
        start = "-"
        while True:
            rows = self._broker.call(
                "XPENDING",
                self._stream,
                self._group,
                *idle,
                start,
                "+",
                _PAGE,
                *consumer,
                parse_detail=True,
            )
            for row in rows:
                entry_id = row["message_id"].decode()
                start = f"({entry_id}"
                if entry_id not in ignored:
                    yield PendingEntry(entry_id, row["times_delivered"])
            if len(rows) < _PAGE:
                return
