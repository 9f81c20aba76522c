"""Messages to a stream: its engine takes them, or this process runs the stream for a moment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from csim.errors import BusyError
from csim.folder import inbox
from csim.folder.codec import Message
from csim.folder.database import open_for_messages
from csim.folder.layout import Layout
from csim.folder.stream import MESSAGES, Stream


@dataclass(frozen=True, slots=True)
class Outcome:
    """Say whether a message was taken, refused with a reason, or waits safely for the engine."""

    number: int
    is_taken: bool
    refusal: str | None
    is_old: bool = False  # sent before under the same key, and not refused then


def send(
    root: Path,
    messages: Sequence[Message],
    *,
    keys: Sequence[str] | None = None,
    on_progress: Callable[[int], None] = lambda _: None,
) -> list[Outcome]:
    """Write messages to the inbox, have them taken, and return what became of each.

    csim writes and takes a thousand at a time. If it is killed, those that it wrote are safe. Send
    all again with the same keys to continue.

    Parameters
    ----------
    root
        The stream folder.
    messages
        In the order in which csim takes them.
    keys
        As for `inbox.post`. A message that was refused before is tried again.
    on_progress
        Called after every thousand messages with the number that was taken so far.
    """
    connection = open_for_messages(Layout(root).database)
    numbers: list[int] = []
    try:
        last = inbox.last_number(connection)
        keys = None if keys is None else [inbox.unrefused_key(connection, key) for key in keys]
        for start in range(0, len(messages), MESSAGES):
            part = slice(start, start + MESSAGES)
            numbers += inbox.post(
                connection, messages[part], keys=None if keys is None else keys[part]
            )
        try:
            with Stream(root, trainer=None) as stream:
                stream.attend(on_progress)
        except BusyError:
            pass  # the running engine takes them before its next batch
        return [
            Outcome(number, *inbox.outcome(connection, number), is_old=number <= last)
            for number in numbers
        ]
    finally:
        connection.close()
