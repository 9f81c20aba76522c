"""Saying something to a stream: the running engine hears it, or, if there is none, we are the engine for a moment."""

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
    """What became of a message: taken, refused with a reason, or safe and waiting for the engine."""

    number: int
    is_taken: bool
    refusal: str | None


def send(
    root: Path, messages: Sequence[Message], *, keys: Sequence[str] | None = None
) -> list[Outcome]:
    """Write messages to the inbox and have them taken, by whoever can.

    Parameters
    ----------
    root
        The stream folder.
    messages
        In the order in which they are to be taken.
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
            pass  # its engine runs, and takes them at its next border
        return [Outcome(number, *inbox.outcome(connection, number)) for number in numbers]
    finally:
        connection.close()
