"""Workers on one machine: no worker, one, and two, on the same photographs.

The photographs are parts of the two that scikit-learn holds, as JPEG files. A pretrained encoder
embeds them, which is nearly all of the work.
"""

from __future__ import annotations

import io
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image
from sklearn.datasets import load_sample_images

from csim.build import open_frozen
from csim.distributed import ray_pool
from csim.distributed.embedded_source import EmbeddedSource
from csim.distributed.ray_pool import RayPool
from csim.errors import InputError
from csim.folder.layout import Config
from csim.folder.make import make
from csim.folder.run import run
from csim.folder.stream import Stream
from csim.settings import Settings
from csim.sources.arrival import Arrival, Decoded, Source
from csim.sources.decode import decode

SETTINGS = Settings(encoder="lite0", budget=0.0)
_SIDE = 256  # pixels of a photograph
_LABELLED = 20  # of each class
_START_SECONDS = 0.05  # between two looks at workers that start


def measure(work: Path, *, images: int, counts: Sequence[int], seed: int) -> dict[int, float]:
    """Return the images per second by number of workers; 0 is `csim run` alone.

    Parameters
    ----------
    work
        An empty folder.
    images
        How many photographs. Higher steadies the figures.
    counts
        Numbers of workers. Higher needs as many processors.
    seed
        Draws the photographs.
    """
    arrivals, _ = photographs(images, seed)
    found = {}
    for count in counts:
        folder = work / f"{count} workers"
        _make_stream(folder, seed + 1)
        found[count] = images / _seconds(folder, arrivals, count)
    return found


def photographs(count: int, seed: int) -> tuple[list[Arrival], list[str]]:
    """Return parts of two photographs as JPEG files, no two alike, and what they are of."""
    whole = dict(zip(("temple", "flower"), load_sample_images().images, strict=True))
    rng = np.random.default_rng(seed)
    names = [str(name) for name in rng.choice(list(whole), count)]
    return [
        Arrival(f"{number:06d}", _part(whole[name], rng)) for number, name in enumerate(names)
    ], names


def _part(picture: np.ndarray, rng: np.random.Generator) -> bytes:
    top, left = (rng.integers(0, side - _SIDE) for side in picture.shape[:2])
    file = io.BytesIO()
    Image.fromarray(picture[top : top + _SIDE, left : left + _SIDE]).save(file, "JPEG")
    return file.getvalue()


def _make_stream(folder: Path, seed: int) -> None:
    frozen = open_frozen(SETTINGS)
    assert frozen is not None
    assert frozen.image_shape is not None
    arrivals, names = photographs(2 * _LABELLED, seed)
    decoded = [decode(arrival, frozen.image_shape) for arrival in arrivals]
    images = [image for image in decoded if isinstance(image, Decoded)]
    make(folder, Config(SETTINGS, frozen.image_shape), images, names)


def _seconds(folder: Path, arrivals: Sequence[Arrival], workers: int) -> float:
    """Return the seconds of a run, once its workers have started."""
    with Stream(folder, trainer=None) as stream:
        if not workers:
            return _run(stream, arrivals)
        ray_pool.connect(None, workers)
        try:
            pool = RayPool(stream.config, workers)
            while pool.workers < workers:
                time.sleep(_START_SECONDS)
                pool.refresh()
            return _run(stream, EmbeddedSource(arrivals, stream, pool))
        finally:
            ray_pool.disconnect()


def _run(stream: Stream, source: Source) -> float:
    start = time.perf_counter()
    counts, _ = run(stream, source)
    if counts.troubles:
        raise InputError(f"every photograph must be taken, {counts.last} was not")
    return time.perf_counter() - start
