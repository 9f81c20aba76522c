"""Count and, if wanted, log requests; a thread of its own writes the log.

A line holds the time, method, path, status and milliseconds: no query, no header, no body, so
nothing secret.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from logging.handlers import QueueHandler, QueueListener
from queue import SimpleQueue
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from csim.web.metrics import Metrics

_LOG = logging.getLogger("csim.access")


class AccessLog:
    """Count the requests of an app.

    Parameters
    ----------
    app
        The app behind it.
    metrics
        What counts.
    logs_requests
        Write a line per request.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics, *, logs_requests: bool) -> None:
        self._app = app
        self._metrics = metrics
        self._logs_requests = logs_requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on and note its answer."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start = time.perf_counter()
        status = 500

        async def note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, note)
        finally:
            seconds = time.perf_counter() - start
            self._metrics.note_request(_operation(scope), status, seconds)
            if self._logs_requests:
                line = {"method": scope["method"], "path": scope["path"], "status": status}
                _LOG.info(json.dumps({**line, "ms": round(1000 * seconds, 1)}))


def start_log() -> QueueListener:
    """Let a thread write the log of requests to standard error; return it, to be stopped."""
    queue: SimpleQueue[Any] = SimpleQueue()
    writer = logging.StreamHandler(sys.stderr)
    writer.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    _LOG.handlers = [QueueHandler(queue)]
    _LOG.setLevel(logging.INFO)
    _LOG.propagate = False
    listener = QueueListener(queue, writer)
    listener.start()
    return listener


def _operation(scope: Scope) -> str:
    """Return the operation that answered; requests that were refused before have none."""
    route = scope.get("route")
    return str(getattr(route, "operation_id", None) or "none")
