"""What becomes of the messages of a stream: acknowledged, or put into the dead-letter stream."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from csim.distributed.broker import Broker, Command, Disconnected, NoGroupError
from csim.distributed.consumer_group import ConsumerGroup, Entry
from csim.distributed.message_reader import MessageReader
from csim.distributed.stream_message import add_command
from csim.sources.arrival import Trouble

_DEAD_LETTERS = 10_000  # kept, about


class Settlement:
    """Acknowledge messages of a stream, or put them into the dead-letter stream.

    What cannot be sent, because the server does not answer, is sent later.

    Parameters
    ----------
    broker
        The server.
    stream
        The key of the stream.
    dead
        The key of the dead-letter stream.
    group
        The consumer group.
    reader
        Gave out the messages; it forgets those that are settled.
    """

    def __init__(
        self, broker: Broker, stream: str, dead: str, *, group: ConsumerGroup, reader: MessageReader
    ) -> None:
        self._broker = broker
        self._stream = stream
        self._dead_stream = dead
        self._group = group
        self._reader = reader
        self._messages: dict[str, list[str]] = defaultdict(list)  # by image
        self._taken: list[str] = []  # messages to acknowledge
        self._dead: list[tuple[str, Trouble]] = []  # messages to put into the dead-letter stream

    def expect(self, item_id: str, entry: Entry) -> None:
        """Remember the message of an image, until `settle`."""
        self._messages[item_id].append(entry.id)

    def settle(self, taken: Sequence[str], troubles: Sequence[Trouble]) -> None:
        """Acknowledge messages; those of images that cannot be used go to the dead letters."""
        for trouble in troubles:
            messages = self._messages.pop(trouble.id, [])
            self._dead += [(entry_id, trouble) for entry_id in messages]
        for item_id in taken:
            self._taken += self._messages.pop(item_id, [])
        try:
            self.flush()
        except (Disconnected, NoGroupError):
            return  # a later call tries again

    def flush(self) -> None:
        """Send what is settled."""
        if not self._taken and not self._dead:
            return
        letters = [self._letter(entry_id, trouble) for entry_id, trouble in self._dead]
        settled = [*self._taken, *(entry_id for entry_id, _ in self._dead)]
        self._broker.transaction([*letters, *self._group.acknowledge(settled)])
        self._reader.release(settled)
        self._taken = []
        self._dead = []

    def _letter(self, entry_id: str, trouble: Trouble) -> Command:
        """Return the command that puts a message into the dead-letter stream."""
        found = self._broker.call("XRANGE", self._stream, entry_id, entry_id)
        fields = found[0][1] if found else {}
        letter = fields | {
            b"id": trouble.id.encode(),
            b"message": entry_id.encode(),
            b"kind": trouble.kind.encode(),
            b"reason": trouble.reason.encode(),
        }
        return add_command(self._dead_stream, letter, most=_DEAD_LETTERS)
