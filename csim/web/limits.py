"""The limits of the service, so that no request can exhaust the machine."""

from __future__ import annotations

from dataclasses import dataclass, fields

from csim.errors import SettingsError


@dataclass(frozen=True, slots=True)
class Limits:
    """Hold the limits of the service.

    Parameters
    ----------
    batch_images
        Images that csim takes in one step, at most. Higher costs less per image, but the first
        image of a batch waits longer.
    batch_ms
        Milliseconds to wait for more images before a step. Higher makes larger batches when images
        come one by one, and each waits longer. With 0, csim takes what gathered during the last
        step.
    queue_images
        Images that may wait. Higher takes longer bursts but uses more memory, and clients wait
        longer before they are told to come back.
    request_images
        Images in one request, at most. Higher lets one client hold up others for longer.
    body_bytes
        Bytes in the body of a request with images. Higher takes larger images, and uses more
        memory.
    json_bytes
        Bytes in any other body. Higher takes longer lists.
    body_seconds
        Time for a client to send a request. Higher is kinder to slow networks, but a slow client
        holds a connection for longer.
    request_seconds
        Time for csim to answer. Higher waits longer for a busy engine.
    requests_per_second
        Requests of one address. Higher lets one client do more.
    connections
        Open connections. Higher serves more clients but uses more memory.
    event_streams
        Clients that follow events at the same time. Higher reads the database more often.
    heartbeat_seconds
        Silence after which csim sends a sign of life to those who follow events. Higher sends less,
        but a broken connection is noticed later.
    stop_seconds
        Time to finish requests when the service stops. Higher cuts off fewer.
    lease_seconds
        How long a labeller keeps a question, if the request does not say. Higher gives more time to
        think, but a question of somebody who left comes back later.
    """

    batch_images: int = 512
    batch_ms: float = 0.0
    queue_images: int = 4096
    request_images: int = 256
    body_bytes: int = 64_000_000
    json_bytes: int = 100_000
    body_seconds: float = 30.0
    request_seconds: float = 60.0
    requests_per_second: float = 2000.0
    connections: int = 256
    event_streams: int = 32
    heartbeat_seconds: float = 15.0
    stop_seconds: float = 20.0
    lease_seconds: float = 300.0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not value > 0 and not (field.name == "batch_ms" and value == 0):
                raise SettingsError(f"{field.name} must be above 0, got {value}")
        if self.queue_images < self.request_images:
            raise SettingsError(
                f"queue_images must be at least request_images, got {self.queue_images} and "
                f"{self.request_images}; raise the first or lower the second"
            )
