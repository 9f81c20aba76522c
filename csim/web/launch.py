"""Launch the service: the checks before it listens, then the server until it is stopped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from csim.errors import InputError
from csim.sources.arrival import Source
from csim.web.access_log import start_log
from csim.web.app import make_app
from csim.web.limits import Limits
from csim.web.security import Token, is_loopback
from csim.web.server import Server, listen
from csim.web.service import Service


@dataclass(frozen=True, slots=True)
class Address:
    """Say where the service listens, and who may use it.

    Parameters
    ----------
    host
        An address of this machine. Any but loopback needs a token.
    port
        0 takes a free one.
    token
        What requests must show; None lets everybody in who can connect.
    names
        Names under which clients reach the service.
    tls
        uvicorn's options for TLS; empty for plain HTTP.
    """

    host: str = "127.0.0.1"
    port: int = 8000
    token: Token | None = None
    names: Sequence[str] = ()
    tls: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.token is None and not is_loopback(self.host):
            raise InputError(
                f"a service on {self.host} must have a token, because other machines reach it; "
                "give one with --token-file, make one with --new-token, or use 127.0.0.1"
            )


def launch(
    folder: Path,
    address: Address,
    limits: Limits,
    *,
    source: Source | None = None,
    is_live: bool = True,
    logs_requests: bool = False,
    on_start: Callable[[str], None] = lambda url: None,
) -> None:
    """Serve a stream folder until SIGTERM or SIGINT; return after a clean stop.

    Parameters
    ----------
    folder
        The stream folder.
    address
        Where to listen, and who may come.
    limits
        What a request may use.
    source
        Images to take beside those that clients send.
    is_live
        Let a new model take over as soon as it is ready.
    logs_requests
        Write a line per request to standard error.
    on_start
        Called with the URL when the service listens.
    """
    service = Service(folder, limits, source=source, is_live=is_live)
    app = make_app(
        service,
        token=address.token,
        hosts=[address.host, *address.names],
        logs_requests=logs_requests,
    )
    server = Server(app, limits, on_stop=service.begin_stop, tls=address.tls)
    service.start()
    log = start_log() if logs_requests else None
    try:
        with listen(address.host, address.port) as listening:
            on_start(_url(listening.getsockname(), is_secure=bool(address.tls)))
            server.run_until_stopped(listening)
    finally:
        service.stop()
        if log is not None:
            log.stop()


def _url(address: tuple[Any, ...], *, is_secure: bool) -> str:
    host = f"[{address[0]}]" if ":" in address[0] else address[0]
    return f"http{'s' * is_secure}://{host}:{address[1]}"
