"""`csim serve`: a stream folder as an HTTP service."""

from __future__ import annotations

import json
import logging
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from csim.cli.load_web import load_web
from csim.errors import InputError
from csim.sources.arrival import Source as SourceOfImages
from csim.sources.open_source import open_source
from csim.web.limits import Limits

if TYPE_CHECKING:
    from csim.web.security import Token

_LIMITS = Limits()
_MB = 10**6

Source = Annotated[
    str | None,
    typer.Argument(
        help="Images to take beside those that clients send: a directory, an image, an .npz file "
        "or a video."
    ),
]
Host = Annotated[str, typer.Option(help="Address to listen on. Any but loopback needs a token.")]
Port = Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.")]
TokenFile = Annotated[
    Path | None, typer.Option(help="A file with the token that requests must show.")
]
NewToken = Annotated[bool, typer.Option("--new-token", help="Make a token and print it once.")]
Names = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-host", help="A name under which clients reach the service; repeat for more."
    ),
]
Certificate = Annotated[Path | None, typer.Option(help="Certificate file, for HTTPS.")]
PrivateKey = Annotated[Path | None, typer.Option(help="Private key file, for HTTPS.")]
Watch = Annotated[
    bool, typer.Option("--watch", help="Keep reading new files of the source directory.")
]
IsLive = Annotated[
    bool,
    typer.Option(
        help="Use a new model as soon as it is ready, so that requests need not wait for it."
    ),
]
BatchImages = Annotated[
    int, typer.Option(min=1, help="Images that csim takes in one step, at most.")
]
BatchMs = Annotated[
    float, typer.Option(min=0, help="Milliseconds to wait for more images before a step.")
]
QueueImages = Annotated[
    int, typer.Option(min=1, help="Images that may wait. If there are more, clients get 429.")
]
RequestImages = Annotated[int, typer.Option(min=1, help="Images in one request, at most.")]
BodyMb = Annotated[int, typer.Option(min=1, help="Megabytes in one request, at most.")]
Rate = Annotated[
    float, typer.Option(min=0.01, help="Requests per second from one address, at most.")
]
Connections = Annotated[int, typer.Option(min=1, help="Open connections, at most.")]
AccessLog = Annotated[
    bool, typer.Option("--access-log", help="Write a line per request to standard error.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the address as one JSON object.")]


def serve(
    folder: Annotated[Path, typer.Argument(help="The stream folder.")],
    source: Source = None,
    host: Host = "127.0.0.1",
    port: Port = 8000,
    token_file: TokenFile = None,
    new_token: NewToken = False,
    allow_host: Names = None,
    tls_cert: Certificate = None,
    tls_key: PrivateKey = None,
    watch: Watch = False,
    live: IsLive = True,
    batch_images: BatchImages = _LIMITS.batch_images,
    batch_ms: BatchMs = _LIMITS.batch_ms,
    queue_images: QueueImages = _LIMITS.queue_images,
    request_images: RequestImages = _LIMITS.request_images,
    body_mb: BodyMb = _LIMITS.body_bytes // _MB,
    rate: Rate = _LIMITS.requests_per_second,
    connections: Connections = _LIMITS.connections,
    access_log: AccessLog = False,
    as_json: AsJson = False,
) -> None:
    """Serve a stream folder over HTTP: the labelling page, and an API for programs.

    Open the address that csim prints in your browser, and answer. csim runs the
    stream itself, unless `csim run` does. Then it only reads and takes answers,
    and runs the stream when that process ends. Ctrl-C and SIGTERM stop it
    cleanly within 30 seconds.

    Example: csim serve birds

    Example: csim serve birds --host 0.0.0.0 --token-file token --allow-host birds.example
    """
    limits = Limits(
        batch_images=batch_images,
        batch_ms=batch_ms,
        queue_images=queue_images,
        request_images=request_images,
        body_bytes=body_mb * _MB,
        requests_per_second=rate,
        connections=connections,
    )
    launch = load_web("csim serve")
    token = _token(token_file, is_new=new_token)
    tls = _tls(tls_cert, tls_key)
    launch.launch(
        folder,
        launch.Address(host, port, token, allow_host or [], tls),
        limits,
        source=_open(source, watch),
        is_live=live,
        logs_requests=access_log,
        on_start=lambda url: _print_start(folder, url, as_json),
    )


def _token(file: Path | None, *, is_new: bool) -> Token | None:
    """Return the token of a file, or a new one, which is printed."""
    from csim.web.security import Token  # noqa: PLC0415

    if file is not None and is_new:
        raise InputError("--token-file and --new-token exclude each other; give one of them")
    if is_new:
        token, text = Token.make()
        typer.echo(f"token: {text}", err=True)
        return token
    if file is None:
        return None
    try:
        return Token(file.read_bytes().strip())
    except OSError as error:
        raise InputError(
            f"the token must be in {file}, which cannot be read ({error.strerror}); "
            "make one with `openssl rand -hex 32`"
        ) from error


def _tls(certificate: Path | None, key: Path | None) -> dict[str, str]:
    if (certificate is None) != (key is None):
        raise InputError("--tls-cert and --tls-key belong together; give both or none")
    if certificate is None or key is None:
        return {}
    for file in (certificate, key):
        if not file.is_file():
            raise InputError(f"{file} must be a file with a certificate or a key, it is not there")
    return {"ssl_certfile": str(certificate), "ssl_keyfile": str(key)}


def _open(source: str | None, watch: bool) -> SourceOfImages | None:
    # csim counts unreadable files itself.
    warnings.filterwarnings("ignore", category=UserWarning, module="PIL")
    logging.basicConfig(level=logging.WARNING, format="csim: %(message)s", stream=sys.stderr)
    if source is None and watch:
        raise InputError("--watch needs a directory; write it after the stream folder")
    return None if source is None else open_source(source, watch=watch, stdin=sys.stdin.buffer)


def _print_start(folder: Path, url: str, as_json: bool) -> None:
    typer.echo(json.dumps({"url": url}) if as_json else f"{folder} is served at {url}")
    sys.stdout.flush()
