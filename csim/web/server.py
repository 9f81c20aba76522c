"""The server: uvicorn with csim's limits, which stops cleanly on SIGTERM and SIGINT."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable
from types import FrameType
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from csim.errors import InputError
from csim.web.connections import LimitedProtocol
from csim.web.limits import Limits

_BACKLOG = 512
_KEEP_ALIVE_SECONDS = 15


class Server(uvicorn.Server):
    """Serve an app until it is told to stop.

    Parameters
    ----------
    app
        What to serve.
    limits
        Of connections and of the time to stop.
    on_stop
        Called as soon as a signal comes, before requests in progress are finished.
    tls
        uvicorn's options for TLS: `ssl_certfile`, `ssl_keyfile` and so on.
    """

    def __init__(
        self,
        app: ASGIApp,
        limits: Limits,
        *,
        on_stop: Callable[[], None] = lambda: None,
        tls: dict[str, Any] | None = None,
    ) -> None:
        protocol = type("Protocol", (LimitedProtocol,), {"most": limits.connections})
        super().__init__(
            uvicorn.Config(
                app,
                http=protocol,
                ws="none",
                lifespan="on",
                access_log=False,
                log_level="warning",
                server_header=False,
                proxy_headers=False,
                timeout_keep_alive=_KEEP_ALIVE_SECONDS,
                timeout_graceful_shutdown=int(limits.stop_seconds),
                backlog=_BACKLOG,
                **(tls or {}),
            )
        )
        self._on_stop = on_stop

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to stop."""
        self._on_stop()
        super().handle_exit(sig, frame)

    def run_until_stopped(self, listening: socket.socket) -> None:
        """Serve on a socket that listens already; return after a clean stop."""
        # uvicorn raises the signal again once it has stopped. It must not end the process then.
        before = {
            signum: signal.signal(signum, lambda *_: None)
            for signum in (signal.SIGINT, signal.SIGTERM)
        }
        try:
            self.run(sockets=[listening])
        finally:
            for signum, handler in before.items():
                signal.signal(signum, handler)


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens on an address; port 0 takes a free port."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol named, asyncio sends small packets at once (TCP_NODELAY). Otherwise the end
    # of each answer waits 40 ms for the client to acknowledge its start.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen(_BACKLOG)
    except OSError as error:
        listening.close()
        raise InputError(
            f"csim must be able to listen on {host} port {port}, it cannot ({error.strerror}); "
            "choose another with --host and --port"
        ) from error
    return listening
