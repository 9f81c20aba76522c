"""Open the Redis streams that commands name, and the options that these commands share."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from csim.cli.option_parsers import number_parser
from csim.distributed.address import Address, is_address
from csim.errors import InputError
from csim.folder.stream import Stream
from csim.sources.arrival import Source

if TYPE_CHECKING:
    from csim.distributed.broker import Broker
    from csim.distributed.redis_output import RedisOutput

FilesFolder = Annotated[
    Path | None,
    typer.Option(help="The folder of files that messages name by path and sha256."),
]
ClaimAfter = Annotated[
    float,
    typer.Option(
        parser=number_parser("--claim-after", float),
        help="Take over messages that another consumer has not acknowledged for n seconds.",
    ),
]


def open_broker(text: str) -> Broker:
    """Return a connection to the server of an address."""
    address = Address.from_text(text)
    try:
        from csim.distributed.broker import Broker  # noqa: PLC0415
    except ImportError as error:
        raise InputError(
            f"{address} needs the redis client, which is not installed; run: "
            "pip install 'csim-stream[redis]'"
        ) from error
    return Broker(address)


class RedisQueue:
    """Open the images of a Redis stream, if the source of a run is one.

    Parameters
    ----------
    text
        What the user gave as the source.
    group
        The consumer group.
    files
        The folder of the files that messages name.
    claim_after
        Seconds until csim takes over what another consumer left. Higher waits longer.
    from_workers
        Take the images that workers have embedded.
    """

    def __init__(
        self,
        text: str | None,
        group: str,
        files: Path | None,
        claim_after: float,
        *,
        from_workers: bool,
    ) -> None:
        self._text = text or ""
        self.is_named = is_address(self._text)
        self._group = group
        self._files = files
        self._claim_after = claim_after
        self._from_workers = from_workers
        if from_workers and not self.is_named:
            raise InputError("--from-workers needs a source redis://host:port/stream")

    def open(self, stream: Stream) -> Source:
        """Return the source; each stream folder is a consumer of its own."""
        broker = open_broker(self._text)
        from csim.distributed.redis_source import RedisSource  # noqa: PLC0415
        from csim.distributed.view_source import ViewSource  # noqa: PLC0415

        consumer = f"{socket.gethostname()}:{stream.layout.root.resolve()}"
        if self._from_workers:
            return ViewSource(
                broker,
                stream,
                group=self._group,
                consumer=consumer,
                claim_after=self._claim_after,
            )
        return RedisSource(
            broker,
            group=self._group,
            consumer=consumer,
            files=self._files,
            claim_after=self._claim_after,
        )


def open_redis_output(text: str, stream: Stream, is_stopped: Callable[[], bool]) -> RedisOutput:
    """Return what writes the predictions of a stream to an address."""
    broker = open_broker(text)
    from csim.distributed.redis_output import RedisOutput  # noqa: PLC0415

    return RedisOutput(
        stream.layout.database, broker, is_stopped=is_stopped, while_waiting=stream.attend
    )
