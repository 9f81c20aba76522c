"""Workers of a Ray cluster that decode and embed images.

A worker is a Ray actor without state: each call carries the images and a reference to the model,
whose weights travel to a node once. If a worker or its node dies, its call goes to another worker.
csim replaces dead workers, and adds workers when nodes join.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import ray
from ray.exceptions import GetTimeoutError, RayError, RayTaskError

from csim import __version__
from csim.distributed.embedder import Embedder
from csim.errors import BrokerError
from csim.folder.layout import Config
from csim.folder.workers import WorkerRow
from csim.records import Model
from csim.sources.arrival import Arrival, Decoded, Trouble

_MAX_DEATHS = 5  # of workers at one call: more are no accident
_REFRESH_SECONDS = 1.0  # between two looks at the cluster
_CONNECT_SECONDS = 4.0  # for a connection, and for the first answer
# Ray speaks gRPC, whose servers greet with a SETTINGS frame (RFC 9113, 3.4).
_HTTP2_SETTINGS = bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
_HTTP2_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + _HTTP2_SETTINGS
_STORE_BYTES = 512_000_000  # of a local cluster, in shared memory: models and images in flight
# A dead node is noticed after 2 seconds, not 15.
SYSTEM = {"health_check_period_ms": 500, "health_check_failure_threshold": 4}
_CALLS_PER_WORKER = 2  # one is worked on while the next one travels


@dataclass(eq=False)
class _Worker:
    """Hold a Ray actor, and what it has to do."""

    actor: Any
    ready: Any  # a reference to its csim version
    is_ready: bool = False
    calls: int = 0
    model: int | None = None  # the version that it embedded with last


@dataclass(eq=False)
class Call:
    """Hold images that a worker decodes and embeds."""

    model: Model
    arrivals: Sequence[Arrival]
    worker: _Worker | None = None
    reference: Any = None
    deaths: int = field(default=0)


class _Actor:
    """Decode and embed, on a node of the cluster."""

    def __init__(self, config: Config) -> None:
        self._embedder = Embedder(config)

    def version(self) -> str:
        """Return the version of csim on this machine."""
        return __version__

    def embed(self, model: Model, arrivals: Sequence[Arrival]) -> list[Decoded | Trouble]:
        """Return images decoded and with their views."""
        return self._embedder.embed(model, arrivals)


class RayPool:
    """Have images decoded and embedded by workers of the cluster that `connect` named.

    Parameters
    ----------
    config
        The configuration of the stream folder.
    workers
        How many; None for as many as the cluster has processors. Higher embeds faster, up to that
        number.
    """

    def __init__(self, config: Config, workers: int | None = None) -> None:
        self.retries = 0  # calls that were repeated because a worker died
        self._wanted = workers
        self._workers: list[_Worker] = []
        self._model: tuple[Model, Any] | None = None  # in use, and its reference
        self._look_at = 0.0
        self._config = ray.put(config)
        self._actor: Any = ray.remote(num_cpus=1, max_restarts=0)(_Actor)
        self.refresh()

    @property
    def workers(self) -> int:
        """Return how many workers are ready."""
        return sum(worker.is_ready for worker in self._workers)

    def rows(self) -> tuple[WorkerRow, ...]:
        """Return the workers that are ready; all have this version of csim."""
        return tuple(
            WorkerRow(worker.actor._actor_id.hex()[:12], __version__, worker.model)
            for worker in self._workers
            if worker.is_ready
        )

    @property
    def room(self) -> int:
        """Return how many more calls fit into the workers' queues."""
        calls = sum(worker.calls for worker in self._workers)
        return _CALLS_PER_WORKER * max(1, len(self._workers)) - calls

    def submit(self, model: Model, arrivals: Sequence[Arrival]) -> Call:
        """Begin to embed images under a model, as soon as a worker is ready."""
        call = Call(model, arrivals)
        self._start(call)
        return call

    def result(self, call: Call, seconds: float) -> list[Decoded | Trouble] | None:
        """Return what a call made; None if that takes longer than some seconds."""
        self.refresh()
        if call.worker is None:
            self._start(call)
        if call.worker is None:
            time.sleep(min(seconds, 0.05))  # workers are starting
            return None
        try:
            found: list[Decoded | Trouble] = ray.get(call.reference, timeout=seconds)
        except GetTimeoutError:
            return None
        except RayTaskError as error:
            raise BrokerError(
                f"workers must be able to embed images, one says: {error.cause}; install the same "
                "csim and encoder on every machine of the cluster"
            ) from error
        except RayError as error:  # the worker or its node has died
            self._bury(call, error)
            return None
        call.worker.calls -= 1
        call.worker.model = call.model.version
        return found

    def _start(self, call: Call) -> None:
        ready = [worker for worker in self._workers if worker.is_ready]
        if not ready:
            return
        worker = min(ready, key=lambda worker: worker.calls)
        worker.calls += 1
        call.worker = worker
        call.reference = worker.actor.embed.remote(self._put(call.model), list(call.arrivals))

    def _put(self, model: Model) -> Any:  # noqa: ANN401
        """Return a reference to a model; its weights travel to each node once."""
        if self._model is None or self._model[0] is not model:
            self._model = (model, ray.put(model))
        return self._model[1]

    def _bury(self, call: Call, error: RayError) -> None:
        """Forget a dead worker; the call goes to another one."""
        call.deaths += 1
        self.retries += 1
        if call.worker in self._workers:
            self._workers.remove(call.worker)
        call.worker = None
        self._look_at = 0.0  # start another one now
        if call.deaths >= _MAX_DEATHS:
            names = f"{call.arrivals[0].id!r} to {call.arrivals[-1].id!r}"
            raise BrokerError(
                f"workers must survive images, but {call.deaths} of them died at {names} "
                f"({type(error).__name__}); look for an image that takes all memory"
            )

    def refresh(self) -> None:
        """Note which workers are ready, and start those that are missing."""
        for worker in [worker for worker in self._workers if not worker.is_ready]:
            self._welcome(worker)
        if time.monotonic() < self._look_at:
            return
        self._look_at = time.monotonic() + _REFRESH_SECONDS
        resources: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
        wanted = self._wanted or int(resources.get("CPU", 0))
        for _ in range(wanted - len(self._workers)):
            actor: Any = self._actor.remote(self._config)
            self._workers.append(_Worker(actor, actor.version.remote()))

    def _welcome(self, worker: _Worker) -> None:
        """Check whether a worker has started, with this version of csim."""
        try:
            version = ray.get(worker.ready, timeout=0)
        except GetTimeoutError:
            return
        except RayTaskError as error:
            raise BrokerError(
                f"workers must be able to start, one says: {error.cause}; install the same csim "
                "and encoder on every machine of the cluster"
            ) from error
        except RayError:  # its node died meanwhile
            self._workers.remove(worker)
            return
        if version != __version__:
            raise BrokerError(
                f"workers must have csim {__version__}, as this machine has, one has {version}; "
                "install the same version on every machine of the cluster"
            )
        worker.is_ready = True


