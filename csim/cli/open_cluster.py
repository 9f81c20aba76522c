"""Open the Ray cluster that `csim run` names, and the options that belong to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from csim.cli.option_parsers import number_parser
from csim.errors import InputError
from csim.folder.layout import Layout
from csim.folder.stream import Stream
from csim.folder.trainer_process import TrainerProcess
from csim.folder.training import Trainer
from csim.sources.arrival import Source

Workers = Annotated[
    int | None,
    typer.Option(
        parser=number_parser("--workers", int, least=1),
        help="Decode and embed in n processes; on a cluster, one per processor by default.",
    ),
]
ClusterAddress = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="ADDRESS",
        help="Decode, embed and train on the Ray cluster at host:port, or auto for one here.",
    ),
]


class Cluster:
    """Say what a run uses of a cluster; without one, it uses nothing.

    Parameters
    ----------
    workers
        How many; None for one per processor of the cluster. Higher embeds faster.
    address
        Of a running cluster; None for one of this process.
    """

    def __init__(self, workers: int | None, address: str | None) -> None:
        self._workers = workers
        self._address = address
        self._is_used = workers is not None or address is not None

    @contextmanager
    def connected(self) -> Iterator[None]:
        """Connect to the cluster, or start one, for the time of a block."""
        if not self._is_used:
            yield
            return
        try:
            from csim.distributed import ray_pool  # noqa: PLC0415
        except ImportError as error:
            raise InputError(
                "--workers and --cluster need Ray, which is not installed; run: "
                "pip install 'csim-stream[cluster]'"
            ) from error
        ray_pool.connect(self._address, self._workers)
        try:
            yield
        finally:
            ray_pool.disconnect()

    @property
    def trainer(self) -> Callable[[Layout], Trainer]:
        """Return what trains models: tasks of a cluster that was named, else a process here."""
        if self._address is None:
            return TrainerProcess
        from csim.distributed.ray_trainer import RayTrainer  # noqa: PLC0415

        return RayTrainer

    def embedded(self, source: Source, stream: Stream) -> Source:
        """Return a source whose images the workers decode and embed."""
        if not self._is_used:
            return source
        from csim.distributed.embedded_source import EmbeddedSource  # noqa: PLC0415
        from csim.distributed.ray_pool import RayPool  # noqa: PLC0415

        return EmbeddedSource(source, stream, RayPool(stream.config, self._workers))
