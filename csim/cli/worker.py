"""`csim worker`: decode and embed for a stream that runs elsewhere."""

from __future__ import annotations

import os
import socket
from typing import Annotated

import typer

from csim.cli.open_redis import ClaimAfter, FilesFolder, open_broker


def worker(
    address: Annotated[str, typer.Argument(help="The stream: redis://host:port/stream.")],
    files: FilesFolder = None,
    claim_after: ClaimAfter = 10.0,
) -> None:
    """Decode and embed the images of a Redis stream for a `csim run` elsewhere.

    Start as many as you have processors, on any machine, and one
    `csim run FOLDER redis://… --from-workers`. Workers get each new model from
    it. You can stop or kill a worker at any time: others take over its images.

    Example: csim worker redis://broker:6379/images
    """
    broker = open_broker(address)
    from csim.distributed.redis_worker import RedisWorker  # noqa: PLC0415

    consumer = f"{socket.gethostname()}:{os.getpid()}"
    typer.echo(f"{consumer} works for {broker.address}; Ctrl-C stops", err=True)
    RedisWorker(broker, consumer=consumer, files=files, claim_after=claim_after).run()
