"""Messages to a stream: its engine takes them, or this process runs the stream for a moment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from csim.errors import BusyError
from csim.folder import inbox
from csim.folder.codec import Message
from csim.folder.database import open_for_messages
from csim.folder.layout import Layout
from csim.folder.stream import Stream


@dataclass(frozen=True, slots=True)
class Outcome:
    """Say whether a message was taken, refused with a reason, or waits safely for the engine."""

    number: int
    is_taken: bool
    refusal: str | None


def send(
    root: Path, messages: Sequence[Message], *, keys: Sequence[str] | None = None
) -> list[Outcome]:
    """Write messages to the inbox, have them taken, and return what became of each.

    Parameters
    ----------
    root
        The stream folder.
    messages
        In the order in which csim takes them.
    keys
        As for `inbox.post`.
    """
    connection = open_for_messages(Layout(root).database)
    try:
        numbers = inbox.post(connection, messages, keys=keys)
        try:
            with Stream(root, trainer=None) as stream:
                stream.attend()
        except BusyError:
            pass  # the running engine takes them before its next batch
        return [Outcome(number, *inbox.outcome(connection, number)) for number in numbers]
    finally:
        connection.close()
