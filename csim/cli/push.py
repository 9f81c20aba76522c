"""`csim push`: send images to a Redis stream."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from csim.cli.open_redis import open_broker
from csim.cli.option_parsers import number_parser
from csim.sources.arrival import Trouble
from csim.sources.open_source import open_source


def push(
    address: Annotated[str, typer.Argument(help="The stream: redis://host:port/stream.")],
    sources: Annotated[
        list[str], typer.Argument(help="Directories, images, .npz files or videos.")
    ],
    source: Annotated[
        str | None, typer.Option(help="Which camera the images are of.", metavar="NAME")
    ] = None,
    files: Annotated[
        Path | None,
        typer.Option(
            help="Send paths below this folder and checksums instead of the files themselves."
        ),
    ] = None,
    most: Annotated[
        int,
        typer.Option(
            parser=number_parser("--most", int, least=1),
            help="Wait while the stream holds more than n messages.",
        ),
    ] = 10_000,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the outcome as one JSON object.")
    ] = False,
) -> None:
    """Send images to a Redis stream, from which `csim run` takes them.

    An image that you send twice is taken once. csim reads the user from
    CSIM_REDIS_USER and the password from CSIM_REDIS_PASSWORD, or from the file
    that CSIM_REDIS_PASSWORD_FILE names.

    Example: csim push redis://broker:6379/images photos/ --source pond
    """
    broker = open_broker(address)
    from csim.distributed.push import Pusher  # noqa: PLC0415

    troubles: list[Trouble] = []
    pusher = Pusher(broker, source_name=source, files=files, most=most)
    for name in sources:
        pusher.push(open_source(name), troubles.append)
    if as_json:
        typer.echo(json.dumps({"sent": pusher.sent, "troubles": len(troubles)}))
        return
    typer.echo(f"{pusher.sent:,} images sent to {broker.address}")
    if troubles:
        last = troubles[-1]
        typer.echo(
            f"{len(troubles):,} could not be read; the last: {last.id}: {last.reason}", err=True
        )
