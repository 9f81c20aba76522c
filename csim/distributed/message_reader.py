"""Read the messages of a consumer group: own ones first, then abandoned ones, then new ones.

If csim ended several times while it had a message, the reader gives out this message alone: any of
those that it had then may be the one that ends csim. If that one ends csim again, it is poison.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Sequence

from csim.distributed.broker import Broker, NoGroupError
from csim.distributed.consumer_group import ConsumerGroup, Entry, PendingEntry

WAIT_SECONDS = 0.25  # for new messages, before csim takes answers and may be stopped
_MAX_MESSAGES = 256  # per read
_READ_BYTES = 8_000_000  # per read, about: messages may hold photographs


class MessageReader:
    """Give out messages, and remember which of them are in flight.

    Parameters
    ----------
    broker
        The server.
    group
        The consumer group.
    tries
        How often a message is given out before it is suspected to end csim. Higher survives more
        crashes.
    claim_after
        Seconds until messages that another consumer has not acknowledged are taken over. Higher
        leaves slow consumers alone, but messages of dead ones wait longer.
    """

    def __init__(
        self, broker: Broker, group: ConsumerGroup, *, tries: int, claim_after: float
    ) -> None:
        self.retries = 0  # messages that were given out again
        self._broker = broker
        self._group = group
        self._tries = tries
        self._claim_after = claim_after
        self._claim_at = time.monotonic() + claim_after
        self._in_flight: set[str] = set()
        self._known_breaks = -1  # differs from the broker's: read own messages again
        self._again: deque[PendingEntry] = deque()  # messages to give out again
        self._again_seconds = 0.0  # for which they must be unacknowledged
        self._suspects: deque[PendingEntry] = deque()
        self._count = 1  # messages per read
        self._group.ensure()

    def next(self, *, with_new: bool = True) -> list[Entry]:
        """Return the messages to take next, oldest first; wait a little if there are none.

        Parameters
        ----------
        with_new
            Return new messages too, not only those that were given out before.
        """
        try:
            entries = self._next(with_new=with_new)
        except NoGroupError:  # the server has lost its state
            self._group.ensure()
            return []
        self._in_flight.update(entry.id for entry in entries)
        return entries

    def release(self, entry_ids: Iterable[str]) -> None:
        """Forget messages: they are acknowledged, or are to come again later."""
        self._in_flight.difference_update(entry_ids)

    @property
    def is_resuming(self) -> bool:
        """Return whether messages that were given out before have still to come."""
        return bool(self._again) or self._known_breaks != self._broker.breaks

    def is_poison(self, entry: Entry) -> bool:
        """Tell whether csim ended at a message even when it had this one alone."""
        return entry.deliveries > self._tries + 2

    def _next(self, *, with_new: bool) -> list[Entry]:
        if self._known_breaks != self._broker.breaks:
            breaks = self._broker.breaks
            self._list_again(self._group.own(self._in_flight), seconds=0)
            self._known_breaks = breaks
        if not self._again and time.monotonic() >= self._claim_at:
            self._claim_at = time.monotonic() + self._claim_after / 2
            abandoned = self._group.abandoned(self._in_flight, self._claim_after)
            self._list_again(abandoned, seconds=self._claim_after)
        if self._again:
            return self._given_again()
        if self._suspects:
            return self._suspect()
        if not with_new:
            time.sleep(WAIT_SECONDS)
            return []
        entries = self._group.read(self._count, round(1000 * WAIT_SECONDS))
        if self.is_resuming:
            return []  # the answer to an earlier read may be lost: read own messages first
        self._adapt(entries)
        return entries

    def _list_again(self, pending: Iterable[PendingEntry], *, seconds: float) -> None:
        """List messages that were given out before; set those apart that came too often."""
        rows = list(pending)
        suspected = {row.id for row in self._suspects}
        self._again = deque(row for row in rows if row.deliveries <= self._tries)
        self._again_seconds = seconds
        self._suspects += [
            row for row in rows if row.deliveries > self._tries and row.id not in suspected
        ]

    def _given_again(self) -> list[Entry]:
        rows = [self._again.popleft() for _ in range(min(self._count, len(self._again)))]
        entries = self._group.claim(rows, self._again_seconds)
        self.retries += len(entries)
        self._adapt(entries)
        return entries

    def _suspect(self) -> list[Entry]:
        """Return the next message that came too often, once no other one is in flight."""
        if self._in_flight:
            time.sleep(WAIT_SECONDS)
            return []
        return self._group.claim([self._suspects.popleft()])

    def _adapt(self, entries: Sequence[Entry]) -> None:
        """Read as many messages at a time as fit into the memory meant for them."""
        if entries:
            size = sum(len(value) for entry in entries for value in entry.fields.values())
            fitting = int(_READ_BYTES * len(entries) / max(size, 1))
            self._count = max(1, min(_MAX_MESSAGES, 2 * self._count, fitting))
