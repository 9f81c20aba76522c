"""Predictions to a Redis stream, each once.

The id of a message is the number of its line: position and event number. The server refuses an id
that is not above the last one. So the stream itself says how far csim has come, and a repeated
message is refused.

Messages that every group of readers has acknowledged are removed. If more than `most` are left,
csim waits, and its source with it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path

from csim.distributed.broker import Broker, Disconnected
from csim.distributed.stream_message import add_command, parse_number
from csim.errors import InputError
from csim.folder.database import open_for_messages
from csim.folder.lines import Line, lines_after
from csim.folder.output import record_step

_SENT_TOGETHER = 512  # messages
_IDENTITY = ("line", "item", "decision", "score", "model")  # what never changes in a line
_PAUSE_SECONDS = 0.1  # while readers are behind
_LAST_SECONDS = 5.0  # at the end, for a server that does not answer


class RedisOutput:
    """Write predictions to a stream; `catch_up` writes those that are new in the folder.

    Parameters
    ----------
    database
        The folder's database.
    broker
        The server and the stream.
    most
        Messages that readers may leave unread. Higher lets them be further behind, for memory of
        the server.
    is_stopped
        Called while csim waits for readers; csim stops waiting when it returns true.
    while_waiting
        Called again and again while csim waits for readers.
    """

    def __init__(
        self,
        database: Path,
        broker: Broker,
        *,
        most: int = 100_000,
        is_stopped: Callable[[], bool] = lambda: False,
        while_waiting: Callable[[], object] = lambda: None,
    ) -> None:
        self._broker = broker
        self._stream = broker.address.stream
        self._most = most
        self._is_stopped = is_stopped
        self._while_waiting = while_waiting
        self._connection = open_for_messages(database)
        self._last: tuple[int, int] | None = None  # the line that was written last, if known
        try:
            self._check_ours()
        except BaseException:
            self._connection.close()
            raise

    def catch_up(self) -> int:
        """Write what has happened since the last call and return the number of lines.

        If the server does not answer, a later call writes it.
        """
        written = 0
        try:
            while True:
                if self._last is None:
                    self._last = self._last_id()
                found = list(islice(lines_after(self._connection, *self._last), _SENT_TOGETHER))
                if not found or not self._has_room():
                    return written
                self._send(found)
                written += len(found)
        except Disconnected:
            self._last = None  # ask the server how far it is
            return written

    def close(self) -> None:
        """Write what is left if the server answers within seconds; the next run writes the rest."""
        end = time.monotonic() + _LAST_SECONDS
        self.catch_up()
        while self._last is None and time.monotonic() < end and not self._is_stopped():
            time.sleep(_PAUSE_SECONDS)
            self.catch_up()
        self._connection.close()

    def _send(self, found: list[tuple[int, int, int, Line]]) -> None:
        commands = [
            add_command(self._stream, {"line": json.dumps(line)}, number=(position, number))
            for _, position, number, line in found
        ]
        self._broker.send_all(commands)
        step, position, number, _ = found[-1]
        self._last = (position, number)
        record_step(self._connection, str(self._broker.address), step)

    def _has_room(self) -> bool:
        """Wait until readers have caught up; return False if csim was stopped."""
        while self._unread() > self._most:
            if self._is_stopped():
                return False
            self._while_waiting()
            time.sleep(_PAUSE_SECONDS)
        return True

    def _unread(self) -> int:
        """Remove what every group has acknowledged, and return how many messages are left."""
        oldest = []
        for group in self._groups():
            waiting = self._broker.call("XPENDING", self._stream, group["name"])
            oldest.append(parse_number(waiting["min"] or group["last-delivered-id"]))
        if oldest:
            position, number = min(oldest)
            self._broker.call("XTRIM", self._stream, "MINID", f"{position}-{number}")
        return int(self._broker.call("XLEN", self._stream))

    def _groups(self) -> list[dict[str, bytes]]:
        if not self._broker.call("EXISTS", self._stream):
            return []
        groups: list[dict[str, bytes]] = self._broker.call("XINFO GROUPS", self._stream)
        return groups

    def _last_id(self) -> tuple[int, int]:
        """Return position and number of the last line that the stream has got."""
        if not self._broker.call("EXISTS", self._stream):
            return 0, 0
        return parse_number(self._broker.call("XINFO STREAM", self._stream)["last-generated-id"])

    def _check_ours(self) -> None:
        """Refuse a stream whose last message is not a line of this folder."""
        self._last = self._last_id()
        newest = self._broker.call("XREVRANGE", self._stream, "+", "-", "COUNT", 1)
        if self._last == (0, 0):
            return
        position, number = parse_number(newest[0][0]) if newest else self._last
        ours = next(lines_after(self._connection, position, number - 1), None)
        is_ours = ours is not None and ours[1:3] == (position, number)
        if ours is not None and is_ours and newest:
            is_ours = _identity(newest[0][1].get(b"line", b"")) == _identity(json.dumps(ours[3]))
        if not is_ours:
            raise InputError(
                f"{self._broker.address} must be written by this stream alone, something else is "
                "in it; give a new name"
            )


def _identity(text: str | bytes) -> list[object] | None:
    """Return what never changes in a line; None if it is no line."""
    try:
        line = json.loads(text)
        return [line[name] for name in _IDENTITY]
    except (ValueError, KeyError, TypeError):
        return None