def connect(address: str | None, workers: int | None = None) -> None:
    """Connect this process to a cluster.

    Parameters
    ----------
    address
        Of a running cluster, or "auto" for the one on this machine; None starts a cluster that ends
        with this process.
    workers
        Processors of a cluster that starts here; None for all. Higher allows more workers.
    """
    set_environment()
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    if address is None:
        ray.init(
            address="local",
            num_cpus=workers,
            include_dashboard=False,
            object_store_memory=_STORE_BYTES,
            _system_config=SYSTEM,
            **quiet,
        )
        return
    if address != "auto":
        _check_answers(address)
    try:
        ray.init(address=address, **quiet)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise BrokerError(
            f"there must be a Ray cluster at {address}, there is none ({error}); start one: "
            "ray start --head"
        ) from error


def set_environment() -> None:
    """Set what Ray reads when a node starts."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # Ray would report to its makers
    os.environ.setdefault("RAY_worker_niceness", "0")  # Ray's 15 starves them on a busy machine


def disconnect() -> None:
    """Leave the cluster; one that was started here ends."""
    ray.shutdown()


def _check_answers(address: str) -> None:
    """Raise a `BrokerError` if no Ray cluster is at host:port; Ray itself would try for minutes."""
    host, _, port = address.rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), _CONNECT_SECONDS) as probe:
            probe.settimeout(_CONNECT_SECONDS)
            probe.sendall(_HTTP2_PREFACE)
            if probe.recv(len(_HTTP2_SETTINGS))[3:4] != _HTTP2_SETTINGS[3:4]:
                raise ConnectionError("something else than Ray listens there")
    except (OSError, ValueError) as error:
        raise BrokerError(
            f"--cluster must be host:port of a running Ray cluster or auto, {address} does not "
            f"answer ({error}); check the address"
        ) from error
