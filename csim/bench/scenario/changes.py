"""Scenarios in the paper's order with changed images: rare classes, or slow drift."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import ndimage

from csim.bench.datasets import DataSet
from csim.bench.scenario.arrivals import paper_stream
from csim.bench.scenario.split import Stream, count_known
from csim.errors import SettingsError
from csim.records import Images

_RARITY_STREAM = 1  # second word of the seed, so that rarity is independent of novelty
_ROTATION_STEPS = 60  # over the stream; half a degree each by default


def long_tail(
    data: DataSet, *, known_share: float, seed: int, warm_up: int = 1000, rarest: float = 1 / 50
) -> Stream:
    """Return the paper's stream of a data set in which some classes are rare.

    Class sizes fall geometrically from the largest class to the rarest, in a random order of the
    classes. Surplus images are left out, as few as the ratios allow. A rare known class has few
    labelled images too.

    Parameters
    ----------
    data, known_share, seed, warm_up
        As for `paper_stream`; with the same seed the same classes are known.
    rarest
        Size of the rarest class divided by that of the largest; no class has fewer than 2 images.
        Higher makes class sizes more even; at 1 all classes have the same size.
    """
    if not 0 < rarest <= 1:
        raise SettingsError(f"rarest must be above 0 and at most 1, got {rarest}")
    count_known(data, known_share=known_share, seed=seed, warm_up=warm_up)
    thinned = _thin(data, rarest, np.random.default_rng([seed, _RARITY_STREAM]))
    return paper_stream(thinned, known_share=known_share, seed=seed, warm_up=warm_up)


def drift(
    data: DataSet,
    *,
    known_share: float,
    seed: int,
    warm_up: int = 1000,
    degrees: float = 30.0,
    brightness: float = 0.6,
) -> Stream:
    """Return the paper's stream with images that rotate and change brightness over time.

    The first image is unchanged, and the last one changes most. Warm-up and held-out images stay
    unchanged. A rotated image repeats its edge where it has no pixels.

    Parameters
    ----------
    data, known_share, seed, warm_up
        As for `paper_stream`; with the same seed the same images arrive in the same order.
    degrees
        Rotation of the last image, counter-clockwise, from -180 to 180. Higher makes known classes
        less similar to their warm-up.
    brightness
        Factor on the values of the last image, above 0 and at most 2; values are clipped at 255.
        Higher makes images brighter; below 1 they become darker.
    """
    if not -180 <= degrees <= 180:
        raise SettingsError(f"degrees must lie between -180 and 180, got {degrees}")
    if not 0 < brightness <= 2:
        raise SettingsError(f"brightness must be above 0 and at most 2, got {brightness}")
    stream = paper_stream(data, known_share=known_share, seed=seed, warm_up=warm_up)
    return replace(stream, images=_rotate_and_scale(stream.images, degrees, brightness))


def _thin(data: DataSet, rarest: float, rng: np.random.Generator) -> DataSet:
    classes, labels, sizes = np.unique(
        np.array(data.names), return_inverse=True, return_counts=True
    )
    shares = rng.permutation(np.geomspace(1, rarest, len(classes)))
    largest = (sizes / shares).min()  # the highest size for which every class has enough images
    wanted = np.maximum(np.rint(largest * shares), 2).astype(int)
    kept = [
        rng.permutation(np.flatnonzero(labels == label))[:count]
        for label, count in enumerate(wanted)
    ]
    indices = np.sort(np.concatenate(kept))
    return DataSet(data.name, data.images[indices], [data.names[index] for index in indices])


def _rotate_and_scale(images: Images, degrees: float, brightness: float) -> Images:
    """Change images, (n, h, w[, 3]), increasingly; images of about the same angle together."""
    progress = np.linspace(0, 1, len(images))
    factors = (1 + progress * (brightness - 1)).reshape(-1, *[1] * (images.ndim - 1))
    steps = np.rint(progress * _ROTATION_STEPS)
    changed = np.empty_like(images)
    for step in np.unique(steps):
        is_in_step = steps == step
        rotated = ndimage.rotate(
            images[is_in_step],
            step / _ROTATION_STEPS * degrees,
            axes=(1, 2),
            reshape=False,
            output=np.float32,
            order=1,
            mode="nearest",
        )
        changed[is_in_step] = np.rint(rotated * factors[is_in_step]).clip(0, 255)
    return changed
