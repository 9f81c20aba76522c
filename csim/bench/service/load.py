"""Measure a service under load: images per second, waiting times, memory."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np

from csim.bench.durability.material import make_stream
from csim.bench.service.process import ServiceProcess, png_files
from csim.client import Client, ServiceError
from csim.folder.run import run
from csim.folder.stream import Stream
from csim.settings import Settings
from csim.sources.arrival import Arrival, Decoded
from csim.sources.decode import decode

_ROUNDS = 2  # the best one counts
_SINGLE_IMAGES = 300


@dataclass(frozen=True)
class Load:
    """Report what clients met."""

    images: int
    errors: int
    lost: int  # images that were confirmed and are not in the folder
    seconds: float
    waits: tuple[float, ...]  # seconds, one per request
    early_memory: float  # MB, after a third of the time
    late_memory: float


def race(work: Path, *, images: int, settings: Settings, seed: int) -> tuple[float, float]:
    """Return images per second of 8 clients with 64 per request, and of `csim run`.

    The two take turns, and the best of two rounds counts.

    Parameters
    ----------
    work
        An empty folder.
    images
        How many PNG files. Higher steadies the figures.
    settings
        Of the stream.
    seed
        Draws the images.
    """
    files, _ = png_files(images, seed)
    served: list[float] = []
    alone: list[float] = []
    for turn in range(_ROUNDS):
        for name in ("alone", "served"):
            make_stream(work / f"{name}-{turn}", settings, seed)
        alone.append(images / _run_seconds(work / f"alone-{turn}", files))
        process = ServiceProcess(work / f"served-{turn}")
        start = time.perf_counter()
        _push(process.url, _chunks(files, 64), clients=8)
        served.append(images / (time.perf_counter() - start))
        process.stop()
    return max(served), max(alone)


def endure(work: Path, *, clients: int, seconds: float, settings: Settings, seed: int) -> Load:
    """Let clients send images, 16 at a time, for some time; return what they met.

    Parameters
    ----------
    work
        An empty folder.
    clients
        How many send at the same time. Higher loads more.
    seconds
        How long. Higher steadies the figures.
    settings
        Of the stream.
    seed
        Draws the images.
    """
    make_stream(work / "stream", settings, seed)
    files, _ = png_files(20_000, seed)
    process = ServiceProcess(work / "stream")
    start = time.perf_counter()
    memory: list[float] = []

    def until_the_end() -> Iterator[dict[str, bytes]]:
        turn = 0
        while True:
            for chunk in _chunks(files, 16):
                now = time.perf_counter() - start
                if now > seconds * len(memory) / 3 and len(memory) < 3:
                    memory.append(process.memory())
                if now > seconds:
                    return
                yield {f"{turn}/{item_id}": file for item_id, file in chunk.items()}
            turn += 1

    waits, errors, confirmed = _push(process.url, until_the_end(), clients=clients)
    taken = time.perf_counter() - start
    late = process.memory()
    with Client(process.url) as client:
        position = client.status()["position"]
    process.stop()
    return Load(confirmed, errors, confirmed - position, taken, waits, memory[1], late)


def single(work: Path, *, settings: Settings, seed: int) -> tuple[float, float]:
    """Return the median seconds of a request with one image, and of decoding and forward pass.

    The two take turns, and the best of two rounds counts for each.

    Parameters
    ----------
    work
        An empty folder.
    settings
        Of the stream.
    seed
        Draws the images.
    """
    files, _ = png_files(_SINGLE_IMAGES, seed)
    for name in ("alone", "served"):
        make_stream(work / name, settings, seed)
    process = ServiceProcess(work / "served")
    rounds: list[tuple[float, float]] = []
    with Stream(work / "alone", trainer=None) as stream, Client(process.url) as client:
        for some in _chunks(files, _SINGLE_IMAGES // _ROUNDS):
            rounds.append(_alternate(stream, client, some))
    process.stop()
    waits, bare = zip(*rounds, strict=True)
    return min(waits), min(bare)


def _alternate(stream: Stream, client: Client, files: Mapping[str, bytes]) -> tuple[float, float]:
    """Return the medians of a request and of the bare work, in turns on the same machine."""
    waits: list[float] = []
    bare: list[float] = []
    for item_id, file in files.items():
        start = time.perf_counter()
        _classify(stream, item_id, file)
        middle = time.perf_counter()
        client.images.send({item_id: file})
        bare.append(middle - start)
        waits.append(time.perf_counter() - middle)
    return median(waits), median(bare)


def _classify(stream: Stream, item_id: str, file: bytes) -> None:
    image = decode(Arrival(item_id, file), stream.config.image_shape, stream.config.bits)
    assert isinstance(image, Decoded)
    stream.scores(image.image[np.newaxis])


def _run_seconds(folder: Path, files: Mapping[str, bytes]) -> float:
    with Stream(folder, is_live=True) as stream:
        start = time.perf_counter()
        run(stream, (Arrival(item_id, file) for item_id, file in files.items()))
        return time.perf_counter() - start


def _chunks(files: Mapping[str, bytes], size: int) -> Iterator[dict[str, bytes]]:
    pairs = list(files.items())
    for start in range(0, len(pairs), size):
        yield dict(pairs[start : start + size])


def _push(
    url: str, chunks: Iterator[dict[str, bytes]], *, clients: int
) -> tuple[tuple[float, ...], int, int]:
    """Send chunks from several clients; return the waits, the errors, the images confirmed."""
    waits: list[float] = []
    errors: list[str] = []
    confirmed: list[int] = []
    shared = _Shared(chunks)

    def work() -> None:
        with Client(url) as client:
            for chunk in shared:
                start = time.perf_counter()
                try:
                    confirmed.append(len(client.images.send(chunk)))
                except ServiceError as error:
                    errors.append(str(error))
                waits.append(time.perf_counter() - start)

    with ThreadPoolExecutor(clients) as pool:
        for future in [pool.submit(work) for _ in range(clients)]:
            future.result()
    return tuple(waits), len(errors), sum(confirmed)


class _Shared:
    """An iterator that several threads take from."""

    def __init__(self, chunks: Iterator[dict[str, bytes]]) -> None:
        self._chunks = chunks
        self._lock = threading.Lock()

    def __iter__(self) -> Iterator[dict[str, bytes]]:
        while True:
            with self._lock:
                chunk = next(self._chunks, None)
            if chunk is None:
                return
            yield chunk
