"""Connections: how many may be open, and how long and large the head of a request may be.

uvicorn limits neither the time nor the size of a request's head, so a client could hold a
connection without end by sending one byte at a time.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_HEAD_SECONDS = 10.0
_HEAD_BYTES = 65_536
_TOO_MANY = b'{"detail":"too many connections; come back later"}'
_FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Type: application/json\r\n"
    b"Content-Length: %d\r\nConnection: close\r\n\r\n%s" % (len(_TOO_MANY), _TOO_MANY)
)


class LimitedProtocol(HttpToolsProtocol):
    """Serve HTTP, and close connections that are too many or too slow.

    `most` is set by the server: how many connections may be open.
    """

    most = 256
    head_seconds = _HEAD_SECONDS

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **kwargs)
        self._head_bytes = 0
        self._head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a connection, or refuse it if there are too many."""
        super().connection_made(transport)
        if len(self.connections) > self.most:
            transport.write(_FULL)
            transport.close()
            return
        self._start_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read bytes; outside a body they belong to a head, which must be short and come soon."""
        if self.transport.is_closing():
            return
        if self.cycle is None or self.cycle.response_complete:
            self._head_bytes += len(data)
            if self._head_timer is None:
                self._start_timer()
        super().data_received(data)
        if self._head_bytes > _HEAD_BYTES:
            self.send_400_response("The head of the request is too long.")

    def on_headers_complete(self) -> None:
        """Start to answer a request whose head is complete."""
        self._head_bytes = 0
        self._stop_timer()
        super().on_headers_complete()

    def _start_timer(self) -> None:
        self._head_timer = self.loop.call_later(self.head_seconds, self._close)

    def _stop_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _close(self) -> None:
        self._head_timer = None
        if not self.transport.is_closing():
            self.transport.close()
