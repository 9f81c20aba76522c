"""The coordinator alone: a stream folder on disk that is given images with their views.

Nothing is decoded or embedded. What is left is what one process must do for any number of workers:
decide, search for questions, and write.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from csim.bench.durability.material import as_decoded, make_stream, noisy_digits
from csim.build import open_encoder
from csim.folder.run import run
from csim.folder.stream import Stream, model_in_use
from csim.records import Floats, View
from csim.settings import Settings
from csim.sources.arrival import Decoded
from csim.threads import one_thread

_DIGITS = 4096  # decoded; they repeat with other ids, pictures and noise in their vectors
_CAMERAS = 1000
_NOISE = 0.01  # standard deviation, in each component of a vector


@dataclass(frozen=True)
class Pace:
    """Hold how fast a coordinator was."""

    images_per_second: float
    processor_seconds: float
    seconds: float


def measure(work: Path, settings: Settings, *, images: int, seed: int) -> Pace:
    """Return the pace of a stream whose views are made beforehand; nobody answers.

    Parameters
    ----------
    work
        An empty folder.
    settings
        Of the stream.
    images
        How many to take. Higher steadies the figures, and takes more memory.
    seed
        Draws images and vectors.
    """
    make_stream(work / "stream", settings, seed)
    with Stream(work / "stream", trainer=None) as stream:
        given = list(synthetic_views(stream, images, seed))
        start = time.perf_counter()
        processor = time.process_time()
        run(stream, given)
        seconds = time.perf_counter() - start
        return Pace(images / seconds, time.process_time() - processor, seconds)


def synthetic_views(stream: Stream, images: int, seed: int) -> Iterator[Decoded]:
    """Yield images of many cameras with views of the model in use, no two alike."""
    digits, _ = noisy_digits(_DIGITS, seed)
    model = model_in_use(stream)
    with one_thread():
        seen = open_encoder(stream.config.settings, model).view(digits)
    files = [as_decoded("", digit).kept for digit in digits]
    rng = np.random.default_rng(seed)
    for number in range(images):
        index = number % _DIGITS
        if index == 0:
            vectors = _with_noise(seen.vectors, rng)
        yield Decoded(
            f"{number:09d}",
            digits[index],
            files[index] + str(number).encode(),
            source_name=f"camera {number % _CAMERAS}",
            view=View(vectors[index], seen.features[index], model.version),
        )


def _with_noise(vectors: Floats, rng: np.random.Generator) -> Floats:
    noisy = vectors + rng.normal(0, _NOISE, vectors.shape)
    unit: Floats = (noisy / np.linalg.norm(noisy, axis=1, keepdims=True)).astype(np.float32)
    return unit
