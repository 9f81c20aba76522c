"""Which workers there are, in Redis: `<stream>:workers`, a hash with a field per worker.

Each worker writes its versions and retries there every few seconds, with the time of the server.
One that has not written for a while is dead, or cannot reach the server.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass

from csim import __version__
from csim.distributed.broker import Broker
from csim.folder.workers import WorkerRow

_ANNOUNCE_SECONDS = 2.0
_ALIVE_SECONDS = 15  # a worker that embeds a large batch is silent meanwhile
_FORGET_SECONDS = 3600


@dataclass(frozen=True, slots=True)
class BoardEntry:
    """Hold what a worker says of itself."""

    worker: WorkerRow
    retries: int  # messages that this worker took a second time or from a dead one


class WorkerBoard:
    """Tell that a worker is alive, or list those that are.

    Parameters
    ----------
    broker
        The server and the stream of images.
    """

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._key = f"{broker.address.stream}:workers"
        self._announce_at = 0.0

    def announce(self, name: str, *, model: int | None, retries: int) -> None:
        """Say that a worker is alive, unless it said so a moment ago."""
        if time.monotonic() < self._announce_at:
            return
        said = {"csim": __version__, "model": model, "retries": retries, "seen": self._now()}
        self._broker.call("HSET", self._key, name, json.dumps(said))
        self._announce_at = time.monotonic() + _ANNOUNCE_SECONDS

    def alive(self) -> list[BoardEntry]:
        """Return the workers that were heard of lately, by name; forget those long gone."""
        now = self._now()
        found: dict[bytes, bytes] = self._broker.call("HGETALL", self._key)
        said = {name: json.loads(text) for name, text in found.items()}
        gone = [name for name, values in said.items() if now - values["seen"] > _FORGET_SECONDS]
        if gone:
            self._broker.call("HDEL", self._key, *gone)
        return [
            BoardEntry(WorkerRow(name.decode(), values["csim"], values["model"]), values["retries"])
            for name, values in sorted(said.items())
            if now - values["seen"] <= _ALIVE_SECONDS
        ]

    def _now(self) -> int:
        """Return the seconds since 1970 by the clock of the server."""
        return int(self._broker.call("TIME")[0])
